"""The bootstrap: examples, or whole clusters of them, and runs drawn anew, and the intervals that draws give.

`draw_clusters` says how often each cluster is drawn: a figure that is made of sums over clusters follows from the
products of these counts with the sums. `resample_runs` weights runs. Studentized intervals of ratios of sums are in
`ratios`.

Sums of ratios of sums over examples, under one resampling of clusters: values, errors and studentized draws.
"""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.cores import one_blas_thread
from goldassay.stats.clusters import cluster_sums
from goldassay.stats.intervals import Interval, t_quantile, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array


_DRAWS_AT_ONCE = 50
_MOST_COUNTED_TOGETHER = 1 << 18


def draw_clusters(
    n: int,
    n_draws: int,
    rng: np.random.Generator,
    *,
    kinds: NDArray[np.integer] | None = None,
    at_once: int = _DRAWS_AT_ONCE,
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Draw n of n clusters with replacement: how often each is drawn, some draws at once.

    Args:
        n: Clusters, or examples that stand for themselves.
        n_draws: B.
        rng: Source of the draws; they do not depend on how many are made at once.
        kinds: How many clusters there are of each of U kinds, (U,), where those of a kind are alike: the kinds are then
            drawn.
        at_once: Draws that are made at once.

    Yields:
        Which draws, and the counts, (draws, n) or (draws, U).

    Source: Efron 1979; Davison and Hinkley 1997, section 3.8, for clusters.
    """
    for start in range(0, n_draws, at_once):
        size = min(at_once, n_draws - start)
        rows = slice(start, start + size)
        if kinds is not None and kinds.size < n:
            yield rows, rng.multinomial(n, kinds / n, size).astype(np.float64)
        # Counted together, the draws of a few examples cost a tenth; of many it would take as much memory again.
        elif n * size > _MOST_COUNTED_TOGETHER:
            counts = np.empty((size, n), dtype=np.float64)
            for row in counts:
                row[:] = np.bincount(rng.integers(0, n, n), minlength=n)
            yield rows, counts
        else:
            drawn = rng.integers(0, n, (size, n)) + n * np.arange(size)[:, np.newaxis]
            yield rows, np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


def draw_once(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """A single draw of `draw_clusters`, (n,), for callers that draw other things between two."""
    return next(draw_clusters(n, 1, rng))[1][0]


def resample_examples(
    values: NDArray[np.float64], rng: np.random.Generator, n_draws: int, codes: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Means of each row of values over examples drawn with replacement, all rows by the same draw.

    Args:
        values: (M, N), N at least 1.
        rng: Source of the draws.
        n_draws: B.
        codes: (N,) cluster of each example, from 0; whole clusters are then drawn, since examples that share
            something do not vary independently.

    Returns:
        (B, M).

    Source: Efron 1979; Davison and Hinkley 1997, section 3.8, for clusters.
    """
    sums = cluster_sums(values, codes)
    sizes = None if codes is None else np.bincount(codes).astype(np.float64)
    means = np.empty((n_draws, len(values)), dtype=np.float64)
    for rows, counts in draw_clusters(sums.shape[1], n_draws, rng):
        with one_blas_thread():
            drawn = sums.shape[1] if sizes is None else (counts @ sizes)[:, np.newaxis]
            means[rows] = counts @ sums.T / drawn
    return means


def resample_runs(n_runs: int, rng: np.random.Generator, n_draws: int) -> NDArray[np.float64]:
    """Weights of R runs, (B, R), each row summing to 1, under which the mean of R values spreads as Student's t says.

    Drawing runs with replacement cannot leave their range, and understates the variance of a mean by (R-1)/R: 95 %
    intervals from 3 runs would cover 70 %. Here deviations from 1/R are normal, of a size that allows for the runs'
    own spread being uncertain: sum_r w_r x_r is distributed as mean(x) + sd(x)/sqrt(R) t with R-1 degrees of
    freedom, and what is measured by the same weights on several sets keeps its correlation. Weights may be negative,
    and with 2 runs very large. One run has weight 1.

    Source: Student 1908; Rubin 1981, "The Bayesian bootstrap", for weights in place of draws.
    """
    if n_runs == 1:
        return np.ones((n_draws, 1))
    normal = rng.standard_normal((n_draws, n_runs))
    normal -= normal.mean(axis=1, keepdims=True)
    squares = rng.chisquare(n_runs - 1, (n_draws, 1))
    return 1 / n_runs + normal / np.sqrt(n_runs * squares)


def score_interval(
    scores: NDArray[np.float64],
    codes: NDArray[np.int64] | None = None,
    *,
    seed: int = 0,
    n_draws: int = 1000,
    level: float = 0.95,
    scale: tuple[float, float] = (0.0, 1.0),
) -> Interval:
    """Interval of the mean score of runs on a test set: what other examples and other runs of the kind may give.

    Every question that shows such a mean takes its interval from here, by the same draws, so that one figure has one
    interval. A single run that is right or wrong has Wilson's; nothing is known of its noise over seeds. Otherwise
    examples, or whole clusters, are drawn with replacement and runs are weighted by `resample_runs`.

    Args:
        scores: (R, N), N at least 1.
        codes: (N,) cluster of each example, from `cluster_codes`.
        seed: Of the draws.
        n_draws: B.
        level: Of the interval.
        scale: The ends of the scores' scale, at which the interval is cut: a stretched weight of runs may pass them.

    Source: Owen 2007, "The pigeonhole bootstrap", for drawing both ways; Wilson 1927.
    """
    if counts_right(scores, codes, scale):
        return wilson_interval(float(scores.sum()), scores.size, level)
    rng = np.random.default_rng(seed)
    return drawn_score_interval(resample_examples(scores, rng, n_draws, codes), rng, level=level, scale=scale)


def counts_right(
    scores: NDArray[np.float64], codes: NDArray[np.int64] | None, scale: tuple[float, float] = (0.0, 1.0)
) -> bool:
    """Whether scores (R, N) are a proportion: independent answers of one run, each right or wrong."""
    single = len(scores) == 1 and codes is None and scale == (0.0, 1.0)
    return single and bool(np.isin(scores, (0.0, 1.0)).all())


def drawn_score_interval(
    means: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    scale: tuple[float, float] = (0.0, 1.0),
) -> Interval:
    """`score_interval` from means (B, R) over examples that were drawn already, with the generator as these left it.

    The generator is not moved, so that several intervals can be taken from one draw of examples.
    """
    draws = (resample_runs(means.shape[1], deepcopy(rng), len(means)) * means).sum(axis=1)
    return percentile_interval(draws, level).within(*scale)


def percentile_interval(draws: NDArray[np.float64], level: float, *, method: str = "bootstrap") -> Interval:
    """The middle `level` of the draws; NaN draws are left out, and bounds are NaN when nothing is left."""
    kept = draws[~np.isnan(draws)]
    if kept.size == 0:
        return Interval(float("nan"), float("nan"), level, method)
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, method)


