"""The audit: from a dataset to a report with a verdict for each question."""

from __future__ import annotations

import os
import shlex
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.compiled import workers
from goldassay.core.cores import cores, one_blas_thread
from goldassay.core.errors import SHELL, InputError, entry_point, option
from goldassay.core.naming import listing
from goldassay.core.numbers import count
from goldassay.core.progress import Steps
from goldassay.core.results import unresolved
from goldassay.core.sections import Finding
from goldassay.data.fields import cell_texts
from goldassay.data.kinds.judged_scores import JudgedScores
from goldassay.data.kinds.kind import CHOICES as CHOICE_WORDS
from goldassay.data.kinds.recognition import recognize
from goldassay.data.roles import searching
from goldassay.questions.answered.question import CHECK as ANSWERED
from goldassay.questions.board.question import find_board, measure_board
from goldassay.questions.board.reading import read_board
from goldassay.questions.checks import (
    ANSWERS,
    AUDITED,
    BOARD,
    CHOICES,
    FURTHER,
    GRADES,
    JUDGMENTS,
    PREFERENCES,
    RUNS,
    TEXTS,
    registered_checks,
)
from goldassay.questions.comparison.report import find_comparison, find_suite
from goldassay.questions.comparison.sides import read_suite
from goldassay.questions.compiling import compiling_ahead
from goldassay.questions.evidence import Evidence
from goldassay.questions.inputs import run_paths
from goldassay.questions.instability.measuring import InstabilityChoice, add_curves
from goldassay.questions.instability.question import measure_sets
from goldassay.questions.item_checks import ITEM_CHECKS, measure_leakage
from goldassay.questions.judgments.scores import measure_scores
from goldassay.questions.judgments.study import load_judgments, measure_judgments
from goldassay.questions.kind_evidence import ItemEvidence, JudgmentEvidence, RunEvidence
from goldassay.questions.leakage.choices import item_ids
from goldassay.questions.leakage.item_loading import ItemReading, pose_items
from goldassay.questions.networks import evidence_directory, files_since
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.rows import issues_of, issues_of_copies, ranked, table_of_rows
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_curves import find_curves
from goldassay.questions.run_sets import find_runs, placed
from goldassay.questions.sensitivity.question import CHECK as SENSITIVITY
from goldassay.runs.item_keys import ItemKeys
from goldassay.runs.kinds.boards import Boards
from goldassay.runs.kinds.opening import open_any
from goldassay.runs.loading import LackingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor, Future

    from goldassay.core.document import AnswerFit
    from goldassay.core.settings import Settings
    from goldassay.data.reading import Source
    from goldassay.data.table import Table
    from goldassay.questions.leakage.item_loading import Posed
    from goldassay.questions.overlap.search.scan import CorpusChoice
    from goldassay.report.report import Report


def study_audit(
    train: Any,
    test: Any,
    runs: Any,
    elsewhere: Any,
    corpus: CorpusChoice,
    choice: RunChoice,
    reading: ItemReading,
    settings: Settings,
    *,
    model: str | None = None,
    out: str | os.PathLike[str] | None = None,
    quiet: bool = True,
) -> Report:
    """Audit a benchmark, as `goldassay.audit` does: ask every question that there is evidence for.

    Args:
        train: As for `goldassay.audit`.
        test: Likewise.
        runs: Likewise.
        elsewhere: Likewise.
        corpus: What is searched.
        choice: How the runs are read.
        reading: How the data are read.
        settings: Everything else.
        model: As for `goldassay.audit`.
        out: Likewise.
        quiet: Show no progress.

    Raises:
        InputError: As `goldassay.audit`.
    """
    if model is not None:
        leakage_settings = settings.leakage.model_copy(update={"model": model})
        settings = settings.model_copy(update={"leakage": leakage_settings})
    steps = Steps(quiet)
    corpus.check()
    with run_paths(runs) as paths:
        evidence = Evidence(
            train,
            test,
            paths,
            elsewhere=elsewhere,
            columns=reading.columns,
            label_names=reading.label_names,
            file_format=reading.file_format,
            choice=choice,
            corpus=corpus,
            settings=settings,
            steps=steps,
        )
        with evidence.reading_data():
            kind = evidence.opened.match.kind.name
            if kind == TEXTS:
                evidence.load()
        if kind == TEXTS:
            return replace(report_on(evidence, out), places=_places(train, test))
        besides = {"runs": paths, "elsewhere": elsewhere, "model": model, "corpus": corpus.places}
        if kind in (CHOICES, PREFERENCES):
            _refuse(kind, {**besides, "corpus": None, "runs": None})
            posed = pose_items(evidence.source, evidence.opened.match, test, reading)
            answered_by = None
            if paths:
                answered_by = _answered_by(posed, evidence.source, runs, paths, choice, settings, steps)
            items = ItemEvidence(posed, corpus, settings, steps, measure_leakage, answered_by)
            return replace(report_on(items, out), places=_places(train, test))
        _refuse(kind, besides)
        if kind == JUDGMENTS:
            judged = load_judgments(evidence.source, evidence.opened.match, test, reading)
            return report_on(JudgmentEvidence(judged, settings, steps), out)
    reading_runs = RunChoice.of(
        columns=reading.columns,
        pool_configurations=choice.pool_configurations,
        align=choice.align,
        missing=choice.missing,
        grades=choice.grades,
        labels=choice.labels,
        label_names=choice.label_names,
        test=test,
    )
    return _audit_runs(evidence.opened.given, kind, reading_runs, settings, steps, out)


