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
from goldassay.core.keywords import takes
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings, with_data, with_seed
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
from goldassay.questions.overlap.in_audit import CorpusChoice
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.row_details.copies import copies_in_training, copies_within
from goldassay.questions.run_choice import RunChoice, by_ids
from goldassay.questions.run_sources import run_paths
from goldassay.scanning.fields import TEXT_FIELD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data import Dataset
    from goldassay.report.report import Report
    from goldassay.runs.assembly import Align

__all__ = ["audit"]


@takes("audit")
def audit(
    train: Any,
    test: Any = None,
    runs: Any = None,
    elsewhere: Mapping[str, Any] | Sequence[Any] | str | os.PathLike[str] | None = None,
    corpus: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    seed: int | None = None,
    *,
    field: str = TEXT_FIELD,
    model: str | None = None,
    out: str | os.PathLike[str] | None = None,
    columns: str | Mapping[str, str] | None = None,
    clusters: str | None = None,
    split_by: str | None = None,
    label_names: Sequence[str] | None = None,
    format: str = "auto",  # noqa: A002
    pool_configurations: bool = False,
    align: Align = "exact",
    grades: str | None = None,
    settings: Settings | None = None,
    quiet: bool = True,
) -> Report:
    """Audit a benchmark: facts, artifacts, leakage, and with more given instability and shift; a verdict for each.

    Args:
        train: The training part: a path, a `Dataset`, or a polars or pandas frame, Arrow table, `datasets.Dataset` or
            list of dicts.
        test: The evaluation part, likewise. Without it the data's own test part is used, or a share of the rows is set
            apart such that no sentence stands in both parts.
        runs: Predictions of trained models: paths, each of which may be NAME=PATH, `Runs`, or tables with a row a
            prediction; {name of the dataset: one of these}, or several. Those on the evaluation part tell whether the
            score would come out the same with another seed.
        elsewhere: Sets of other distributions, as {name: data} or a list, each as `train` may be: does the score hold
            there? Of runs that answer both the evaluation part and such a set it is asked, else of quick probes of the
            whole input. A set may tell entailment from the rest only, where the training part has three labels.
        corpus: What models may have been trained on: files, folders or patterns, see `measure_overlap`. It is searched
            for the test rows, and the training part too: was the test set seen in training?
        seed: Of everything that draws at random; by default that of the settings, 0.
        field: Of a corpus in JSON and Parquet the field of the text; several are joined by "+".
        model: A network that judges leakage in place of the quick probes: its name, or a checkpoint's folder or name
            on the hub; by default that of the settings, none. It needs the extra `train`.
        out: Where the evidence (the quick probes' runs) is kept as it is made, in `out/runs`. Without it the
            evidence is kept only until the report is made.
        columns: Which column plays which role, as a mapping or as "premise=a,hypothesis=b".
        clusters: Which test rows count as one: "auto" joins those with a text or group in common, "none" joins no
            rows, columns separated by commas join rows with equal values; by default that of the settings, "auto".
        split_by: Columns, separated by commas, of which no value may be in both parts where a part is set apart, or
            "none"; by default those given as group.
        label_names: The labels that may occur, in order; any other is refused. By default those of the data.
        format: The format of the files, where their content does not say it.
        pool_configurations: Take runs that were asked in different ways for repeats of one.
        align: "exact" refuses runs of a model that answer different examples, or give no prediction for some;
            "intersect" keeps the examples that all of a model's runs answer.
        grades: The scale that scores of the runs are on, "LOW:HIGH"; they are taken as shares of it.
        settings: Everything else that can be set; by default `Settings()`.
        quiet: Show no progress.

    Returns:
        The report; it shows itself in a notebook, and `.save(directory)` writes its files.

    Raises:
        InputError: The data cannot be read or audited; the message says where and how to mend it.
    """
    align = by_ids(align)
    settings = with_data(with_seed(settings or Settings(), seed), clusters=clusters, split_by=split_by)
    if model is not None:
        leakage_settings = settings.leakage.model_copy(update={"model": model})
        settings = settings.model_copy(update={"leakage": leakage_settings})
    steps = Steps(quiet)
    searched = CorpusChoice.of(corpus, field)
    searched.check()
    with run_paths(runs) as paths:
        evidence = Evidence(
            train,
            test,
            paths,
            elsewhere=elsewhere,
            columns=columns,
            label_names=label_names,
            file_format=format,
            # The score that is reported is that of a run's last checkpoint.
            choice=RunChoice(checkpoint="last", pool_configurations=pool_configurations, align=align, grades=grades),
            corpus=searched,
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
            reading = ItemReading(columns, format, settings.data.clusters, settings.data.split_by, label_names)
            if (judged := load_judgments(train, test, reading)) is not None:
                refuse_runs(paths, elsewhere, model, JUDGMENTS, corpus)
                return audit_judgments(judged, settings, steps)
            posed = load_items(train, test, reading, refused=True)
            if posed is None:
                raise
            refuse_runs(paths, elsewhere, model, posed.test.kind.items)
            return replace(audit_items(posed, settings, steps, searched), places=_places(train, test))
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
