"""Ranks and what Spearman's correlation makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def standardized_ranks(series: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Ranks along the last axis, centered and of length 1, so that a dot product is Spearman's correlation.

    Equal values share the average of their ranks. Where a series takes at most two values, ranks are a linear
    function of the values, so these are used as they are.

    Args:
        series: (..., T).

    Returns:
        The ranks (..., T), zeros where a series is constant; and where a series is not constant, (...).
    """
    low, high = series.min(axis=-1, keepdims=True), series.max(axis=-1, keepdims=True)
    varies = (high > low)[..., 0]
    if not bool(((series == low) | (series == high)).all()):
        from scipy.stats import rankdata

        series = rankdata(series, axis=-1)
        low = series.min(axis=-1, keepdims=True)
    ranks = series - low
    ranks -= ranks.mean(axis=-1, keepdims=True)
    norm = np.sqrt(np.einsum("...t,...t->...", ranks, ranks))
    ranks /= np.where(varies, norm, 1.0)[..., np.newaxis]
    ranks[~varies] = 0.0
    return ranks, varies
