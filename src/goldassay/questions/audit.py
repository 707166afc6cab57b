"""The audit: from a dataset to a report with a verdict for each question."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from traceback import clear_frames
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.cores import one_blas_thread
from goldassay.core.errors import BoundError, InputError
from goldassay.core.finding import Finding
from goldassay.core.progress import Steps
from goldassay.core.verdicts import not_asked
from goldassay.questions.checks import AUDITED, FURTHER, registered_checks
from goldassay.questions.compiling import compiling_ahead
from goldassay.questions.data_notes import data_notes, describe_clusters
from goldassay.questions.evidence import Evidence
from goldassay.questions.evidence_directory import evidence_directory, files_since
from goldassay.questions.first_rows import first_rows, table_of_rows
from goldassay.questions.item_audit import audit_items, refuse_runs
from goldassay.questions.judgments.loading import JUDGMENTS, load_judgments
from goldassay.questions.judgments.study import audit_judgments
from goldassay.questions.leakage.posed_items import ItemReading, load_items
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.row_details.copies import copies_in_training, copies_within
from goldassay.questions.run_sources import run_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.settings import Settings
    from goldassay.data import Dataset
    from goldassay.questions.overlap.in_audit import CorpusChoice
    from goldassay.questions.run_choice import RunChoice
    from goldassay.report.report import Report

__all__ = ["study_audit"]


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
        try:
            evidence.load()
        except BoundError:
            raise
        except InputError as error:
            # What was read by then would stay in memory as long as the error.
            clear_frames(error.__traceback__)
            # Items with choices are no labelled texts: reading them as such is refused.
            if (judged := load_judgments(train, test, reading)) is not None:
                refuse_runs(paths, elsewhere, model, JUDGMENTS, corpus.places)
                return audit_judgments(judged, settings, steps)
            posed = load_items(train, test, reading, refused=True)
            if posed is None:
                raise
            refuse_runs(paths, elsewhere, model, posed.test.kind.items)
            return replace(audit_items(posed, settings, steps, corpus), places=_places(train, test))
        return replace(_report(evidence, out), places=_places(train, test))


def _places(train: Any, test: Any) -> dict[str, Path]:
    """Where the data are that came from files."""
    given = {"train": train, "test": test}
    return {
        role: Path(each) for role, each in given.items() if isinstance(each, (str, os.PathLike)) and Path(each).exists()
    }


def _report(evidence: Evidence, out: str | os.PathLike[str] | None) -> Report:
    """Ask every question that there is evidence for, and compose the report."""
    settings, steps = evidence.settings, evidence.steps
    started = time.time()
    # Loops run on all cores; matrices are small, and threads that wait for their parts would take those cores.
    with evidence_directory(out) as directory, compiling_ahead(), one_blas_thread():
        evidence.keep_runs_in(directory)
        facts = evidence.facts
        checks = registered_checks()
        lacking = {each.question: [need for need in each.needs if not evidence.has(need)] for each in checks}
        answered = [(check, check.run(evidence)) for check in checks if not lacking[check.question]]
        conditions = list(evidence.readers.conditions)
    training, evaluation = evidence.train, evidence.test
    found = [finding for _, finding in answered]
    added = [(check, finding) for check, finding in answered if check.question not in (*AUDITED, *FURTHER)]
    verdicts = {check.question: finding.verdict.to_dict() for check, finding in answered if finding.verdict is not None}
    verdicts |= {
        question: not_asked(question, needs) for question, needs in lacking.items() if needs and question not in FURTHER
    }
    document = {
        "verdicts": {
            check.question: {**verdicts[check.question], "question": check.asks}
            for check in checks
            if check.question in verdicts
        },
        "dataset": {
            "name": training.name,
            "label_names": list(training.label_names),
            "text_columns": list(training.text_columns),
            "conditions": conditions,
        },
        "inputs": evidence.inputs,
        "clusters": describe_clusters(evidence.clusters),
        "data_notes": data_notes(
            training, evaluation, evidence.clusters, evidence.decisions, tuple(evidence.elsewhere.values())
        ),
        "facts": facts,
        **{each.question: each.measured for each in found},
        "settings": settings.model_dump(mode="json"),
    }
    tables = {name: table for each in found for name, table in each.tables.items()}
    tables["examples"] = _examples(evaluation, found)
    with steps.step("looking for near copies"):
        texts = [evaluation.examples[role] for role in evaluation.text_columns]
        copies = copies_within(texts, evaluation.examples["example_id"], evaluation.examples["label"])
        known = [training.examples[role] for role in training.text_columns]
        own = training.examples["example_id"], training.examples["label"]
        copies = pl.concat([copies, copies_in_training(tables.get("overlap_places"), known, *own)])
    if copies.height:
        tables["near_copies"] = copies
    title = f"Audit of {training.name}, evaluated on {evaluation.name}"
    figures = [figure for _, finding in added for figure in finding.figures]
    first = table_of_rows(first_rows(found))
    report = compose_report(
        frame_findings(title, document, steps, settings, figures),
        tables,
        added,
        first,
        [Finding("facts", None, result=facts), *found],
    )
    return replace(report, runs=files_since(directory, started))


def _examples(test: Dataset, found: Sequence[Finding]) -> pl.DataFrame:
    """One row for each test example: its texts and label, and what each question says of it."""
    columns = {name: values for each in found for name, values in each.examples.items()}
    return test.examples.select(
        "example_id",
        *test.text_columns,
        "label",
        *(pl.col(name).cast(pl.String).alias(f"group_{name}") for name in test.groups),
        *(values.alias(name) for name, values in columns.items()),
    )
