"""Do clusters of sentences give the label away? The score of a clustering that is already there."""

from __future__ import annotations

import math
import numbers
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from goldassay.core.arguments import as_codes, check_whole
from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.core.multiple_testing import benjamini_hochberg
from goldassay.core.results import Result
from goldassay.leakage.divergences import (
    GRID_STEPS,
    SCALES,
    Convention,
    Divergence,
    area_score,
    cluster_divergences,
    grid_score,
    is_paper,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

BIASED_ABOVE = 0.25
_TABLES_AT_ONCE = 50


@dataclass(frozen=True)
class ClusterScore(Result):
    """Score of a clustering; see `score_clusters`.

    Attributes:
        score: In the convention named.
        uncorrected: The same before the null is subtracted; equal to `score` in the paper's convention.
        null_mean: Mean of `uncorrected` over clusterings that know nothing of the labels.
        null_sd: Its standard deviation over permutations.
        null_method: How the mean was found: "exact" or "permutations".
        p_value: (1 + permutations that reach `uncorrected`) / (1 + permutations); NaN without permutations.
        divergences: Of each cluster, (k,).
        sizes: Of each cluster, (k,).
        shares: Of each class in each cluster, (k, K).
        reference: Of each class, (K,).
        biased: Whether the divergence is above `threshold`, (k,).
        cluster_p: Chi-square p-value of each cluster, (k,); 1 for an empty one.
        cluster_q: The same, adjusted over clusters (Benjamini-Hochberg).
        thresholds: T of the curve.
        curve: F(T), the share of clusters with divergence above T; weighted by size where recommended.
        assignments: Cluster of each example, (N,).
        divergence: Which divergence.
        convention: Which convention.
        threshold: Above which a cluster counts as biased.
        n_examples: N.
        n_clusters: k.
        n_empty: Clusters without an example: dropped where recommended, "not above" in the paper's convention.
        n_permutations: Behind the null.
        seed: Of the permutations.
    """

    score: float
    uncorrected: float
    null_mean: float
    null_sd: float
    null_method: str
    p_value: float
    divergences: NDArray[np.float64]
    sizes: NDArray[np.int64]
    shares: NDArray[np.float64]
    reference: NDArray[np.float64]
    biased: NDArray[np.bool_]
    cluster_p: NDArray[np.float64]
    cluster_q: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    curve: NDArray[np.float64]
    assignments: NDArray[np.int64]
    divergence: Divergence
    convention: Convention
    threshold: float
    n_examples: int
    n_clusters: int
    n_empty: int
    n_permutations: int
    seed: int

    @property
    def example_divergences(self) -> NDArray[np.float64]:
        """The divergence of each example's cluster, (N,)."""
        return np.asarray(self.divergences[self.assignments])

    @property
    def n_biased_examples(self) -> int:
        """How many examples lie in biased clusters."""
        return int(self.sizes[self.biased].sum())

    def to_frame(self) -> pl.DataFrame:
        """One row a cluster: cluster, size, share_0 ..., divergence, biased, p_value, q_value."""
        return pl.DataFrame(
            {
                "cluster": np.arange(self.n_clusters),
                "size": self.sizes,
                **{f"share_{c}": self.shares[:, c] for c in range(self.reference.size)},
                "divergence": self.divergences,
                "biased": self.biased,
                "p_value": self.cluster_p,
                "q_value": self.cluster_q,
            }
        )


def score_clusters(
    assignments: ArrayLike,
    labels: ArrayLike,
    divergence: Divergence = "squared_l2",
    convention: Convention = "recommended",
    *,
    n_clusters: int | None = None,
    reference: Literal["empirical", "uniform"] = "empirical",
    threshold: float = BIASED_ABOVE,
    n_permutations: int = 200,
    seed: int = 0,
) -> ClusterScore:
    """Score how far the label shares of clusters are from those of all examples.

    d_k is the divergence of cluster k (`cluster_divergences`). "paper" (also "code"): the grid score over all k
    clusters, each with weight 1 (`grid_score`). "recommended": the exact area, clusters weighted by size, minus its
    mean under the null that labels know nothing of clusters: even then small clusters diverge by chance, by about
    (1 - sum_c g_c^2)/n_k for squared_l2. For that divergence the null mean is (1 - sum_c g_c^2)(k-1)/(N-1)
    exactly, k counting the clusters that have examples, as long as no divergence can exceed the scale; otherwise it is
    the mean over permutations. A corrected score may be slightly negative.

    The p-value of one cluster is of n_k (N-1)/(N-n_k) sum_c (p_kc-g_c)^2/g_c, chi-square with K-1 degrees.

    Args:
        assignments: Cluster of each example, 0 to k-1, (N,).
        labels: Codes, (N,).
        divergence: squared_l2 (the paper's "L2"), l2 (its root), or kl (bits, up to a scale of 5).
        convention: Which score.
        n_clusters: k; the largest cluster number + 1 if not given.
        reference: Shares to compare with: those of all examples, or equal ones.
        threshold: A cluster above it is called biased.
        n_permutations: Of the labels, for null and p-value; without any there is no p-value, and no recommended score
            where the null mean is not known exactly.
        seed: Of the permutations.

    Raises:
        InputError: Lengths differ, there are no examples, codes are not whole numbers from 0, a setting is out of
            range, or a word for one is unknown.

    Source: Saxon, Wang, Xu and Wang 2023, "PECO".
    """
    clusters, codes = as_codes(assignments, "assignments"), as_codes(labels, "labels")
    if clusters.size != codes.size:
        raise InputError(f"{clusters.size} assignments and {codes.size} labels", mend="give both for the same examples")
    _check_settings(n_clusters, reference, threshold, n_permutations, seed)
    k, n_classes = int(clusters.max()) + 1 if n_clusters is None else n_clusters, int(codes.max()) + 1
    if clusters.max() >= k:
        raise InputError(f"cluster {clusters.max()} is there, but n_clusters is {k}")
    counts = _count(clusters, codes[np.newaxis], k, n_classes)[0]
    sizes, shares_all = counts.sum(axis=1), counts.sum(axis=0) / codes.size
    g = np.full(n_classes, 1 / n_classes) if reference == "uniform" else shares_all
    scoring = _Scoring(sizes, g, divergence, convention)
    divergences = scoring.divergences(counts)
    uncorrected = float(scoring.score(divergences))
    null, exceeded = _null(scoring, clusters, codes, n_classes, n_permutations, seed)
    mean, method = _null_mean(scoring, null, exceeded or bool(divergences.max() > scoring.scale), reference)
    shares = counts / np.maximum(sizes, 1)[:, np.newaxis]
    p_values = _cluster_p(shares, sizes, shares_all)
    thresholds, curve = scoring.curve(divergences)
    return ClusterScore(
        score=uncorrected if is_paper(convention) else uncorrected - mean,
        uncorrected=uncorrected,
        null_mean=mean,
        null_sd=float(null.std(ddof=1)) if null.size > 1 else float("nan"),
        null_method=method,
        p_value=_p_value(uncorrected, null),
        divergences=divergences,
        sizes=sizes,
        shares=shares,
        reference=g,
        biased=divergences > threshold,
        cluster_p=p_values,
        cluster_q=benjamini_hochberg(p_values),
        thresholds=thresholds,
        curve=curve,
        assignments=clusters,
        divergence=divergence,
        convention=convention,
        threshold=threshold,
        n_examples=clusters.size,
        n_clusters=k,
        n_empty=int(np.sum(sizes == 0)),
        n_permutations=n_permutations,
        seed=seed,
    )


def _check_settings(
    n_clusters: object, reference: str, threshold: object, n_permutations: object, seed: object
) -> None:
    if n_clusters is not None:
        check_whole("n_clusters", n_clusters, 1)
    if reference not in ("empirical", "uniform"):
        raise InputError(f"reference {reference!r} is unknown", mend="choose empirical or uniform")
    if not isinstance(threshold, numbers.Real) or not 0 <= float(threshold) < math.inf:
        raise InputError(f"threshold is {threshold}", mend="give a number from 0 up")
    check_whole("n_permutations", n_permutations, 0)
    check_whole("seed", seed, 0)


@dataclass(frozen=True)
class _Scoring:
    """From tables of counts to scores, in one convention."""

    sizes: NDArray[np.int64]
    reference: NDArray[np.float64]
    divergence: Divergence
    convention: Convention

    @property
    def scale(self) -> float:
        return SCALES[self.divergence]

    def divergences(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return cluster_divergences(counts, self.reference, self.divergence, self.convention)

    def score(self, divergences: NDArray[np.float64]) -> NDArray[np.float64]:
        if is_paper(self.convention):
            return grid_score(divergences, self.scale)
        return area_score(divergences, self.sizes, self.scale)

    def curve(self, divergences: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        paper = is_paper(self.convention)
        thresholds = self.scale * (np.arange(GRID_STEPS) / GRID_STEPS if paper else np.linspace(0, 1, 101))
        weights = np.ones(self.sizes.size) if paper else self.sizes
        above = divergences[:, np.newaxis] > thresholds
        return thresholds, np.asarray(weights @ above / weights.sum(), dtype=np.float64)


def _null(
    scoring: _Scoring,
    clusters: NDArray[np.int64],
    codes: NDArray[np.int64],
    n_classes: int,
    n_permutations: int,
    seed: int,
) -> tuple[NDArray[np.float64], bool]:
    """Scores with permuted labels, and whether any divergence exceeded the scale there."""
    rng = np.random.default_rng(seed)
    scores: list[NDArray[np.float64]] = []
    exceeded = False
    at_once = max(1, min(_TABLES_AT_ONCE, 5_000_000 // codes.size))
    for start in range(0, n_permutations, at_once):
        size = min(at_once, n_permutations - start)
        permuted = rng.permuted(np.broadcast_to(codes, (size, codes.size)), axis=1)
        found = scoring.divergences(_count(clusters, permuted, scoring.sizes.size, n_classes))
        exceeded = exceeded or bool(found.max() > scoring.scale)
        scores.append(scoring.score(found))
    return (np.concatenate(scores) if scores else np.empty(0)), exceeded


def _p_value(score: float, null: NDArray[np.float64]) -> float:
    if not null.size:
        return float("nan")
    # Sums in another order may differ in the last bit from what they equal.
    return float((1 + np.sum(null >= score - 1e-12)) / (1 + null.size))


def _null_mean(scoring: _Scoring, null: NDArray[np.float64], exceeded: bool, reference: str) -> tuple[float, str]:
    exact = scoring.divergence == "squared_l2" and reference == "empirical"
    if exact and not exceeded and not is_paper(scoring.convention):
        n, k = int(scoring.sizes.sum()), int(np.sum(scoring.sizes > 0))
        mean = (1 - float((scoring.reference**2).sum())) * (k - 1) / (n - 1) if n > 1 else 0.0
        return mean, "exact"
    if null.size:
        return float(null.mean()), "permutations"
    if not is_paper(scoring.convention):
        warnings.warn(
            "the score is undefined: its null mean takes permutations, and there are none",
            UndefinedMeasureWarning,
            stacklevel=3,
        )
    return float("nan"), "permutations"


def _cluster_p(
    shares: NDArray[np.float64], sizes: NDArray[np.int64], overall: NDArray[np.float64]
) -> NDArray[np.float64]:
    from scipy.special import chdtrc

    n, present = int(sizes.sum()), overall > 0
    others = np.maximum(n - sizes, 1)
    distance = ((shares - overall) ** 2)[:, present] / overall[present]
    statistic = sizes * (n - 1) / others * distance.sum(axis=1)
    degrees = int(present.sum()) - 1
    tested = (sizes > 0) & (sizes < n) & (degrees > 0)
    return np.where(tested, chdtrc(max(degrees, 1), statistic), 1.0)


def _count(clusters: NDArray[np.int64], codes: NDArray[np.int64], n_clusters: int, n_classes: int) -> NDArray[np.int64]:
    """Examples per table, cluster and class, (B, k, K), of B label arrays (B, N)."""
    cells = n_clusters * n_classes
    where = np.arange(len(codes))[:, np.newaxis] * cells + clusters * n_classes + codes
    counts = np.bincount(where.ravel(), minlength=len(codes) * cells)
    return counts.reshape(len(codes), n_clusters, n_classes)
