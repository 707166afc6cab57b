"""How sure models are of each gold label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def self_confidence(probabilities: NDArray[np.floating], gold: NDArray[np.integer]) -> NDArray[np.float64]:
    """The probability of each gold label, mean over runs: the lower, the more suspect the label.

    c_i = mean_r p_r(g_i). The models must not have been trained on the items.

    Args:
        probabilities: (R, N, K).
        gold: Codes, (N,).

    Raises:
        ValueError: Sizes do not fit.

    Source: Northcutt, Jiang and Chuang 2021, self-confidence, as cleanlab ranks labels by it.
    """
    values, right = np.asarray(probabilities, np.float64), np.asarray(gold)
    if values.ndim != 3 or values.shape[1] != right.size:
        raise ValueError("probabilities must be (R, N, K) with an item a gold label")
    return np.asarray(values[:, np.arange(right.size), right].mean(axis=0))
