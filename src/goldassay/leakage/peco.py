"""Progressive evaluation of cluster outliers: embeddings of single sentences, clustered, then scored."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.arguments import as_codes, as_numbers, check_whole
from goldassay.core.errors import InputError
from goldassay.core.intervals import mean_interval
from goldassay.core.progress import Progress, silent
from goldassay.core.results import Result
from goldassay.leakage.clusters import BIASED_ABOVE, ClusterScore, score_clusters
from goldassay.leakage.divergences import Convention, Divergence, is_paper

if TYPE_CHECKING:
    import polars as pl
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
