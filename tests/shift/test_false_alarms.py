from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from goldassay.core.errors import InputError
from goldassay.questions.shift.measures.false_alarms import RULES, operating_point, rank
from goldassay.shift import false_alarm_rate

# (out, in, closest, at_least, interpolate)
GOLDEN = {
    "all tied": ([1] * 5, [1] * 7, 1.0, 1.0, 0.95),
    "B": (range(1, 21), [-2, 0.5, 1.5, 1.6, 2.5], 0.6, 0.2, 0.2),
    "C": ([4, 3, 2, 1], [3.5, 1, 1, 0], 0.75, 0.75, 0.65),
    "D": (range(1, 11), [1, 2.5], 0.5, 1.0, 0.75),
    "E": ([3, 2, 1], [2.5, 1.5, 1.4, 0.5], 0.75, 0.75, 0.75),
    "interleaved": (range(1, 21), np.arange(20) + 0.5, 0.95, 0.9, 0.9),
    "separated": (range(10, 15), range(7), 0.0, 0.0, 0.0),
    "reversed": (range(5), range(7, 14), 1.0, 1.0, 1.0),
}
few_values = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=25)


def by_walking(inside, outside, recall: float, rule: str) -> tuple[float, float]:
    """False alarm rate and threshold by trying every threshold, as the definition reads."""
    inside, outside = np.asarray(inside, float), np.asarray(outside, float)
    thresholds = sorted({*inside, *outside})
    found = {t: int((outside >= t).sum()) for t in thresholds}
    far = {t: float((inside >= t).mean()) for t in thresholds}
    if rule == "at_least":
        best = max(t for t in thresholds if found[t] >= np.ceil(recall * len(outside) - 1e-9))
        return far[best], best
    if rule == "closest":
        full = max(t for t in thresholds if found[t] == len(outside))
        walk = [t for t in thresholds if t >= full]
        best = min(walk, key=lambda t: abs(found[t] / len(outside) - recall))
        return far[best], best
    points = [(0.0, 0.0), *((found[t] / len(outside), far[t]) for t in reversed(thresholds))]
    after = next(i for i, (share, _) in enumerate(points) if share >= recall - 1e-12)
    (r0, f0), (r1, f1) = points[after - 1], points[after]
    return f0 + (f1 - f0) * min(1.0, (recall - r0) / (r1 - r0)), np.nan


@pytest.mark.parametrize("case", GOLDEN)
def test_golden_values(case: str) -> None:
    outside, inside, *expected = GOLDEN[case]
    outside, inside = np.array(outside, float), np.array(inside, float)
    for rule, value in zip(("closest", "at_least", "interpolate"), expected, strict=True):
        assert false_alarm_rate(inside, outside, rule=rule) == pytest.approx(value, abs=1e-12)


@given(few_values, few_values, st.sampled_from([0.01, 0.3, 0.5, 0.9, 0.95, 1.0]), st.sampled_from(RULES))
def test_equals_a_walk_over_all_thresholds(inside, outside, recall, rule) -> None:
    point = operating_point(rank(np.array(outside), np.array(inside)), recall, rule)
    expected, threshold = by_walking(inside, outside, recall, rule)
    assert point.false_alarm_rate == pytest.approx(expected, abs=1e-12)
    assert false_alarm_rate(inside, outside, recall, rule) == point.false_alarm_rate
    if rule != "interpolate":
        assert point.threshold == threshold
        assert point.recall == (np.array(outside) >= threshold).mean()


@pytest.mark.parametrize("n_out", [10, 30, 50, 70, 90, 110, 130])
def test_doubles_decide_equal_distances(n_out: int) -> None:
    # One in-distribution score between each two others tells which recall was taken.
    outside = np.arange(1.0, n_out + 1)
    point = operating_point(rank(outside, outside - 0.5), 0.95, "closest")
    lower, higher = np.floor(0.95 * n_out) / n_out, np.ceil(0.95 * n_out) / n_out
    assert point.recall == (higher if n_out == 50 else lower)


def test_population_value_and_expectations_of_small_samples() -> None:
    exact = 1 - stats.norm.cdf(1 - stats.norm.ppf(0.95))
    rng = np.random.default_rng(0)
    inside = rng.normal(size=200_000)
    assert false_alarm_rate(inside, rng.normal(1, 1, 200_000)) == pytest.approx(exact, abs=0.01)
    ordered = np.sort(inside)
    for rule, expected in (("closest", 0.7906), ("at_least", 0.7267)):
        found = [false_alarm_rate(ordered[::200], rng.normal(1, 1, 50), rule=rule) for _ in range(2000)]
        assert np.mean(found) == pytest.approx(expected, abs=0.01)


@given(few_values, few_values, st.sampled_from(RULES))
def test_depends_on_order_alone(inside, outside, rule) -> None:
    found = false_alarm_rate(inside, outside, rule=rule)
    assert 0 <= found <= 1
    assert false_alarm_rate(np.exp(inside), np.exp(outside), rule=rule) == found
    assert false_alarm_rate(inside * 3, outside, rule=rule) == pytest.approx(found)
    assert false_alarm_rate(inside[::-1], outside[::-1], rule=rule) == found


@given(few_values, few_values)
def test_at_least_never_falls_with_the_level(inside, outside) -> None:
    found = [false_alarm_rate(inside, outside, recall) for recall in np.linspace(0.05, 1, 20)]
    assert found == sorted(found)


def test_chance_and_the_other_orientation() -> None:
    rng = np.random.default_rng(1)
    same = false_alarm_rate(rng.normal(size=20_000), rng.normal(size=20_000))
    assert same == pytest.approx(0.95, abs=0.01)
    inside, outside = rng.normal(size=500), rng.normal(2, 3, 500)
    swapped = false_alarm_rate(-outside, -inside)

    assert swapped != pytest.approx(1 - false_alarm_rate(inside, outside), abs=0.05)


@pytest.mark.parametrize(
    ("inside", "outside", "settings", "problem"),
    [
        ([], [1.0], {}, "no scores of the in-distribution"),
        ([1.0], [], {}, "no scores of the out-of-distribution"),
        ([np.nan, 1], [1.0], {}, "not finite"),
        ([1.0], [np.inf], {}, "not finite"),
        (["a"], [1.0], {}, "not an array of numbers"),
        ([[1.0]], [1.0], {}, "shape"),
        ([1.0], [1.0], {"recall": 0.0}, "recall is 0.0"),
        ([1.0], [1.0], {"recall": 1.01}, "recall is 1.01"),
        ([1.0], [1.0], {"recall": float("nan")}, "recall is nan"),
        ([1.0], [1.0], {"rule": "nearest"}, "no rule 'nearest'"),
    ],
)
def test_bad_input(inside, outside, settings, problem) -> None:
    with pytest.raises(InputError, match=problem):
        false_alarm_rate(inside, outside, **settings)
