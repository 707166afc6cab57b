from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestIndPower

from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.instability import comparison_power, plan_seeds, seeds_needed, smallest_difference


def test_golden_values() -> None:
    assert [comparison_power(0.01, 0.0035, n) for n in (2, 3, 4)] == pytest.approx([0.362, 0.745, 0.917], abs=5e-4)
    assert seeds_needed(0.0035, 0.01) == 4
    assert 100 * smallest_difference(0.01, 5) == pytest.approx(2.024, abs=5e-4)
    # What the normal quantiles promise as 80 % is less.
    assert comparison_power((1.959964 + 0.841621) * 0.01 * math.sqrt(2 / 5), 0.01, 5) == pytest.approx(0.69, abs=5e-3)


@pytest.mark.parametrize(("sd", "difference", "n"), [(0.24, 0.5, 5), (1.51, 1, 37), (0.24, 0.2, 24), (0.01, 1, 2)])
def test_known_numbers(sd: float, difference: float, n: int) -> None:
    assert seeds_needed(sd, difference) == n
    assert seeds_needed(sd, -difference) == n
    assert comparison_power(difference, sd, n) >= 0.8
    assert n == 2 or comparison_power(difference, sd, n - 1) < 0.8


@given(st.floats(0.05, 4), st.integers(2, 60), st.floats(0.01, 0.2))
def test_without_noise_of_examples_it_is_the_power_of_the_t_test(effect: float, n: int, alpha: float) -> None:
    # Beyond, scipy.stats.nct gives NaN for a tail that is too small for a number.
    assume(effect * math.sqrt(n / 2) < 5)
    expected = TTestIndPower().power(effect, nobs1=n, alpha=alpha)
    assert comparison_power(effect, 1.0, n, alpha) == pytest.approx(expected, abs=1e-8)


@given(st.floats(0.1, 4), st.integers(2, 40), st.floats(0.01, 2), st.integers(2, 500))
def test_with_noise_of_examples_it_is_the_noncentral_t(effect: float, n: int, v: float, clusters: int) -> None:
    se2 = 2 / n + v
    df = se2**2 / ((2 / n) ** 2 / (2 * (n - 1)) + v**2 / (clusters - 1))
    quantile = stats.t.ppf(0.975, df)
    errors = effect / se2**0.5
    expected = stats.nct.sf(quantile, df, errors) + (stats.nct.cdf(-quantile, df, errors) if errors < 5 else 0.0)
    found = comparison_power(effect, 1.0, n, example_variance=v, clusters=clusters)
    assert found == pytest.approx(expected, abs=1e-6)


def test_large_arguments_stay_finite() -> None:
    assert comparison_power(1.0, 1e-9, 2) == 1
    assert comparison_power(40.0, 1.0, 500) == 1
    assert comparison_power(0.0, 1.0, 5) == pytest.approx(0.05)
    assert comparison_power(0.1, 0.0, 5) == 1
    assert seeds_needed(0.5, 0.0001) == pytest.approx(2 * (2.8016 * 5000) ** 2, rel=1e-3)


@given(st.floats(0.01, 5), st.integers(2, 200), st.floats(0.5, 0.99), st.floats(0, 1), st.integers(2, 100))
def test_the_smallest_difference_is_the_inverse(sd: float, n: int, power: float, noise: float, clusters: int) -> None:
    v = noise * sd**2
    difference = smallest_difference(sd, n, power, 0.05, v, clusters)
    assert comparison_power(difference, sd, n, 0.05, v, clusters) == pytest.approx(power, abs=1e-9)
    needed = seeds_needed(sd, difference * (1 + 1e-6), power, 0.05, v, clusters)
    assert needed is not None
    assert needed <= n
    if v == 0:
        assert seeds_needed(sd, difference * (1 - 1e-6), power) == n + 1


@given(st.floats(0.2, 3), st.floats(0, 0.2), st.integers(3, 50))
def test_no_smaller_number_of_runs_would_do(sd: float, v: float, clusters: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        needed = seeds_needed(sd, 1.0, example_variance=v, clusters=clusters)
    tried = [comparison_power(1.0, sd, n, example_variance=v, clusters=clusters) for n in range(2, 60)]
    enough = [n for n, power in enumerate(tried, 2) if power >= 0.8]
    assert (needed if needed is not None and needed < 60 else None) == (enough[0] if enough else None)


def test_noise_of_examples_alone_may_hide_a_difference() -> None:
    # 2.8 standard errors of 0.36 points are a point: below it some number of runs will do, above it none.
    limit = (0.01 / (1.959964 + 0.841621)) ** 2
    assert seeds_needed(0.0035, 0.01, example_variance=0.9 * limit) > 4
    with pytest.warns(UndefinedMeasureWarning, match=r"uncertain by 0\.0037 .* it takes more examples"):
        assert seeds_needed(0.0035, 0.01, example_variance=1.1 * limit) is None
    # Known from few clusters the same variance hides more.
    with pytest.warns(UndefinedMeasureWarning):
        assert seeds_needed(0.0035, 0.01, example_variance=0.9 * limit, clusters=5) is None


def test_a_plan_covers_the_uncertainty_of_the_deviation() -> None:
    scores = np.random.default_rng(0).integers(0, 2, (10, 200))
    plan = plan_seeds(scores, 0.02)
    assert plan.n_seeds_low < plan.n_seeds < plan.n_seeds_high
    assert plan.n_seeds_high > 2 * plan.n_seeds_low
    assert plan.smallest_difference == pytest.approx(smallest_difference(plan.sd, 10))
    assert plan.smallest_difference_low < plan.smallest_difference < plan.smallest_difference_high
    assert plan.n_seeds == seeds_needed(plan.sd, 0.02)
    assert not plan.caveats
    assert not plan.skipped
    assert "5 runs" in plan_seeds(scores[:5], 0.02).caveats[0]


def test_a_plan_with_noise_of_examples_takes_more_or_says_why_there_is_none() -> None:
    scores = np.random.default_rng(0).integers(0, 2, (10, 200))
    alone = plan_seeds(scores, 0.02)
    both = plan_seeds(scores, 0.02, example_variance=2e-5, clusters=200)
    assert both.n_seeds == seeds_needed(both.sd, 0.02, example_variance=2e-5, clusters=200) > alone.n_seeds
    assert both.smallest_difference > alone.smallest_difference
    none = plan_seeds(scores, 0.02, example_variance=1e-3)
    assert (none.n_seeds, none.n_seeds_low, none.n_seeds_high) == (None, None, None)
    (reason,) = none.skipped
    assert "it takes more examples" in reason


@pytest.mark.parametrize(
    "arguments",
    [
        (0.1, 0.0),
        (-0.1, 0.1),
        (0.1, 0.1, 1.0),
        (0.1, 0.1, 0.8, 0.0),
        (float("nan"), 0.1),
        (0.1, 0.1, 0.8, 0.05, -1.0),
        (0.1, 0.1, 0.8, 0.05, 0.1, 1),
    ],
)
def test_bad_input(arguments: tuple[float, ...]) -> None:
    with pytest.raises(InputError):
        seeds_needed(*arguments)


def test_one_run_shows_nothing() -> None:
    with pytest.raises(InputError, match="1 runs of each"):
        smallest_difference(0.1, 1)
    with pytest.raises(InputError, match="give at least 2"):
        comparison_power(0.1, 0.1, 1)
    with pytest.raises(InputError, match="the difference is nan"):
        comparison_power(float("nan"), 0.1, 2)
