"""Progressive evaluation of cluster outliers: embeddings of single sentences, clustered, then scored.

Does the score depend on the number of clusters and of components? All combinations in one call.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.arguments import as_codes, as_numbers, check_whole
from goldassay.core.errors import InputError
from goldassay.core.progress import Progress, silent
from goldassay.core.results import Result
from goldassay.questions.leakage.measures.clusters import (
    BIASED_ABOVE,
    ClusterScore,
    Convention,
    Divergence,
    is_paper,
    score_clusters,
)
from goldassay.stats.intervals import mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

N_RESTARTS = 10
_ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class PecoScore(Result):
    """Score over repetitions of the clustering; see `peco`.

    Attributes:
        score: Mean over repetitions, with the bounds of a Student t interval (NaN for one repetition): the noise of
            k-means alone, not that of the examples.
        sd: Standard deviation over repetitions (ddof 1); NaN for one.
        scores: One a repetition.
        null_mean: Mean over repetitions of what labels that know nothing of the clusters score.
        p_value: Median over repetitions.
        examples_error: Mean over repetitions of the standard error over other examples; see `score_clusters`.
        clustering: The first repetition in full: table per cluster, curve, cluster of each example.
        n_components: Of the PCA; 0 for none.
        n_clusters: k.
        n_examples: N.
        n_repetitions: How often the clustering was made anew.
        divergence: Which divergence.
        convention: Which convention.
        seed: Of everything drawn.
    """

    score: float
    score_low: float
    score_high: float
    sd: float
    scores: NDArray[np.float64]
    null_mean: float
    p_value: float
    examples_error: float
    clustering: ClusterScore
    n_components: int
    n_clusters: int
    n_examples: int
    n_repetitions: int
    divergence: Divergence
    convention: Convention
    seed: int

    def to_frame(self) -> pl.DataFrame:
        """One row a cluster of the first repetition; see `ClusterScore.to_frame`."""
        return self.clustering.to_frame()


def peco(
    embeddings: ArrayLike,
    labels: ArrayLike,
    n_clusters: int = 50,
    n_components: int | None = 30,
    divergence: Divergence = "squared_l2",
    convention: Convention = "recommended",
    seed: int = 0,
    *,
    n_repetitions: int | None = None,
    n_restarts: int = N_RESTARTS,
    n_permutations: int = 200,
    threshold: float = BIASED_ABOVE,
    together: ArrayLike | None = None,
    progress: Progress = silent,
) -> PecoScore:
    """Cluster embeddings of single sentences and score how far the clusters give the label away.

    PCA, k-means (k-means++, 10 restarts), then `score_clusters`. The paper clusters once, without a seed;
    recommended are 10 repetitions with seeds of their own, their mean and spread.

    Args:
        embeddings: Of single sentences of the test set, from a model of the paired input, (N, D).
        labels: Codes, (N,).
        n_clusters: k.
        n_components: Of the PCA; min(n_components, N, D) with a warning if there are fewer; None or 0 for none.
        divergence: See `score_clusters`.
        convention: See `score_clusters`.
        seed: Of k-means and permutations.
        n_repetitions: 10 if not given, 1 in the paper's convention.
        n_restarts: Of each k-means; a million embeddings may do with 1.
        n_permutations: See `score_clusters`.
        threshold: A cluster above it is called biased.
        together: Code of the rows that count as one, (N,); see `score_clusters`.
        progress: Told after each repetition.

    Raises:
        InputError: Embeddings are not (N, D) numbers, hold NaN, are all equal, so large that their squares overflow,
            not as many as the labels, or fewer than k; or a setting is out of range.

    Source: Saxon, Wang, Xu and Wang 2023, "PECO".
    """
    codes = as_codes(labels, "labels")
    points = check_embeddings(embeddings, codes.size, n_clusters)
    check_whole("n_components", n_components or 0, 0)
    check_whole("n_restarts", n_restarts, 1)
    repetitions = repetitions_of(n_repetitions, convention, seed)
    reduced = reduce_embeddings(points, n_components)
    found = []
    for repetition, child in enumerate(np.random.SeedSequence(seed).spawn(repetitions)):
        kmeans_seed, permutation_seed = (int(word) for word in child.generate_state(2))
        found.append(
            score_clusters(
                cluster_embeddings(reduced, n_clusters, kmeans_seed, n_restarts),
                codes,
                divergence,
                convention,
                n_clusters=n_clusters,
                threshold=threshold,
                n_permutations=n_permutations,
                seed=permutation_seed,
                together=together,
            )
        )
        progress(repetition + 1, repetitions)
    scores = np.array([each.score for each in found])
    nan = float("nan")
    bounds = mean_interval(scores) if repetitions > 1 else None
    return PecoScore(
        score=float(scores.mean()),
        score_low=nan if bounds is None else bounds.low,
        score_high=nan if bounds is None else bounds.high,
        sd=nan if bounds is None else float(scores.std(ddof=1)),
        scores=scores,
        null_mean=float(np.mean([each.null_mean for each in found])),
        p_value=float(np.median([each.p_value for each in found])),
        examples_error=float(np.mean([each.examples_error for each in found])),
        clustering=found[0],
        n_components=reduced.shape[1] if n_components else 0,
        n_clusters=n_clusters,
        n_examples=codes.size,
        n_repetitions=repetitions,
        divergence=divergence,
        convention=convention,
        seed=seed,
    )


def repetitions_of(n_repetitions: int | None, convention: Convention, seed: int) -> int:
    """How often to cluster: as often as asked, or as the convention does.

    Raises:
        InputError: There is no repetition, or the seed is no whole number from 0.
    """
    check_whole("seed", seed, 0)
    if n_repetitions is None:
        return 1 if is_paper(convention) else 10
    check_whole("n_repetitions", n_repetitions, 1)
    return n_repetitions


def reduce_embeddings(embeddings: NDArray[np.floating[Any]], n_components: int | None) -> NDArray[Any]:
    """Project on the first principal components; without a number of them, leave as is.

    Args:
        embeddings: (N, D).
        n_components: How many; min(n_components, N, D) with a warning if there are fewer.

    Returns:
        (N, components).
    """
    if not n_components:
        return embeddings
    from sklearn.decomposition import PCA
    from threadpoolctl import threadpool_limits

    most = min(n_components, *embeddings.shape)
    if most < n_components:
        warnings.warn(
            f"PCA to {most} components instead of {n_components}: embeddings are {embeddings.shape}",
            UserWarning,
            stacklevel=3,
        )
    solver = "covariance_eigh" if embeddings.shape[1] <= embeddings.shape[0] else "full"
    # Sums depend on how many threads share them; one thread gives the same bits on any number of cores.
    with threadpool_limits(1):
        return np.asarray(PCA(most, svd_solver=solver).fit_transform(embeddings))


def cluster_embeddings(
    points: NDArray[np.floating[Any]], n_clusters: int, seed: int, n_restarts: int = N_RESTARTS
) -> NDArray[np.int64]:
    """Clusters by k-means: k-means++ starts, the best of all restarts.

    Duplicates may leave fewer distinct clusters than asked for; the others stay empty.

    Args:
        points: (N, D).
        n_clusters: k.
        seed: Of the starts.
        n_restarts: How many.

    Returns:
        (N,), 0 to k-1.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(n_clusters, n_init=n_restarts, random_state=seed % 2**32)
        return np.asarray(model.fit_predict(points), dtype=np.int64)


