"""ConditionEvidence on a small dataset whose hypotheses lean, with hostile texts in it, and the report made of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.document import About
from goldassay.core.progress import Steps
from goldassay.core.sections import Finding
from goldassay.core.settings import Settings
from goldassay.data.dataset import Dataset
from goldassay.questions.leakage.measuring import measure
from goldassay.questions.leakage.partial_input import LeakageChoice, PartialInputRuns, gold_probabilities
from goldassay.questions.leakage.result import MeasuredLeakage, Split
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.runs.runs import Runs
from goldassay.runs.sidecar import Origin, Relevances, RoleRelevance

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from goldassay.report.report import Report

HOSTILE = "<script>alert(1)</script>"
LABELS = ("entailment", "neutral", "contradiction & <b>")
N = 240
ACTS = ("is outside in the yard", "is happy with a friend", "is fast asleep", f"says {HOSTILE}")


@cache
def example_evidence(n_train: int = N) -> PartialInputRuns:
    """Two runs a condition, embeddings of both roles, relevances of one, a training part."""
    rng = np.random.default_rng(0)
    group = np.arange(N) % 4
    gold = np.where((rng.random(N) < 0.85) & (group < 3), group, rng.integers(0, 3, N))
    ids = np.array([f"e{i}" for i in range(N)])
    frame = pl.DataFrame(
        {
            "id": ids,
            "premise": [f"A person in coat {i // 3} walks." for i in range(N)],
            "hypothesis": [f"Somebody {i} {ACTS[g]}." for i, g in enumerate(group)],
            "label": [LABELS[code] for code in gold],
        }
    )
    test = Dataset.from_frame(frame, name="toy & <i>test</i>", label_names=LABELS)
    conditions = {name: _runs(gold, share, ids, name) for name, share in _SHARES.items()}
    points = np.eye(4)[group] * 3 + rng.standard_normal((N, 4))
    return PartialInputRuns(
        name=test.name, model="net", source="training", label_names=LABELS, gold=gold, example_ids=ids,
        conditions=conditions,
        probabilities={
            name: found for name, runs in conditions.items() if (found := gold_probabilities(runs, gold)) is not None
        },
        vectors={"premise": [rng.standard_normal((N, 4))], "hypothesis": [points, points + 0.1]},
        vectors_are="made up", test=test, train=test, about="net was trained.", remarks=("A remark.",),
        relevances={"paired": {0: _relevances(ids, True)}, "hypothesis_only": {0: _relevances(ids, False)}},
    )  # fmt: skip


_SHARES = {"paired": 0.85, "premise_only": 0.36, "hypothesis_only": 0.7, "shuffled": 0.75, "empty": 0.35}


def _runs(gold: NDArray[np.int64], share: float, ids: NDArray[Any], condition: str) -> Runs:
    rng = np.random.default_rng(len(condition))
    logits = 2.5 * np.eye(3)[np.where(rng.random((2, N)) < share, gold, rng.integers(0, 3, (2, N)))]
    if condition == "empty":
        logits = np.zeros_like(logits)
    return Runs.from_arrays(
        gold=gold, logits=logits, seeds=[0, 1], label_names=LABELS, example_ids=ids, model="net", dataset="toy",
        condition=condition,
    )  # fmt: skip


def _relevances(ids: NDArray[Any], paired: bool) -> Relevances:
    rng = np.random.default_rng(int(paired))
    tokens = [["some", "body"]] * (N - 1) + [["other"] if paired else ["one"]]
    values = [rng.random(len(each)).astype(np.float32) for each in tokens]
    values[0] = np.zeros(2, np.float32)
    roles = {"hypothesis": RoleRelevance(values, tokens, np.arange(N) == 1)}
    if paired:
        premise = RoleRelevance([np.ones(1, np.float32)] * N, [["a"]] * N, np.zeros(N, bool))
        roles = {"premise": premise, **roles}
    of = "paired" if paired else "hypothesis_only"
    return Relevances(Origin("net", "toy", of, "toy", "test", 0, 10), ids, roles)


@cache
def example_leakage_report() -> Report:
    """All that can be measured of the example."""
    evidence = example_evidence()
    choice = LeakageChoice(n_clusters=8, n_repetitions=3, grid=True)
    measured = measure(evidence, choice, Settings(), Steps())
    split = Split(split=1, n_train=9, n_test=3, accuracies={"paired": 0.5}, majority=0.4, peco={})
    result = replace(measured.result, splits=(split,))
    findings = {
        "questions": ["leakage"],
        "dataset": About(evidence.name, tuple(LABELS), text_columns=("premise", "hypothesis")),
        "leakage": result,
    }
    framed = frame_findings("Leakage in toy & <i>test</i>", findings, Steps(), verdicts={"leakage": measured.verdict})
    return compose_report(framed, measured.tables, findings=[Finding("leakage", measured.verdict, result=result)])


def example_result() -> MeasuredLeakage:
    """What the report is made of."""
    found = example_leakage_report().answer(MeasuredLeakage)
    assert found is not None
    return found
