"""Does the score depend on the number of clusters and of components? All combinations in one call."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.arguments import as_codes, check_whole
from goldassay.core.errors import InputError
from goldassay.core.progress import Progress, silent
from goldassay.core.results import Result
from goldassay.leakage.clusters import BIASED_ABOVE, score_clusters
from goldassay.leakage.peco import check_embeddings, cluster_embeddings, reduce_embeddings, repetitions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from goldassay.leakage.divergences import Convention, Divergence

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
