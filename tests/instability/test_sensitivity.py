from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from goldassay.core.errors import InputError
from goldassay.instability import configuration_spread, order_changes
from goldassay.stats.intervals import sd_interval


def planted(rng: np.random.Generator, n: int, repeats: int, sigma: float, noise: float) -> list[np.ndarray[Any, Any]]:
    """Scores whose run means have normal components; examples of a run share them, as only the means count."""
    configurations = 0.5 + sigma * rng.standard_normal(n)
    pattern = np.tile([-0.1, 0.1], 5)
    return [m + noise * rng.standard_normal((repeats, 1)) + pattern for m in configurations]


def test_components_are_those_of_analysis_of_variance() -> None:
    statsmodels = pytest.importorskip("statsmodels.formula.api")
    anova = pytest.importorskip("statsmodels.stats.anova")
    import pandas as pd

    scores = planted(np.random.default_rng(0), 8, 4, 0.03, 0.01)
    found = configuration_spread(scores)
    rows = [{"c": str(c), "m": run.mean()} for c, each in enumerate(scores) for run in each]
    table = anova.anova_lm(statsmodels.ols("m ~ C(c)", pd.DataFrame(rows)).fit())
    of_config, of_repeat = table["mean_sq"]
    assert found.repeat_sd == pytest.approx(np.sqrt(of_repeat))
    assert found.sd == pytest.approx(np.sqrt((of_config - of_repeat) / 4))


@pytest.mark.parametrize("n", [5, 10])
@pytest.mark.parametrize(("sigma", "noise", "repeats"), [(0.03, 0.01, 3), (0.01, 0.01, 2), (0.005, 0.02, 5)])
def test_intervals_cover_the_planted_spread(n: int, sigma: float, noise: float, repeats: int) -> None:
    """At least 91 % of 500 draws."""
    rng = np.random.default_rng(n)
    covered = sum(sigma in configuration_spread(planted(rng, n, repeats, sigma, noise)).sd_interval for _ in range(500))
    assert covered >= 0.91 * 500


@pytest.mark.parametrize("n", [5, 10])
@pytest.mark.parametrize("sigma", [0.0, 0.0005, 0.002])
def test_upper_ends_are_never_nothing_and_cover(n: int, sigma: float) -> None:
    """Of spreads far below the noise of repeats: Williams's upper end is 0 in up to 2.6 % of such draws."""
    rng = np.random.default_rng(n)
    found = [configuration_spread(planted(rng, n, 3, sigma, 0.01)).sd_interval for _ in range(1000)]
    assert all(each.high > 0 for each in found)
    covered = sum(sigma in each for each in found)
    # 95 % but for two standard errors of the share covered.
    assert covered >= 0.936 * 1000


def test_the_upper_end_is_that_of_means_as_far_apart_as_repeats_put_them() -> None:
    from scipy.stats import chi2, f

    scores = planted(np.random.default_rng(0), 6, 3, 0.0, 0.02)
    noise = np.mean([each.mean(axis=1).var(ddof=1) for each in scores])
    equal = [each - each.mean() + 0.5 for each in scores]
    found = configuration_spread(equal)
    assert found.sd == 0
    wanted = np.sqrt(noise * (1 - f.ppf(0.025, 5, 12)) / 3 / (chi2.ppf(0.025, 5) / 5))
    assert (found.sd_interval.low, found.sd_interval.high) == pytest.approx((0, wanted))


def test_copies_do_not_narrow_the_interval() -> None:
    scores = planted(np.random.default_rng(0), 5, 3, 0.03, 0.005)
    alone, copied = configuration_spread(scores), configuration_spread([*scores, *scores[:2], scores[0]])
    assert (alone.n_distinct, copied.n_distinct) == (5, 5)
    assert copied.sd_interval.high / copied.sd == pytest.approx(alone.sd_interval.high / alone.sd, rel=0.02)


@pytest.mark.parametrize("repeats", [2, 4])
def test_no_spread_is_seldom_found_where_there_is_none(repeats: int) -> None:
    rng = np.random.default_rng(3)
    found = [configuration_spread(planted(rng, 6, repeats, 0.0, 0.02)).sd_interval for _ in range(400)]
    assert sum(each.low > 0 for each in found) <= 0.05 * 400


def test_without_repeats_nothing_is_told_apart() -> None:
    found = configuration_spread(planted(np.random.default_rng(1), 6, 1, 0.03, 0.01))
    assert not found.separable
    assert found.repeat_sd is None
    assert found.sd == pytest.approx(np.std(found.means, ddof=1))
    within = sd_interval(found.sd, 6)
    assert (found.sd_interval.low, found.sd_interval.high) == pytest.approx((within.low, within.high))


