"""Does the score depend on the number of clusters and of components? All combinations in one call."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.errors import InputError
from goldassay.leakage.clusters import BIASED_ABOVE, score_clusters
from goldassay.leakage.divergences import Convention, Divergence, is_paper
from goldassay.leakage.peco import check_embeddings, cluster_embeddings, reduce_embeddings
from goldassay.progress import Progress, silent
from goldassay.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

_N_FIGURES = 4


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
    n_clusters: Sequence[int] = (10, 25, 50, 100),
    n_components: Sequence[int] = (0, 30, 50, 100),
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
        n_clusters: Each k.
        n_components: Each number of components; 0 for none. Those that the embeddings cannot give are refused, since
            two rows of the table would be the same.
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
    codes = np.asarray(labels)
    for name, values in {"clusters": n_clusters, "components": n_components, "divergences": divergences}.items():
        if not values or len(set(values)) < len(values):
            raise InputError(f"the numbers of {name} to try are {list(values)}", mend="give each once, at least one")
    if min(n_clusters) < 1:
        raise InputError(f"{min(n_clusters)} clusters cannot be made", mend="choose 1 or more")
    points = check_embeddings(embeddings, codes.size, max(n_clusters))
    most = max(n_components)
    if min(n_components) < 0 or most > min(points.shape):
        raise InputError(
            f"embeddings of {points.shape} have {min(points.shape)} components at most, not {most}",
            mend="choose fewer; 0 means all dimensions, without PCA",
        )
    reduced = reduce_embeddings(points, most) if most else points
    repetitions = n_repetitions or (1 if is_paper(convention) else 10)
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
