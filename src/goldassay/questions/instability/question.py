"""The question of instability: would the score come out the same with another seed?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from goldassay.core.document import Input
from goldassay.core.errors import InputError, option, right_labels
from goldassay.core.files import sha256_of
from goldassay.core.progress import Steps
from goldassay.core.results import Verdict, not_measurable
from goldassay.core.sections import Finding, RowToRead
from goldassay.core.settings import Settings, with_seed
from goldassay.questions.cutoff.question import Dated, cutoff_tables, measure_cutoff
from goldassay.questions.discount.question import discount_runs, discount_tables
from goldassay.questions.discount.reading import ShortcutBits, reported_bits
from goldassay.questions.evidence import Evidence
from goldassay.questions.example_clusters import clusters_of
from goldassay.questions.inputs import describe_inputs, run_paths
from goldassay.questions.instability.examples import answers_of_runs, describe_unsteady
from goldassay.questions.instability.measuring import InstabilityChoice, add_curves, measure, measure_steps
from goldassay.questions.instability.page import PAGE
from goldassay.questions.instability.paper import frame_of_rows, score_table, trajectory_table
from goldassay.questions.instability.result import InstabilityResult
from goldassay.questions.instability.spread import caveats_of, deviations_of_curves
from goldassay.questions.instability.verdict import WHOLE, judge, judge_instability, spread_of
from goldassay.questions.matching import curves_of_runs
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.rows import MOST_ROWS, beside_data, first_to_read
from goldassay.questions.run_choice import RunChoice, RunReading
from goldassay.questions.run_curves import find_curves, measure_curve
from goldassay.questions.run_sets import RunSet, beside_each_other, placed
from goldassay.runs.curves import UNNAMED_METRIC, Curves
from goldassay.runs.reading import NoRunsError
from goldassay.runs.traits import group_names, known_groups

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from goldassay.report.report import Report


_NOTE = (
    "Scores of each run were given, and no predictions: they tell how far the score moves, not which examples move it, "
    "nor how many independent ones they count for. Not measured: parts of the variance, design effects, intervals over "
    "examples, groups, and whether one run is a copy of another."
)


def study_instability(
    runs: Any,
    asked: InstabilityChoice,
    *,
    seed: int | None = None,
    settings: Settings | None = None,
    quiet: bool = True,
    discount: str | None = None,
    discount_part: str | None = None,
    cutoff: str | None = None,
    **reading: Unpack[RunReading],
) -> Report:
    """Measure instability, as `measure_instability` does.

    Args:
        runs: As for `measure_instability`.
        asked: What is measured; also whether an interruption keeps what is finished, which the report then says in
            `document["instability"]["interrupted"]`.
        seed: As for `measure_instability`.
        settings: Likewise.
        quiet: Likewise.
        discount: Likewise.
        discount_part: Likewise.
        cutoff: Likewise.
        reading: Likewise.

    Raises:
        InputError: As `measure_instability`.
        KeyboardInterrupt: It was interrupted, and nothing is finished or to be kept.
    """
    settings = with_seed(settings or Settings(), seed)
    told = reported_bits(discount, discount_part)
    with run_paths(runs, named=False) as paths:
        return _measure(paths, RunChoice.of(cutoff, **reading), asked, settings, quiet, told)


def _measure(
    paths: list[str],
    choice: RunChoice,
    asked: InstabilityChoice,
    settings: Settings,
    quiet: bool,
    told: ShortcutBits | None,
) -> Report:
    evidence = Evidence(runs=paths, choice=choice, settings=settings, steps=Steps(quiet))
    reference, groups = asked.reference, asked.groups
    try:
        sets = beside_each_other(evidence.run_sets)
    except NoRunsError:
        curves = find_curves(paths, choice)
        if not curves:
            raise
        if told is not None:
            raise InputError(
                f"{option('discount')}: curves have no answers to single rows", mend="give predictions a row an example"
            ) from None
        _check_takes_scores(reference, groups, curves)
        return report_curves(curves, paths, settings, evidence.steps, choice.describe(), reference)
    _check_reference(sets, reference)
    with placed(paths):
        _check_groups(evidence, groups or ())
        found, verdict, tables, rows = measure_sets(evidence, asked)
    found, tables = add_curves(found, tables, find_curves(paths, choice, required=False))
    texts = {each.gold: evidence.texts_of(each) for each in sets if isinstance(each.gold, str)}
    discounted = None
    if told is not None:
        with placed(paths), evidence.steps.step("discounting"):
            whole = [(each.model, each.load()) for each in sets if each.is_comparable]
            discounted = discount_runs(told, whole, settings.seed)
            tables |= discount_tables(discounted)
    parted = None
    if choice.cutoff is not None:
        with placed(paths), evidence.steps.step("parting examples by date"):
            parted = measure_cutoff([_dated(evidence, each) for each in sets], choice)
            tables |= cutoff_tables(parted)
    further = {name: each for name, each in (("discount", discounted), ("cutoff", parted)) if each is not None}
    findings = {
        "questions": ["instability", *further],
        "inputs": describe_inputs(paths, evidence.found_runs, choice, texts),
        "instability": found,
        **further,
        "settings": {
            "seed": settings.seed,
            "reference": reference,
            "groups": None if groups is None else list(groups),
            "reading": choice.describe(),
            "verdicts": settings.verdicts.instability.model_dump(mode="json"),
        },
    }
    document = frame_findings(_title(sets), findings, evidence.steps, settings, verdicts={"instability": verdict})
    finding = Finding("instability", verdict, rows=rows, result=found)
    others = [Finding(name, None, result=each) for name, each in further.items()]
    return compose_report(document, tables, findings=[finding, *others])


def _check_reference(sets: Sequence[RunSet], reference: str | None) -> None:
    """Refuse a reference of which there are no runs.

    Raises:
        InputError: There are none; the line names the datasets.
    """
    datasets = list(dict.fromkeys(runs.dataset for runs in sets))
    if reference is not None and reference not in datasets:
        raise InputError(f"there are no runs on the reference {reference!r}", mend=f"there are {', '.join(datasets)}")


def _dated(evidence: Evidence, each: RunSet) -> Dated:
    """A set of runs with the dates of its examples."""
    runs = each.load().final()
    by = evidence.settings.data.clusters
    return Dated.of({each.model: runs}, clusters_of(evidence.texts_of(each), runs.example_ids, by))


def measure_sets(
    evidence: Evidence, choice: InstabilityChoice
) -> tuple[InstabilityResult, Verdict, dict[str, pl.DataFrame], pl.DataFrame | None]:
    """What is measured of every set of runs, the verdict, full tables, and the examples on which runs differ.

    Raises:
        InputError: The runs of a set cannot be read or do not fit together.
        KeyboardInterrupt: It was stopped before anything was finished, or nothing is to be kept.
    """
    with evidence.steps.step("measuring instability") as progress:
        found, tables, unsteady = measure(evidence, choice, progress)
    if found.interrupted and all(row.n_runs < 2 for row in found.results):
        verdict = not_measurable("It was interrupted before any spread was measured.", "Run it again to the end.")
    else:
        verdict = judge(found.results, evidence.settings.verdicts.instability)
    if evidence.choice.pool_configurations:
        said = "Runs of different configurations are pooled as asked for: the spread is over these, too."
        verdict = replace(verdict, notes=(*verdict.notes, said))
    if found.note:
        verdict = replace(verdict, notes=(*verdict.notes, found.note))
    if unsteady is not None:
        texts = {runs.dataset: evidence.texts_of(runs) for runs in evidence.run_sets}
        unsteady = beside_data(unsteady, {name: each for name, each in texts.items() if each is not None})
    return found, verdict, tables, unsteady


def _check_takes_scores(reference: str | None, groups: Sequence[str] | None, curves: Sequence[Curves]) -> None:
    """Refuse what takes predictions, and a reference that is not there or of unknown size."""
    if groups:
        raise InputError(
            f"{option('groups')} needs predictions, and only scores are there",
            file=curves[0].files[0],
            mend=f"leave {option('groups')} out, or give the predictions of each run",
        )
    if reference is None:
        return
    of_reference = [curve for curve in curves if curve.dataset == reference]
    if not of_reference:
        known = dict.fromkeys(curve.dataset for curve in curves)
        raise InputError(f"there are no runs on the reference {reference!r}", mend=f"there are {', '.join(known)}")
    if all(curve.size is None for curve in of_reference):
        raise InputError(
            f"{option('reference')} needs numbers of examples, and only scores are there",
            file=of_reference[0].files[0],
            mend="add a row or column n to the table of scores, or give the predictions of each run",
        )


def _check_groups(evidence: Evidence, wanted: Sequence[str]) -> None:
    ones = [(each.load_one(), evidence.texts_of(each)) for each in evidence.run_sets] if wanted else []
    for column in wanted:
        if all(group_names(runs, column, texts) is None for runs, texts in ones):
            known = list(dict.fromkeys(name for runs, texts in ones for name in known_groups(runs, texts)))
            there = f"there are {', '.join(known)}" if known else f"give the dataset that has it with {right_labels()}"
            raise InputError(f"no runs have the group column {column!r}", mend=there)


def _title(sets: Sequence[RunSet]) -> str:
    models = list(dict.fromkeys(runs.model for runs in sets))
    datasets = list(dict.fromkeys(runs.dataset for runs in sets))
    of = f" of {len(models)} models" if len(models) > 1 else "" if models == ["model"] else f" of {models[0]}"
    on = datasets[0] if len(datasets) == 1 else f"{len(datasets)} datasets"
    return f"Instability{of} on {on}"


def report_curves(
    curves: Sequence[Curves],
    paths: Sequence[str | os.PathLike[str]],
    settings: Settings,
    steps: Steps,
    said: Mapping[str, Any],
    reference: str | None = None,
) -> Report:
    """The report on instability where there are scores by step, and no predictions.

    Args:
        curves: At least one set.
        paths: Where they were found.
        settings: Hold the limits from which the verdict follows.
        steps: Times.
        said: What the caller said about the runs, for the report's settings.
        reference: The dataset whose spread the others' are held against.

    Raises:
        InputError: No model has two runs.
    """
    several = len({curve.model for curve in curves}) > 1
    results = tuple(measure_curve(curve, f"{curve.model} · " * several + _scored(curve)) for curve in curves)
    measurable = [row for row in results if row.n_runs > 1]
    if not measurable:
        raise InputError(
            "one run is there, and a spread needs at least two, better ten",
            file=curves[0].files[0],
            mend="give the folders of other seeds of the same model",
        )
    moves, correlations = measure_steps(curves)
    lost = [
        f"{curve.model}{' on ' + curve.dataset if curve.checkpoints else ''}: {n} {why} are left out."
        for curve in curves
        for why, n in curve.skipped.items()
    ]
    found = InstabilityResult(
        results=results,
        note=" ".join([_NOTE, *dict.fromkeys(lost)]),
        caveats=caveats_of(results),
        trajectories=moves,
        correlations=correlations,
        reference=reference,
        deviations=None if reference is None else deviations_of_curves(curves, results, reference),
    )
    verdict = judge_instability(
        [replace(spread_of(row), name=f"{row.model} on {row.dataset}") for row in measurable],
        settings.verdicts.instability,
    )
    findings = {
        "questions": ["instability"],
        "inputs": [_describe_files(path, curves) for path in paths],
        "instability": found,
        "settings": {
            "seed": settings.seed,
            "reference": reference,
            "reading": dict(said),
            "verdicts": settings.verdicts.instability.model_dump(mode="json"),
        },
    }
    models = list(dict.fromkeys(curve.model for curve in curves))
    of = models[0] if len(models) == 1 else f"{len(models)} models"
    rows = found.deviations.rows if found.deviations else ()
    tables = {
        "instability": score_table(results),
        "normalized_deviations": frame_of_rows(list(map(vars, rows))),
        "trajectories": trajectory_table(moves),
    }
    return compose_report(
        frame_findings(
            f"Instability of {of}, by its scores alone", findings, steps, settings, verdicts={"instability": verdict}
        ),
        {name: table for name, table in tables.items() if table.height},
        findings=[Finding("instability", verdict, result=found)],
    )


def _scored(curve: Curves) -> str:
    """The dataset, with the metric where the files name it."""
    return curve.dataset if curve.metric == UNNAMED_METRIC else f"{curve.dataset}, {curve.metric}"


def _describe_files(path: str | os.PathLike[str], curves: Sequence[Curves]) -> Input:
    place = Path(path)
    files = sorted({Path(file) for curve in curves for file in curve.files})
    own = [file for file in files if file == place or place in file.parents]
    return Input(
        role="runs",
        name=place.name,
        sha256=tuple(sha256_of(file) for file in own),
        files=tuple(file.name if file == place else str(file.relative_to(place)) for file in own),
        format=", ".join(sorted({curve.format for curve in curves})),
    )


class _Instability:
    question = "instability"
    title = PAGE.title
    asks = str(PAGE.lead)
    needs = ("runs",)

    def run(self, evidence: Evidence) -> Finding:
        """Measure spread and its causes for each set of runs on the evaluation part, without single examples."""
        found, verdict, tables, rows = measure_sets(evidence, InstabilityChoice(deep=False))
        curves = curves_of_runs(evidence.test, evidence.run_sets)
        if curves is not None:
            tables["checkpoints"] = curves.to_frame()
        answers = answers_of_runs(evidence, curves)
        if answers.runs is not None:
            tables["answering_runs"] = answers.runs
        first_rows: Sequence[RowToRead] = ()
        # Of one run nothing is known of its spread; what it answers is shown all the same.
        if rows is not None:
            test = {evidence.test.name: evidence.test}
            whole = rows.filter(pl.col("condition").is_in(WHOLE))
            first_rows = first_to_read(whole, test, describe_unsteady, MOST_ROWS)
        return Finding(
            self.question,
            verdict,
            tables=tables,
            examples=answers.columns,
            first_rows=tuple(first_rows),
            rows=rows,
            result=found,
        )


CHECK = _Instability()
