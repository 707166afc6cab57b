"""Leakage as a study of its own: from a dataset, or from what models left behind, to a report."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.core.arguments import check_whole, is_number
from goldassay.core.errors import InputError
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings, with_data, with_seed
from goldassay.questions.data_notes import data_notes, describe_clusters
from goldassay.questions.evidence import Evidence
from goldassay.questions.evidence_directory import files_since
from goldassay.questions.leakage.check import CHECK
from goldassay.questions.leakage.condition_evidence import GIVEN
from goldassay.questions.leakage.condition_sources import Readers, Sources, make_readers
from goldassay.questions.leakage.foreign_evidence import GivenEvidence
from goldassay.questions.leakage.options import LeakageChoice
from goldassay.questions.report_frame import compose_report, frame_findings

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from goldassay.report.report import Report

__all__ = ["GivenEvidence", "LeakageChoice", "study_leakage"]


def study_leakage(
    train: Any = None,
    test: Any = None,
    given: GivenEvidence | None = None,
    *,
    model: str | None = None,
    conditions: Sequence[str] = (),
    seeds: int | None = None,
    choice: LeakageChoice | None = None,
    label_names: Sequence[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    columns: str | Mapping[str, str] | None = None,
    clusters: str | None = None,
    split_by: str | None = None,
    seed: int | None = None,
    settings: Settings | None = None,
    called: str = "",
    quiet: bool = True,
) -> Report:
    """Measure leakage, as `measure_leakage` does.

    Args:
        train: As for `measure_leakage`.
        test: Likewise.
        given: Predictions made elsewhere, as files; None where models are trained.
        model: The network to train.
        conditions: What to show a model.
        seeds: How many trainings a condition.
        choice: How clusters are made and what is drawn.
        label_names: The labels that may occur, in order, where models are trained.
        out: Where runs are kept.
        columns: Which column plays which role.
        clusters: Which test rows count as one.
        split_by: Columns of which no value may be in both parts of a split.
        seed: Of everything that draws at random.
        settings: Everything else that can be set.
        called: What progress calls the data, where several are measured.
        quiet: Show no progress.

    Raises:
        InputError: As `measure_leakage`.
    """
    settings = with_data(with_seed(settings or Settings(), seed), clusters=clusters, split_by=split_by)
    choice = choice or LeakageChoice()
    _check(choice, seeds)
    n_seeds = settings.leakage.seeds if seeds is None else seeds
    started = time.time()
    readers = Readers(given, model, tuple(conditions), n_seeds, choice, out, quiet)
    report = _report(readers, (train, test, columns), label_names, settings, Steps(quiet, called))
    return report if out is None else replace(report, runs=files_since(Path(out) / "runs", started))


def _report(
    readers: Readers, sources: Sources, label_names: Sequence[str] | None, settings: Settings, steps: Steps
) -> Report:
    train, test, columns = sources
    choice, n_seeds = readers.choice, readers.n_seeds
    evidence = Evidence(
        train,
        test,
        columns=columns,
        label_names=label_names,
        settings=settings,
        steps=steps,
        make_readers=lambda of: make_readers(of, readers, sources),
    )
    found = evidence.readers
    finding = CHECK.measure(evidence, choice)
    assert finding.verdict is not None
    mined = found.train is not None and found.test is not None
    document = {
        "questions": ["leakage"],
        "verdicts": {"leakage": finding.verdict.to_dict()},
        "dataset": {
            "name": found.name,
            "label_names": list(found.label_names),
            **({} if found.kind is None else {"kind": found.kind.name, "most_choices": len(found.label_names)}),
            **({} if found.train is None else {"n_train": len(found.train)}),
            "n_test": found.gold.size,
            "text_columns": [] if found.test is None else list(found.test.text_columns),
            "conditions": list(found.conditions),
        },
        "inputs": list(found.inputs) or evidence.inputs,
        "clusters": describe_clusters(found.grouping),
        "data_notes": [
            *data_notes(found.train, found.test, found.grouping, () if found.inputs else evidence.decisions),
            *found.notes,
        ],
        "leakage": finding.results,
        "settings": {
            "seed": settings.seed,
            **({} if found.source == GIVEN else {"seeds": n_seeds}),
            **(_clustering(choice) if finding.results["peco"] else {}),
            **({"artifacts": settings.artifacts.model_dump(mode="json")} if mined else {}),
            "verdicts": settings.verdicts.leakage.model_dump(mode="json"),
        },
    }
    title = f"Leakage in {found.name}"
    return compose_report(
        frame_findings(title, document, evidence.steps, settings), dict(finding.tables), findings=[finding]
    )


def _check(choice: LeakageChoice, seeds: int | None) -> None:
    """Refuse before anything is trained what nothing could be measured with afterwards."""
    if seeds is not None:
        check_whole("seeds", seeds, 1)
    if choice.n_clusters is not None:
        check_whole("n_clusters", choice.n_clusters, 1)
    check_whole("n_components", choice.n_components, 0)
    check_whole("n_repetitions", choice.n_repetitions, 1)
    check_whole("n_splits", choice.n_splits, 1)
    if not is_number(choice.threshold) or not 0 <= choice.threshold < math.inf:
        raise InputError(f"threshold is {choice.threshold}", mend="give a number from 0 up")


def _clustering(choice: LeakageChoice) -> dict[str, Any]:
    return {
        "n_clusters": choice.k,
        "components": choice.n_components,
        "repetitions": choice.n_repetitions,
        "threshold": choice.threshold,
    }
