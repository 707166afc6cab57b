"""The question of sensitivity: from runs in several configurations to how far these move the score."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict

from goldassay.core.errors import InputError
from goldassay.core.finding import Finding
from goldassay.core.keywords import takes
from goldassay.core.progress import Steps
from goldassay.core.results import frame_of_records
from goldassay.core.settings import Settings, with_seed
from goldassay.questions.configuration_sets import ByConfiguration, by_configuration, own_name
from goldassay.questions.instability.inputs import describe_inputs
from goldassay.questions.instability.texts import read_texts
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_sets import find_runs, placed, unloaded_sets
from goldassay.questions.run_sources import run_paths
from goldassay.questions.sensitivity.measuring import measure_sets
from goldassay.questions.sensitivity.page import PAGE, notes_on, say_sensitivity
from goldassay.questions.sensitivity.result import ConfigurationScore, SensitivityResult, SensitivityRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    import polars as pl

    from goldassay.data import Dataset
    from goldassay.questions.evidence import Evidence
    from goldassay.questions.run_sets import RunSet
    from goldassay.questions.sensitivity.measuring import ModelSensitivity, SensitivityStudy
    from goldassay.report.report import Report
    from goldassay.runs.slices import Slice

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


def report_sensitivity(
    found: SensitivityStudy,
    paths: Sequence[str],
    slices: Sequence[Slice],
    choice: RunChoice,
    claim: float | None,
    settings: Settings,
    steps: Steps,
) -> Report:
    """Write up what was found.

    Args:
        found: The figures and the verdict.
        paths: Of the runs, as they were given.
        slices: What was found there.
        choice: How the runs were read.
        claim: The difference in points that was held against configurations, if any.
        settings: Hold the limits.
        steps: What was done, and when.
    """
    result = result_of(found, claim)
    findings = {
        "questions": ["sensitivity"],
        "verdicts": {"sensitivity": found.verdict.to_dict()},
        "inputs": describe_inputs(paths, slices, choice),
        "sensitivity": result,
        "settings": {
            "seed": settings.seed,
            "claim": claim,
            "reading": choice.said(),
            "verdicts": settings.verdicts.sensitivity.model_dump(mode="json"),
        },
    }
    models = list(dict.fromkeys(each.model for each in found.models))
    datasets = list(dict.fromkeys(each.dataset for each in found.models))
    of = models[0] if len(models) == 1 else f"{len(models)} models"
    on = datasets[0] if len(datasets) == 1 else f"{len(datasets)} datasets"
    document = frame_findings(f"Sensitivity of {of} on {on}", findings, steps, settings)
    finding = Finding("sensitivity", found.verdict, result=result)
    return compose_report(document, tables_of(result), findings=[finding])


def result_of(found: SensitivityStudy, claim: float | None) -> SensitivityResult:
    """What a report holds; `claim` in points."""
    return SensitivityResult(
        results=tuple(map(_row, found.models)),
        configurations=found.scores,
        n_pairs=found.n_pairs,
        n_changed=found.n_changed,
        alone=found.alone,
        left_out=found.left_out,
        sentences=tuple(say_sensitivity(found, claim)),
        notes=tuple(notes_on(found)),
    )


def tables_of(found: SensitivityResult) -> dict[str, pl.DataFrame]:
    """Full tables: a row a model and dataset, and a row a configuration."""
    return {
        "sensitivity": frame_of_records(found.results, SensitivityRow),
        "configurations": frame_of_records(found.configurations, ConfigurationScore),
    }


def _row(each: ModelSensitivity) -> SensitivityRow:
    """A model on a dataset as one flat row."""
    spread = each.spread
    within, best, worst = spread.sd_interval, spread.best_score, spread.worst_score
    return SensitivityRow(
        model=each.model,
        dataset=each.dataset,
        condition=each.condition,
        settings=", ".join(each.settings),
        n_configurations=len(spread.means),
        n_repeats_least=min(spread.n_repeats),
        n_repeats_most=max(spread.n_repeats),
        n_examples=spread.n_examples,
        sd=spread.sd,
        sd_low=None if within is None else within.low,
        sd_high=None if within is None else within.high,
        separable=spread.separable,
        repeat_sd=spread.repeat_sd,
        range=spread.range,
        range_low=spread.range_interval.low,
        range_high=spread.range_interval.high,
        best=each.configurations[spread.best],
        best_mean=spread.means[spread.best],
        best_elsewhere=best.mean,
        best_low=best.interval.low,
        best_high=best.interval.high,
        worst=each.configurations[spread.worst],
        worst_mean=spread.means[spread.worst],
        worst_elsewhere=worst.mean,
        worst_low=worst.interval.low,
        worst_high=worst.interval.high,
        claim=each.claim,
        claim_open=each.claim_open,
    )


class _Sensitivity:
    question = "sensitivity"
    title = PAGE.title
    asks = str(PAGE.lead)
    needs = ("configurations",)

    def run(self, evidence: Evidence) -> Finding:
        """Measure the spread over configurations on the evaluation part; configurations that do not fit are named."""
        found = by_configuration(evidence.run_sets)
        with evidence.steps.step("measuring sensitivity") as progress:
            study = measure_sets(found, evidence.texts_of, evidence.settings, refuse=False, progress=progress)
        result = result_of(study, None)
        return Finding(self.question, study.verdict, tables=tables_of(result), result=result)


CHECK = _Sensitivity()