# Above this, random clusters are merged before they are drawn: the standard error then has a spread of 0.7 %.
MOST_CLUSTERS = 10_000
LEVEL = 0.95
_RATIO_DRAWS_AT_ONCE = 100
# Classes of which each has its column of sums over clusters; of more the sums are sparse.
_MOST_BY_MOMENTS = 12


@dataclass(frozen=True)
class _Sum:
    """A sum of ratios of sums, sum_j c_j sum(a_j)/sum(b_j): places of its ratios, and the c_j."""

    places: list[int]
    weights: list[float]

    n_effects = 1


@dataclass(frozen=True)
class _Recalls:
    """The mean recall of many classes: a sum of as many ratios, each of few examples.

    Attributes:
        right: What each example got, (N,).
        of_row: Class of each example, (N,); -1 of an example that does not count.
        n_classes: Their number.
    """

    right: NDArray[np.float64]
    of_row: NDArray[np.int64]
    n_classes: int

    n_effects = 1

    def by_cluster(self, codes: NDArray[np.int64], n_clusters: int) -> _RecallSums:
        """Sums over the examples of each of G clusters."""
        of_class, right = _of_classes(self.of_row, self.n_classes, codes, n_clusters, self.right)
        return _RecallSums(right, of_class)


@dataclass(frozen=True)
class _RecallSums:
    """What was right of each class in each cluster, and its rows, both (G, K); a cluster has rows of few classes."""

    right: csr_array
    rows: csr_array

    def measure(self, counts: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean recall and its linearized variance but for G/(G-1), both (B, 1), for counts of clusters, (B, G)."""
        right, rows = counts @ self.right, counts @ self.rows
        with np.errstate(divide="ignore", invalid="ignore"):
            recalls = right / rows
            scaled = 1 / (rows.shape[1] * rows)
        influence = self.right @ scaled.T - self.rows @ (scaled * recalls).T
        return recalls.mean(axis=1, keepdims=True), np.einsum("bg,gb->b", counts, influence**2)[:, np.newaxis]


@dataclass(frozen=True)
class _Differences:
    """The share right minus the share of each of many classes: as many effects, which differ by one sum only.

    Attributes:
        right: What each example got, (N,).
        of_row: Which of the classes each example is of, (N,); -1 where of none.
        n_effects: Number of the classes.
    """

    right: NDArray[np.float64]
    of_row: NDArray[np.int64]
    n_effects: int

    def by_cluster(self, codes: NDArray[np.int64], n_clusters: int) -> _DifferenceSums:
        """Sums over the examples of each of G clusters."""
        rows = np.bincount(codes, minlength=n_clusters).astype(np.float64)
        right = np.bincount(codes, weights=self.right, minlength=n_clusters).astype(np.float64)
        (of_class,) = _of_classes(self.of_row, self.n_effects, codes, n_clusters)
        return _DifferenceSums(right, rows, of_class)


@dataclass(frozen=True)
class _DifferenceSums:
    """What was right in each cluster, (G,), its rows, (G,), and those of each class, (G, K)."""

    right: NDArray[np.float64]
    rows: NDArray[np.float64]
    of_class: csr_array

    def measure(self, counts: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The differences and their linearized variances but for G/(G-1), both (B, K), for counts, (B, G).

        The influence of a cluster is (r - c_k - d_k n)/N with its sums r, c_k, n; its square is expanded into sums of
        products, so that there is never an array of clusters and classes but the sparse one.
        """
        r, n, c = self.right, self.rows, self.of_class
        n_right, n_rows = (counts @ each for each in (r, n))
        rr, rn, nn = (counts @ each for each in (r * r, r * n, n * n))
        of_class, cc, rc, nc = (counts @ each for each in (c, c * c, _scaled(c, r), _scaled(c, n)))
        found = (n_right[:, np.newaxis] - of_class) / n_rows[:, np.newaxis]
        squares = rr[:, np.newaxis] - 2 * rc + cc - 2 * found * (rn[:, np.newaxis] - nc) + found**2 * nn[:, np.newaxis]
        return found, squares / n_rows[:, np.newaxis] ** 2


def _scaled(rows: csr_array, factors: NDArray[np.float64]) -> csr_array:
    """Each row times its factor."""
    return (rows * factors[:, np.newaxis]).tocsr()


def _of_classes(
    of_row: NDArray[np.int64],
    n_classes: int,
    codes: NDArray[np.int64],
    n_clusters: int,
    *values: NDArray[np.float64],
) -> list[csr_array]:
    """Sums of ones, and of each of the values, over the examples of each cluster and class, each (G, K)."""
    from scipy.sparse import csr_array

    counted = np.flatnonzero(of_row >= 0)
    places = (codes[counted], of_row[counted])
    weights = (np.ones(counted.size), *(each[counted] for each in values))
    return [csr_array((each, places), shape=(n_clusters, n_classes)) for each in weights]


@dataclass
class Ratios:
    """Ratios of sums over examples, and the effects that are sums of them."""

    above: list[NDArray[np.float64]] = field(default_factory=list)
    below: list[NDArray[np.float64]] = field(default_factory=list)
    combined: list[_Sum | _Recalls | _Differences] = field(default_factory=list)
    n_effects: int = 0

    def _added(self, effects: _Sum | _Recalls | _Differences) -> int:
        self.combined.append(effects)
        self.n_effects += effects.n_effects
        return self.n_effects - effects.n_effects

    def add(self, terms: Sequence[tuple[NDArray[np.float64], NDArray[np.float64], float]]) -> int:
        """Add sum_j c_j sum(a_j)/sum(b_j), and give its place."""
        first = len(self.above)
        self.above += [above for above, _, _ in terms]
        self.below += [below for _, below, _ in terms]
        return self._added(_Sum(list(range(first, first + len(terms))), [weight for _, _, weight in terms]))

    def add_recalls(self, right: NDArray[np.float64], of_row: NDArray[np.int64], n_classes: int) -> int:
        """Add the mean recall of K classes, each example being of one or, with -1, of none, and give its place."""
        if n_classes > _MOST_BY_MOMENTS:
            return self._added(_Recalls(right, of_row, n_classes))
        of_class = [(of_row == each).astype(np.float64) for each in range(n_classes)]
        return self.add([(right * rows, rows, 1 / n_classes) for rows in of_class])

    def add_differences(self, right: NDArray[np.float64], of_row: NDArray[np.int64], n_classes: int) -> range:
        """Add the share right minus the share of each of K classes, and give their places."""
        if n_classes > _MOST_BY_MOMENTS:
            first = self._added(_Differences(right, of_row, n_classes))
            return range(first, first + n_classes)
        one = np.ones(of_row.size)
        places = [self.add([(right - (of_row == each), one, 1.0)]) for each in range(n_classes)]
        return range(places[0], places[-1] + 1)


@dataclass(frozen=True)
class Resampled:
    """Values (E,) and standard errors (E,) of combined ratios, and what draws of clusters say of them.

    Attributes:
        values: E.
        errors: Linearized.
        t: Draws less the values, by the standard error of each draw, (B, E); NaN where nothing varies.
        steady: The same by no standard error below the measured one, (B, E).
        n_clusters: G.
        few: Whether quantiles are at least those of Student's t.
    """

    values: NDArray[np.float64]
    errors: NDArray[np.float64]
    t: NDArray[np.float64]
    steady: NDArray[np.float64]
    n_clusters: int
    few: bool

    def quantile(self, at: int | Sequence[int], level: float = LEVEL) -> float:
        """The `level` quantile of |t| of one effect, or of the largest |t| of several; infinity where none varies.

        By no standard error below the measured one: draws that lack the few clusters that differ have nearly none, and
        their t, as large as one likes, would be that of all effects.
        """
        return self._quantile(self.steady, at, level)

    def upper_quantile(self, at: int, level: float = LEVEL) -> float:
        """That of one effect for an upper end: by the draws' own standard errors, which skewness makes small.

        Above a rare event an end by `quantile` lies below the truth in 4 of 100 sets, where 2.5 are meant.
        """
        found = self._quantile(self.t, at, level)
        return found if math.isfinite(found) else self.quantile(at, level)

    def _quantile(self, t: NDArray[np.float64], at: int | Sequence[int], level: float) -> float:
        # Some draws lack all rows of a label: what has no value there may lie anywhere.
        largest = np.fmax.reduce(np.abs(t[:, np.atleast_1d(np.asarray(at, np.int64))]), axis=1, initial=np.nan)
        found = float(np.quantile(np.where(np.isnan(largest), np.inf, largest), level, method="higher"))
        return max(found, t_quantile(self.n_clusters - 1, level)) if self.few else found


def resample_ratios(
    ratios: Ratios,
    codes: NDArray[np.int64],
    rng: np.random.Generator,
    n_draws: int,
    *,
    few: bool,
    by_kind: bool,
) -> Resampled:
    """Draw clusters, and studentize what each combined ratio is in each draw.

    Args:
        ratios: Of sums over N examples.
        codes: Cluster of each example, (N,), from 0; above 10,000, random ones are merged before they are drawn.
        rng: Of the draws.
        n_draws: Their number B.
        few: Whether quantiles are at least those of Student's t.
        by_kind: Draw kinds of clusters with equal sums in place of clusters, where nothing is summed by class.
    """
    n = int(codes.max()) + 1
    if n > MOST_CLUSTERS:
        codes = (rng.permutation(n) % MOST_CLUSTERS)[codes]
        n = MOST_CLUSTERS
    n_effects = ratios.n_effects
    if n < 2 or not n_effects:
        nothing = np.full((1, n_effects), np.nan)
        return Resampled(nothing[0], np.zeros(n_effects), nothing, nothing, n, True)
    above, below = (
        _side_by_side([np.bincount(codes, weights=each, minlength=n).astype(np.float64) for each in part], n)
        for part in (ratios.above, ratios.below)
    )
    combined = [each if isinstance(each, _Sum) else each.by_cluster(codes, n) for each in ratios.combined]
    kinds: NDArray[np.integer] = np.ones(n, dtype=np.int64)
    if by_kind and all(isinstance(each, _Sum) for each in combined):
        above, below, kinds = _kinds_of(above, below)
    spread = _Spread(above, below, combined)
    values, errors = (each[0] for each in spread.measure(kinds[np.newaxis].astype(np.float64)))
    t, steady = np.empty((2, n_draws, n_effects))
    for rows, counts in draw_clusters(n, n_draws, rng, kinds=kinds, at_once=_RATIO_DRAWS_AT_ONCE):
        resampled, own = spread.measure(counts)
        moved = resampled - values
        with np.errstate(divide="ignore", invalid="ignore"):
            t[rows] = np.where((own == 0) & (moved == 0), 0.0, moved / own)
            steady[rows] = moved / np.maximum(own, errors)
    t[:, errors == 0] = steady[:, errors == 0] = np.nan
    return Resampled(values, errors, t, steady, n, few)


def _side_by_side(columns: Sequence[NDArray[np.float64]], n: int) -> NDArray[np.float64]:
    """Columns of n values as (n, C), which may be none where all ratios are recalls of many classes."""
    return np.stack(columns, axis=1) if columns else np.empty((n, 0))


def _kinds_of(
    above: NDArray[np.float64], below: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.integer]]:
    """Kinds of clusters with equal sums (U, J), in the order of their first clusters, and the number of each (U,).

    Where most clusters are of their own kind, nothing is gained, and each is a kind.
    """
    sums = np.hstack([above, below])
    # Sorting rows costs more than the draws; equal rows have equal weighted sums, and others are found by comparing.
    key = sums @ np.random.default_rng(0).random(sums.shape[1])
    _, first, of_cluster, sizes = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    if sizes.size > len(sums) / 2 or not np.array_equal(sums[first[of_cluster]], sums):
        return above, below, np.ones(len(sums), dtype=np.int64)
    order = np.argsort(first)
    return above[first[order]], below[first[order]], sizes[order]


