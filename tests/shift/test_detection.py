from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from goldassay.core.errors import InputError
from goldassay.questions.shift.measures.detection import (
    BLOCK,
    _block_shares,
    _is_untied,
    _sides,
    count_in_order,
    draw_counts,
    draw_metrics,
    measure_weighted,
)
from goldassay.questions.shift.measures.false_alarms import RULES, positives_needed, rank
from goldassay.shift import aupr, auroc, false_alarm_rate, measure_detection
from tests.shift.test_false_alarms import few_values


def normal_sides(n_in: int = 400, n_out: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=n_in), rng.normal(1, 1, n_out)


def test_holds_every_measure() -> None:
    inside, outside = normal_sides()
    found = measure_detection(inside, outside, n_draws=50)
    assert found.auroc == auroc(inside, outside)
    assert found.aupr_out == pytest.approx(aupr(inside, outside))
    assert found.aupr_in == pytest.approx(aupr(inside, outside, "in"))
    assert found.false_alarm_rate == false_alarm_rate(inside, outside)
    assert found.fpr_id_positive == false_alarm_rate(-outside, -inside)
    assert found.false_alarm_rate == (inside >= found.threshold).mean()
    assert found.achieved_recall == (outside >= found.threshold).mean() >= 0.95
    assert (found.aupr_out_chance, found.aupr_in_chance) == pytest.approx((3 / 7, 4 / 7))
    assert "One run" in found.caveats[0]
    assert json.dumps(found.to_dict())
    for row in found.to_frame().iter_rows(named=True):
        assert row["low"] <= row["value"] <= row["high"]
        assert np.isnan(row["sd"])


@given(few_values, few_values, st.sampled_from(RULES), st.sampled_from([0.5, 0.9, 0.95, 1.0]), st.integers(0, 9))
def test_a_draw_measures_what_its_examples_would(inside, outside, rule, recall, seed) -> None:
    rng = np.random.default_rng(seed)
    drawn = {}
    cumulative = {}
    ranking = rank(np.array(outside), np.array(inside))
    for side, values, order in (
        ("out", outside, ranking.positive_order),
        ("in", inside, ranking.negative_order),
    ):
        counts = np.bincount(rng.integers(0, len(values), len(values)), minlength=len(values)).astype(np.uint16)
        drawn[side] = np.repeat(values, counts)
        cumulative[side] = np.empty(len(values) + 1, np.int32)
        count_in_order(counts, order.astype(np.int32), cumulative[side])
    parts = [part.astype(np.int32) for part in (ranking.starts, ranking.above, ranking.reached)]
    needed = positives_needed(recall, len(outside))
    for untied in {False, _is_untied(ranking)}:
        area, precision, alarms = measure_weighted(
            cumulative["out"], cumulative["in"], *parts, needed, untied, recall, RULES.index(rule)
        )
        assert area == pytest.approx(auroc(drawn["in"], drawn["out"]))
        assert precision == pytest.approx(aupr(drawn["in"], drawn["out"]))
        assert alarms == pytest.approx(false_alarm_rate(drawn["in"], drawn["out"], recall, rule), abs=1e-12)


@pytest.mark.parametrize("n", [1, 3, 255, 256, 257, 700])
def test_draws_are_multinomial(n: int) -> None:
    rng = np.random.default_rng(0)
    shares = _block_shares(n, BLOCK)
    assert shares.sum() == pytest.approx(1)
    n_draws = 3000
    total, squares = np.zeros(n), np.zeros(n)
    counts = np.empty(n, np.uint16)
    for _ in range(n_draws):
        draw_counts(rng.multinomial(n, shares), np.uint64(rng.integers(0, 2**63)), counts)
        assert counts.sum() == n
        total += counts
        squares += counts.astype(float) ** 2
    spread = np.sqrt((1 - 1 / n) / n_draws)
    assert np.abs(total / n_draws - 1).max() <= 5 * spread + 1e-12
    assert np.mean(squares / n_draws - (total / n_draws) ** 2) == pytest.approx(1 - 1 / n, abs=0.05)


def test_interval_agrees_with_plain_resampling() -> None:
    inside, outside = normal_sides()
    rng = np.random.default_rng(5)
    plain = np.array(
        [
            (auroc(a, b), aupr(a, b), aupr(a, b, "in"), false_alarm_rate(a, b), false_alarm_rate(-b, -a))
            for a, b in ((rng.choice(inside, 400), rng.choice(outside, 300)) for _ in range(1500))
        ]
    )
    sides = _sides(inside, outside)
    own = draw_metrics(sides.by_out, sides.by_in, 0.95, "at_least", n_draws=1500, seed=0)[:, 0]
    assert own.mean(axis=0) == pytest.approx(plain.mean(axis=0), abs=0.005)
    assert own.std(axis=0) == pytest.approx(plain.std(axis=0), rel=0.1)