def _answered_by(
    posed: Posed, source: Source, runs: Any, paths: list[str], choice: RunChoice, settings: Settings, steps: Steps
) -> RunEvidence:
    """The runs, or the board, that answer items, by whose keys they are scored.

    Raises:
        InputError: They are neither, or answer other items.
    """
    keys, kind, given = ItemKeys.of(posed.test, pl.Series(item_ids(posed.test).tolist())), RUNS, runs
    several, table, alone = isinstance(runs, (list, tuple)), None, True
    if not several or len(runs) == 1:
        given = runs[0] if several else runs
        table = open_any(given, "runs").table
        try:
            match = Evidence(given, choice=choice, settings=settings, steps=steps).opened.match
            # Without a key no command takes answers alone.
            kind, alone = match.kind.name, not match.lacking
        except InputError:
            fit = keys.hold_table(table)[1] if table.frame.height else None
            if fit is None or (fit.n_answered and not _is_board(table, keys)):
                raise
            kind, alone = BOARD, False
        if kind in (GRADES, TEXTS) and _is_board(table, keys):
            # Positions from 1 look like grades, and questions beside the answers like texts.
            kind = BOARD
        if kind not in (RUNS, BOARD, GRADES):
            raise InputError(
                f"{option('runs')}: these are {kind}, and neither runs nor a board", file=paths[0],
                mend="give the answers of models to the items",
            )  # fmt: skip
    if table is None or kind == RUNS:
        with placed(paths):
            keys, fit = keys.hold_runs(find_runs(paths, choice))
        choice = replace(choice, keys=keys)
    elif not table.frame.height:
        # Lists of solved items have no answers.
        fit = keys.fit_of(pl.Series(read_board(given, replace(choice, missing="wrong")).items.tolist()))
    else:
        given, fit = keys.hold_table(table)
    if fit.answers_others:
        is_file = all(isinstance(each, (str, os.PathLike)) for each in (runs if several else [runs]))
        raise _answers_others(fit, keys, source, paths[0] if is_file else None, alone=alone)
    return RunEvidence(given, kind, paths, choice, settings, steps, (keys, fit))


def _is_board(table: Table, keys: ItemKeys) -> bool:
    """Whether a table is a board of answers once it has the items' keys."""
    held, fit = keys.hold_table(table)
    return fit.is_rescored and recognize(held, {}, (Boards(),), "").matches[BOARD] is not None


def _answers_others(fit: AnswerFit, keys: ItemKeys, source: Source, file: str | None, *, alone: bool) -> InputError:
    """Say that no answer is to one of the items, or that most of the keys that the answers state are others.

    Args:
        fit: Of the answers.
        keys: Of the items.
        source: The items as they were read.
        file: With the answers; None where they are in memory.
        alone: Whether the answers can be audited alone.
    """
    items, mend = f"{count(fit.n_items)} items of {keys.name}", "give both the same ids"
    if alone and file is not None:
        command = f"goldassay audit {shlex.quote(file)}" if entry_point() == SHELL else f"goldassay.audit({file!r})"
        mend += f"; {command} takes the answers alone"
    if fit.n_answered:
        other = f"{count(fit.n_other_keys)} of {count(fit.n_answered)}"
        problem = f"the answers state another key for {other} items: they seem to be to others than the {items}"
        return InputError(problem, file=file, mend=mend)
    if not fit.unknown:
        shown = listing(keys.ids.head(2).to_list())
        problem, mend = (
            "no column says which items the answers are to",
            f"add a column item with their ids: {shown}, ...",
        )
        return InputError(problem, file=file, mend=mend)
    frame, names = source.table.frame, list(fit.unknown)
    plain = (each for each in frame.iter_columns() if not each.dtype.is_nested())
    columns = [each.name for each in plain if set(names) <= set(cell_texts(each).drop_nulls())]
    if columns:
        mend = f"{option('columns', f'id={columns[0]}')} names the items so"
    return InputError(
        f"no answer is to any of the {items}: the answers name {listing(names)}, the items "
        f"{listing(keys.ids.head(len(names)).to_list())}",
        file=file, mend=mend,
    )  # fmt: skip


