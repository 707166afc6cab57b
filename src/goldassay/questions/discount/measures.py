"""Scores without what a shortcut gives away: items weighted by how little a reader of a part of them knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.results import Result
from goldassay.stats.bootstrap import draw_once, percentile_interval, resample_runs
from goldassay.stats.clusters import cluster_sums, dense_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

N_DRAWS = 1000
# An item that a reader is sure to get wrong would else be worth as much as all others.
MOST_WEIGHT = 5.0
# Of as many items a score can be spoken of.
LEAST_ITEMS = 30
# Weights of calibrated readers have a mean of 1, less what the cut takes off; far from it they say nothing.
FITTING_MEANS = (0.7, 1.25)


@dataclass(frozen=True)
class Discount(Result):
    """Scores of S systems with and without a shortcut; see `discount_scores`. Bounds are (S, 2) or (P, 2).

    Attributes:
        scores: Mean scores, (S,).
        scores_within: Their 95 % bounds.
        discounted: Weighted scores, (S,).
        discounted_within: Bounds.
        ungiven: Scores on the items whose gold label the shortcut does not point to, (S,); NaN with fewer than thirty.
            What follows the shortcut is below chance there.
        ungiven_within: Bounds.
        slopes: Score gained per bit that the shortcut tells, (S,).
        slopes_within: Bounds.
        pairs: Numbers of two systems, the one with the higher score first, (P, 2).
        leads: Differences of their scores, (P,).
        leads_within: Bounds.
        discounted_leads: Of their discounted scores, (P,).
        discounted_leads_within: Bounds.
        earned_upper: Share of each lead that is earned on the third of items that the shortcut tells most of, (P,); NaN
            where the lead is 0.
        n_items: N.
        n_ungiven: Items with no bits.
        n_effective: (sum w)^2 / sum w^2.
        mean_weight: Mean of the weights, about 1 where the readers' probabilities fit.
        mean_bits: What the shortcut tells, mean over items.
        n_readers: R.
        level: Of the bounds.
    """

    scores: NDArray[np.float64]
    scores_within: NDArray[np.float64]
    discounted: NDArray[np.float64]
    discounted_within: NDArray[np.float64]
    ungiven: NDArray[np.float64]
    ungiven_within: NDArray[np.float64]
    slopes: NDArray[np.float64]
    slopes_within: NDArray[np.float64]
    pairs: NDArray[np.int64]
    leads: NDArray[np.float64]
    leads_within: NDArray[np.float64]
    discounted_leads: NDArray[np.float64]
    discounted_leads_within: NDArray[np.float64]
    earned_upper: NDArray[np.float64]
    n_items: int
    n_ungiven: int
    n_effective: float
    mean_weight: float
    mean_bits: float
    n_readers: int
    level: float

    @property
    def reason(self) -> str:
        """Why discounted scores cannot be told; "" where they can."""
        if self.n_effective < LEAST_ITEMS:
            return f"the shortcut settles so much that only {self.n_effective:.0f} effective items are left"
        if not FITTING_MEANS[0] <= self.mean_weight <= FITTING_MEANS[1]:
            return (
                "the readers' probabilities do not fit these items (their weights have the mean "
                f"{self.mean_weight:.2f}, where 1 is expected)"
            )
        return ""


def shortcut_weights(bits: NDArray[np.float64]) -> NDArray[np.float64]:
    """w_i = p0_i / g_i, at most 5: how much an item counts once a shortcut is discounted.

    g_i is the probability that a reader of a part of the item gives to the gold label, p0_i that of a reader of
    nothing. With g calibrated, sum w y / sum w of a system that follows the part alone is p0: given the part, each
    label l has probability g_l and weight p0_l / g_l. What a system knows apart from it, its score keeps.

    Args:
        bits: log2 g_i - log2 p0_i, (N,).
    """
    return np.minimum(np.exp2(-np.asarray(bits, np.float64)), MOST_WEIGHT)


def discount_scores(
    scores: Sequence[NDArray[np.float64]],
    bits: NDArray[np.float64],
    clusters: NDArray[np.int64] | None = None,
    *,
    n_draws: int = N_DRAWS,
    level: float = 0.95,
    seed: int = 0,
) -> Discount:
    """Scores of systems as they are, weighted by what a shortcut leaves open, and where it tells nothing.

    Weights are those of the mean bits over readers. Bounds are percentiles of a bootstrap that draws clusters of items,
    a system's runs (`resample_runs`), and the readers, so that their own error is part of them.

    Args:
        scores: Of each of S systems, (R_s, N), in [0, 1].
        bits: Of each reader, none of which learned from the item it reads, (R, N).
        clusters: What items share, codes (N,); None where each counts by itself.
        n_draws: B.
        level: Of the bounds.
        seed: Of the draws.

    Raises:
        ValueError: Sizes do not fit, or bits are not finite.

    Source: Horvitz and Thompson 1952, for weights; the shortcut's bits are those of Ethayarajh et al. 2022.
    """
    told = np.asarray(bits, np.float64)
    n = told.shape[1]
    if any(each.ndim != 2 or each.shape[1] != n for each in scores) or not np.isfinite(told).all():
        raise ValueError("scores must be (R, N) of the items that the bits are of, and bits finite")
    rng = np.random.default_rng(seed)
    values = np.stack([each.mean(axis=0) for each in scores])
    mean_bits = told.mean(axis=0)
    weights = shortcut_weights(mean_bits)
    point = _measure(values, weights, mean_bits, np.ones(n))
    # The first of a pair leads by its score.
    order = np.argsort(-point[0], kind="stable")
    pairs = np.array([(i, j) for at, i in enumerate(order) for j in order[at + 1 :]], np.int64).reshape(-1, 2)
    upper = mean_bits >= np.quantile(mean_bits, 2 / 3)
    groups = dense_codes(clusters, n)
    n_groups = int(groups.max()) + 1
    several = {system: np.asarray(each) for system, each in enumerate(scores) if len(each) > 1}
    drawn_runs = {system: resample_runs(len(each), rng, n_draws) for system, each in several.items()}
    draws = np.empty((4, n_draws, len(scores)))
    for at in range(n_draws):
        counts = draw_once(n_groups, rng)[groups]
        own_bits = told[rng.integers(0, len(told), len(told))].mean(axis=0)
        own = values.copy()
        for system, runs in several.items():
            own[system] = drawn_runs[system][at] @ runs
        draws[:, at] = _measure(own, shortcut_weights(own_bits), own_bits, counts)
    tails = ((1 - level) / 2, (1 + level) / 2)

    def within(values_drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.nanquantile(values_drawn, tails, axis=0).T)

    def differences(of: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(of[..., pairs[:, 0]] - of[..., pairs[:, 1]])

    apart = values[pairs[:, 0]] - values[pairs[:, 1]]
    totals = apart.sum(axis=1)
    earned = np.divide(
        apart[:, upper].sum(axis=1), totals, out=np.full(len(pairs), np.nan), where=np.abs(totals) > 1e-12
    )
    with np.errstate(invalid="ignore"):
        ungiven_within = within(draws[2]) if np.isfinite(draws[2]).any() else np.full((len(scores), 2), np.nan)
    return Discount(
        scores=point[0],
        scores_within=within(draws[0]),
        discounted=point[1],
        discounted_within=within(draws[1]),
        ungiven=point[2],
        ungiven_within=ungiven_within,
        slopes=point[3],
        slopes_within=within(draws[3]),
        pairs=pairs,
        leads=differences(point[0]),
        leads_within=within(differences(draws[0])),
        discounted_leads=differences(point[1]),
        discounted_leads_within=within(differences(draws[1])),
        earned_upper=earned,
        n_items=n,
        n_ungiven=int((mean_bits <= 0).sum()),
        n_effective=float(weights.sum() ** 2 / (weights**2).sum()),
        mean_weight=float(weights.mean()),
        mean_bits=float(mean_bits.mean()),
        n_readers=len(told),
        level=level,
    )


def mean_bits(
    bits: NDArray[np.float64],
    clusters: NDArray[np.int64] | None = None,
    *,
    n_draws: int = N_DRAWS,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[float, float, float]:
    """What readers of a part tell, mean over items in bits, and its bounds: a bootstrap of items and readers.

    Args:
        bits: As for `discount_scores`.
        clusters: Likewise.
        n_draws: B.
        level: Of the bounds.
        seed: Of the draws.
    """
    told = np.asarray(bits, np.float64)
    groups = dense_codes(clusters, told.shape[1])
    rng = np.random.default_rng(seed)
    sizes = np.bincount(groups).astype(np.float64)
    sums = cluster_sums(told, groups)
    draws = np.empty(n_draws)
    for at in range(n_draws):
        counts = draw_once(sizes.size, rng)
        draws[at] = sums[rng.integers(0, len(told), len(told))].mean(axis=0) @ counts / (sizes @ counts)
    within = percentile_interval(draws, level)
    return float(told.mean()), within.low, within.high


def _measure(
    values: NDArray[np.float64], weights: NDArray[np.float64], bits: NDArray[np.float64], counts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(4, S): score, discounted score, score where the shortcut tells nothing, slope per bit."""
    total = counts.sum()
    plain = values @ counts / total
    weighed = counts * weights
    discounted = values @ weighed / weighed.sum()
    open_counts = counts * (bits <= 0)
    n_open = open_counts.sum()
    ungiven = values @ open_counts / n_open if n_open >= LEAST_ITEMS else np.full(len(values), np.nan)
    centered = bits - bits @ counts / total
    spread = (counts * centered**2).sum()
    slope = values @ (counts * centered) / spread if spread > 1e-12 else np.zeros(len(values))
    return np.stack([plain, discounted, ungiven, slope])
