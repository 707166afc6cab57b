"""What items tell of systems: which none solves, which tell strong from weak, and how far totals can be trusted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.multiple_testing import benjamini_hochberg
from goldassay.core.results import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

# With fewer systems the correlation of an item is hardly known.
LEAST_SYSTEMS = 20
_ITEMS_AT_ONCE = 1024
_WANTED = 0.9


@dataclass(frozen=True)
class ItemStatistics(Result):
    """Of each of N items; see `describe_items`.

    Attributes:
        means: Mean score over systems, (N,).
        n_solved: Systems with a full score, (N,).
        discrimination: r, (N,); NaN where all systems score alike.
        q: Of the test that r is not 0, Benjamini-Hochberg, (N,); NaN below twenty systems.
    """

    means: NDArray[np.float64]
    n_solved: NDArray[np.int64]
    discrimination: NDArray[np.float64]
    q: NDArray[np.float64]


@dataclass(frozen=True)
class Reliability(Result):
    """How far the order of systems would be the same by other such items; see `reliability`.

    Attributes:
        value: KR-20 (of graded scores Cronbach's alpha); NaN where `reason` says why.
        low: Lower end of its 95 % interval.
        high: Upper end.
        items_needed: For .9; NaN where it is not above 0.
        reason: Why it is undefined.
    """

    value: float
    low: float
    high: float
    items_needed: float
    reason: str = ""


def describe_items(values: NDArray[np.float64]) -> ItemStatistics:
    """Of each item how many systems solve it, and its discrimination.

    r_i = corr(y_i, sum of all other items) over the M systems; p of r by Student's t with M - 2 degrees of freedom.

    Args:
        values: (M, N), in [0, 1].

    Source: Lord and Novick 1968, the corrected item-total correlation.
    """
    from scipy.special import stdtr

    n_systems, n_items = values.shape
    totals = values.sum(axis=1)
    r = np.full(n_items, math.nan)
    for start in range(0, n_items, _ITEMS_AT_ONCE):
        own = values[:, start : start + _ITEMS_AT_ONCE]
        rest = totals[:, np.newaxis] - own
        own, rest = own - own.mean(axis=0), rest - rest.mean(axis=0)
        lengths = np.sqrt((own**2).sum(axis=0) * (rest**2).sum(axis=0))
        products = (own * rest).sum(axis=0)
        r[start : start + _ITEMS_AT_ONCE] = np.divide(
            products, lengths, out=np.full(own.shape[1], math.nan), where=lengths > 1e-12
        )
    q = np.full(n_items, math.nan)
    known = ~np.isnan(r)
    if n_systems >= LEAST_SYSTEMS and known.any():
        sizes = np.clip(np.abs(r[known]), 0, 1 - 1e-15)
        t = sizes * np.sqrt((n_systems - 2) / (1 - sizes**2))
        q[known] = benjamini_hochberg(2 * stdtr(n_systems - 2, -t))
    return ItemStatistics(values.mean(axis=0), (values >= 1 - 1e-12).sum(axis=0), r, q)


def reliability(values: NDArray[np.float64], level: float = 0.95) -> Reliability:
    """KR-20 of the totals of M systems over N items, with its interval, and the number of items for .9.

    KR-20 = N/(N-1) (1 - sum_i var_i / var_total), variances over systems. Its interval is by F with M - 1 and
    (M - 1)(N - 1) degrees of freedom. For .9 it takes N .9 (1 - KR) / (.1 KR) items.

    Args:
        values: (M, N), in [0, 1].
        level: Of the interval.

    Source: Kuder and Richardson 1937; Cronbach 1951; Feldt 1965 for the interval; Spearman 1910 and Brown 1910 for
    the length.
    """
    from scipy.stats import f

    n_systems, n_items = values.shape
    nothing = math.nan
    if n_systems < 3:
        return Reliability(nothing, nothing, nothing, nothing, "it takes three systems")
    total = float(values.sum(axis=1).var(ddof=1))
    if total <= 1e-12:
        return Reliability(nothing, nothing, nothing, nothing, "all systems have the same total")
    value = n_items / (n_items - 1) * (1 - float(values.var(axis=0, ddof=1).sum()) / total)
    freedom = (n_systems - 1, (n_systems - 1) * (n_items - 1))
    low = 1 - (1 - value) * float(f.ppf((1 + level) / 2, *freedom))
    high = 1 - (1 - value) * float(f.ppf((1 - level) / 2, *freedom))
    needed = n_items * _WANTED * (1 - value) / ((1 - _WANTED) * value) if value > 0 else nothing
    return Reliability(value, low, high, needed)
