"""Leakage as a study of its own: from a dataset, or from what models left behind, to a report."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.arguments import check_whole, is_number
from goldassay.core.errors import InputError
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings, with_seed
from goldassay.questions.evidence_directory import evidence_directory
from goldassay.questions.inputs import describe_input, load_inputs
from goldassay.questions.leakage.choices import choice_evidence, load_questions
from goldassay.questions.leakage.evidence import EMPTY, GIVEN, PROBES
from goldassay.questions.leakage.given import GivenEvidence, read_evidence
from goldassay.questions.leakage.measuring import measure
from goldassay.questions.leakage.options import LeakageChoice
from goldassay.questions.leakage.probes import check_conditions, measure_split, probe_evidence, with_words
from goldassay.questions.leakage.trained import network_conditions, train_evidence
from goldassay.questions.report_frame import compose_report, frame_findings

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goldassay.data import Dataset
    from goldassay.questions.leakage.choices import Questions
    from goldassay.questions.leakage.evidence import ConditionEvidence
    from goldassay.questions.leakage.trained import Watched
    from goldassay.report import Report

__all__ = ["GivenEvidence", "LeakageChoice", "report_leakage"]


def report_leakage(
    train: Any = None,
    test: Any = None,
    *,
    given: GivenEvidence | None = None,
    model: str | None = None,
    conditions: Sequence[str] = (),
    seeds: int | None = None,
    choice: LeakageChoice | None = None,
    out: str | os.PathLike[str] | None = None,
    columns: str | Mapping[str, str] | None = None,
    seed: int | None = None,
    settings: Settings | None = None,
    watched: Watched | None = None,
    called: str = "",
    quiet: bool = True,
) -> Report:
    """Measure how much of the label a part of the input gives away, where, and how surely.

    Args:
        train: The training part: a path, a `Dataset` or a frame. Needed unless evidence is given.
        test: The evaluation part, likewise. Without it the data's own test part is used, or a share of the rows is set
            apart such that no sentence stands in both parts, several times anew.
        given: ConditionEvidence made elsewhere; nothing is trained then.
        model: The network to train; without it the quick probes are.
        conditions: What to show a model; by default every text alone, the whole, and what destroys one property.
        seeds: How many trainings a condition; by default that of the settings.
        choice: How clusters are made and what is drawn.
        out: Where runs are kept as they are made, in `out/runs`; what is already there is used again.
        columns: Which column plays which role, as a mapping or as "premise=a,hypothesis=b".
        seed: Of everything that draws at random.
        settings: Everything else that can be set; of [training], how the network is made.
        watched: Opens, for a number of trainings of a network, what is told how they go.
        called: What progress calls the data, where several are measured.
        quiet: Show no progress.

    Raises:
        InputError: The data or the evidence cannot be used; the message says where and how to mend it.
    """
    settings = with_seed(settings or Settings(), seed)
    choice = choice or LeakageChoice()
    _check(choice, seeds)
    steps = Steps(quiet, called)
    n_seeds = settings.leakage.seeds if seeds is None else seeds
    inputs: list[dict[str, Any]] = []
    if given is not None:
        with steps.step("reading the evidence"):
            evidence, inputs = read_evidence(given, train, test, columns)
    elif train is None:
        raise InputError("there is neither training data nor evidence", mend="give TRAIN, or --runs PATH")
    elif (posed := _questions(train, test, columns, conditions, model, settings)) is not None:
        with steps.step("training quick probes") as progress:
            numbers = range(settings.seed, settings.seed + n_seeds)
            evidence = choice_evidence(posed[0], posed[1], numbers, progress)
        inputs = posed[2]
    else:
        with steps.step("reading the data"):
            training, evaluation, decisions = load_inputs(
                train, test, columns=columns, label_names=None, file_format="auto", settings=settings
            )
            shown = check_conditions(conditions, training.text_columns)
            left_out: tuple[str, ...] = ()
            if model is None and not conditions:
                shown, left_out = with_words(shown, training, evaluation)
            elif model is not None:
                shown = network_conditions(tuple(shown) if conditions else (), training.text_columns)
        inputs = [describe_input("train", training), describe_input("test", evaluation, decisions)]
        with evidence_directory(out) as directory:
            evidence = _made(training, evaluation, shown, model, n_seeds, directory, settings, steps, watched)
        evidence = replace(evidence, remarks=(*evidence.remarks, *left_out))
        if test is None and "were set apart" in " ".join(decisions):
            evidence = _with_splits(evidence, train, columns, shown, choice, settings, steps)
    measured = measure(evidence, choice, settings, steps)
    mined = evidence.train is not None and evidence.test is not None
    findings = {
        "questions": ["leakage"],
        "verdicts": {"leakage": measured.verdict.to_dict()},
        "dataset": {
            "name": evidence.name,
            "label_names": list(evidence.label_names),
            **({} if evidence.train is None else {"n_train": len(evidence.train)}),
            "n_test": evidence.gold.size,
            "text_columns": [] if evidence.test is None else list(evidence.test.text_columns),
            "conditions": list(evidence.conditions),
        },
        "inputs": inputs,
        "leakage": measured.section,
        "settings": {
            "seed": settings.seed,
            **({} if evidence.source == GIVEN else {"seeds": n_seeds}),
            **(_clustering(choice) if measured.section["peco"] else {}),
            **({"artifacts": settings.artifacts.model_dump(mode="json")} if mined else {}),
            "verdicts": settings.verdicts.leakage.model_dump(mode="json"),
        },
    }
    return compose_report(frame_findings(f"Leakage in {evidence.name}", findings, steps, settings), measured.tables)


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
        "clusters": choice.k,
        "components": choice.n_components,
        "repetitions": choice.n_repetitions,
        "threshold": choice.threshold,
    }


def _questions(
    train: Any,
    test: Any,
    columns: str | Mapping[str, str] | None,
    conditions: Sequence[str],
    model: str | None,
    settings: Settings,
) -> tuple[Questions, Questions, list[dict[str, Any]]] | None:
    """Multiple-choice questions, if that is what the data are."""
    posed = load_questions(train, test, columns, settings.data.test_share, settings.seed)
    if posed is not None and (model is not None or conditions):
        raise InputError(
            "questions with choices are measured by quick probes, under all their conditions",
            mend="leave out --model and --condition",
        )
    return posed


def _made(
    train: Dataset,
    test: Dataset,
    conditions: Sequence[str],
    model: str | None,
    n_seeds: int,
    directory: Path,
    settings: Settings,
    steps: Steps,
    watched: Watched | None,
) -> ConditionEvidence:
    numbers = range(settings.seed, settings.seed + n_seeds)
    if model is not None:
        with steps.step(f"training {model}"):
            return train_evidence(train, test, conditions, model, numbers, directory, settings.training, watched)
    with steps.step("training quick probes") as progress:
        return probe_evidence(train, test, conditions, numbers, directory, progress)


def _with_splits(
    evidence: ConditionEvidence,
    data: Any,
    columns: str | Mapping[str, str] | None,
    conditions: Sequence[str],
    choice: LeakageChoice,
    settings: Settings,
    steps: Steps,
) -> ConditionEvidence:
    """Split the data anew with other seeds: luck in splitting moves the scores.

    Quick probes measure by how much, also in the place of a network, whose trainings would take as often as long; all
    splits then, so that like is held against like.
    """
    # Of an empty input a probe learns nothing.
    shown = [name for name in conditions if name != EMPTY]
    rows = []
    with steps.step("splitting anew") as progress:
        for at in range(1 if evidence.source == PROBES else 0, choice.n_splits):
            moved = settings.model_copy(update={"seed": settings.seed + at})
            parts = load_inputs(data, None, columns=columns, label_names=None, file_format="auto", settings=moved)[:2]
            seeds = range(settings.seed, settings.seed + 2)
            rows.append({"split": settings.seed + at, **measure_split(*parts, shown, seeds, choice.k)})
            progress(at, choice.n_splits - 1)
    return replace(evidence, splits=tuple(rows))
