"""The question of sensitivity: from runs in several configurations to how far these move the score."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.core.bounds import reading
from goldassay.core.errors import SHELL, InputError, entry_point, option
from goldassay.core.progress import Steps
from goldassay.core.results import frame_of_records
from goldassay.core.sections import Finding
from goldassay.data.column_names import normalized
from goldassay.data.table import Table
from goldassay.questions.inputs import describe_inputs, read_texts
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_sets import (
    ByConfiguration,
    RunSet,
    beside_each_other,
    by_configuration,
    find_runs,
    own_name,
    placed,
    unloaded_sets,
)
from goldassay.questions.sensitivity.measuring import ModelSensitivity, SensitivityStudy, measure_sets
from goldassay.questions.sensitivity.page import PAGE, describe_sensitivity, notes_on
from goldassay.questions.sensitivity.result import ConfigurationScore, SensitivityResult, SensitivityRow
from goldassay.runs.adapters.long_table import possible_settings
from goldassay.runs.finding import NoRunsError
from goldassay.runs.kinds.boards import Boards
from goldassay.runs.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from goldassay.core.settings import Settings
    from goldassay.data.dataset import Dataset
    from goldassay.questions.evidence import Evidence
    from goldassay.report.report import Report
    from goldassay.runs.run_parts import Slice

__all__ = ["study_sensitivity"]

# Of a folder, looked at for means of prompts.
_MOST_FILES = 20


def study_sensitivity(
    paths: Sequence[str], choice: RunChoice, claim: float | None, settings: Settings, *, quiet: bool
) -> tuple[Report, SensitivityStudy]:
    """Measure sensitivity, as `measure_sensitivity` does.

    Raises:
        InputError: As `measure_sensitivity`.
    """
    choice = replace(choice, checkpoint=choice.checkpoint or "last")
    every_model = replace(choice, model=None)
    steps = Steps(quiet)
    with placed(paths), steps.step("measuring sensitivity") as progress:
        try:
            slices = find_runs(paths, every_model)
        except NoRunsError:
            for path in map(Path, paths):
                with reading(path):
                    for file in sorted(path.iterdir())[:_MOST_FILES] if path.is_dir() else [path]:
                        _refuse_means(file)
            raise
        found = _chosen(unloaded_sets(slices, every_model), choice.model)
        study = measure_sets(found, _texts_of, settings, claim=claim, missing=choice.rule, progress=progress)
    return report_sensitivity(study, paths, slices, choice, claim, settings, steps), study


def _refuse_means(path: Path) -> None:
    """Refuse a table with a row a prompt and a column a model: means, which chance moves nobody knows how far.

    Raises:
        InputError: It is one.
    """
    table = read_table(path) if path.is_file() else None
    match = None if table is None else Boards().recognize(Table(table, "table"), {})
    item = "" if match is None or not match.found else match.roles.get("item", "")
    if not normalized(item).startswith(("paraphrase", "prompt", "template")):
        return
    board = f"goldassay.rank_systems({str(path)!r})"
    if entry_point() == SHELL:
        board = f"goldassay board {shlex.quote(str(path))}"
    raise InputError(
        f"each row is a prompt ({item!r}) with one mean per model, and without scores of examples chance cannot be "
        "separated from the prompt",
        file=path,
        mend=f"{board} shows how models differ over prompts; for sensitivity give a row per prompt and example",
    )  # fmt: skip


def _chosen(sets: Sequence[RunSet], model: str | None) -> ByConfiguration:
    """The sets of the model that was asked for, by its own name, else all.

    Raises:
        InputError: There is no such model, or none has several configurations.
    """
    own = [each for each in sets if model is None or own_name(each) == model]
    if not own:
        there = sorted(set(map(own_name, sets)))
        raise InputError(f"there are no runs with model {model!r}", mend=f"there are {', '.join(there[:8])}")
    found = by_configuration(beside_each_other(own))
    if not found.several:
        raise InputError(
            "each model was asked in one configuration, and sensitivity needs at least two, better ten",
            mend=_advice(list(dict.fromkeys(part.file for each in own for part in each.slices))),
        )
    return found


def _advice(files: Sequence[str]) -> str:
    """The column whose values may be configurations; else how to see what runs there are."""
    for file in files[:_MOST_FILES]:
        for column in possible_settings(Path(file))[:1]:
            return f"{option('columns', f'configuration={column}')} takes each value of {column!r} for one"
    shown = f"goldassay.list_runs({files[0]!r})"
    if entry_point() == SHELL:
        shown = f"goldassay runs show {shlex.quote(files[0])}"
    return (
        f"{shown} shows the runs; give runs with other prompts, shots or temperatures, in a column "
        "config_prompt, config_shots or config_temperature"
    )


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
        "inputs": describe_inputs(paths, slices, choice),
        "sensitivity": result,
        "settings": {
            "seed": settings.seed,
            "claim": claim,
            "reading": choice.describe(),
            "verdicts": settings.verdicts.sensitivity.model_dump(mode="json"),
        },
    }
    models = list(dict.fromkeys(each.model for each in found.models))
    datasets = list(dict.fromkeys(each.dataset for each in found.models))
    of = models[0] if len(models) == 1 else f"{len(models)} models"
    on = datasets[0] if len(datasets) == 1 else f"{len(datasets)} datasets"
    document = frame_findings(
        f"Sensitivity of {of} on {on}", findings, steps, settings, verdicts={"sensitivity": found.verdict}
    )
    finding = Finding("sensitivity", found.verdict, result=result)
    return compose_report(document, tables_of(result), findings=[finding])


def result_of(found: SensitivityStudy, claim: float | None) -> SensitivityResult:
    """What a report holds; `claim` in points."""
    return SensitivityResult(
        results=tuple(map(_row, found.models)),
        configurations=found.scores,
        n_pairs=found.n_pairs,
        n_changed=found.n_changed,
        single_configuration=found.single_configuration,
        dropped=found.dropped,
        sentences=tuple(describe_sensitivity(found, claim)),
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
        sd_low=within.low,
        sd_high=within.high,
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
        found = by_configuration(beside_each_other(evidence.run_sets))
        with evidence.steps.step("measuring sensitivity") as progress:
            study = measure_sets(
                found, evidence.texts_of, evidence.settings, missing=evidence.choice.rule, refuse=False,
                progress=progress,
            )  # fmt: skip
        result = result_of(study, None)
        return Finding(self.question, study.verdict, tables=tables_of(result), result=result)


CHECK = _Sensitivity()
