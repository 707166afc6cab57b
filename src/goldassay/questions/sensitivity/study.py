"""Sensitivity as a study of its own: from runs in several configurations to how far these move the score."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import polars as pl

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.keywords import takes
from goldassay.core.progress import Steps
from goldassay.core.results import Result
from goldassay.core.settings import Settings, with_seed
from goldassay.instability import (
    ConfigurationSpread,
    configuration_spread,
    distinct_runs,
    order_changes,
    score_above_constant,
)
from goldassay.questions.example_clusters import clusters_of
from goldassay.questions.instability.spread import silent_codes
from goldassay.questions.instability.texts import read_texts
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_sets import RunSet, find_runs, placed, unloaded_sets
from goldassay.questions.run_sources import run_paths
from goldassay.questions.sensitivity.report import report_sensitivity
from goldassay.questions.sensitivity.verdict import Claim, Judged, judge, judge_claim
from goldassay.runs.configurations import differing, digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from goldassay.core.verdicts import Verdict
    from goldassay.data import Dataset
    from goldassay.report import Report
    from goldassay.runs import Runs
    from goldassay.runs.slices import Slice

__all__ = ["SensitivityReading", "SensitivityStudy", "measure_sensitivity", "study_sensitivity"]


class SensitivityReading(TypedDict, total=False):
    """How the runs are read, as for `read_runs`; `gold` is the data that were predicted, for their texts."""

    format: str
    model: str | None
    dataset: str | None
    condition: str | None
    split: str | None
    train_set: str | None
    checkpoint: int | str | None
    columns: Mapping[str, str] | str | None
    labels: Mapping[str, str] | None
    label_names: Sequence[str] | None
    align: Any
    grades: str | None
    gold: Any


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
    """

    model: str
    dataset: str
    condition: str
    configurations: tuple[str, ...]
    settings: tuple[str, ...]
    spread: ConfigurationSpread
    claim: Claim | None = None


@dataclass(frozen=True)
class SensitivityStudy(Result):
    """How far scores move with the configuration, of every model and dataset that has several.

    Attributes:
        verdict: On the most sensitive.
        models: A model and dataset each.
        n_pairs: Pairs of models on one dataset that have two configurations in common.
        n_changed: Of these, pairs whose order changes from one configuration to another.
        alone: Models on datasets with a single configuration, which are left out.
    """

    verdict: Verdict
    models: tuple[ModelSensitivity, ...]
    n_pairs: int
    n_changed: int
    alone: tuple[str, ...] = ()

    def to_frame(self) -> pl.DataFrame:
        """One row a model, dataset and configuration: model, dataset, condition, configuration, n_repeats, mean."""
        return pl.DataFrame(
            [
                {
                    "model": each.model,
                    "dataset": each.dataset,
                    "condition": each.condition,
                    "configuration": name,
                    "n_repeats": n,
                    "mean": mean,
                }
                for each in self.models
                for name, n, mean in zip(each.configurations, each.spread.n_repeats, each.spread.means, strict=True)
            ]
        )


@takes("sensitivity")
def measure_sensitivity(
    runs: Any,
    *,
    claim: float | None = None,
    seed: int | None = None,
    settings: Settings | None = None,
    quiet: bool = True,
    **reading: Unpack[SensitivityReading],
) -> Report:
    """Measure how far a score moves with the way of asking: `goldassay sensitivity`.

    Args:
        runs: Predictions in several configurations: a path, `Runs`, or a table with a row a prediction, whose settings
            stand in columns config_NAME, or several of these.
        claim: A difference between models, in points, to hold against what configurations do.
        seed: Of the folds on which the best configuration is picked; by default that of the settings.
        settings: By default `Settings()`.
        quiet: Show no progress.
        reading: How runs are read: `gold`, `model`, `dataset`, `columns`, `labels`, `label_names`, `align`,
            `checkpoint`, `split`, `condition`, `train_set`, `format`, `grades`, as for `read_runs`. `model` is a
            model's own name.

    Returns:
        The report; its table `configurations` has a row a configuration, and `.save(directory)` writes its files.

    Raises:
        InputError: The runs cannot be read, no model has two configurations, or these cover different examples.
    """
    settings = with_seed(settings or Settings(), seed)
    with run_paths(runs, named=False) as paths:
        report, _ = study_sensitivity(paths, RunChoice.of(**reading), claim, settings, quiet=quiet)
    return report


