"""One list of suspects out of what speaks against labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def rank_suspects(
    defects: NDArray[np.bool_],
    log_odds: NDArray[np.float64] | None = None,
    confidence: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """How suspect each item is, from 0 to 1: its place among all, the most suspect 1.

    Items with a defect come first, whatever models say. The others, and those with a defect among themselves, come by
    the mean of their places by log odds and by confidence, of those that are given; equal values share their place.

    Args:
        defects: Items that cannot be right as they are, (N,).
        log_odds: Of another label, (N,).
        confidence: Of models in the gold label, (N,).

    Raises:
        ValueError: Sizes do not fit.
    """
    from scipy.stats import rankdata

    flawed = np.asarray(defects, bool)
    signals = [each for each in (log_odds, None if confidence is None else -np.asarray(confidence)) if each is not None]
    if any(np.shape(each) != flawed.shape for each in signals):
        raise ValueError("defects, log odds and confidence must be of the same items")
    if not flawed.size:
        return np.empty(0)
    places = np.mean([rankdata(each) for each in signals], axis=0) if signals else np.zeros(flawed.size)
    return np.asarray(rankdata(places + (flawed.size + 1) * flawed, method="average") / flawed.size)