def _audit_runs(
    given: Any,
    kind: str,
    choice: RunChoice,
    settings: Settings,
    steps: Steps,
    out: str | os.PathLike[str] | None,
) -> Report:
    """Audit runs alone, or a board."""
    if kind == ANSWERS:
        raise InputError(
            "an audit asks nothing of extractive answers",
            file=given if isinstance(given, (str, os.PathLike)) else None,
            mend=f"{searching(os.fspath(given) if isinstance(given, (str, os.PathLike)) else 'FILE')}; "
            "goldassay instability measures runs that answer them",
        )
    with run_paths(given, named=False) as paths:
        return report_on(RunEvidence(given, kind, paths, choice, settings, steps), out)


def _refuse(kind: str, besides: Mapping[str, Any]) -> None:
    """Refuse what an audit of a kind does not use.

    Args:
        kind: Of the data.
        besides: What was given beside them, by the name of its option.

    Raises:
        InputError: One is given.
    """
    mends = {"model": "leave it out: quick probes read them"} if kind in (CHOICES, PREFERENCES) else {}
    mends["runs"] = "leave them out, and ask goldassay instability about the runs alone"
    for name, given in besides.items():
        if given:
            rows = CHOICE_WORDS.items if kind == CHOICES else kind
            raise InputError(
                f"{option(name)}: an audit of {rows} does not use it", mend=mends.get(name, "leave it out")
            )


def _places(train: Any, test: Any) -> dict[str, Path]:
    """Where the data are that came from files."""
    given = {"train": train, "test": test}
    return {
        role: Path(each) for role, each in given.items() if isinstance(each, (str, os.PathLike)) and Path(each).exists()
    }


def _checks_of(evidence: Evidence) -> Sequence[Any]:
    """The questions that are asked of a kind; of items those, too, that are asked of the runs that answer them."""
    kind = evidence.kind
    if isinstance(evidence, ItemEvidence):
        answered_by = evidence.answered_by
        of_runs = () if answered_by is None else map(_OfRuns, _checks_of(answered_by))
        # What speaks against keys is known once the runs were asked.
        return (*ITEM_CHECKS[:-1], *of_runs, ITEM_CHECKS[-1])
    return {JUDGMENTS: JUDGMENT_CHECKS, RUNS: RUN_CHECKS, BOARD: BOARD_CHECKS, GRADES: BOARD_CHECKS}.get(
        kind, registered_checks()
    )


def report_on(evidence: Evidence, out: str | os.PathLike[str] | None) -> Report:
    """Ask every question that there is evidence for, and compose the report.

    Args:
        evidence: Of one input.
        out: Where its runs are kept, as for `goldassay.audit`.
    """
    settings, steps = evidence.settings, evidence.steps
    started = time.time()
    # Loops run on all cores; matrices are small, and threads that wait for their parts would take those cores.
    with evidence_directory(out) as directory, compiling_ahead(), one_blas_thread(), _beside(steps) as beside:
        evidence.prepare(directory)
        checks = _checks_of(evidence)
        lacking = {each.question: [need for need in each.needs if not evidence.has(need)] for each in checks}
        asked = [check for check in checks if not lacking[check.question]]
        begun: dict[str, Future[Finding]] = {}
        if evidence.kind == TEXTS and cores() > 1:
            # Much is Python's own work, which takes one core.
            evidence.begin(beside)
            apart = [check for check in asked if check.question == "overlap" and not evidence.corpus.places]
            begun = {check.question: beside.submit(check.run, evidence) for check in apart}
        answered = [
            (check, begun[check.question].result() if check.question in begun else check.run(evidence))
            for check in asked
        ]
        described = evidence.described()
    found = [finding for _, finding in answered]
    verdicts = {check.question: finding.verdict for check, finding in answered if finding.verdict is not None}
    known = registered_checks()
    for check in known:
        is_answered = any(each.question == check.question for each in found)
        may_be_asked = check.needs or check.question not in AUDITED
        if evidence.has_data and may_be_asked and check.question not in FURTHER and not is_answered:
            verdicts[check.question] = evidence.why_not(check.question, lacking.get(check.question) or check.needs)
    asks = {check.question: check.asks for check in known}
    verdicts = {
        question: replace(verdicts[question], question=asks.get(question, ""))
        for question in (*asks, *(verdicts.keys() - asks.keys()))
        if question in verdicts
    }
    tables = {name: table for each in found for name, table in each.tables.items()}
    rows, issues = evidence.rows(), issues_of(found)
    if rows is not None:
        columns = {name: values for each in found for name, values in each.examples.items()}
        tables["examples"] = rows.with_columns(values.alias(name) for name, values in columns.items())
        with steps.step("looking for near copies"):
            copies = evidence.near_copies(tables.get("overlap_places"))
        if copies.height:
            tables["near_copies"] = copies
        issues = (*issues, *issues_of_copies(copies))
    document = {
        **({} if evidence.has_data else {"questions": [each.question for each in found]}),
        "issues": ranked(issues),
        **described,
        **{each.question: each.measured for each in found},
        "settings": settings.model_dump(mode="json"),
    }
    added = [(check, finding) for check, finding in answered if check.question not in (*AUDITED, *FURTHER)]
    figures = [figure for _, finding in added for figure in finding.figures]
    shown = None if rows is None else table_of_rows(evidence.first_rows(found))
    facts = [] if (own := described.get("facts")) is None else [Finding("facts", None, result=own)]
    report = compose_report(
        frame_findings(evidence.title, document, steps, settings, figures, verdicts=verdicts),
        tables,
        added,
        shown,
        [*facts, *found],
    )
    return replace(report, runs=files_since(directory, started))