@pytest.mark.parametrize("sides", [(1, 500), (500, 1), (20, 15), (71, 500)])
def test_few_positives_leave_the_rate_open(sides: tuple[int, int]) -> None:
    # Perfectly apart, and draws of what is there can never say otherwise.
    n_out, n_in = sides
    found = measure_detection(np.linspace(0, 1, n_in), np.linspace(5, 6, n_out), n_draws=50)
    assert found.false_alarm_rate == found.fpr_id_positive == 0
    for metric, n_positive, n_negative in (("false_alarm_rate", n_out, n_in), ("fpr_id_positive", n_in, n_out)):
        interval = found.intervals[metric]
        # All of the positives may lie above the twentieth of them that is sought: the chance is .95^n.
        sought = stats.binom.pmf(0, n_positive, 0.05) > 0.025
        highest = 1 if sought else proportion_confint(0, n_negative, method="wilson")[1]
        assert interval.high == pytest.approx(highest)
        assert interval.low == 0
    assert any("few examples" in said for said in found.caveats) == (min(sides) < 30)


def test_one_example_of_ones_own_decides_nothing() -> None:
    found = measure_detection([2.0], np.linspace(0, 1, 300), n_draws=50)
    assert found.false_alarm_rate == 1
    assert found.intervals["false_alarm_rate"].low == pytest.approx(proportion_confint(1, 1, method="wilson")[0])


@pytest.mark.parametrize(("n_in", "n_out"), [(15, 15), (200, 40), (200, 200)])
def test_the_rate_of_all_examples_lies_in_the_interval(n_in: int, n_out: int) -> None:
    rng = np.random.default_rng(1)
    whole = stats.norm.sf(1 + stats.norm.ppf(0.05))
    found = [measure_detection(rng.normal(size=n_in), rng.normal(1, 1, n_out), n_draws=100) for _ in range(120)]
    held = sum(whole in each.intervals["false_alarm_rate"] for each in found)
    # Of 120 intervals that hold it 93 % of the time, fewer than 103 do so twice in 1,000 times.
    assert held >= 103


def test_several_runs() -> None:
    rng = np.random.default_rng(0)
    shift = rng.normal(1, 0.3, (5, 1))
    inside, outside = rng.normal(size=(5, 300)), rng.normal(size=(5, 200)) + shift
    found = measure_detection(inside, outside, n_draws=300)
    by_run = [auroc(a, b) for a, b in zip(inside, outside, strict=True)]
    assert found.auroc == pytest.approx(np.mean(by_run))
    assert found.sd["auroc"] == pytest.approx(np.std(by_run, ddof=1))
    assert found.n_runs == 5
    assert len(found.operating_points) == 5
    assert np.isnan(found.threshold)
    one = measure_detection(inside[0], outside[0], n_draws=300)
    assert one.interval_method == "bootstrap over examples"
    assert found.interval_method == "bootstrap over examples and runs"
    interval, mean_of_examples = found.intervals["auroc"], one.intervals["auroc"]
    assert interval.low < found.auroc < interval.high
    assert interval.high - interval.low > (mean_of_examples.high - mean_of_examples.low) / 2


def test_equal_runs_are_drawn_on_the_same_examples() -> None:
    inside, outside = normal_sides(200, 150)
    order = np.random.default_rng(1).permutation(200)
    one = measure_detection(np.stack([inside[order]] * 2), np.stack([outside] * 2), n_draws=200)
    sides = _sides(np.stack([inside[order]] * 2), np.stack([outside] * 2))
    draws = draw_metrics(sides.by_out, sides.by_in, 0.95, "closest", n_draws=20, seed=0)
    assert np.array_equal(draws[:, 0], draws[:, 1])
    assert one.sd["auroc"] == 0


def test_fixed_by_its_seed() -> None:
    inside, outside = normal_sides()
    first, same, other = (measure_detection(inside, outside, n_draws=40, seed=seed) for seed in (1, 1, 2))
    assert first.to_dict() == same.to_dict()
    assert first.intervals != other.intervals


def test_ties_are_counted_and_said() -> None:
    found = measure_detection([0, 0, 1, 2], [2, 3, 4, 5], n_draws=10)
    assert found.tied_share == 0.5
    assert any("50 % of the scores are tied" in caveat for caveat in found.caveats)
    apart = measure_detection([0, 1], [2, 3], n_draws=10)
    assert (apart.auroc, apart.tied_share) == (1, 0)
    assert any("same AUROC" in caveat for caveat in apart.caveats)


@pytest.mark.parametrize(
    ("arguments", "settings", "problem"),
    [
        (([1], []), {}, "no scores"),
        (([1], [np.nan]), {}, "not finite"),
        (([1], [1], 2.0), {}, "recall is 2.0"),
        (([1], [1], "a"), {}, "recall is a"),
        (([1], [1]), {"seed": -1}, "seed is -1"),
        (([1], [1]), {"n_draws": 2.5}, "number of draws is 2.5"),
        (([[1], [2]], [[1]]), {}, "are of 2 runs, out-of-distribution scores of 1"),
        (([1], [1]), {"level": 1.0}, "level is 1.0"),
        (([1], [1]), {"n_draws": 0}, "number of draws is 0"),
    ],
)
def test_bad_input(arguments, settings, problem) -> None:
    with pytest.raises(InputError, match=problem):
        measure_detection(*arguments, **settings)
