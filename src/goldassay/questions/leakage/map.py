"""A map of the sentences: like ones near each other, clusters that lean to a label outlined."""

from __future__ import annotations

import base64
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.questions.leakage.clusters import RoleClusters
    from goldassay.questions.leakage.condition_evidence import ConditionEvidence

# What a page of 1.5 MB holds beside everything else, and an eye on a screen.
MOST_POINTS = 10_000
MOST_CHARACTERS = 72
# A cluster's farthest members are left outside its outline: one stray point would stretch it over its neighbours.
_CORE = 0.7
_GRID = 4095
# Of the map's side, left free on each side.
_EDGE = 0.02
_CHANCE = 0.01
# Fewer points have no outline to speak of.
_FEWEST = 5


def measure_map(
    found: RoleClusters, evidence: ConditionEvidence, seed: int, undefined: dict[str, str]
) -> dict[str, Any] | None:
    """Lay out the sentences of one role on the plane, at most 10,000 of them, drawn at random.

    Returns:
        role, n_examples; x and y (from 0 to 4095), label and cluster of each point, packed; texts; the clusters'
        divergences; outlines as polygons. None where openTSNE is not installed; `undefined` then says so.
    """
    if find_spec("openTSNE") is None:
        undefined["the map of sentences"] = "openTSNE is not installed; pip install 'goldassay[map]'"
        return None
    clustering = found.score.clustering
    n = clustering.n_examples
    rows = np.arange(n)
    if n > MOST_POINTS:
        rows = np.sort(np.random.default_rng(seed).choice(n, MOST_POINTS, replace=False))
    plane = _whole_numbers(lay_out(np.asarray(found.points)[rows], seed))
    clusters = clustering.assignments[rows]
    texts = None
    if evidence.test is not None and found.role in evidence.test.text_columns:
        texts = [_shortened(text) for text in evidence.test.examples[found.role][rows].to_list()]
    leaning = found.crossing.table.filter(
        (pl.col("q_value") <= _CHANCE) & pl.col("cluster").is_in(np.flatnonzero(np.bincount(clusters) >= _FEWEST))
    )
    return {
        "role": found.role,
        "n_examples": n,
        "label_names": list(evidence.label_names),
        "x": _packed(plane[:, 0], "<u2"),
        "y": _packed(plane[:, 1], "<u2"),
        "labels": _packed(evidence.gold[rows], "u1"),
        "clusters": _packed(clusters, "<u2"),
        "texts": texts,
        "divergences": np.round(clustering.divergences, 4),
        "threshold": clustering.threshold,
        "outlines": [_outlined(found, plane, clusters, row) for row in leaning.iter_rows(named=True)],
    }


def _outlined(
    found: RoleClusters, plane: NDArray[np.int64], clusters: NDArray[np.int64], row: dict[str, Any]
) -> dict[str, Any]:
    c = row["cluster"]
    return {
        **{name: row[name] for name in ("cluster", "size", "label", "share", "divergence")},
        "words": [item["word"] for item in found.crossing.words.get(c, [])[:4]],
        "points": outline(plane[clusters == c]),
    }


def lay_out(points: NDArray[np.floating[Any]], seed: int = 0) -> NDArray[np.float64]:
    """t-SNE of N points on the plane, (N, 2).

    Perplexity 30, or a third of the points where these are fewer; starts from the first principal components, so that
    far parts of the map mean something too.

    Args:
        points: (N, D).
        seed: Of the approximate search for neighbours.

    Source: van der Maaten and Hinton 2008; Poličar, Stražar and Zupan 2024, openTSNE; Kobak and Berens 2019 for the
    start.
    """
    from openTSNE import TSNE

    values = np.asarray(points, dtype=np.float64)
    if len(values) < 4 or not np.ptp(values, axis=0).any():
        return np.zeros((len(values), 2))
    if values.shape[1] == 1:
        # The start takes two principal components.
        values = np.hstack([values, np.zeros_like(values)])
    made = TSNE(
        perplexity=max(1.0, min(30.0, (len(values) - 1) / 3)),
        initialization="pca",
        metric="euclidean",
        # From a start that is no chance, 600 steps instead of 750 leave the same groups, a fifth sooner.
        early_exaggeration_iter=150,
        n_iter=450,
        # One thread: sums in another order would make another map on another machine.
        n_jobs=1,
        random_state=seed % 2**32,
    )
    return np.asarray(made.fit(values), dtype=np.float64)


def outline(points: NDArray[np.int64]) -> list[list[int]]:
    """The convex hull of the 70 % of a cluster's points nearest to its median, as a polygon."""
    from scipy.spatial import ConvexHull, QhullError

    distances = ((points - np.median(points, axis=0)) ** 2).sum(axis=1)
    core = points[distances <= np.quantile(distances, _CORE)]
    try:
        return [[int(x), int(y)] for x, y in core[ConvexHull(core).vertices]]
    except QhullError:
        # All on one line.
        return []


def _whole_numbers(plane: NDArray[np.float64]) -> NDArray[np.int64]:
    """Places on the grid, the middle in its middle, and room at the edges for points and outlines to be drawn whole."""
    low, high = plane.min(axis=0), plane.max(axis=0)
    span = float((high - low).max()) or 1.0
    centered = (plane - (low + high) / 2) / span
    return np.round(_GRID * (0.5 + (1 - 2 * _EDGE) * centered)).astype(np.int64)


def _packed(values: NDArray[np.int64], kind: str) -> str:
    """Numbers of one or two bytes, as text."""
    return base64.b64encode(values.astype(kind).tobytes()).decode("ascii")


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1]}…"
