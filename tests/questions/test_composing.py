"""Reports composed of documents."""

from __future__ import annotations

from goldassay.core.progress import Steps
from goldassay.core.results import Verdict
from goldassay.questions.leakage.result import SuggestedRewrites, SuggestedRows
from goldassay.questions.report_frame import frame_findings
from goldassay.questions.shift.result import DetectionResult
from tests.gate.test_check import shift_of
from tests.typed import compose, filled


def test_a_question_that_was_not_asked_has_neither_card_nor_section() -> None:
    verdict = {"verdict": "sound", "evidence": "So."}
    report = compose({"questions": ["shift"], "verdicts": {"shift": verdict}, "shift": shift_of()})
    assert [card.key for card in report.cards] == ["shift"]
    assert [section.key for section in report.sections] == ["shift", "inputs"]


def test_an_audit_asks_five_questions() -> None:
    report = compose({})
    assert [card.key for card in report.cards] == ["artifacts", "leakage", "instability", "shift", "overlap"]
    assert [card.judged for card in report.cards] == [False] * 5
    # Facts that were not collected are no section.
    assert [section.key for section in report.sections] == ["inputs"]


def test_what_ranks_rows_has_no_card() -> None:
    suggested = SuggestedRewrites(
        filled(SuggestedRows, {"after_dropping": [{"rows": "random"}, {"rows": "suggested"}]})
    )
    assert compose({"questions": ["leakage"], "leakage": suggested}).cards == ()


def test_verdicts_say_which_question_they_answer() -> None:
    verdicts = {"shift": Verdict("sound", "So.", None, "", "")}
    document = frame_findings("T", {"questions": ["shift"], "shift": shift_of()}, Steps(), verdicts=verdicts).document
    assert document["verdicts"]["shift"]["question"] == "Does the score hold on another distribution?"
    detection = frame_findings(
        "T",
        {"questions": ["shift"], "shift": filled(DetectionResult, {"kind": "detection"})},
        Steps(),
        verdicts=verdicts,
    ).document
    assert detection["verdicts"]["shift"]["question"].startswith("Does the model know")
