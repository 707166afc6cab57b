"""How far the label shares of clusters are from those of all examples, and what score that makes.

Do clusters of sentences give the label away? The score of a clustering that is already there.
"""

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
from goldassay.core.results import Result
from goldassay.stats.significance import holm

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


BIASED_ABOVE = 0.25
_TABLES_AT_ONCE = 50
# Chances that are equal may differ in the last bits, by the order of their sums.
_ROUNDING = 1e-9


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
        examples_error: Standard error of a recommended squared_l2 score over other examples, the clusters being as they
            are; see `score_clusters`. NaN for other scores, and without permutations.
        divergences: Of each cluster, (k,).
        sizes: Of each cluster, (k,).
        shares: Of each class in each cluster, (k, K).
        reference: Of each class, (K,).
        biased: Whether the divergence is above `threshold`, (k,).
        cluster_p: Chance that a cluster's labels lean to some label as they do, (k,); 1 for an empty one; see
            `score_clusters`.
        cluster_q: The same, adjusted over clusters so that the chance of any false one is at most q.
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
    examples_error: float
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
    together: ArrayLike | None = None,
) -> ClusterScore:
    """Score how far the label shares of clusters are from those of all examples.

    d_k is the divergence of cluster k (`cluster_divergences`). "paper" (also "code"): the grid score over all k
    clusters, each with weight 1 (`grid_score`). "recommended": the exact area, clusters weighted by size, minus its
    mean under the null that labels know nothing of clusters: even then small clusters diverge by chance, by about
    (1 - sum_c g_c^2)/n_k for squared_l2. For that divergence the null mean is (1 - sum_c g_c^2)(k-1)/(N-1)
    exactly, k counting the clusters that have examples, as long as no divergence can exceed the scale; otherwise it is
    the mean over permutations. A corrected score may be slightly negative.

    The squared standard error over examples of a squared_l2 score is that of the mean of its influence,
    d_k + 2 (p_k - g) (e_c - p_k) - sum_k n_k d_k / N for an example of class c in cluster k, less the variance of the
    null: the noise of the shares is in it twice, as in a noncentral chi-square, whose variance 2m + 4l it puts at
    4m + 4l. It is at least the variance of the null.

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
        together: Code of the rows that do not count by themselves, such as copies of one text, (N,); None where each
            row counts by itself. Permutations then exchange the labels of all rows with one code for those of another
            code with as many rows, in their order.

    A cluster of n examples leans by chance as far as it does with p = min(1, K min over l of P(X_l >= x_l)): x_l are
    its examples of label l and X_l is hypergeometric, the number of label l among n examples drawn from all (exact,
    K labels by Bonferroni), which holds for rare labels, where chi-square calls 3 of 8 a surprise. `cluster_q` is
    Holm's correction of it. With `together` the least p of all clusters, and each cluster's own, are compared with
    those of the permutations.

    Raises:
        InputError: Lengths differ, there are no examples, codes are not whole numbers from 0, a setting is out of
            range, or a word for one is unknown; `together` without a permutation.

    Source: Saxon, Wang, Xu and Wang 2023, "PECO"; Fisher 1935 (exact tail); Holm 1979; Westfall and Young 1993, section
    2.3 (least p of permutations); Hampel 1974 (influence).
    """
    clusters, codes = as_codes(assignments, "assignments"), as_codes(labels, "labels")
    if clusters.size != codes.size:
        raise InputError(f"{clusters.size} assignments and {codes.size} labels", mend="give both for the same examples")
    groups = None if together is None else np.unique(np.asarray(together), return_inverse=True)[1].astype(np.int64)
    if groups is not None and groups.shape != codes.shape:
        raise InputError(
            f"together has shape {groups.shape}, and there are {codes.size} labels", mend="give one code for each row"
        )
    if groups is not None and n_permutations == 0:
        raise InputError("rows that count together need permutations", mend="set n_permutations, or leave out together")
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
    tails = _Tails(sizes, counts.sum(axis=0))
    null, exceeded, least, reached = _null(scoring, tails, clusters, codes, counts, n_permutations, seed, groups)
    exact = reference == "empirical" and groups is None
    mean, method = _null_mean(scoring, null, exceeded or bool(divergences.max() > scoring.scale), exact=exact)
    shares = counts / np.maximum(sizes, 1)[:, np.newaxis]
    p_values = tails.of(counts)
    adjusted = holm(p_values)
    if groups is not None:
        reaching = 1 + np.sum(least[:, np.newaxis] <= p_values * (1 + _ROUNDING), axis=0)
        p_values, adjusted = (1 + reached) / (1 + least.size), reaching / (1 + least.size)
    thresholds, curve = scoring.curve(divergences)
    return ClusterScore(
        score=uncorrected if is_paper(convention) else uncorrected - mean,
        uncorrected=uncorrected,
        null_mean=mean,
        null_sd=float(null.std(ddof=1)) if null.size > 1 else float("nan"),
        null_method=method,
        p_value=_p_value(uncorrected, null),
        examples_error=_examples_error(clusters, codes, shares, g, null, groups)
        if divergence == "squared_l2" and not is_paper(convention)
        else float("nan"),
        divergences=divergences,
        sizes=sizes,
        shares=shares,
        reference=g,
        biased=divergences > threshold,
        cluster_p=p_values,
        cluster_q=adjusted,
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


def _examples_error(
    clusters: NDArray[np.int64],
    codes: NDArray[np.int64],
    shares: NDArray[np.float64],
    reference: NDArray[np.float64],
    null: NDArray[np.float64],
    groups: NDArray[np.int64] | None,
) -> float:
    if null.size < 2:
        return float("nan")
    off = shares - reference
    divergences = (off**2).sum(axis=1)
    along = 2 * (off[clusters, codes] - (off * shares).sum(axis=1)[clusters])
    influence = divergences[clusters] + along
    influence -= influence.mean()
    sums = influence if groups is None else np.bincount(groups, influence)
    chance = float(null.var(ddof=1))
    return math.sqrt(max(chance, float((sums**2).sum()) / codes.size**2 - chance))


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
    tails: _Tails,
    clusters: NDArray[np.int64],
    codes: NDArray[np.int64],
    counts: NDArray[np.int64],
    n_permutations: int,
    seed: int,
    groups: NDArray[np.int64] | None,
) -> tuple[NDArray[np.float64], bool, NDArray[np.float64], NDArray[np.int64]]:
    """What permuted labels give.

    Returns:
        Their scores; whether any divergence exceeded the scale; the least p of any cluster, and how many
        permutations reach each cluster's own p, (k,). The last two only where rows count together.
    """
    rng = np.random.default_rng(seed)
    deal = _Deal(codes, groups)
    scores: list[NDArray[np.float64]] = []
    least: list[NDArray[np.float64]] = []
    exceeded, reached = False, np.zeros(scoring.sizes.size, np.int64)
    own = tails.of(counts) * (1 + _ROUNDING)
    at_once = max(1, min(_TABLES_AT_ONCE, 5_000_000 // codes.size))
    for start in range(0, n_permutations, at_once):
        size = min(at_once, n_permutations - start)
        tables = _count(clusters, deal.permuted(rng, size), scoring.sizes.size, counts.shape[1])
        found = scoring.divergences(tables)
        exceeded = exceeded or bool(found.max() > scoring.scale)
        scores.append(scoring.score(found))
        if groups is not None:
            p = tails.of(tables)
            least.append(p.min(axis=1))
            reached += (p <= own).sum(axis=0)
    empty = np.empty(0)
    return np.concatenate(scores or [empty]), exceeded, np.concatenate(least or [empty]), reached


class _Deal:
    """Deals labels out anew: to rows, or to groups of rows among those of one size."""

    def __init__(self, codes: NDArray[np.int64], groups: NDArray[np.int64] | None) -> None:
        self._codes = codes
        self._blocks: list[NDArray[np.int64]] | None = None
        if groups is None:
            return
        sizes = np.bincount(groups)
        order = np.lexsort((groups, sizes[groups]))
        n_rows = np.bincount(sizes[groups])
        # Of each size the rows, a group after the other, (groups, size).
        parts = np.split(order, np.cumsum(n_rows)[:-1])
        self._blocks = [part.reshape(-1, size) for size, part in enumerate(parts) if part.size]

    def permuted(self, rng: np.random.Generator, n: int) -> NDArray[np.int64]:
        """So many deals, (n, N)."""
        if self._blocks is None:
            return rng.permuted(np.broadcast_to(self._codes, (n, self._codes.size)), axis=1)
        dealt = np.empty((n, self._codes.size), np.int64)
        for block in self._blocks:
            places = rng.permuted(np.broadcast_to(np.arange(len(block)), (n, len(block))), axis=1)
            dealt[:, block] = self._codes[block][places]
        return dealt


class _Tails:
    """Exact chances that a cluster holds so many of some label, for all clusters of a clustering at once.

    Args:
        sizes: Of each cluster, (k,).
        label_counts: Of each label among all examples, (K,).
    """

    def __init__(self, sizes: NDArray[np.int64], label_counts: NDArray[np.int64]) -> None:
        from scipy.special import gammaln

        n_examples = int(sizes.sum())
        # A table for each size that occurs, (K, size + 1), one after the other.
        distinct, table = np.unique(sizes, return_inverse=True)
        tables: list[NDArray[np.float64]] = []
        present = label_counts[:, np.newaxis]

        def chosen(of: ArrayLike, some: ArrayLike) -> NDArray[np.float64]:
            whole, part = np.asarray(of, np.float64), np.asarray(some, np.float64)
            return np.asarray(gammaln(whole + 1) - gammaln(part + 1) - gammaln(np.maximum(whole - part, 0) + 1))

        for n in distinct.tolist():
            x = np.arange(n + 1)
            possible = (x <= present) & (n - x <= n_examples - present)
            log_chance = chosen(present, x) + chosen(n_examples - present, n - x) - chosen(n_examples, n)
            chance = np.where(possible, np.exp(log_chance), 0.0)
            # No count at all is no surprise, whatever rounding says.
            tail = np.cumsum(chance[:, ::-1], axis=1)[:, ::-1]
            tail[:, 0] = 1.0
            tables.append(tail.ravel())
        starts = np.concatenate(([0], np.cumsum([each.size for each in tables])))
        labels = np.arange(label_counts.size)
        self._tails = np.concatenate(tables)
        self._starts = starts[table][:, np.newaxis] + labels * (sizes[:, np.newaxis] + 1)
        self._n_labels = int((label_counts > 0).sum())

    def of(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """The p of each cluster, (..., k), of counts (..., k, K)."""
        least = self._tails[self._starts + counts].min(axis=-1)
        return np.asarray(np.minimum(self._n_labels * least, 1.0))


def _p_value(score: float, null: NDArray[np.float64]) -> float:
    if not null.size:
        return float("nan")
    # Sums in another order may differ in the last bit from what they equal.
    return float((1 + np.sum(null >= score - 1e-12)) / (1 + null.size))


def _null_mean(scoring: _Scoring, null: NDArray[np.float64], exceeded: bool, *, exact: bool) -> tuple[float, str]:
    if exact and scoring.divergence == "squared_l2" and not exceeded and not is_paper(scoring.convention):
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


def _count(clusters: NDArray[np.int64], codes: NDArray[np.int64], n_clusters: int, n_classes: int) -> NDArray[np.int64]:
    """Examples per table, cluster and class, (B, k, K), of B label arrays (B, N)."""
    cells = n_clusters * n_classes
    where = np.arange(len(codes))[:, np.newaxis] * cells + clusters * n_classes + codes
    counts = np.bincount(where.ravel(), minlength=len(codes) * cells)
    return counts.reshape(len(codes), n_clusters, n_classes)
