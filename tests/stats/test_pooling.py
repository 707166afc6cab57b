"""Random effects, against statsmodels and worlds of known dependence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects

from goldassay.core.errors import InputError
from goldassay.stats.significance import error_of, pool_estimates


@given(st.integers(2, 12), st.integers(0, 10_000), st.sampled_from([0.0, 0.3, 2.0]))
def test_it_is_that_of_statsmodels(k: int, seed: int, tau: float):
    rng = np.random.default_rng(seed)
    s = rng.uniform(0.1, 1.0, k)
    y = rng.normal(0.5, np.sqrt(s**2 + tau**2))
    found = pool_estimates(y, s)
    # A smaller tolerance lets rounding take their iteration below 0, where they set tau to 0.
    theirs = combine_effects(y, s**2, method_re="iterated", use_t=True, atol=1e-6)
    assert found.tau**2 == pytest.approx(max(theirs.tau2, 0.0), rel=1e-4, abs=1e-7)
    assert found.value == pytest.approx(theirs.mean_effect_re, abs=1e-5)
    assert found.i_squared == pytest.approx(max(theirs.i2, 0.0), abs=1e-6)
    error = max(theirs.sd_eff_w_re_hksj, theirs.sd_eff_w_re)
    half = stats.t.ppf(0.975, k - 1) * error
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half), rel=1e-4, abs=1e-5)
    if k > 2:
        reach = stats.t.ppf(0.975, k - 2) * math.sqrt(found.tau**2 + error**2)
        assert found.prediction_high == pytest.approx(found.value + reach, rel=1e-4, abs=1e-5)
    else:
        assert math.isnan(found.prediction_low + found.prediction_high)


def test_a_family_counts_once():
    alone = pool_estimates([1.0, 2.0, 4.0], [0.5, 0.5, 0.5])
    copied = pool_estimates([1.0] * 20 + [2.0, 4.0], [0.5] * 22, ["a"] * 20 + ["b", "c"])
    assert (copied.n_estimates, copied.n_families) == (22, 3)
    assert (copied.value, copied.low, copied.high, copied.tau) == pytest.approx(
        (alone.value, alone.low, alone.high, alone.tau)
    )


def test_of_two_groupings_the_wider_interval_is_taken():
    y, s = np.array([0.0, 0.2, 1.0, 1.2]), np.full(4, 0.1)
    one, other = pool_estimates(y, s, "aabb"), pool_estimates(y, s, "abab")
    both = pool_estimates(y, s, "abab", "aabb")
    assert one.high - one.low > other.high - other.low
    assert (both.low, both.high, both.grouping) == (one.low, one.high, 1)


def test_one_family_has_a_normal_interval_and_no_heterogeneity():
    found = pool_estimates([1.0, 3.0], [0.5, 1.5], ["a", "a"])
    assert (found.value, found.n_families) == (2.0, 1)
    assert found.high == pytest.approx(2 + stats.norm.ppf(0.975))
    assert math.isnan(found.tau + found.i_squared + found.prediction_low)


def test_estimates_that_agree_by_chance_are_no_surer_than_their_errors():
    found = pool_estimates([0.5, 0.5, 0.5], [0.3, 0.3, 0.3])
    assert (found.tau, found.i_squared) == (0.0, 0.0)
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, 2) * 0.3 / math.sqrt(3))


def test_the_error_of_an_interval():
    assert error_of(1.0, 1.0 + 2 * stats.norm.ppf(0.975)) == pytest.approx(1.0)


def crossed(rng: np.random.Generator, n_models: int, n_sets: int) -> tuple[np.ndarray, np.ndarray, list, list]:
    """Differences of mean 1 of models on sets: both have effects of their own, and runs err alike on all sets."""
    models, sets = (each.ravel() for each in np.meshgrid(range(n_models), range(n_sets), indexing="ij"))
    truth = 1 + 0.5 * rng.normal(size=n_models)[models] + 0.5 * rng.normal(size=n_sets)[sets]
    s = rng.uniform(0.2, 0.6, models.size)
    noise = s * (0.8 * rng.normal(size=n_models)[models] + 0.6 * rng.normal(size=models.size))
    return truth + noise, s, models.tolist(), sets.tolist()


@pytest.mark.parametrize(("n_models", "n_sets"), [(4, 5), (6, 12), (12, 4)])
def test_intervals_cover_where_models_and_sets_are_crossed(n_models: int, n_sets: int):
    rng = np.random.default_rng(n_models)
    covered = independent = 0
    for _ in range(400):
        y, s, models, sets = crossed(rng, n_models, n_sets)
        found, naive = pool_estimates(y, s, models, sets), pool_estimates(y, s)
        covered += found.low < 1 < found.high
        independent += naive.low < 1 < naive.high
    # 400 draws at 95 %: 380 with a standard deviation of 4.4; below 369 in one of a hundred.
    assert covered >= 369
    assert independent < 340


@pytest.mark.parametrize(
    ("values", "errors", "families"),
    [([], [], []), ([1.0], [0.0], ["a"]), ([math.nan], [1.0], ["a"]), ([1.0, 2.0], [1.0], ["a", "b"]),
     ([1.0, 2.0], [1.0, 1.0], ["a"])],
)  # fmt: skip
def test_bad_input_is_refused(values: list[float], errors: list[float], families: list[str]):
    with pytest.raises(InputError):
        pool_estimates(values, errors, families)