class _Columns:
    """Distinct columns: many ratios have the same denominator, and multiplying by it once is enough."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._places: dict[bytes, int] = {}
        self._columns: list[NDArray[np.float64]] = []

    def place(self, column: NDArray[np.float64]) -> int:
        """Where the column is; it is added if it is new."""
        at = self._places.setdefault(column.tobytes(), len(self._columns))
        if at == len(self._columns):
            self._columns.append(column)
        return at

    def stacked(self) -> NDArray[np.float64]:
        """All of them side by side, (U, C)."""
        return _side_by_side(self._columns, self._n)


class _Spread:
    """Values and linearized standard errors of combined ratios under weights of clusters.

    With A_j, B_j the weighted sums and r_j = A_j/B_j, the influence of a cluster on sum_j c_j r_j is
    sum_j c_j (a_j - r_j b_j)/B_j, and the variance G/(G-1) times the weighted sum of its squares. That sum is one of
    products of sums, so that no draw goes through the clusters again.
    """

    def __init__(
        self,
        above: NDArray[np.float64],
        below: NDArray[np.float64],
        combined: Sequence[_Sum | _RecallSums | _DifferenceSums],
    ) -> None:
        self._combined = combined
        sums = _Columns(len(above))
        self._of_above, self._of_below = ([sums.place(column) for column in part.T] for part in (above, below))
        self._pairs: list[list[tuple[int, int, tuple[int, int, int, int]]]] = []
        for each in combined:
            pairs = []
            places = each.places if isinstance(each, _Sum) else []
            for i, j in enumerate(places):
                for k in places[i:]:
                    if j != k and not (below[:, j] * below[:, k]).any():
                        continue
                    products = (
                        sums.place(above[:, j] * above[:, k]),
                        sums.place(above[:, j] * below[:, k]),
                        sums.place(below[:, j] * above[:, k]),
                        sums.place(below[:, j] * below[:, k]),
                    )
                    pairs.append((j, k, products))
            self._pairs.append(pairs)
        self._columns = sums.stacked()

    def measure(self, counts: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values and standard errors, (B, E), for counts of each kind of cluster, (B, U)."""
        sums = counts @ self._columns
        a, b = sums[:, self._of_above], sums[:, self._of_below]
        with np.errstate(divide="ignore", invalid="ignore"):
            r = a / b
        n = counts.sum(axis=1)
        values, variances = [], []
        for pairs, each in zip(self._pairs, self._combined, strict=True):
            if not isinstance(each, _Sum):
                value, variance = each.measure(counts)
                values.append(value)
                variances.append(variance)
                continue
            weight = dict(zip(each.places, each.weights, strict=True))
            variance = np.zeros(counts.shape[0])
            for j, k, products in pairs:
                aa, ab, ba, bb = (sums[:, at] for at in products)
                part = aa - r[:, k] * ab - r[:, j] * ba + r[:, j] * r[:, k] * bb
                twice = 1.0 if j == k else 2.0
                variance += twice * weight[j] * weight[k] * part / (b[:, j] * b[:, k])
            values.append((r[:, each.places] @ np.asarray(each.weights))[:, np.newaxis])
            variances.append(variance[:, np.newaxis])
        found = np.hstack(variances)
        # What rounding leaves where nothing varies.
        found[found < 1e-17] = 0.0
        return np.hstack(values), np.sqrt((n / (n - 1))[:, np.newaxis] * found)