def check_embeddings(embeddings: ArrayLike, n: int, n_clusters: int) -> NDArray[np.floating[Any]]:
    """Embeddings as an array of numbers, (N, D).

    Raises:
        InputError: They are not (n, D) numbers, hold NaN or infinity, are fewer than the clusters, all equal where
            there are clusters to find, or so large that sums of their squares overflow.
    """
    check_whole("n_clusters", n_clusters, 1)
    points = as_numbers(embeddings, "embeddings")
    if points.ndim != 2 or points.dtype == bool or points.shape[1] == 0:
        raise InputError(f"embeddings have shape {points.shape}, not (examples, dimensions) of numbers")
    if points.shape[0] != n:
        raise InputError(
            f"there are {points.shape[0]} embeddings and {n} labels",
            mend="give the embeddings of this dataset, in its order",
        )
    if n < n_clusters:
        raise InputError(
            f"{n} examples cannot make {n_clusters} clusters", mend="choose between 1 and the number of examples"
        )
    if not np.issubdtype(points.dtype, np.floating):
        points = points.astype(np.float64)
    if points.dtype == np.float16:
        # Sums of half precision would lose what clusters differ by.
        points = points.astype(np.float32)
    # In blocks: a truth value a number would take a quarter of the embeddings' memory again.
    finite = np.concatenate(
        [np.isfinite(points[at : at + _ROWS_AT_ONCE]).all(axis=1) for at in range(0, len(points), _ROWS_AT_ONCE)]
    )
    if not finite.all():
        raise InputError(
            f"{int(np.sum(~finite))} embeddings hold NaN or infinity, first in row {int(np.argmin(finite))}"
        )
    low, high = points.min(axis=0), points.max(axis=0)
    largest = float(max(high.max(), -low.min()))
    if largest > math.sqrt(float(np.finfo(points.dtype).max) / points.size):
        raise InputError(f"embeddings reach {largest:.3g}, whose squares overflow", mend="divide all by one number")
    if n_clusters > 1 and np.array_equal(low, high):
        raise InputError("all embeddings are equal: there are no clusters to find", mend="give embeddings that differ")
    return points


