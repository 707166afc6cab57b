"""Corrections for many tests at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values (q) that control the false discovery rate.

    With the p sorted ascending, q_(i) = min over j >= i of p_(j) V/j, at most 1; V is how many there are.

    Args:
        p_values: (V,), each in [0, 1].

    Returns:
        q, (V,), in the order of the input.

    Source: Benjamini and Hochberg 1995.
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.size == 0:
        return p.copy()
    order = np.argsort(p, kind="stable")
    q = np.empty_like(p)
    q[order] = adjusted(p[order])
    return q


def adjusted(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Benjamini-Hochberg q of p-values that are sorted ascending, (V,); what `benjamini_hochberg` computes."""
    q: NDArray[np.float64] = p * (p.size / np.arange(1, p.size + 1))
    np.minimum.accumulate(q[::-1], out=q[::-1])
    return np.minimum(q, 1.0, out=q)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values that control the chance of any false rejection.

    With the p sorted ascending, max over j <= i of (V - j + 1) p_(j), at most 1; V is how many there are.

    Args:
        p_values: (V,), each in [0, 1].

    Returns:
        Adjusted p, (V,), in the order of the input.

    Source: Holm 1979.
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    scaled = p[order] * (p.size - np.arange(p.size))
    adjusted = np.empty_like(scaled)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted
