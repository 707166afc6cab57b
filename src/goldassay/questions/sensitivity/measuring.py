"""How far the score of each model moves with its configuration, of sets of runs that any door found."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.results import Headline, Result, Verdict, Word, frame_of_records, not_measurable, severity
from goldassay.questions.example_clusters import clusters_of
from goldassay.questions.instability.measures.scores import ALIKE
from goldassay.questions.instability.measures.variance import score_above_constant
from goldassay.questions.instability.spread import silent_codes
from goldassay.questions.instability.verdict import WHOLE
from goldassay.questions.run_sets import ByConfiguration, RunSet, own_name
from goldassay.questions.sensitivity.measures import (
    LEAST_CONFIGURATIONS,
    ConfigurationSpread,
    configuration_spread,
    order_changes,
)
from goldassay.questions.sensitivity.result import ConfigurationScore
from goldassay.runs.configurations import differing, digest
from goldassay.runs.missing import describe_scores, on_same_items
from goldassay.stats.clusters import effective_clusters
from goldassay.stats.effects import LEAST_CLUSTERS
from goldassay.stats.verdicts import judge_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from goldassay.core.settings import SensitivityLimits, Settings
    from goldassay.data.dataset import Dataset
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
        notes=(*notes, *(said for runs in every for said in describe_scores(runs))),
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


# Names of models that were asked in one way; the others are in report.json.
_MOST_NAMES = 8

# When `distinct_runs` takes one configuration for a copy of another.
_COPY = (
    f"one counts as another only where it scores differently on more than {100 * ALIKE:g} % of the examples that "
    "both get wrong, or right if these are fewer"
)

Claim = Literal["exceeds", "does not exceed", "undecided"]


@dataclass(frozen=True)
class Judged:
    """One set of configurations with its word.

    Attributes:
        name: What it is of.
        spread: Its figures.
        knows: Whether the model surely knows something: one that knows nothing is steady, too.
        effective_clusters: How many independent examples the clusters are worth.
    """

    name: str
    spread: ConfigurationSpread
    knows: bool
    effective_clusters: float

    def word(self, limits: SensitivityLimits) -> Word:
        """What its interval says."""
        found = self.spread.sd_interval
        word = judge_interval(found.low, found.high, limits.caution_sd, limits.unsound_sd)
        return word if word != "sound" or self.trusted else "unresolved"

    @property
    def trusted(self) -> bool:
        """Whether a small spread shows that configurations move the score little."""
        return (
            self.knows
            and self.spread.n_distinct >= LEAST_CONFIGURATIONS
            # Means of few examples are equal by chance alone, and equal means have no spread.
            and self.effective_clusters >= LEAST_CLUSTERS
        )

    @property
    def doubts(self) -> tuple[str, ...]:
        """What makes a small spread show little or nothing, a sentence each."""
        n, found = len(self.spread.means), []
        if n < LEAST_CONFIGURATIONS:
            found.append(f"That a score holds in other configurations takes at least {LEAST_CONFIGURATIONS} to show.")
        if not self.knows:
            found.append("Nothing shows that the model knows anything.")
        if self.spread.n_distinct < n:
            count = "one" if self.spread.n_distinct == 1 else f"{self.spread.n_distinct}"
            found.append(f"The {n} configurations differ so little, if at all, that they count as {count}: {_COPY}.")
        if self.effective_clusters < LEAST_CLUSTERS:
            found.append(
                f"The examples form {self.effective_clusters:.1f} effective clusters, and {LEAST_CLUSTERS} are needed."
            )
        return tuple(found)


def judge(
    sets: Sequence[Judged], limits: SensitivityLimits, *, alone: Sequence[str] = (), unfit: Sequence[str] = ()
) -> Verdict:
    """The verdict on several sets of configurations: that of the most severe.

    Args:
        sets: Of the whole input; models of a part of it are listed and never decide.
        limits: From which SD on a score is called so.
        alone: Models that were asked in one configuration: nothing is known of these, and nothing is sound.
        unfit: Why configurations of a model do not fit together, a sentence each; likewise.
    """
    if not sets:
        return not_measurable(
            " ".join(unfit) or "No runs of the whole input were given in several configurations.",
            f"Give runs of the whole input in at least {LEAST_CONFIGURATIONS} configurations, on the same examples.",
        )
    verdict = _judge(sets, limits)
    if alone or unfit:
        # Nothing bounds the spread of a model that was asked in one way.
        verdict = replace(verdict, at_most=None)
    if verdict.verdict != "sound":
        return verdict
    n = max(len(each.spread.means) for each in sets)
    if not (alone or unfit):
        return replace(verdict, notes=(*verdict.notes, f"This holds for these {n} configurations."))
    lone = [f"Only one configuration was given of {_listed(alone)}."] if alone else []
    return replace(
        verdict,
        verdict="unresolved",
        notes=(*verdict.notes, *unfit, *lone),
        next_step=f"Ask all models in at least {LEAST_CONFIGURATIONS} ways on the same examples, or leave others out.",
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(names[:_MOST_NAMES])}{more}"


def _judge(sets: Sequence[Judged], limits: SensitivityLimits) -> Verdict:
    worst = max(sets, key=lambda each: (severity(each.word(limits)), each.spread.sd, each.spread.range))
    word = worst.word(limits)
    found = worst.spread
    n = len(found.means)
    low, high = found.sd_interval.low, found.sd_interval.high
    evidence = (
        f"Another configuration moves the score{f' of {worst.name}' if len(sets) > 1 else ''} by "
        f"{100 * found.sd:.2f} points (SD; {100 * low:.2f} to {100 * high:.2f})."
    )
    notes = [
        f"The scores of {n} configurations span {100 * found.range:.1f} points ({100 * found.range_interval.low:.1f} "
        f"to {100 * found.range_interval.high:.1f} over examples)."
    ]
    if not found.separable:
        notes.append("No configuration was repeated, so the SD includes the noise of single runs.")
    if word == "unresolved":
        notes += worst.doubts
    next_step = {
        "unsound": "Report the score over many configurations, and compare models in the same ones.",
        "caution": "Report the configuration with the score, and no difference smaller than this spread.",
        "sound": "Report the score with its configuration as here.",
        "unresolved": _settle(worst),
    }[word]
    headline = Headline("SD of the score over configurations", found.sd, low, high, "points")
    at_most = max(each.spread.sd_interval.high for each in sets) if not any(each.doubts for each in sets) else None
    return Verdict(word, evidence, headline, next_step, _rule(limits), at_most, tuple(notes))


def _rule(limits: SensitivityLimits) -> str:
    caution, unsound = (f"{100 * limit:g}" for limit in (limits.caution_sd, limits.unsound_sd))
    return (
        "By the SD over configurations of the most sensitive model, without the noise of repeats: unsound if the lower "
        f"end of its interval is at least {unsound} points, caution if at least {caution}, sound if the upper end is "
        f"below {unsound} in at least {LEAST_CONFIGURATIONS} configurations that differ in their answers, of a model "
        f"whose score is significantly above guessing, on at least {LEAST_CLUSTERS} effective clusters of examples, "
        "and each model has several configurations; else unresolved."
    )


def _settle(worst: Judged) -> str:
    """What would settle it."""
    lacking = LEAST_CONFIGURATIONS - len(worst.spread.means)
    if lacking > 0:
        return f"Ask in {lacking} more way{'s' if lacking > 1 else ''} at least, each several times."
    if worst.spread.n_distinct < LEAST_CONFIGURATIONS:
        return "Check that the configurations changed the prompt."
    if worst.effective_clusters < LEAST_CLUSTERS:
        return "Ask of more examples, of more sources."
    if not worst.knows:
        return "Check that the right labels belong to these answers."
    if not worst.spread.separable:
        return "Repeat each configuration, with another seed or epoch."
    return "Ask in more ways, each several times: the number of configurations narrows the interval most."


def judge_claim(claim: float, of: Judged) -> tuple[Claim, str]:
    """Whether a claimed difference exceeds what two ways of asking do to one model: 1.96 sqrt(2) SD.

    It may exceed a spread only where the spread was measured on what a sound verdict needs: copies of one
    configuration have no spread, which shows nothing of others.

    Args:
        claim: In fractions.
        of: The model's configurations.

    Returns:
        The word, and where it is "undecided" why.
    """
    found = of.spread
    if len(found.means) < LEAST_CONFIGURATIONS and claim <= found.range_interval.low:
        return "does not exceed", ""
    reach = 1.96 * 2**0.5
    if claim < reach * found.sd_interval.low:
        return "does not exceed", ""
    if not of.trusted:
        return "undecided", " ".join(of.doubts)
    if claim > reach * found.sd_interval.high:
        return "exceeds", ""
    ends = (f"{100 * reach * end:.2f}" for end in (found.sd_interval.low, found.sd_interval.high))
    return "undecided", f"Another configuration may move the score by {' to '.join(ends)} points."
