"""The figures that follow from each question's results, with intervals against independent references."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from goldassay.core.figures import Figure, declared
from goldassay.core.figures import figures_of as figures_of_result
from goldassay.core.results import Result
from goldassay.questions.instability.result import InstabilityResult
from goldassay.questions.instability.spread import measure_spread
from goldassay.questions.leakage.result import ComparedDatasets
from goldassay.questions.report_frame import figures_of
from goldassay.questions.run_curves import measure_curve
from goldassay.runs.curves import Curves
from goldassay.runs.runs import Runs
from tests.gate.test_check import classes, condition, gap, leakage_of, patterns_of, result, shift_of
from tests.typed import filled, findings_of


def found(id_: str, **document: Any) -> list[Figure]:
    typed = {name: part for name, part in document.items() if isinstance(part, Result)}
    plain = {name: part for name, part in document.items() if name not in typed}
    answers = typed | {each.question: each.result for each in findings_of(plain) if each.result is not None}
    return [figure for figure in figures_of(document, answers) if figure.id == id_]


def test_ids_name_their_question() -> None:
    questions = {
        "facts",
        "artifacts",
        "leakage",
        "instability",
        "shift",
        "comparison",
        "sensitivity",
        "answered",
        "board",
        "judgments",
        "overlap",
        "suspect",
        "discount",
        "cutoff",
    }
    assert {measure.question for measure in declared()} == questions


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_shares_of_test_examples_have_wilsons_interval(share: float) -> None:
    (easy,) = found("artifacts.easy_share", artifacts=patterns_of(difficulty=classes(share)))
    low, high = proportion_confint(round(400 * share), 400, method="wilson")
    assert (easy.value, easy.n) == (share, 400)
    assert (easy.low, easy.high) == pytest.approx((low, high))


def test_the_precision_of_classed_examples() -> None:
    sizes = {"easy": 30, "hard": 10, "conflicting": 5, "uncovered": 55}
    difficulty = {name: {"n": n, "share": n / 100} for name, n in sizes.items()}
    (precision,) = found("artifacts.precision", artifacts=patterns_of(difficulty=difficulty))
    low, high = proportion_confint(30, 40, method="wilson")
    assert (precision.value, precision.n) == (0.75, 40)
    assert (precision.low, precision.high) == pytest.approx((low, high))
    (coverage,) = found("artifacts.coverage", artifacts=patterns_of(difficulty=difficulty))
    assert coverage.value == pytest.approx(0.45)
    (none,) = found("artifacts.precision", artifacts=patterns_of(difficulty=classes(0.0)))
    assert math.isnan(none.value)
    assert none.reason == "the patterns name one label for no test example"


class TestInstability:
    @staticmethod
    def section(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"source": "runs", "results": list(rows), **more}

    @staticmethod
    def mean_of(scores: list[float]) -> Figure:
        curve = Curves(
            "m", "d", "accuracy", tuple(range(len(scores))), (1,), np.array(scores)[:, None], np.array(scores), ("f",)
        )
        figures = figures_of_result(InstabilityResult((measure_curve(curve),)))
        return next(each for each in figures if each.id == "instability.mean")

    def test_a_mean_over_runs_has_students_interval(self) -> None:
        scores = [0.5, 0.52, 0.57]
        mean = self.mean_of(scores)
        expected = stats.t.interval(0.95, 2, np.mean(scores), stats.sem(scores))
        assert (mean.low, mean.high) == pytest.approx(expected)
        assert mean.of == {"model": "m", "dataset": "d", "condition": ""}

    def test_of_fractions_it_is_cut_and_of_other_scores_it_is_not(self) -> None:
        for scores, high in (([0.9, 1.0], 1.0), ([90.0, 100.0], None)):
            expected = stats.t.interval(0.95, 1, np.mean(scores), stats.sem(scores))
            assert self.mean_of(scores).high == pytest.approx(expected[1] if high is None else high)

    def test_the_interval_over_runs_where_the_report_has_one(self) -> None:
        ends = {"design_effect": 3.0, "design_effect_low": -0.5, "design_effect_high": 9.0}
        row = {**result("m", 3, 900.0, 0.02), **ends}
        (effect,) = found("instability.design_effect", instability=self.section(row))
        assert (effect.value, effect.low, effect.high) == (3.0, 0.0, 9.0)

    def test_half_an_interval_is_none(self) -> None:
        for high in (None, math.inf):
            row = {**result("m", 3, 900.0, 0.02), "effective_size_low": 500.0, "effective_size_high": high}
            (size,) = found("instability.effective_size", instability=self.section(row))
            assert (math.isnan(size.low), math.isnan(size.high)) == (True, True)

    def test_a_size_without_limit_has_a_reason(self) -> None:
        row = measure_spread(Runs.from_arrays(scores=[[1, 0], [0, 1]], seeds=[1, 2], model="m", dataset="d"))
        (size,) = found("instability.effective_size", instability=InstabilityResult((row,)))
        assert row.effective_size == math.inf
        assert math.isnan(size.value)
        assert "no upper limit" in size.reason


class TestLeakage:
    def test_runs_of_a_model_count_and_those_of_an_audit_do_not(self) -> None:
        row = condition("hypothesis_only", 0.1)
        assert found("leakage.runs", leakage=leakage_of(row, source="probes", model="bert")) == []
        (runs,) = found("leakage.runs", leakage=leakage_of(row, source="runs", model="bert"))
        assert (runs.value, runs.of) == (3.0, {"model": "bert", "condition": "hypothesis_only"})

    def test_several_datasets(self) -> None:
        row = {"dataset": "a", "n_examples": 9, "paired": 0.6, "paired_low": 0.5, "paired_high": 0.7, "accuracy": 0.5}
        rows = [
            {**row, "part": "premise", "improvement": None, "agreement": None},
            {**row, "part": "hypothesis", "improvement": 0.1, "agreement": 0.4},
        ]
        section = filled(ComparedDatasets, {"datasets": rows})
        improvements = found("leakage.improvement", leakage=section)
        assert [figure.is_defined for figure in improvements] == [False, True]
        assert improvements[1].of == {"dataset": "a", "condition": "hypothesis_only"}
        assert len(found("leakage.agreement", leakage=section)) == 1
        whole = [figure for figure in found("leakage.accuracy", leakage=section) if figure.of["condition"] == "paired"]
        assert [(figure.value, figure.low, figure.label) for figure in whole] == [
            (0.6, 0.5, "accuracy of the whole input")
        ]


def test_a_gap_is_of_other_distributions_alone() -> None:
    section = shift_of(gap("own", 0.0, True), gap("other", 0.07, False))
    assert [figure.of["test"] for figure in found("shift.gap", shift=section)] == ["other"]
    assert [figure.of["test"] for figure in found("shift.score", shift=section)] == ["own", "other"]
