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
        series = _average_ranks(series)
        low = series.min(axis=-1, keepdims=True)
    ranks = series - low
    ranks -= ranks.mean(axis=-1, keepdims=True)
    norm = np.sqrt(np.einsum("...t,...t->...", ranks, ranks))
    ranks /= np.where(varies, norm, 1.0)[..., np.newaxis]
    ranks[~varies] = 0.0
    return ranks, varies


def _average_ranks(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 0 along the last axis, equal values sharing the average of theirs."""
    order = series.argsort(axis=-1)
    placed = np.take_along_axis(series, order, axis=-1)
    positions = np.arange(series.shape[-1])
    # Where a stretch of equal values begins, and where it ends, carried over all of it.
    begins = np.concatenate([np.ones_like(placed[..., :1], dtype=bool), placed[..., 1:] != placed[..., :-1]], axis=-1)
    ends = np.concatenate([begins[..., 1:], begins[..., :1]], axis=-1)
    first = np.maximum.accumulate(np.where(begins, positions, 0), axis=-1)
    last = np.minimum.accumulate(np.where(ends, positions, positions[-1])[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty_like(series)
    np.put_along_axis(ranks, order, (first + last) / 2, axis=-1)
    return ranks
