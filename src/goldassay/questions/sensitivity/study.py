"""Sensitivity as a study of its own: from runs in several configurations to how far these move the score."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict

from goldassay.core.errors import InputError
from goldassay.core.keywords import takes
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings, with_seed
from goldassay.questions.configuration_sets import ByConfiguration, by_configuration, own_name
from goldassay.questions.instability.texts import read_texts
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_sets import find_runs, placed, unloaded_sets
from goldassay.questions.run_sources import run_paths
from goldassay.questions.sensitivity.measuring import measure_sets
from goldassay.questions.sensitivity.report import report_sensitivity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from goldassay.data import Dataset
    from goldassay.questions.run_sets import RunSet
    from goldassay.questions.sensitivity.measuring import SensitivityStudy
    from goldassay.report import Report

__all__ = ["SensitivityReading", "measure_sensitivity", "study_sensitivity"]


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
    every_model = replace(choice, model=None)
    steps = Steps(quiet)
    with placed(paths), steps.step("measuring sensitivity") as progress:
        slices = find_runs(paths, every_model)
        found = _chosen(unloaded_sets(slices, every_model), choice.model)
        intersect = choice.align == "intersect"
        study = measure_sets(found, _texts_of, settings, claim=claim, intersect=intersect, progress=progress)
    return report_sensitivity(study, paths, slices, choice, claim, settings, steps), study


def _chosen(sets: Sequence[RunSet], model: str | None) -> ByConfiguration:
    """The sets of the model that was asked for, by its own name, else all.

    Raises:
        InputError: There is no such model, or none has several configurations.
    """
    own = [each for each in sets if model is None or own_name(each) == model]
    if not own:
        there = sorted(set(map(own_name, sets)))
        raise InputError(f"there are no runs with model {model!r}", mend=f"there are {', '.join(there[:8])}")
    found = by_configuration(own)
    if not found.several:
        raise InputError(
            "each model was asked in one configuration, and sensitivity needs at least two, better ten",
            mend="give runs with other prompts, shots or temperatures; a table tells them in columns config_NAME",
        )
    return found


def _texts_of(runs: RunSet) -> Dataset | None:
    return read_texts(runs.gold) if runs.gold is None or isinstance(runs.gold, str) else runs.gold
