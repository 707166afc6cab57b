"""What judges and compares reports knows no question: a new one needs no change here."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import goldassay.gate
from goldassay.core import figures as module
from goldassay.core.figures import Measure, Pairing, Rule, declare, declare_verdict
from goldassay.core.report_seal import digest_of
from goldassay.gate.check import check_reports, read_policy
from goldassay.questions.gating import diff_reports
from tests.gate.test_check import stored, verdict
from tests.gate.test_diff import write
from tests.stated import says

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goldassay.gate.reading import StoredReport

FILES = sorted(Path(str(goldassay.gate.__file__)).parent.rglob("*.py"))
KEYS = {
    "artifacts", "leakage", "instability", "shift", "comparison", "facts", "conditions", "peco", "generalization",
    "detection", "difficulty", "giveaway", "strongest", "results", "quick_probe",
}  # fmt: skip


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_key_of_a_question(file: Path) -> None:
    tree = ast.parse(file.read_text())
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert {part for text in texts for part in text.split(".") if " " not in text} & KEYS == set()


@pytest.fixture
def toy() -> Iterator[Measure]:
    """A question that nothing else knows."""
    kept = dict(module._DECLARED), dict(module._JUDGED)
    declare_verdict("toy")
    yield declare(
        Measure(
            "toy.share", "toy share", "share", "lower", rule=Rule("max_toy_share", "share of toys", "at most"),
            pairing=Pairing("toy"),
        )
    )  # fmt: skip
    module._DECLARED.clear()
    module._DECLARED.update(kept[0])
    module._JUDGED.clear()
    module._JUDGED.update(kept[1])


def report(measure: Measure, value: float, word: str) -> StoredReport:
    made = stored("toys", verdicts={"toy": verdict(word)})
    document = {**made.document, "figures": [measure.figure(value, value - 0.1, value + 0.1, n=9).to_dict()]}
    return type(made)(made.path, document, made.finished)


def test_a_new_question_is_judged(toy: Measure) -> None:
    policy = {"max_toy_share": {"limit": 0.3, "by": "high"}, "toy.share": {"min": 0.1}, "worst_toy_verdict": "sound"}
    check = check_reports([report(toy, 0.25, "caution")], read_policy(policy))
    assert [outcome.line.replace("\N{NO-BREAK SPACE}", " ") for outcome in check.outcomes] == [
        says("max_toy_share:", "25.0 % [15.0, 35.0]", "at most 30.0 %", "upper end"),
        says("toy.share:", "25.0 % [15.0, 35.0]", "at least 10.0 %"),
        says("worst_toy_verdict:", "caution", "at most sound"),
    ]
    assert [outcome.status for outcome in check.outcomes] == ["broken", "kept", "broken"]


def test_a_new_question_is_compared(toy: Measure, tmp_path: Path) -> None:
    folders = []
    for value, word in ((0.9, "unsound"), (0.2, "sound")):
        made = report(toy, value, word)
        made.document["digest"] = digest_of(made.document)
        folders.append(write(made, tmp_path / word))
    document = diff_reports(*folders).document
    (row,) = document["measures"]
    assert (row["id"], row["measure"], row["change"], row["difference"]) == (
        "toy.share", "toy share", "better", pytest.approx(-0.7),
    )  # fmt: skip
    assert [(each["question"], each["moved"]) for each in document["verdicts"]] == [("toy", "better")]