def study_sensitivity(
    paths: Sequence[str], choice: RunChoice, claim: float | None, settings: Settings, *, quiet: bool
) -> tuple[Report, SensitivityStudy]:
    """Measure sensitivity: what the command and `measure_sensitivity` have in common.

    Raises:
        InputError: As `measure_sensitivity`.
    """
    choice = replace(choice, checkpoint=choice.checkpoint or "last")
    found, judged = [], []
    scores: dict[str, list[dict[str, float]]] = defaultdict(list)
    steps = Steps(quiet)
    with placed(paths), steps.step("measuring sensitivity") as progress:
        slices = find_runs(paths, replace(choice, model=None))
        by_model, alone = _sets(slices, choice)
        for done, sets in enumerate(by_model):
            one, of_one, means = _measure(sets, choice, claim, settings)
            found.append(one)
            judged.append(of_one)
            scores[one.dataset].append(means)
            progress(done + 1, len(by_model))
    changes = [order_changes(_table(of_models)) for of_models in scores.values()]
    study = SensitivityStudy(
        verdict=judge(judged, settings.verdicts.sensitivity),
        models=tuple(found),
        n_pairs=sum(pairs for _, pairs in changes),
        n_changed=sum(changed for changed, _ in changes),
        alone=tuple(alone),
    )
    return report_sensitivity(study, paths, slices, choice, claim, settings, steps), study


def _sets(slices: Sequence[Slice], choice: RunChoice) -> tuple[list[list[RunSet]], list[str]]:
    """Sets of runs by model and dataset, a set a configuration; and the models that have but one."""
    sets = unloaded_sets(slices, replace(choice, model=None))
    by_model: dict[tuple[str, ...], list[RunSet]] = defaultdict(list)
    for each in sets:
        part = each.slices[0]
        by_model[part.base_model or each.model, each.dataset, each.condition, part.collection.train_set].append(each)
    if choice.model is not None:
        there = sorted({key[0] for key in by_model})
        by_model = {key: value for key, value in by_model.items() if key[0] == choice.model}
        if not by_model:
            raise InputError(f"there are no runs with model {choice.model!r}", mend=f"there are {', '.join(there[:8])}")
    several = [each for each in by_model.values() if len(each) > 1]
    if not several:
        raise InputError(
            "each model was asked in one configuration, and sensitivity needs at least two, better ten",
            mend="give runs with other prompts, shots or temperatures; a table tells them in columns config_NAME",
        )
    return several, [f"{key[0]} on {key[1]}" for key, each in by_model.items() if len(each) < 2]


def _measure(
    sets: Sequence[RunSet], choice: RunChoice, claim: float | None, settings: Settings
) -> tuple[ModelSensitivity, Judged, dict[str, float]]:
    """One model on one dataset: its figures, what its verdict rests on, and means by configuration."""
    every = _aligned([each.load().final() for each in sets], choice)
    first = every[0]
    texts = _texts(choice.gold_of(sets[0].slices[0].collection.dataset))
    clusters = clusters_of(texts, first.example_ids, settings.data.clusters)
    spread = configuration_spread([runs.scores for runs in every], clusters, seed=settings.seed)
    base = sets[0].slices[0].base_model or sets[0].model
    one = ModelSensitivity(
        model=base,
        dataset=sets[0].dataset,
        condition=sets[0].condition,
        configurations=tuple(each.model[len(base) :].strip(" []") for each in sets),
        settings=tuple(differing(runs.configuration for runs in every)),
        spread=spread,
        claim=None if claim is None else judge_claim(claim / 100, spread),
    )
    means = dict(zip((digest(runs.configuration) for runs in every), spread.means, strict=True))
    distinct = distinct_runs(np.stack([runs.scores[0] for runs in every]))
    return one, Judged(f"{one.model} on {one.dataset}", spread, _knows(every), distinct), means


def _texts(gold: str | Dataset | None) -> Dataset | None:
    return read_texts(gold) if gold is None or isinstance(gold, str) else gold


def _aligned(every: list[Runs], choice: RunChoice) -> list[Runs]:
    """The runs of all configurations on the same examples in the same order.

    Raises:
        InputError: They cover different examples, and the common ones were not asked for.
    """
    orders = [{name: row for row, name in enumerate(runs.example_ids.tolist())} for runs in every]
    common = [name for name in orders[0] if all(name in order for order in orders)]
    if not common or (choice.align != "intersect" and any(len(order) != len(common) for order in orders)):
        raise InputError(
            f"the configurations of {every[0].base_model or every[0].model} on {every[0].dataset} cover different "
            f"examples, {len(common)} in common",
            mend=f"keep these with {option('align', 'intersect')}" if common else "check that they are of one dataset",
        )
    return [runs.take(np.array([order[name] for name in common])) for runs, order in zip(every, orders, strict=True)]


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