@contextmanager
def _beside(steps: Steps) -> Iterator[Executor]:
    """A thread beside this one; after Ctrl-C or an error its steps end, too."""
    with workers(1) as pool:
        try:
            yield pool
        except BaseException:
            steps.stop()
            raise


def _unless_lacking(run: Callable[[Any, RunEvidence], Finding]) -> Callable[[Any, RunEvidence], Finding]:
    """Leave a question open where runs lack examples, which its own command refuses: an audit asks the others."""

    @wraps(run)
    def asked(self: Any, evidence: RunEvidence) -> Finding:
        try:
            return run(self, evidence)
        except LackingError as error:
            problem = f"{error.problem[:1].upper()}{error.problem[1:]}."
            return Finding(self.question, unresolved(problem, error.mend or ""))

    return asked


class _OfRuns:
    """A question of the runs that answer items."""

    def __init__(self, check: Any) -> None:
        self.question = check.question
        self.needs = ("runs", *check.needs)
        self._check = check

    def run(self, evidence: ItemEvidence) -> Finding:
        """Answer it, with what it says of the items beside these."""
        return evidence.beside_items(self._check.run(evidence.answered_by))


class _Instability:
    question = "instability"
    needs = ()

    @_unless_lacking
    def run(self, evidence: RunEvidence) -> Finding:
        """Measure the spread of every model on every dataset, to the depth of `instability`."""
        with placed(evidence.run_paths):
            found, verdict, tables, rows = measure_sets(evidence, InstabilityChoice())
        found, tables = add_curves(found, tables, find_curves(evidence.run_paths, evidence.choice, required=False))
        return Finding(self.question, verdict, tables=tables, rows=rows, result=found)


class _Comparison:
    question = "comparison"
    needs = ("models",)

    @_unless_lacking
    def run(self, evidence: RunEvidence) -> Finding:
        """Compare all models on the datasets that every one of them answers."""
        with placed(evidence.run_paths):
            suite = read_suite(evidence, evidence.compared)
            found = (
                find_comparison(evidence, suite.sides[0], suite.notes)[0]
                if len(suite.sides) == 1
                else find_suite(evidence, suite)[0]
            )
        return Finding(self.question, found.verdict, tables=found.tables, rows=found.rows, result=found.result)


class _Sensitivity:
    question = "sensitivity"
    needs = ("configurations",)

    @_unless_lacking
    def run(self, evidence: RunEvidence) -> Finding:
        """Measure the spread over configurations."""
        with placed(evidence.run_paths):
            return SENSITIVITY.run(evidence)


class _Board:
    question = "board"
    needs = ("board",)

    @_unless_lacking
    def run(self, evidence: RunEvidence) -> Finding:
        """Rank all systems on the items that they have in common."""
        with evidence.steps.step("reading the board"):
            scores = evidence.board
        with evidence.steps.step("ranking systems"):
            return find_board(measure_board(scores, evidence.settings.seed), scores)


class _Judgments:
    question = "judgments"
    needs = ()

    def run(self, evidence: JudgmentEvidence) -> Finding:
        """Say how far each judge follows the seat, or how far its scores are from people's."""
        own = evidence.judgments
        if isinstance(own, JudgedScores):
            return measure_scores(own, evidence.settings, evidence.steps)
        return measure_judgments(own, evidence.settings, evidence.steps)


class _Answered:
    question = "answered"
    needs = ()

    def run(self, evidence: RunEvidence) -> Finding:
        """Say whether every answer was scored."""
        if evidence.kind != RUNS:
            return ANSWERED.run_board(evidence)
        with placed(evidence.run_paths):
            return ANSWERED.run(evidence)


RUN_CHECKS = (_Answered(), _Instability(), _Comparison(), _Sensitivity(), _Board())
BOARD_CHECKS = (_Answered(), _Board())
JUDGMENT_CHECKS = (_Judgments(),)
