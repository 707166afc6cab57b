"""How far the label shares of clusters are from those of all examples, and what score that makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Divergence = Literal["squared_l2", "l2", "kl"]
Convention = Literal["recommended", "paper", "code"]

SCALES: dict[Divergence, float] = {"squared_l2": 1.0, "l2": 1.0, "kl": 5.0}
GRID_STEPS = 20
# What the released code adds inside logarithms; an empty class then counts about 33 bits at a share of 1/3.
_CODE_EPSILON = 1e-30


def cluster_divergences(
    counts: ArrayLike,
    reference: ArrayLike,
    divergence: Divergence = "squared_l2",
    convention: Convention = "recommended",
) -> NDArray[np.float64]:
    """Divergence of each cluster's label shares p_k from the reference g.

    squared_l2: sum_c (p_kc - g_c)^2; l2: its root; kl in bits: "recommended" D(p_k || g) with 0 log 0 = 0, "paper"
    (also "code") D(g || p_k) with 1e-30 added inside both logarithms. An empty cluster has divergence 0. A class
    without a share in g contributes nothing.

    Args:
        counts: Examples per cluster and class, (k, K), or several such tables, (..., k, K).
        reference: g, (K,).
        divergence: Which.
        convention: Only matters to kl.

    Returns:
        (..., k).

    Source: Saxon, Wang, Xu and Wang 2023, "PECO", and its released code.
    """
    table, g = np.asarray(counts, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    sizes = table.sum(axis=-1)
    shares = table / np.maximum(sizes, 1)[..., np.newaxis]
    if divergence in ("squared_l2", "l2"):
        found = ((shares - g) ** 2).sum(axis=-1)
        found = np.sqrt(found) if divergence == "l2" else found
    elif divergence == "kl" and is_paper(convention):
        found = (g * (np.log2(g + _CODE_EPSILON) - np.log2(shares + _CODE_EPSILON))).sum(axis=-1)
    elif divergence == "kl":
        usable = (shares > 0) & (g > 0)
        ratios = np.divide(shares, g, out=np.ones_like(shares), where=usable)
        found = np.maximum((shares * np.log2(ratios)).sum(axis=-1), 0.0)
    else:
        raise InputError(f"divergence {divergence!r} is unknown", mend="choose squared_l2, l2 or kl")
    return np.asarray(np.where(sizes > 0, found, 0.0), dtype=np.float64)


def grid_score(divergences: ArrayLike, scale: float = 1.0) -> NDArray[np.float64]:
    """The paper's score: mean over T = scale i/20, i = 0 to 19, of the share of clusters with divergence above T.

    Equals mean_k min(20, ceil(20 d_k/scale))/20. As T = 0 is on the grid, any divergence at all counts 1/20.

    Args:
        divergences: d, (..., k).
        scale: Where the grid ends.

    Returns:
        (...,).
    """
    d = np.asarray(divergences, dtype=np.float64)
    thresholds = scale * np.arange(GRID_STEPS) / GRID_STEPS
    above = d[..., np.newaxis] > thresholds
    return np.asarray(above.sum(axis=(-2, -1)) / (d.shape[-1] * GRID_STEPS), dtype=np.float64)


def area_score(divergences: ArrayLike, weights: ArrayLike | None = None, scale: float = 1.0) -> NDArray[np.float64]:
    """The exact area under the share of clusters above T, T from 0 to scale: mean_k min(d_k/scale, 1).

    Args:
        divergences: d, (..., k).
        weights: Of the clusters, (k,), such as their sizes; equal if not given.
        scale: Where the area ends.

    Returns:
        (...,).
    """
    d = np.minimum(np.asarray(divergences, dtype=np.float64) / scale, 1.0)
    w = np.ones(d.shape[-1]) if weights is None else np.asarray(weights, dtype=np.float64)
    return np.asarray(d @ w / w.sum(), dtype=np.float64)


def is_paper(convention: Convention) -> bool:
    """Whether the convention is the paper's; "code" is a second name for it.

    Raises:
        InputError: It is unknown.
    """
    if convention not in ("recommended", "paper", "code"):
        raise InputError(f"convention {convention!r} is unknown", mend="choose recommended or paper")
    return convention != "recommended"