_N_FIGURES = 4
# Of the paper's Table 5.
_CLUSTERS, _COMPONENTS = (10, 25, 50, 100), (0, 30, 50, 100)


@dataclass(frozen=True)
class PecoGrid(Result):
    """Scores over settings; see `peco_grid`.

    Attributes:
        table: One row a setting, by components, clusters, divergence: n_components (0 for no PCA), n_clusters,
            divergence, score, sd (over repetitions, NaN for one), null_mean, p_value (median over repetitions),
            biased_share (of the examples, mean over repetitions).
        n_examples: N.
        n_repetitions: Clusterings of each setting.
        convention: Which convention.
        threshold: Above which a cluster is called biased.
        seed: Of k-means and permutations.
    """

    table: pl.DataFrame
    n_examples: int
    n_repetitions: int
    convention: Convention
    threshold: float
    seed: int

    def to_frame(self) -> pl.DataFrame:
        """The table."""
        return self.table

    def wide(self, divergence: Divergence = "squared_l2") -> pl.DataFrame:
        """One row a number of components, one column a number of clusters: the paper's Table 5."""
        chosen = self.table.filter(pl.col("divergence") == divergence)
        return chosen.pivot("n_clusters", index="n_components", values="score")


def peco_grid(
    embeddings: ArrayLike,
    labels: ArrayLike,
    n_clusters: Sequence[int] | None = None,
    n_components: Sequence[int] | None = None,
    divergences: Sequence[Divergence] = ("squared_l2", "kl"),
    convention: Convention = "recommended",
    seed: int = 0,
    *,
    n_repetitions: int | None = None,
    n_permutations: int = 200,
    threshold: float = BIASED_ABOVE,
    progress: Progress = silent,
) -> PecoGrid:
    """Score every combination of numbers of clusters and components by every divergence.

    Each score is that of `peco` with the same seed, but the components are found once (the first 30 of 100 are the
    30), and each clustering once for all divergences.

    Args:
        embeddings: Of single sentences, (N, D).
        labels: Codes, (N,).
        n_clusters: Each k; by default those of 10, 25, 50 and 100 for which there are examples.
        n_components: Each number of components; 0 for none. Those that the embeddings cannot give are refused, since
            two rows of the table would be the same. By default 0, and those of 30, 50 and 100 that they can give.
        divergences: Each divergence.
        convention: See `score_clusters`.
        seed: Of k-means and permutations.
        n_repetitions: Clusterings of each setting; 10 if not given, 1 in the paper's convention.
        n_permutations: See `score_clusters`.
        threshold: A cluster above it is called biased.
        progress: Told after each clustering.

    Raises:
        InputError: As `peco`; or a setting is given twice, or there are more components than min(N, D).

    Source: Saxon, Wang, Xu and Wang 2023, "PECO", Table 5.
    """
    codes = as_codes(labels, "labels")
    points = check_embeddings(embeddings, codes.size, 1)
    n_clusters = _asked("clusters", n_clusters, [k for k in _CLUSTERS if k <= codes.size], 1)
    n_components = _asked("components", n_components, [c for c in _COMPONENTS if c < min(points.shape)], 0)
    for name, values in {"clusters": n_clusters, "components": n_components, "divergences": divergences}.items():
        if not values or len(set(values)) < len(values):
            raise InputError(f"the numbers of {name} to try are {list(values)}", mend="give each once, at least one")
    check_embeddings(points, codes.size, max(n_clusters))
    most = max(n_components)
    if most > min(points.shape):
        raise InputError(
            f"embeddings of {points.shape} have {min(points.shape)} components at most, not {most}",
            mend="choose fewer; 0 means all dimensions, without PCA",
        )
    reduced = reduce_embeddings(points, most) if most else points
    repetitions = repetitions_of(n_repetitions, convention, seed)
    settings = list(product(sorted(n_components), sorted(n_clusters)))
    scoring = _Scoring(codes, tuple(divergences), convention, threshold, n_permutations)
    rows: list[dict[str, float | int | str]] = []
    for done, (components, k) in enumerate(settings):
        placed = reduced[:, :components] if components else points
        scores = np.empty((repetitions, len(divergences), _N_FIGURES))
        # The seeds of `peco`, so that its clusters are found again here.
        for repetition, child in enumerate(np.random.SeedSequence(seed).spawn(repetitions)):
            kmeans_seed, permutation_seed = (int(word) for word in child.generate_state(2))
            clusters = cluster_embeddings(placed, k, kmeans_seed)
            scores[repetition] = scoring.figures(clusters, k, permutation_seed)
            progress(done * repetitions + repetition + 1, len(settings) * repetitions)
        rows += [_row(components, k, each, scores[:, i]) for i, each in enumerate(divergences)]
    return PecoGrid(pl.DataFrame(rows), codes.size, repetitions, convention, threshold, seed)


