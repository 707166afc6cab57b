"""Intervals against statsmodels and scipy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from goldassay.stats.intervals import (
    Interval,
    PairedCounts,
    PairedShares,
    degrees_of_freedom,
    difference_interval,
    exact_upper,
    few_runs_caveat,
    mean_interval,
    normal_level,
    normal_quantile,
    paired_interval,
    pairs_interval,
    ratio_interval,
    score_sd_interval,
    sd_interval,
    t_interval,
    t_quantile,
    wilson_bounds,
    wilson_interval,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@given(st.integers(1, 10_000), st.floats(0, 1), st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_equals_statsmodels(n: int, share: float, level: float) -> None:
    k = round(n * share)
    low, high = wilson_bounds(k, n, level)
    expected = proportion_confint(k, n, alpha=1 - level, method="wilson")
    assert (float(low), float(high)) == pytest.approx(expected, abs=1e-12)
    assert k / n in wilson_interval(k, n, level)


@given(st.integers(1, 2000), st.floats(0, 1), st.sampled_from([0.025, 0.005]))
def test_exact_bounds_equal_statsmodels(n: int, share: float, tail: float) -> None:
    k = round(n * share)
    expected = proportion_confint(k, n, alpha=2 * tail, method="beta")[1]
    assert exact_upper(k, n, tail) == pytest.approx(expected, abs=1e-10)
    if k < n:
        assert stats.binom.cdf(k, n, exact_upper(k, n, tail)) == pytest.approx(tail)


def test_a_level_so_near_to_one_that_it_is_one_excludes_nothing() -> None:
    """As where a label is so rare that the largest statistic of resampled clusters exceeds 8."""
    low, high = wilson_bounds([3.0, 5.0], 5, math.erf(9 / math.sqrt(2)))
    assert (low.tolist(), high.tolist()) == ([0.0, 0.0], [1.0, 1.0])
    found = paired_interval(0.5, 0.2, 0.1, 50, 1.0)
    # By hand: distances .5 and .8, .5 and .2 to the bounds, combined as Newcombe does.
    assert found.low == pytest.approx(0.3 - math.sqrt(0.25 - 0.2 * 0.5 * 0.8 + 0.64))
    assert found.high == pytest.approx(0.3 + math.sqrt(0.25 - 0.2 * 0.5 * 0.2 + 0.04))


def test_wilson_of_nothing_says_nothing() -> None:
    low, high = wilson_bounds([0, 3], [0, 3])
    assert low[0] == 0
    assert high.tolist() == [1, 1]


def test_sd_interval_factors_for_ten_runs() -> None:
    interval = sd_interval(1.0, 10)
    assert interval.low == pytest.approx(0.68784, abs=5e-6)
    assert interval.high == pytest.approx(1.82561, abs=5e-6)


@given(st.integers(2, 200), st.floats(0.01, 10))
def test_sd_interval_equals_scipy(n: int, sd: float) -> None:
    low, high = stats.chi2.ppf([0.975, 0.025], n - 1)
    interval = sd_interval(sd, n)
    assert interval.low == pytest.approx(sd * math.sqrt((n - 1) / low))
    assert interval.high == pytest.approx(sd * math.sqrt((n - 1) / high))


def test_mean_interval_equals_scipy() -> None:
    values = [0.61, 0.64, 0.60, 0.66, 0.62]
    expected = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    interval = mean_interval(values)
    assert (interval.low, interval.high) == pytest.approx(expected)


@pytest.mark.parametrize("function", [lambda: sd_interval(1.0, 1), lambda: mean_interval([1.0])])
def test_one_value_has_no_spread(function: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="at least 2"):
        function()


@given(st.integers(0, 30), st.integers(0, 40))
def test_difference_of_two_shares_is_newcombes(k: int, m: int) -> None:
    found = difference_interval(k / 30, wilson_interval(k, 30), m / 40, wilson_interval(m, 40))
    expected = confint_proportions_2indep(k, 30, m, 40, method="newcomb", compare="diff")
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-6)


def test_ratio_is_the_difference_of_logarithms() -> None:
    one, other = Interval(2.0, 8.0), Interval(1.0, 9.0)
    found = ratio_interval(4.0, one, 3.0, other)
    assert found.low == pytest.approx(4 / 3 * math.exp(-math.hypot(math.log(2), math.log(3))))
    assert found.high == pytest.approx(4 / 3 * math.exp(math.hypot(math.log(2), math.log(3))))
    assert ratio_interval(4.0, Interval(0.0, 8.0), 3.0, other).low == 0
    assert ratio_interval(4.0, one, 3.0, Interval(0.0, 9.0)).high == math.inf


@given(st.integers(2, 30), st.integers(2, 30), st.floats(0, 1))
def test_chance_of_the_better_run(n: int, m: int, at: float) -> None:
    share = round(2 * n * m * at) / (2 * n * m)
    found = pairs_interval(share, n, m)
    assert 0 <= found.low <= share <= found.high <= 1
    turned = pairs_interval(1 - share, m, n)
    assert (1 - turned.high, 1 - turned.low) == pytest.approx((found.low, found.high), abs=1e-9)
    for bound in (found.low, found.high):
        if 0 < bound < 1 and 0 < share < 1:
            k = (n + m) / 2 - 1
            spread = bound * (1 - bound) * (1 + k * ((1 - bound) / (2 - bound) + bound / (1 + bound))) / (n * m)
            assert (share - bound) ** 2 == pytest.approx(1.959964**2 * spread, rel=1e-4, abs=1e-9)


def test_chance_of_the_better_run_is_open_at_the_ends() -> None:
    assert pairs_interval(1.0, 5, 5).high == 1
    assert pairs_interval(1.0, 5, 5).low < 0.8
    assert pairs_interval(0.0, 5, 5).low == 0


def test_two_to_five_runs_carry_a_warning() -> None:
    assert [bool(few_runs_caveat(n)) for n in range(1, 8)] == [False, True, True, True, True, False, False]
    assert few_runs_caveat(5)[0].startswith("With 5 runs")
    assert "0.6 to 2.9 times" in few_runs_caveat(5)[0]


def test_no_sd_of_scores_is_larger_than_half_of_them_at_either_end() -> None:
    """Two scores 47 points apart: by chi-square the SD is up to 10 times the scale."""
    sd = 0.47 / np.sqrt(2)
    assert sd_interval(sd, 2).high > 10
    found = score_sd_interval(sd, 2)
    assert found.low == sd_interval(sd, 2).low
    assert found.high == pytest.approx(np.std([0.0, 1.0], ddof=1))
    assert score_sd_interval(np.std([0.0, 1.0], ddof=1), 2).high == pytest.approx(np.std([0.0, 1.0], ddof=1))
    assert score_sd_interval(0.01, 10) == sd_interval(0.01, 10)
    assert score_sd_interval(47.0, 2, fractions=False) == sd_interval(47.0, 2)


def test_quantiles_are_two_sided() -> None:
    assert normal_quantile(0.95) == 1.959963984540054
    assert normal_level(normal_quantile(0.9)) == pytest.approx(0.9)
    assert t_quantile(4, 0.95) == pytest.approx(stats.t.ppf(0.975, 4))
    assert t_quantile(math.inf, 0.95) == normal_quantile(0.95)
    assert math.isnan(t_quantile(math.nan, 0.95))


def test_degrees_of_freedom_are_those_of_welch() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=7), rng.normal(size=12) * 3
    parts = [(x.var(ddof=1) / x.size, x.size - 1.0) for x in (a, b)]
    expected = stats.ttest_ind(a, b, equal_var=False)
    assert degrees_of_freedom(parts) == pytest.approx(expected.df)
    found = t_interval(a.mean() - b.mean(), sum(v for v, _ in parts), degrees_of_freedom(parts), 0.9)
    bounds = expected.confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((bounds.low, bounds.high))
    assert degrees_of_freedom([(0.0, 3.0)]) == math.inf


def test_an_interval_is_cut_to_what_is_possible() -> None:
    assert Interval(-0.2, 1.3, 0.9, "m").within(0.0, 1.0) == Interval(0.0, 1.0, 0.9, "m")
    cut = Interval(math.nan, math.nan).within(0.0, 1.0)
    assert math.isnan(cut.low)
    assert math.isnan(cut.high)


def test_dependent_examples_are_worth_fewer_in_the_interval_of_paired_shares() -> None:
    rng = np.random.default_rng(1)
    one = (rng.random(200) < 0.7).astype(float)
    other = np.where(rng.random(200) < 0.5, one, rng.random(200) < 0.4)
    shares = PairedShares.of(one, other)
    assert shares.phi == pytest.approx(np.corrcoef(one, other)[0, 1])
    assert shares.plain == pytest.approx((one - other).var() / 200)
    plain = paired_interval(one.mean(), other.mean(), shares.phi, 200, 0.95)
    assert shares.interval(shares.plain, 9.0, 0.95) == plain
    # No more than they are, and four times the variance is worth a quarter of them.
    assert shares.interval(shares.plain / 2, 9.0, 0.95) == plain
    assert shares.interval(4 * shares.plain, 9.0, 0.95) == paired_interval(
        one.mean(), other.mean(), shares.phi, 50, 0.95
    )
    # Where nothing varies, the effective ones count.
    equal = PairedShares.of(one, one)
    assert equal.interval(0.0, 9.0, 0.95) == paired_interval(one.mean(), one.mean(), 1.0, 9.0, 0.95)


def likeliest(one: int, other: int, n: int, difference: float) -> float:
    """z of a difference by brute force: the likeliest share of discordant examples, searched for."""

    def unlikely(share: float) -> float:
        cells = (share + difference) / 2, (share - difference) / 2, 1 - share
        return -sum(k * math.log(max(p, 1e-300)) for k, p in zip((one, other, n - one - other), cells, strict=True))

    share = optimize.minimize_scalar(unlikely, bounds=(abs(difference), 1), method="bounded", options={"xatol": 1e-12})
    return ((one - other) / n - difference) / math.sqrt((float(share.x) - difference**2) / n)


@given(st.integers(20, 2000), st.floats(0, 1), st.floats(0, 1), st.sampled_from([0.9, 0.95]))
def test_the_score_interval_is_that_of_a_brute_force_score_test(n: int, a: float, b: float, level: float) -> None:
    one = round(a * n)
    other = round(b * (n - one))
    counts = PairedCounts(one, other, n)
    found = counts.interval(level)
    z = stats.norm.ppf((1 + level) / 2)
    if counts.difference < 1:
        assert likeliest(one, other, n, found.high) == pytest.approx(-z, rel=1e-4)
    if counts.difference > -1:
        assert likeliest(one, other, n, found.low) == pytest.approx(z, rel=1e-4)
    assert -1 <= found.low <= counts.difference <= found.high <= 1
    mirrored = PairedCounts(other, one, n).interval(level)
    assert (-mirrored.high, -mirrored.low) == pytest.approx((found.low, found.high), abs=1e-9)


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [
        # Fagerland, Lydersen and Laake 2014, table 4: airway hyper-responsiveness, before and after.
        (PairedCounts(1, 7, 21), (-0.517, -0.026)),
        # With p = z²/(n + z²), where none differ; by hand.
        (PairedCounts(0, 0, 200), (-0.018845, 0.018845)),
        (PairedCounts(4, 0, 200), (0.000778, 0.050287)),
        # Five of five, with Student's t of four degrees.
        (PairedCounts(5, 0, 5), (-0.213, 1)),
    ],
)
def test_the_score_interval_of_published_and_extreme_counts(counts: PairedCounts, wanted: tuple[float, float]) -> None:
    found = counts.interval()
    assert (found.low, found.high) == pytest.approx(wanted, abs=6e-4)


def score_coverage(n: int, discordant: float, difference: float) -> float:
    """How often the score interval of n examples has the truth, by enumeration."""
    cells = [(discordant + difference) / 2, (discordant - difference) / 2, 1 - discordant]
    low, high = (int(stats.binom.ppf(q, n, discordant)) for q in (1e-6, 1 - 1e-6))
    z = t_quantile(PairedCounts(0, 0, n).degrees_of_freedom, 0.95)
    covered = 0.0
    for differ in range(low, high + 1):
        ones = np.arange(differ + 1)
        held = [abs(PairedCounts(int(one), differ - int(one), n).score(difference)) <= z for one in ones]
        of_these = stats.binom.pmf(ones, differ, cells[0] / discordant)
        covered += float(stats.binom.pmf(differ, n, discordant) * of_these[held].sum())
    return covered


@pytest.mark.parametrize("n", [5, 10, 50, 200])
def test_the_score_interval_covers(n: int) -> None:
    cells = [(share, share * part) for share in (0.02, 0.1, 0.3) for part in (0.0, 0.5, 0.8)]
    found = [score_coverage(n, *cell) for cell in cells]
    assert min(found) > 0.93
    assert np.mean(found) > 0.945
