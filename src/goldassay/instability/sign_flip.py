"""Tests of a paired difference that assume nothing but its symmetry under "no difference"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def sign_flip_p(differences: NDArray[np.float64], *, seed: int, n_draws: int = 9999) -> float:
    """Two-sided p-value of the sum of differences, signs flipped at random.

    (1 + number of draws whose |sum| is at least the observed)/(1 + draws). Units with the same |difference| are
    flipped together by one binomial draw, which gives the same distribution at a fraction of the cost.

    Args:
        differences: (M,), one for each independent unit: an example, or a cluster's sum.
        seed: Of the draws.
        n_draws: How many.

    Source: Fisher 1935; the estimate that cannot be 0 is Phipson and Smyth's (2010).
    """
    sizes, counts = np.unique(np.abs(differences[differences != 0]).round(12), return_counts=True)
    observed = abs(float(differences.sum()))
    rng = np.random.default_rng(seed)
    sums = np.zeros(n_draws)
    for size, count in zip(sizes, counts, strict=True):
        sums += size * (2.0 * rng.binomial(count, 0.5, n_draws) - count)
    # Sums of the same terms in another order may differ in the last digits, and are ties all the same.
    reached = np.abs(sums) >= observed - 1e-9 * max(1.0, float(np.abs(differences).sum()))
    return float(1 + reached.sum()) / (1 + n_draws)


def mcnemar_p(only_a: int, only_b: int) -> float:
    """Exact two-sided McNemar test: of the examples that one of two models has right, how many are a's.

    min(1, 2 P(X <= min(only_a, only_b))) with X binomial(only_a + only_b, 1/2); 1 where there are none.

    Source: McNemar 1947.
    """
    from scipy.special import bdtr

    n = only_a + only_b
    return 1.0 if n == 0 else min(1.0, 2.0 * float(bdtr(min(only_a, only_b), n, 0.5)))
