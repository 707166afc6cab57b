"""Leakage as a study of its own: from a dataset, or from what models left behind, to a report."""

from __future__ import annotations

import math
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.core.arguments import check_whole, is_number
from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.keywords import takes
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
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_sources import run_paths

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.questions.leakage.network_evidence import Watched
    from goldassay.report.report import Report
    from goldassay.runs.assembly import Align

__all__ = ["GivenEvidence", "LeakageChoice", "measure_leakage", "study_leakage"]


@takes("leakage measure")
def measure_leakage(
    train: Any = None,
    test: Any = None,
    runs: Any = None,
    *,
    model: str | None = None,
    conditions: Sequence[str] | None = None,
    seeds: int | None = None,
    n_clusters: int | None = None,
    components: int = 30,
    cluster_threshold: float = 0.25,
    grid: bool = False,
    map: bool = True,  # noqa: A002
    models: Mapping[str, str] | None = None,
    embeddings: Mapping[str, str | os.PathLike[str]] | None = None,
    probabilities: Mapping[str, str] | None = None,
    bits: Mapping[str, str] | None = None,
    dataset: str | None = None,
    train_set: str | None = None,
    labels: Mapping[str, str] | None = None,
    label_names: Sequence[str] | None = None,
    align: Align = "exact",
    pool_configurations: bool = False,
    out: str | os.PathLike[str] | None = None,
    columns: str | Mapping[str, str] | None = None,
    clusters: str | None = None,
    split_by: str | None = None,
    seed: int | None = None,
    settings: Settings | None = None,
    quiet: bool = True,
) -> Report:
    """Measure how much of the label a part of the input gives away, where, and how surely: `goldassay leakage measure`.

    Args:
        train: The training part: a path, a `Dataset`, or a polars or pandas frame, Arrow table, `datasets.Dataset` or
            list of dicts. Needed unless runs are given.
        test: The evaluation part, likewise. Without it the data's own test part is used, or a share of the rows is set
            apart such that no sentence stands in both parts, several times anew.
        runs: Predictions made elsewhere; nothing is trained then. Paths, with the embeddings and relevances beside
            them, `Runs`, or tables with a row a prediction, or several of these.
        model: The network to train; without it the quick probes are. With runs: measure this model only.
        conditions: What to show a model; by default every text alone, the whole, and what destroys one property.
        seeds: How many trainings a condition, two at least; by default that of the settings.
        n_clusters: Clusters of sentences; by default 50, and no score where there are fewer sentences.
        components: Principal components to cluster in; 0 for no PCA.
        cluster_threshold: A cluster whose divergence is above this is called biased.
        grid: Score the clusters for several numbers of clusters and components, too.
        map: Lay the sentences out on the plane.
        models: With runs {condition: model}, where the files do not say which model saw what; * and ? match several.
        embeddings: {text: file}: embeddings of this text alone, a row an example; with runs or by themselves.
        probabilities: {condition: FILE[:COLUMN]}: the right label's probability, a row an example, or by themselves
            those of all labels.
        bits: The same as -log2 of the probability.
        dataset: With runs: those on this dataset only.
        train_set: With runs: those trained on this only.
        labels: With runs: {name in the files: label}.
        label_names: All labels that may occur, in the order of the classes where runs number them.
        align: With runs: "exact", "intersect" or "position", as for `read_runs`.
        pool_configurations: With runs: take those that were asked in different ways for repeats of one.
        out: Where runs are kept as they are made, in `out/runs`; what is already there is used again.
        columns: Which column plays which role, as a mapping or as "premise=a,hypothesis=b".
        clusters: Which test rows count as one: "auto", "none" or columns separated by commas, as in `audit`.
        split_by: Columns of which no value may be in both parts of a split, as in `audit`.
        seed: Of everything that draws at random.
        settings: Everything else that can be set; of [training], how the network is made.
        quiet: Show no progress.

    Returns:
        The report; it shows itself in a notebook, and `.save(directory)` writes its files.

    Raises:
        InputError: The data or the evidence cannot be used; the message says where and how to mend it.
    """
    beside = {"embeddings": embeddings, "probabilities": probabilities, "bits": bits}
    is_given = runs is not None or any(beside.values())
    of_runs: dict[str, Any] = {"models": models, "dataset": dataset, "train_set": train_set, "labels": labels}
    # By themselves embeddings and probabilities are of no model that could be chosen.
    of_runs |= {"model": model} if is_given else {}
    if runs is None and (alone := next((name for name, value in of_runs.items() if value), None)):
        raise InputError(f"{option(alone)} goes with runs", mend=f"give the predictions as {option('runs')}")
    with run_paths(runs, named=False) as paths:
        given = None
        if is_given:
            chosen = RunChoice(
                model=model, dataset=dataset, train_set=train_set, labels=labels, label_names=label_names, align=align,
                pool_configurations=pool_configurations,
            )  # fmt: skip
            files = {role: os.fspath(file) for role, file in (embeddings or {}).items()}
            given = GivenEvidence(paths, chosen, models or {}, files, probabilities or {}, bits or {})
        return study_leakage(
            train,
            test,
            given,
            model=None if is_given else model,
            conditions=tuple(conditions or ()),
            seeds=seeds,
            choice=LeakageChoice(
                n_clusters=n_clusters, n_components=components, threshold=cluster_threshold, grid=grid, map=map
            ),
            label_names=label_names,
            out=out,
            columns=columns,
            clusters=clusters,
            split_by=split_by,
            seed=seed,
            settings=settings,
            quiet=quiet,
        )


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
    watched: Watched | None = None,
    called: str = "",
    quiet: bool = True,
) -> Report:
    """Measure leakage: what the command and `measure_leakage` have in common.

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
        watched: Opens, for a number of trainings of a network, what is told how they go.
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
    readers = Readers(given, model, tuple(conditions), n_seeds, choice, out, watched)
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
