"""What every report's document has around its findings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from goldassay.core.document import Document
from goldassay.core.progress import Steps
from goldassay.core.report_seal import digest_of
from goldassay.core.results import Verdict
from goldassay.questions.report_frame import command_of, compose_report, frame_findings
from goldassay.questions.shift.result import DetectionResult
from goldassay.report.report import Report
from tests.gate.test_check import AUDIT, classes, condition, leakage_of, patterns_of, shift_of
from tests.typed import filled


@pytest.mark.parametrize(
    ("parts", "command"),
    [
        ({}, "audit"),
        ({"questions": ["leakage"], "leakage": {"conditions": []}}, "leakage measure"),
        ({"questions": ["leakage"], "leakage": {"suggestion": {"before": {}}}}, "leakage suggest"),
        ({"questions": ["artifacts"], "artifacts": {"n_mined": 3}}, "artifacts mine"),
        ({"questions": ["artifacts"], "artifacts": {"difficulty": classes(0.1)}}, "artifacts assign"),
        ({"questions": ["instability"], "instability": {"source": "runs", "results": []}}, "instability"),
        ({"questions": ["comparison"], "comparison": {"pairs": []}}, "compare"),
        ({"questions": ["shift"], "shift": shift_of()}, "shift generalization"),
        ({"questions": ["shift"], "shift": filled(DetectionResult, {})}, "shift detection"),
    ],
)
def test_the_command_that_makes_a_report(parts: dict[str, Any], command: str) -> None:
    assert command_of(parts) == command


@pytest.mark.parametrize(
    ("at_most", "headline", "shown"),
    [
        # A card of points above guessing has a limit in shares of the rows.
        (0.2, {"unit": "points", "baseline": 0.5}, "Leakage 20.0\N{NO-BREAK SPACE}%"),
        (0.2, {"unit": "points"}, "Leakage 20.0 points"),
        (0.2, {"unit": "share"}, "Leakage 20.0\N{NO-BREAK SPACE}%"),
        (1.0, {"unit": "points", "baseline": 0.5}, "Leakage not reached"),
        (0.0, {"unit": "points"}, ""),
    ],
)
def test_limits_are_in_the_unit_of_their_sentence(at_most: float, headline: dict[str, Any], shown: str) -> None:
    found = {"label": "gain", "value": 0.01, "low": -0.01, "high": 0.03, **headline}
    for word, limits in (("sound", shown), ("caution", "")):
        verdict = filled(Verdict, {"verdict": word, "at_most": at_most, "headline": found})
        framed = frame_findings("t", {"questions": ["leakage"]}, Steps(quiet=True), verdicts={"leakage": verdict})
        assert compose_report(framed).limits == limits


def test_all_that_differs_between_two_equal_runs_is_the_timing() -> None:
    findings = {key: AUDIT.document[key] for key in ("inputs", "settings")}
    verdicts = {question: filled(Verdict, each) for question, each in AUDIT.document["verdicts"].items()}
    findings["artifacts"] = patterns_of(giveaway={"value": 0.04, "low": 0.03, "high": 0.06}, difficulty=classes(0.25))
    findings["leakage"] = leakage_of(condition("hypothesis_only", 0.08))
    steps = Steps(quiet=True)
    with steps.step("one"):
        pass
    made = frame_findings("t", findings, steps, verdicts=verdicts).document
    written = Report(made).to_json()
    assert "timing" not in json.loads(written)
    assert set(json.loads(Report(made).timing_json())) == {"started", "finished", "seconds"}
    later = Steps(quiet=True)
    later.seconds["another"] = 9.0
    assert Report(frame_findings("t", findings, later, verdicts=verdicts).document).to_json() == written
    document = json.loads(written)
    Document.model_validate(document)
    assert document["digest"] == digest_of(document)
    assert [row["id"] for row in document["figures"]][:3] == [
        "artifacts.selected", "artifacts.gain", "artifacts.precision",
    ]  # fmt: skip
