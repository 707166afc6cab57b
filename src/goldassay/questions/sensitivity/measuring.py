"""How far the score of each model moves with its configuration, of sets of runs that any door found."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.results import Result, frame_of_records
from goldassay.questions.configuration_sets import own_name
from goldassay.questions.example_clusters import clusters_of
from goldassay.questions.instability.measures.variance import score_above_constant
from goldassay.questions.instability.spread import silent_codes
from goldassay.questions.instability.verdict import WHOLE
from goldassay.questions.sensitivity.measures import ConfigurationSpread, configuration_spread, order_changes
from goldassay.questions.sensitivity.result import ConfigurationScore
from goldassay.questions.sensitivity.verdict import Claim, Judged, judge, judge_claim
from goldassay.runs.configurations import differing, digest
from goldassay.runs.missing import describe_unscored, on_same_items
from goldassay.stats.clusters import effective_clusters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from goldassay.core.settings import Settings
    from goldassay.core.verdicts import Verdict
    from goldassay.data import Dataset
    from goldassay.questions.configuration_sets import ByConfiguration
    from goldassay.questions.run_sets import RunSet
    from goldassay.runs.runs import Runs
    from goldassay.runs.statuses import Missing

__all__ = ["ModelSensitivity", "SensitivityStudy", "measure_sets"]


@dataclass(frozen=True)
class ModelSensitivity(Result):
    """How far the score of one model on one dataset moves with its configuration.

    Attributes:
        model: Name of the model.
        dataset: Name of the dataset.
        condition: What part of the input it sees.
        configurations: What tells each configuration from the others, in the order of the means.
        settings: The settings that differ.
        spread: The figures.
        claim: Whether the claimed difference exceeds what configurations do; None where none was claimed.
        claim_open: Why that is undecided; "" where it is not.
        notes: What was done with answers without a score, in sentences.
    """

    model: str
    dataset: str
    condition: str
    configurations: tuple[str, ...]
    settings: tuple[str, ...]
    spread: ConfigurationSpread
    claim: Claim | None = None
    claim_open: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SensitivityStudy(Result):
    """How far scores move with the configuration, of every model and dataset that has several.

    Attributes:
        verdict: On the most sensitive.
        models: A model and dataset each.
        n_pairs: Pairs of models on one dataset that have two configurations in common.
        n_changed: Of these, pairs whose order changes from one configuration to another.
        single_configuration: Models on datasets with a single configuration, which are left out.
        dropped: Why others were left out, a sentence each.
    """

    verdict: Verdict
    models: tuple[ModelSensitivity, ...]
    n_pairs: int
    n_changed: int
    single_configuration: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    def to_frame(self) -> pl.DataFrame:
        """One row a model, dataset and configuration: model, dataset, condition, configuration, n_repeats, mean."""
        return frame_of_records(self.scores, ConfigurationScore)

    @property
    def scores(self) -> tuple[ConfigurationScore, ...]:
        """The mean score of each configuration."""
        return tuple(
            ConfigurationScore(each.model, each.dataset, each.condition, name, n, mean)
            for each in self.models
            for name, n, mean in zip(each.configurations, each.spread.n_repeats, each.spread.means, strict=True)
        )


def measure_sets(
    found: ByConfiguration,
    texts_of: Callable[[RunSet], Dataset | None],
    settings: Settings,
    *,
    claim: float | None = None,
    missing: Missing = "auto",
    refuse: bool = True,
    progress: Callable[[int, int], None],
) -> SensitivityStudy:
    """Measure each model and dataset that has several configurations, one after the other.

    Args:
        found: The sets of runs.
        texts_of: What a set of runs answers, where it is at hand.
        settings: Hold the limits, the clusters and the seed.
        claim: A difference in points to hold against what configurations do.
        missing: What is done with examples that a configuration lacks.
        refuse: Refuse configurations that do not fit together; otherwise they are left out, and nothing is sound.
        progress: Takes how many are done, and how many there are.

    Raises:
        InputError: Runs cannot be read, or with `refuse` configurations cover different examples.
    """
    measured: list[ModelSensitivity] = []
    judged: list[Judged] = []
    unfit: list[str] = []
    means: dict[tuple[str, str], list[dict[str, float]]] = defaultdict(list)
    for done, sets in enumerate(found.several, 1):
        try:
            one, of_one, by_configuration = _measure(sets, texts_of(sets[0]), claim, settings, missing)
        except InputError as error:
            if refuse:
                raise
            unfit.append(f"{error.problem[:1].upper()}{error.problem[1:]}.")
        else:
            measured.append(one)
            means[one.dataset, one.condition].append(by_configuration)
            if one.condition in WHOLE:
                judged.append(of_one)
        progress(done, len(found.several))
    changes = [order_changes(_table(of_models)) for of_models in means.values()]
    whole = [each for each in found.alone if each.condition in WHOLE]
    return SensitivityStudy(
        verdict=judge(judged, settings.verdicts.sensitivity, alone=list(map(_name, whole)), unfit=unfit),
        models=tuple(measured),
        n_pairs=sum(pairs for _, pairs in changes),
        n_changed=sum(changed for changed, _ in changes),
        single_configuration=tuple(map(_name, found.alone)),
        dropped=tuple(unfit),
    )


def _name(alone: RunSet) -> str:
    return f"{own_name(alone)} on {alone.dataset}"


def _measure(
    sets: Sequence[RunSet], texts: Dataset | None, claim: float | None, settings: Settings, missing: Missing
) -> tuple[ModelSensitivity, Judged, dict[str, float]]:
    """One model on one dataset: its figures, what its verdict rests on, and means by configuration."""
    loaded = [each.load().final() for each in sets]
    every, notes = on_same_items(loaded, [each.model for each in sets], missing, by_name=True)
    first = every[0]
    clusters = clusters_of(texts, first.example_ids, settings.data.clusters)
    spread = configuration_spread([runs.scores for runs in every], clusters, seed=settings.seed)
    base = own_name(sets[0])
    judged = Judged(
        f"{base} on {sets[0].dataset}",
        spread,
        _knows(every),
        float(first.n_examples) if clusters is None else effective_clusters(clusters),
    )
    claimed, why = (None, "") if claim is None else judge_claim(claim / 100, judged)
    one = ModelSensitivity(
        model=base,
        dataset=sets[0].dataset,
        condition=sets[0].condition,
        configurations=tuple(each.model[len(base) :].strip(" []") for each in sets),
        settings=tuple(differing(runs.configuration for runs in every)),
        spread=spread,
        claim=claimed,
        claim_open=why,
        notes=(*notes, *(said for runs in every for said in describe_unscored(runs))),
    )
    means = dict(zip((digest(runs.configuration) for runs in every), spread.means, strict=True))
    return one, judged, means


def _knows(every: Sequence[Runs]) -> bool:
    """Whether the mean score over configurations surely exceeds that of a constant answer; without labels 0."""
    scores = np.concatenate([runs.scores for runs in every])
    if scores.shape[1] < 2:
        return False
    gold = silent_codes(every[0])
    if gold is None and bool(np.isin(scores, (0.0, 1.0)).all()):
        gold = _common_gold(every)
    return score_above_constant(scores, gold).low > 0


def _common_gold(every: Sequence[Runs]) -> NDArray[np.int64] | None:
    first = every[0]
    return first.gold if all(runs.gold is not None for runs in every) else None


def _table(of_models: Sequence[Mapping[str, float]]) -> NDArray[np.float64]:
    """Means of each model in each configuration, NaN where it was not asked so."""
    columns = list(dict.fromkeys(name for means in of_models for name in means))
    return np.array([[means.get(name, np.nan) for name in columns] for means in of_models])
