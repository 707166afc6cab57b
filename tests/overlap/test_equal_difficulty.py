"""The difference at equal difficulty against a regression of statsmodels, and where difficulty alone makes one."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from goldassay.questions.overlap.measures import adjusted_difference, strata_of


def drawn(gain: float, seed: int = 0, n: int = 3000) -> tuple[np.ndarray, ...]:
    """Items that are dirty the more often, the easier they are."""
    rng = np.random.default_rng(seed)
    ease = rng.uniform(0.1, 0.8, n)
    dirty = rng.random(n) < ease / 2
    board = rng.binomial(60, ease) / 60
    scores = (rng.random(n) < ease + gain * dirty).astype(float)
    return scores, dirty, board, rng.integers(0, n // 3, n)


def test_it_is_the_coefficient_of_a_regression_with_clustered_errors() -> None:
    scores, dirty, board, clusters = drawn(0.1)
    found = adjusted_difference(scores, dirty, board, clusters)
    strata = strata_of(board)
    design = np.column_stack([dirty, *(strata == each for each in np.unique(strata))]).astype(float)
    fitted = sm.OLS(scores, design).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    assert found.interval is not None
    assert found.value == pytest.approx(fitted.params[0])
    assert [found.interval.low, found.interval.high] == pytest.approx(fitted.conf_int()[0].tolist())
    assert (found.n_strata, found.n_dropped) == (10, 0)


@pytest.mark.parametrize("gain", [0.0, 0.15])
def test_items_that_are_easier_by_themselves_make_no_difference(gain: float) -> None:
    covered, plain = 0, []
    for seed in range(40):
        scores, dirty, board, clusters = drawn(gain, seed)
        found = adjusted_difference(scores, dirty, board, clusters)
        assert found.interval is not None
        covered += found.interval.low <= gain <= found.interval.high
        plain.append(scores[dirty].mean() - scores[~dirty].mean())
    assert covered >= 35
    assert np.mean(plain) > gain + 0.08


def test_without_items_of_both_kinds_it_is_undefined() -> None:
    found = adjusted_difference([1, 0, 1, 0], [1, 1, 0, 0], [0.9, 0.9, 0.1, 0.1], [0, 1, 2, 3])
    assert np.isnan(found.value)
    assert (found.interval, found.n_items, found.n_dropped) == (None, 0, 4)


def test_items_of_one_cluster_have_a_difference_and_no_interval() -> None:
    found = adjusted_difference([1, 1, 0, 0], [1, 1, 1, 0], [0.5] * 4, [7] * 4)
    # 2 of 3 dirty items are right, and no clean one.
    assert found.value == pytest.approx(2 / 3)
    assert (found.interval, found.n_strata, found.n_items, found.n_dropped) == (None, 1, 4, 0)


def test_the_interval_by_hand() -> None:
    """d = (2, -1, -1)/3 and y = (1, -2, 1)/3 around their means: b = (1/3) / (2/3), residuals (0, -1/2, 1/2)."""
    found = adjusted_difference([1, 0, 1], [1, 0, 0], [0.5] * 3, [0, 1, 2])
    # Sum of (d e)²: 2/36; over (2/3)²: 1/8; times 3/2 for three clusters and 2/1 for three items: 3/8. t of 2: 4.3027.
    reach = 4.302653 * (3 / 8) ** 0.5
    assert found.value == pytest.approx(1 / 2)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((0.5 - reach, 0.5 + reach))
    # Two items leave no residual to judge by.
    assert adjusted_difference([1, 0], [1, 0], [0.5] * 2, [0, 1]).interval is None


def test_equal_difficulties_share_a_step() -> None:
    assert np.unique(strata_of([0.5, 0.5, 0.5])).size == 1
    steps = strata_of([0.0, 0.0, 0.5, 1.0, 1.0])
    assert np.unique(steps).size == 3