def _asked(name: str, values: Sequence[int] | None, usual: list[int], least: int) -> list[int]:
    """Numbers to try: those asked for, or the usual ones that the embeddings can give."""
    if values is None:
        if not usual:
            raise InputError(f"there are too few examples for the usual numbers of {name}", mend="say which to try")
        return usual
    try:
        asked = list(values)
    except TypeError as error:
        raise InputError(f"the numbers of {name} to try are {values!r}", mend="give a list of them") from error
    for value in asked:
        check_whole(f"a number of {name}", value, least)
    return asked


@dataclass(frozen=True)
class _Scoring:
    """What one clustering is scored by."""

    codes: NDArray[np.int64]
    divergences: tuple[Divergence, ...]
    convention: Convention
    threshold: float
    n_permutations: int

    def figures(self, clusters: NDArray[np.int64], k: int, seed: int) -> NDArray[np.float64]:
        found = [
            score_clusters(
                clusters,
                self.codes,
                divergence,
                self.convention,
                n_clusters=k,
                threshold=self.threshold,
                n_permutations=self.n_permutations,
                seed=seed,
            )
            for divergence in self.divergences
        ]
        return np.array(
            [(each.score, each.null_mean, each.p_value, each.n_biased_examples / self.codes.size) for each in found]
        )


def _row(components: int, k: int, divergence: Divergence, scores: NDArray[np.float64]) -> dict[str, float | int | str]:
    mean = scores.mean(axis=0)
    return {
        "n_components": components,
        "n_clusters": k,
        "divergence": divergence,
        "score": float(mean[0]),
        "sd": float(scores[:, 0].std(ddof=1)) if len(scores) > 1 else float("nan"),
        "null_mean": float(mean[1]),
        "p_value": float(np.median(scores[:, 2])),
        "biased_share": float(mean[3]),
    }