def answered(rng: np.random.Generator, shares: list[float], n: int, size: int = 1) -> list[np.ndarray[Any, Any]]:
    """One run each of configurations with these chances; `size` examples of a cluster are hard together."""
    need = np.repeat(rng.random(n // size), size)
    own = np.repeat(rng.random((len(shares), n // size)), size, axis=1)
    flips = rng.random((len(shares), n)) < 0.3
    right = [np.where(flip, each, need) < share for flip, each, share in zip(flips, own, shares, strict=True)]
    return [each[np.newaxis].astype(float) for each in right]


@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.parametrize("size", [1, 5])
def test_equal_configurations_are_seldom_told_apart(n: int, size: int) -> None:
    """Two equal prompts differ on the examples at hand: without their noise the lower end is above 0 by that alone."""
    rng = np.random.default_rng([n, size])
    codes = np.arange(200) // size
    lows = [configuration_spread(answered(rng, [0.6] * n, 200, size), codes).sd_interval.low for _ in range(200)]
    # 2.5 % are allowed; 12 or more of 200 are seen in 1 of 200 such tests.
    assert sum(low > 0 for low in lows) < 12


def test_the_lower_end_is_the_spread_without_the_noise_of_examples() -> None:
    from itertools import combinations

    from scipy.stats import chi2

    scores = answered(np.random.default_rng(0), [0.3, 0.6, 0.9], 300, 3)
    codes = np.arange(300) // 3
    found = configuration_spread(scores, codes)
    noise = []
    for one, other in combinations(scores, 2):
        sums = (one - other)[0].reshape(100, 3).sum(axis=1)
        noise.append(100 / 99 * np.square(sums - sums.mean()).sum() / 300**2)
    wanted = 2 * np.var(found.means, ddof=1) / chi2.ppf(0.975, 2) - np.mean(noise) / 2
    assert found.sd_interval.low == pytest.approx(np.sqrt(wanted))
    assert found.sd_interval.low > 0.05


def test_few_configurations_have_a_wide_interval() -> None:
    rng = np.random.default_rng(1)
    scores = [(rng.random((2, 300)) < share).astype(float) for share in (0.4, 0.6, 0.5)]
    clusters = np.repeat(np.arange(100), 3)
    found = configuration_spread(scores, clusters)
    assert 0 < found.sd_interval.low < found.sd
    assert found.sd_interval.high > 4 * found.sd
    assert (found.best, found.worst) == (1, 0)
    differences = (scores[1].mean(axis=0) - scores[0].mean(axis=0)).reshape(100, 3).mean(axis=1)
    from scipy.stats import ttest_1samp

    wanted = ttest_1samp(differences, 0).confidence_interval(0.95)
    assert found.range == pytest.approx(differences.mean())
    assert (found.range_interval.low, found.range_interval.high) == pytest.approx((wanted.low, wanted.high))


def test_the_best_of_equals_is_not_better_than_the_others() -> None:
    """Twenty configurations of one skill: the best looks better by luck, and held-out examples take that off."""
    rng = np.random.default_rng(0)
    seen, corrected = [], []
    for _ in range(40):
        found = configuration_spread([(rng.random((1, 200)) < 0.5).astype(float) for _ in range(20)])
        seen.append(found.means[found.best])
        corrected.append(found.best_score.mean)
    assert np.mean(seen) > 0.55
    # Three standard errors of the mean of 40 scores on 200 examples.
    assert abs(np.mean(corrected) - 0.5) < 3 * 0.5 / np.sqrt(200 * 40)


def test_unequal_numbers_of_repeats() -> None:
    scores = planted(np.random.default_rng(0), 6, 4, 0.03, 0.01)
    ragged = [each[: 1 + place % 4] for place, each in enumerate(scores)]
    found = configuration_spread(ragged)
    assert found.n_repeats == (1, 2, 3, 4, 1, 2)
    assert found.sd in found.sd_interval


def test_equal_configurations_have_no_spread() -> None:
    found = configuration_spread([np.tile([0.0, 1.0], (2, 10))] * 5)
    assert (found.sd, found.range, found.repeat_sd, found.n_distinct) == (0, 0, 0, 1)
    # They may lie one of 20 examples apart unseen, and count as one: two have no more than the largest SD there is.
    assert sd_interval(1 / 20, 2).high > 1
    assert found.sd_interval.high == pytest.approx(np.std([0, 0, 1, 1], ddof=0) * np.sqrt(5 / 4))


def test_orders_that_change() -> None:
    means = [[0.5, 0.6, 0.7], [0.4, 0.7, 0.6], [0.1, 0.1, 0.1], [0.5, np.nan, np.nan]]
    assert order_changes(means) == (1, 3)
    # Equal scores are no change.
    assert order_changes([[0.5, 0.5], [0.5, 0.6]]) == (0, 1)


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([[[1.0, 0.0]]], "one configuration is there"),
        ([[[1.0, 0.0]], [[1.0, 0.0, 1.0]]], "do not cover the same examples"),
        ([[[1.0, float("nan")]], [[1.0, 0.0]]], "not finite"),
        ([[[1.0]], [[0.0]]], "cluster"),
    ],
)
def test_what_cannot_be_measured(scores: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        configuration_spread(scores)
