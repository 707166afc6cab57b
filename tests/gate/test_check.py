"""Rules held against documents: both sides of each limit, what is lacking, and what CI services are told."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from goldassay.core.document import Document
from goldassay.core.errors import InputError
from goldassay.core.figures import Measure, declared, judged_questions
from goldassay.core.report_seal import digest_of
from goldassay.core.results import not_asked, to_plain
from goldassay.gate.check import Check, check_reports, read_policy, to_junit
from goldassay.gate.reading import StoredReport
from goldassay.questions.answered.result import AnsweredResult, AnsweredRow
from goldassay.questions.artifacts.result import PatternsResult
from goldassay.questions.judgments.people import Corrected
from goldassay.questions.judgments.result import JudgmentsResult
from goldassay.questions.leakage.result import Condition, MeasuredLeakage
from goldassay.questions.report_frame import figures_of
from goldassay.questions.shift.result import DetectionResult, GapRow, GeneralizationResult
from tests.stated import in_order, says, states
from tests.typed import filled, findings_of


def verdict(word: str, value: float | None = 0.1, evidence: str = "e", at_most: float | None = None) -> dict[str, Any]:
    headline = None if value is None else {"label": "l", "value": value, "low": value, "high": value, "unit": "points"}
    return {
        "verdict": word, "evidence": evidence, "headline": headline, "next_step": "n", "rule": "r", "at_most": at_most,
    }  # fmt: skip


def condition(name: str, improvement: float | None, reach: float = 0.02) -> Condition:
    low, high = (None, None) if improvement is None else (improvement - reach, improvement + reach)
    row = {
        "condition": name, "n_runs": 3, "accuracy": 0.5, "majority": 0.4, "improvement": improvement,
        "improvement_low": low, "improvement_high": high, "reason": "" if improvement is not None else "no <run>\x00",
    }  # fmt: skip
    return filled(Condition, row)


def leakage_of(*conditions: Condition, **more: Any) -> MeasuredLeakage:
    return filled(MeasuredLeakage, {"conditions": conditions, **more})


def result(model: str, n_runs: int, effective_size: float | None, sd: float) -> dict[str, Any]:
    return {
        "model": model, "dataset": "d", "condition": "paired", "n_runs": n_runs, "n_examples": 500, "mean": 0.7,
        "sd": sd, "effective_size": effective_size or math.nan, "reason": None if effective_size else "no spread",
        "name": "", "n_distinct": n_runs, "contradicted": 0, "accuracies": [], "min": 0.7, "max": 0.7, "constant": None,
        "constant_score": 0.0, "above_constant_low": 0.6, "examples_to_exceed": 2, "by_position": False,
    }  # fmt: skip


def gap(test: str, value: float, own: bool, **more: Any) -> GapRow:
    row = {
        "model": "m", "test": test, "metric": "accuracy", "own": own, "n_runs": 4, "value": 0.5,
        "gap": value, "gap_low": value - 0.01, "gap_high": value + 0.01,
    }  # fmt: skip
    return filled(GapRow, {**row, **more})


def shift_of(*gaps: GapRow) -> GeneralizationResult:
    return filled(GeneralizationResult, {"kind": "generalization", "generalization": gaps})


def classes(easy: float, n: int = 400) -> dict[str, Any]:
    """How many of n test examples are easy by pattern; of the rest no pattern says anything."""
    shares = {"easy": easy, "hard": 0.0, "conflicting": 0.0, "uncovered": 1 - easy}
    return {name: {"n": round(n * share), "share": share} for name, share in shares.items()}


def patterns_of(**said: Any) -> PatternsResult:
    return filled(PatternsResult, said)


def stored(title: str = "r", **parts: Any) -> StoredReport:
    document = {
        "schema": "goldassay.report", "schema_version": 2, "goldassay_version": "0.1.0", "command": "audit",
        "title": title, "inputs": [], "settings": {},
        "environment": {"python": "3", "platform": "any", "packages": {}}, **parts,
    }  # fmt: skip
    answers = {each.question: each.result for each in findings_of(document)}
    document = to_plain(document)
    document["figures"] = to_plain([figure.to_dict() for figure in figures_of(document, answers)])
    document["digest"] = digest_of(document)
    Document.model_validate(document)
    return StoredReport(Path(title) / "report.json", document, "2026-01-02T03:04:05")


AUDIT = stored(
    "audit",
    verdicts={
        "artifacts": verdict("caution"), "leakage": verdict("unsound"),
        "instability": not_asked("instability", ["runs"]), "shift": not_asked("shift", ["elsewhere"]),
    },
    artifacts=patterns_of(
        coverage_of="test", giveaway={"value": 0.04, "low": 0.03, "high": 0.06}, difficulty=classes(0.25)
    ),
    leakage=leakage_of(
        condition("paired", 0.4), condition("premise_only", 0.01), condition("hypothesis_only", 0.08)
    ),
)  # fmt: skip
RUNS = stored(
    "runs",
    verdicts={"instability": verdict("sound")},
    instability={"source": "runs", "results": [result("a", 10, 900.0, 0.002), result("b", 3, 300.0, 0.02)]},
)
SHIFT = stored(
    "shift",
    verdicts={"shift": verdict("caution")},
    shift=shift_of(gap("own", 0.0, True), gap("other", 0.07, False)),
)
_DETECTED = {
    "model": "m", "dataset": "x", "score": "energy", "n_runs": 4, "auroc": 0.7, "false_alarm_rate": 0.6,
    "false_alarm_rate_low": 0.5, "false_alarm_rate_high": 0.7,
}  # fmt: skip
DETECTION = stored(
    "detection",
    verdicts={"shift": verdict("caution")},
    shift=filled(DetectionResult, {"kind": "detection", "detection": [_DETECTED]}),
)
SENSITIVITY = stored(
    "sensitivity",
    verdicts={"sensitivity": verdict("unsound")},
    sensitivity={
        "results": [
            {
                "model": "m", "dataset": "d", "condition": "paired", "settings": "prompt", "n_configurations": 6,
                "n_repeats_least": 1, "n_repeats_most": 1, "n_examples": 500,
                "sd": 0.04, "sd_low": 0.03, "sd_high": 0.09, "separable": False,
                "range": 0.1, "range_low": 0.05, "range_high": 0.15, "repeat_sd": None,
                "best": "a", "best_mean": 0.7, "best_elsewhere": 0.7, "best_low": 0.6, "best_high": 0.8,
                "worst": "b", "worst_mean": 0.6, "worst_elsewhere": 0.6, "worst_low": 0.5, "worst_high": 0.7,
                "claim": None, "claim_open": "",
            }
        ],
        "configurations": [], "n_pairs": 0, "n_changed": 0, "single_configuration": [], "dropped": [],
        "sentences": [], "notes": [],
    },
)  # fmt: skip
OVERLAP = stored(
    "overlap",
    verdicts={"overlap": verdict("caution")},
    overlap={
        "corpus": "c.jsonl", "n_items": 100, "n_searched": 100, "reason": "", "share": 0.02, "low": 0.01, "high": 0.07,
        "excess": 0.02, "excess_low": 0.01, "excess_high": 0.07, "control": 0.02, "control_reason": "", "listed": 0.0,
        "reordered": 0.0, "reordered_low": 0.0, "reordered_high": 0.01, "within": 0.0, "reordered_reason": "",
        "dirty": 0.03, "partial": 0.1, "question_only": 0.01, "coverage": 0.05, "union": 0.06, "clean": 0.87,
        "n_found": 2, "n": 13, "kinds": [], "histogram": [], "files": [], "worst": [], "scores": [], "sentences": [],
        "n_documents": 500, "with_training": False, "n_bytes": 9000, "n_broken_lines": 0, "n_broken": 0,
        "n_boilerplate": 0, "near_copies": False, "notes": [],
    },
)  # fmt: skip
ANSWERED = stored(
    "answered",
    verdicts={"answered": verdict("caution")},
    answered=filled(
        AnsweredResult,
        {"runs": (filled(AnsweredRow, {"model": "m", "dataset": "d", "n_items": 50, "unscored_share": 0.02}),)},
    ),
)
JUDGMENTS = stored(
    "judgments",
    verdicts={"judgments": verdict("caution")},
    judgments=filled(
        JudgmentsResult, {"corrected": (filled(Corrected, {"judge": "j", "value": 0.7, "low": 0.66, "high": 0.74}),)}
    ),
)
LEAKAGE = stored(
    "leakage",
    verdicts={"leakage": verdict("sound")},
    leakage=leakage_of(peco=[{"role": "premise", "score": 0.1, "biased_share": 0.3}], source="probes"),
)


def checked(report: StoredReport | list[StoredReport], **policy: Any) -> Check:
    reports = report if isinstance(report, list) else [report]
    return check_reports(reports, read_policy(policy))


RULES: dict[str, Measure | None] = {
    **{measure.rule.name: measure for measure in declared() if measure.rule is not None},
    **{f"worst_{question}_verdict": None for question in judged_questions()},
    **{f"max_{question}": None for question in judged_questions()},
    "worst_verdict": None,
}
# The figure that decides each rule, in the report that has it.
FIGURES = {
    "max_single_sentence_improvement": (AUDIT, 0.08),
    "max_biased_share": (LEAKAGE, 0.3),
    "max_unscored": (ANSWERED, 0.02),
    "max_overlap_control": (OVERLAP, 0.02),
    "max_easy_share": (AUDIT, 0.25),
    "max_pattern_gain": (AUDIT, 0.04),
    "min_effective_size": (RUNS, 300.0),
    "max_score_sd": (RUNS, 0.02),
    "max_configuration_sd": (SENSITIVITY, 0.04),
    "min_runs": (RUNS, 3),
    "max_generalization_gap": (SHIFT, 0.07),
    "max_false_alarm_rate": (DETECTION, 0.6),
    "min_corrected_score": (JUDGMENTS, 0.7),
}


@pytest.mark.parametrize("name", FIGURES)
def test_both_sides_of_a_limit(name: str) -> None:
    report, value = FIGURES[name]
    step = 1 if name.startswith("min") and value >= 1 else 0.001
    (kept,) = checked(report, **{name: value}).outcomes
    assert (kept.status, kept.value, kept.n_broken) == ("kept", value, 0)
    beyond = value + step if name.startswith("min") else value - step
    (broken,) = checked(report, **{name: beyond}).outcomes
    assert broken.status == "broken"
    assert broken.line.startswith(f"{name}: ")
    assert broken.report == str(report.path)


def test_every_rule_is_tried() -> None:
    words = {"worst_verdict", *(f"worst_{question}_verdict" for question in judged_questions())}
    assert words >= {f"worst_{question}_verdict" for question in ("artifacts", "leakage", "instability", "shift")}
    bounds = {f"max_{question}" for question in judged_questions()}
    assert set(RULES) == words | bounds | FIGURES.keys()


@pytest.mark.parametrize("name", RULES)
def test_what_no_report_has_breaks_its_rule_unless_it_is_optional(name: str) -> None:
    limit = "sound" if name.startswith("worst") else 1
    empty = stored("empty")
    assert checked(empty, **{name: limit}).outcomes[0].status == "broken"
    assert checked(empty, **{name: {"limit": limit, "optional": True}}).outcomes[0].status == "skipped"
    assert "is not in the report" in checked(empty, **{name: limit}).outcomes[0].line


def test_why_it_is_lacking_is_said() -> None:
    (runs,) = checked(AUDIT, min_runs=2).outcomes
    assert runs.line == says("min_runs:", "not in the report", "Not asked: instability")
    (shift,) = checked(AUDIT, max_generalization_gap=0.1).outcomes
    assert shift.line.endswith("is not in the report: Not asked: shift")


@pytest.mark.parametrize(
    ("by", "limit", "status"),
    [("value", 0.05, "kept"), ("high", 0.05, "broken"), ("low", 0.02, "broken"), ("low", 0.03, "kept")],
)
def test_an_end_of_the_interval_may_decide(by: str, limit: float, status: str) -> None:
    (outcome,) = checked(AUDIT, max_pattern_gain={"limit": limit, "by": by}).outcomes
    assert outcome.status == status
    assert ("end of the interval" in outcome.line) == (by != "value")


def test_a_share_of_examples_has_wilsons_interval() -> None:
    low, high = proportion_confint(100, 400, method="wilson")
    (kept,) = checked(AUDIT, max_easy_share={"limit": high + 1e-6, "by": "high"}).outcomes
    assert kept.status == "kept"
    assert (kept.low, kept.high) == pytest.approx((low, high))
    (broken,) = checked(AUDIT, max_easy_share={"limit": high - 1e-6, "by": "high"}).outcomes
    assert states(broken.line.replace("\N{NO-BREAK SPACE}", " "), "25.0 % [21.0, 29.5]", "at most 29.5 %", "upper end")


def test_the_interval_over_runs_is_the_reports_own() -> None:
    ends = {"effective_size_low": 500.0, "effective_size_high": 1500.0}
    rows = [{**result("a", 5, 900.0, 0.02), **ends}, result("b", 5, 700.0, 0.02)]
    report = stored("r", instability={"source": "runs", "results": rows[:1]})
    assert checked(report, min_effective_size={"limit": 500, "by": "low"}).passed
    assert not checked(report, min_effective_size={"limit": 501, "by": "low"}).passed
    both = stored("r", instability={"source": "runs", "results": rows})
    assert "has no interval" in checked(both, min_effective_size={"limit": 1, "by": "low"}).broken[0].line


def test_no_interval_where_one_is_asked_for() -> None:
    report = stored("s", shift=shift_of(gap("t", 0.1, False, gap_low=math.nan, gap_high=math.nan)))
    (outcome,) = checked(report, max_generalization_gap={"limit": 0.9, "by": "high"}).outcomes
    assert outcome.status == "broken"
    assert "has no interval, and by = 'high' asks for one" in outcome.line


@pytest.mark.parametrize("name", RULES)
def test_by_is_for_what_has_an_interval(name: str) -> None:
    """What can be asked for can be kept: each rule that takes an end of an interval finds one in a report."""
    measure = RULES[name]
    if measure is None or not measure.bounded:
        with pytest.raises(InputError, match=in_order(f"policy.{name}:", "by = 'high'", "interval")):
            read_policy({name: {"limit": "sound" if name.startswith("worst") else 1, "by": "high"}})
        return
    ends = {"sd_low": 0.01, "sd_high": 0.04, "effective_size_low": 0.5, "effective_size_high": 2.0}
    runs = stored("runs", instability={"source": "runs", "results": [{**result("a", 3, 1.0, 0.02), **ends}]})
    reports = [AUDIT, runs, SHIFT, DETECTION, SENSITIVITY, OVERLAP, ANSWERED, JUDGMENTS]
    limit = 0 if name == "min_corrected_score" else 1
    (outcome,) = checked(reports, **{name: {"limit": limit, "by": "high"}}).outcomes
    assert outcome.status == "kept", outcome.line


@pytest.mark.parametrize("name", ["max_easy_share", "max_score_sd", "max_pattern_gain"])
@pytest.mark.parametrize("limit", [-0.05, 1.5, math.nan, math.inf])
def test_a_limit_that_is_no_fraction(name: str, limit: float) -> None:
    with pytest.raises(InputError, match="is no fraction from 0 to 1"):
        checked(AUDIT, **{name: limit})


class TestQuickProbes:
    """What measures a benchmark is not the model that a policy demands runs of."""

    probed = stored("p", instability={"source": "runs", "results": [result("quick_probe", 9, 900.0, 0.001)]})

    @pytest.mark.parametrize("rule", ["min_runs", "min_effective_size", "max_score_sd"])
    def test_their_runs_do_not_count_though_they_be_measured_like_any(self, rule: str) -> None:
        (outcome,) = checked(self.probed, **{rule: 1}).outcomes
        assert outcome.status == "broken"
        assert states(outcome.line, "not in the report", "of quick_probe", "does not count")

    def test_those_of_a_model_beside_them_do(self) -> None:
        rows = [result("quick_probe", 1, 9.0, 0.5), result("bert", 5, 900.0, 0.001)]
        both = stored("b", instability={"source": "runs", "results": rows})
        (outcome,) = checked(both, min_runs=5).outcomes
        assert (outcome.status, outcome.n_figures, outcome.of) == ("kept", 1, ("bert", "d", "paired"))

    def test_wherever_they_stand(self) -> None:
        shift = stored("s", shift=shift_of(gap("t", 0.1, False, model="quick_probe")))
        leakage = stored("l", leakage=leakage_of(condition("a", 0.1), source="runs", model="quick_probe"))
        for report in (shift, leakage):
            assert not checked(report, min_runs=1).passed
        other = stored("l", leakage=leakage_of(condition("a", 0.1), source="runs", model="bert"))
        assert checked(other, min_runs=1).passed


class TestIdsOfFigures:
    """Any figure may be limited by its id."""

    def test_the_most_and_the_least(self) -> None:
        check = checked(AUDIT, **{"leakage.accuracy": {"min": 0.6, "max": 0.7}})
        assert [(each.direction, each.status) for each in check.outcomes] == [
            ("at most", "kept"),
            ("at least", "broken"),
        ]
        assert check.broken[0].line == says("leakage.accuracy:", "50.0 points (paired)", "at least 60.0 points")

    def test_it_is_the_same_as_its_rule(self) -> None:
        for by in ("value", "low", "high"):
            named = checked(AUDIT, max_pattern_gain={"limit": 0.05, "by": by}).outcomes[0]
            other = checked(AUDIT, **{"artifacts.gain": {"max": 0.05, "by": by}}).outcomes[0]
            assert (named.status, named.value, named.low, named.high) == (
                other.status, other.value, other.low, other.high,
            )  # fmt: skip

    def test_written_without_quotes(self) -> None:
        assert read_policy({"artifacts": {"gain": {"max": 0.1}}}) == read_policy({"artifacts.gain": {"max": 0.1}})

    def test_a_figure_that_is_lacking(self) -> None:
        (outcome,) = checked(AUDIT, **{"shift.gap": {"max": 0.1}}).outcomes
        assert outcome.line.endswith("is not in the report: Not asked: shift")
        assert checked(AUDIT, **{"shift.gap": {"max": 0.1, "optional": True}}).passed

    @pytest.mark.parametrize(
        ("policy", "expected"),
        [
            ({"leakage.improvment": {"max": 1}}, "did you mean 'policy.leakage.improvement'"),
            ({"leakage.improvement": 0.1}, "is a table with max or min"),
            ({"leakage.improvement": {"by": "high"}}, "is a table with max or min"),
            ({"leakage.improvement": {"max": 5}}, "5 is no fraction from -1 to 1"),
            ({"leakage.improvement": {"max": 0.1, "limit": 1}}, "unknown key 'policy.leakage.improvement.limit'"),
            ({"leakage.biased_share": {"max": 0.1, "by": "low"}}, "this measure has none"),
            ({"instability.runs": {"min": 2.5}}, "a whole number is needed"),
        ],
    )
    def test_what_is_wrong_is_named(self, policy: dict[str, Any], expected: str) -> None:
        with pytest.raises(InputError, match=expected):
            read_policy(policy)


def test_an_undefined_figure_breaks_its_rule() -> None:
    report = stored(
        "u", instability={"source": "runs", "results": [result("a", 2, None, 0.0), result("b", 3, 900, 0.1)]}
    )
    (outcome,) = checked(report, min_effective_size=100).outcomes
    assert outcome.status == "broken"
    assert outcome.line.endswith("is not defined (a, d, paired): no spread")
    (kept,) = checked(report, min_effective_size={"limit": 100, "optional": True}).outcomes
    assert (kept.status, kept.n_figures) == ("kept", 1)


class TestVerdicts:
    def test_all_that_were_measured(self) -> None:
        (outcome,) = checked(AUDIT, worst_verdict="unsound").outcomes
        assert (outcome.status, outcome.n_figures) == ("kept", 2)
        (outcome,) = checked(AUDIT, worst_verdict="caution").outcomes
        assert outcome.line == says("worst_verdict:", "unsound (leakage)", "at most caution")
        assert checked(AUDIT, worst_verdict="sound").outcomes[0].n_broken == 2

    def test_one_question(self) -> None:
        assert checked(AUDIT, worst_artifacts_verdict="caution").passed
        assert not checked(AUDIT, worst_artifacts_verdict="sound").passed

    def test_not_measurable(self) -> None:
        """A question that is demanded must be answered; what is worse than allowed is said first."""
        (outcome,) = checked(AUDIT, worst_shift_verdict="unsound").outcomes
        assert outcome.line == says("worst_shift_verdict:", "not in the report")
        assert outcome.status != "kept"
        few = stored("few", verdicts={"artifacts": verdict("unresolved"), "leakage": verdict("sound")})
        assert not checked(few, worst_verdict="unsound").passed
        both = stored("both", verdicts={"artifacts": verdict("unsound"), "leakage": verdict("unresolved")})
        (outcome,) = checked(both, worst_verdict="caution").outcomes
        assert outcome.line == says("worst_verdict:", "unsound (artifacts)", "at most caution")

    @pytest.mark.parametrize("word", ["unresolved", "not measurable"])
    @pytest.mark.parametrize("value", [0.1, None])
    def test_what_is_inconclusive_fails_unless_the_policy_lets_it_pass(self, word: str, value: float | None) -> None:
        report = stored("open", verdicts={"shift": verdict(word, value), "leakage": verdict("caution")})
        for rule in ("worst_verdict", "worst_shift_verdict"):
            failing = checked(report, **{rule: "unsound"})
            assert [outcome.status for outcome in failing.outcomes] == ["inconclusive"]
            assert not failing.passed
            assert states(failing.outcomes[0].line, rule, word)
            assert checked(report, unresolved="fail", **{rule: "unsound"}).passed is False
            passing = checked(report, unresolved="pass", **{rule: "unsound"})
            assert [outcome.status for outcome in passing.outcomes] == ["inconclusive"]
            assert passing.passed
        # Nothing that is broken passes with it, and the caution beside it breaks first.
        assert not checked(report, unresolved="pass", worst_verdict="sound").passed

    def test_the_bound_of_a_question_is_limited(self) -> None:
        bounded = stored("b", verdicts={"leakage": verdict("unresolved", at_most=0.081)})
        (kept,) = checked(bounded, max_leakage=0.081).outcomes
        assert (kept.status, kept.value) == ("kept", 0.081)
        (broken,) = checked(bounded, max_leakage=0.08).outcomes
        assert broken.line == says("max_leakage:", "8.1\N{NO-BREAK SPACE}%", "8.0\N{NO-BREAK SPACE}%")
        assert not checked(bounded, unresolved="pass", max_leakage=0.08).passed
        points = stored("p", verdicts={"instability": verdict("sound", at_most=0.004)})
        assert "0.5 points" in checked(points, max_instability=0.005).outcomes[0].line

    @pytest.mark.parametrize("word", ["sound", "unresolved", "not measurable"])
    def test_where_nothing_bounds_a_flaw_the_rule_is_broken(self, word: str) -> None:
        unbounded = stored("u", verdicts={"leakage": verdict(word)})
        for more in ({}, {"unresolved": "pass"}):
            check = checked(unbounded, max_leakage=1, **more)
            assert [outcome.status for outcome in check.outcomes] == ["broken"]
            assert not check.passed
            assert word in check.outcomes[0].line
        assert checked(unbounded, max_leakage={"limit": 1, "optional": True}).passed


def test_several_reports_are_judged_together() -> None:
    check = checked([AUDIT, RUNS, SHIFT], min_runs=4, max_easy_share=0.3, max_generalization_gap=0.1)
    assert {outcome.rule: outcome.status for outcome in check.outcomes} == {
        "max_easy_share": "kept", "min_runs": "broken", "max_generalization_gap": "kept",
    }  # fmt: skip
    assert check.broken[0].report == str(RUNS.path)
    assert f" (b, d, paired) in {RUNS.path}; the policy" in check.broken[0].line
    lacking = checked([AUDIT, RUNS], max_generalization_gap=0.1).broken[0]
    assert states(lacking.line, "none of the 2 reports", f"{AUDIT.path}, {RUNS.path}", "Not asked: shift")
    few = stored("few", instability={"source": "runs", "results": [result("a", 2, None, 0.0)]})
    undefined = checked([AUDIT, few], min_effective_size=10).broken[0]
    assert undefined.line.endswith(f"is not defined (a, d, paired) in {few.path}: no spread")
    assert undefined.report == str(few.path)
    assert [report["title"] for report in check.to_dict()["reports"]] == ["audit", "runs", "shift"]


def test_a_policy_that_demands_nothing() -> None:
    with pytest.raises(InputError, match="demands nothing"):
        checked(AUDIT)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=6), st.floats(0, 1))
def test_the_worst_figure_decides(improvements: list[float], limit: float) -> None:
    rows = [condition(f"{i}_only", x, 0.0) for i, x in enumerate(improvements)]
    (outcome,) = checked(stored("p", leakage=leakage_of(*rows)), max_single_sentence_improvement=limit).outcomes
    assert (outcome.status == "kept") == (max(improvements) <= limit)
    assert outcome.value == max(improvements)
    assert outcome.n_broken == sum(x > limit for x in improvements)


def test_junit() -> None:
    """The attributes and the order of elements that the schemas in use demand."""
    hostile = stored('a & <b> "c" \x00', leakage=leakage_of(condition("hypothesis_only", None)))
    policy: dict[str, Any] = {"max_single_sentence_improvement": 0.1, "min_runs": {"limit": 3, "optional": True}}
    check = checked([AUDIT, hostile], **policy, max_easy_share=0.3)
    root = ET.fromstring(to_junit(check))
    assert root.tag == "testsuites"
    (suite,) = root
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped", "timestamp", "hostname")} == {
        "tests": "3", "failures": "1", "errors": "0", "skipped": "1", "timestamp": "2026-01-02T03:04:05",
        "hostname": "localhost",
    }  # fmt: skip
    assert float(suite.get("time", "")) == 0
    assert [child.tag for child in suite] == ["properties", *["testcase"] * 3]
    for case in suite.iter("testcase"):
        assert case.get("classname")
        assert case.get("name")
        float(case.get("time", ""))
        assert {child.tag for child in case} <= {"failure", "skipped", "system-out"}
    (failure,) = suite.iter("failure")
    assert failure.get("type")
    assert failure.get("message") == failure.text == check.broken[0].line.replace("\x00", "\\x00")
    assert to_junit(check) == to_junit(check)
    assert [case.get("file") for case in suite.iter("testcase")] == [
        str(hostile.path).replace("\x00", "\\x00"), None, str(AUDIT.path),
    ]  # fmt: skip


def test_junit_of_a_report_without_a_clock() -> None:
    undated = StoredReport(AUDIT.path, AUDIT.document)
    (suite,) = ET.fromstring(to_junit(checked(undated, max_easy_share=0.3)))
    assert "timestamp" not in suite.attrib


def test_a_limit_beyond_any_count_is_refused() -> None:
    with pytest.raises(InputError, match="min_runs"):
        read_policy({"min_runs": 10**400})
