"""How sure it is that a pattern goes with a label more often than chance would have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def competency_z(successes: ArrayLike, trials: ArrayLike, prior: ArrayLike) -> NDArray[np.float64]:
    """Standard deviations by which a pattern's share of a label exceeds the prior, elementwise.

    z = (k/n - p0) / sqrt(p0 (1 - p0)/n). NaN where n is 0; 0 where p0 is 0 or 1 and nothing else can be.

    The published statistic has p0 = 1/K and counts every occurrence. Here n counts sentences, since occurrences in
    one sentence are not independent, and p0 is meant to be the label's share, so that an unbalanced corpus alone
    makes nothing significant.

    Args:
        successes: k, sentences with the pattern and the label.
        trials: n, sentences with the pattern.
        prior: p0, the label's share among all sentences.

    Source: Gardner et al. 2021, "Competency problems: on finding and removing artifacts in language data".
    """
    k, n, p0 = (np.asarray(value, dtype=np.float64) for value in (successes, trials, prior))
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = k / n - p0
        z = difference / np.sqrt(p0 * (1 - p0) / n)
    return np.where((difference == 0) & (n > 0), 0.0, z)


def critical_z(n_tests: int, alpha: float = 0.01) -> float:
    """The z above which one of `n_tests` one-sided tests is significant by Bonferroni: Phi^-1(1 - alpha/V).

    Source: Gardner et al. 2021.
    """
    from scipy.special import ndtri

    return -float(ndtri(alpha / n_tests))


def significance_boundary(support: ArrayLike, prior: float, n_tests: int, alpha: float = 0.01) -> NDArray[np.float64]:
    """The share of a label above which a pattern with this support is significant: p0 + z_crit sqrt(p0(1-p0)/n).

    Args:
        support: n, any shape, above 0.
        prior: p0.
        n_tests: V, how many patterns are tested.
        alpha: Chance of one false find or more.

    Source: Gardner et al. 2021.
    """
    n = np.asarray(support, dtype=np.float64)
    bound: NDArray[np.float64] = prior + critical_z(n_tests, alpha) * np.sqrt(prior * (1 - prior) / n)
    return bound


def binomial_tail(successes: ArrayLike, trials: ArrayLike, prior: ArrayLike) -> NDArray[np.float64]:
    """Chance of at least k successes in n trials at probability p0 (exact, one-sided), elementwise.

    Exact, since the normal tail of z is wrong where n p0 is small, which is where rare patterns are. 1 where k is 0.

    Args:
        successes: k.
        trials: n >= k.
        prior: p0.
    """
    from scipy.special import betainc

    k, n, p0 = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in (successes, trials, prior)))
    safe = np.maximum(k, 1.0)
    tail: NDArray[np.float64] = np.where(k > 0, betainc(safe, np.maximum(n - safe + 1, 1.0), p0), 1.0)
    return tail
