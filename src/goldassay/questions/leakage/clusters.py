"""Clusters of single sentences: their scores, what those that lean to a label are about, and their map."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.data.tokenization import tokenize
from goldassay.questions.artifacts.reports import STANDING
from goldassay.questions.artifacts.search import read_role
from goldassay.questions.leakage.cluster_overlap import ClusterOverlap, KnownOfExamples, overlap_clusters
from goldassay.questions.leakage.cluster_result import (
    Cluster,
    ClusterExample,
    ClusterOutline,
    ClusterScores,
    Curve,
    DivergenceScore,
    HeldPattern,
    SentenceMap,
    Word,
)
from goldassay.questions.leakage.measures.clusters import ClusterScore, Convention, Divergence, score_clusters
from goldassay.questions.leakage.measures.peco import PecoScore, peco, peco_grid, reduce_embeddings
from goldassay.questions.leakage.partial_input import LeakageChoice, PartialInputRuns, softmax_at
from goldassay.readers.conditions import PAIRED, TEXT, tokenizer_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.artifacts import PatternTable
    from goldassay.core.progress import Progress
    from goldassay.core.settings import Settings
    from goldassay.questions.artifacts.readings import PatternReadings
    from goldassay.readers.conditions import DataSplit

# Cards on the page; the table has all clusters.
MOST_CARDS = 12
# Where fewer clusters pass the threshold, so many of those that lean beyond chance are shown.
FEWEST_CARDS = 4
# Chance that any cluster at all leans so far where labels know nothing of the clusters.
_CHANCE = 0.01
_MOST_CURVE = 101

_ALL: tuple[tuple[Divergence, Convention], ...] = (
    ("squared_l2", "recommended"),
    ("squared_l2", "paper"),
    ("l2", "recommended"),
    ("l2", "paper"),
    ("kl", "recommended"),
    ("kl", "paper"),
)
# What a page of 1.5 MB holds beside everything else, and an eye on a screen.
MOST_POINTS = 10_000
MOST_CHARACTERS = 72
# A cluster's farthest members are left outside its outline: one stray point would stretch it over its neighbours.
_CORE = 0.7
_GRID = 4095
# Of the map's side, left free on each side.
_EDGE = 0.02
# Fewer points have no outline to speak of.
_FEWEST = 5


@dataclass(frozen=True)
class RoleClusters:
    """What the clusters of one role's sentences say.

    Attributes:
        role: Of the sentences.
        points: What was clustered, (N, D).
        score: Of the first model's embeddings.
        overlap: What the clusters are about.
        scores: Of the text.
        divergences: The score by each divergence and convention.
        clusters: What the page shows of the clusters that lean most.
        grid: Scores over settings, or None.
    """

    role: str
    points: NDArray[np.floating[Any]]
    score: PecoScore
    overlap: ClusterOverlap
    scores: ClusterScores
    divergences: tuple[DivergenceScore, ...]
    clusters: tuple[Cluster, ...]
    grid: pl.DataFrame | None


def measure_clusters(
    evidence: PartialInputRuns,
    role: str,
    vectors: Sequence[NDArray[np.floating[Any]]],
    artifacts: Artifacts | None,
    choice: LeakageChoice,
    seed: int,
    progress: Progress,
) -> RoleClusters:
    """Score and explain the clusters of one role's sentences.

    Args:
        evidence: What is known of the examples.
        role: Of the sentences.
        vectors: Their embeddings, one (N, D) a model; the first is explained.
        artifacts: What patterns of the training part say of the examples, if there is one.
        choice: How clusters are made.
        seed: Of k-means and permutations.
        progress: Told after each clustering.

    Raises:
        InputError: There are fewer examples than clusters, or embeddings hold NaN.
    """
    gold, k = evidence.gold, choice.k
    components = min(choice.n_components, *vectors[0].shape)
    score = peco(
        vectors[0], gold, k, components,
        seed=seed, n_repetitions=choice.n_repetitions, threshold=choice.threshold, together=evidence.clusters,
        progress=progress,
    )  # fmt: skip
    points = reduce_embeddings(np.asarray(vectors[0]), components)
    whole = PAIRED if PAIRED in evidence.conditions else TEXT
    overlap = overlap_clusters(
        score.clustering,
        points,
        evidence.label_names,
        known_of(evidence, role, artifacts),
        varying=whole,
    )
    others = [
        peco(
            each,
            gold,
            k,
            min(choice.n_components, *each.shape),
            seed=seed,
            n_repetitions=1,
            together=evidence.clusters,
        ).score
        for each in vectors[1:]
    ]
    divergences = _divergences(role, score.clustering, gold, evidence.clusters)
    return RoleClusters(
        role=role,
        points=points,
        score=score,
        overlap=overlap,
        scores=_scores(role, score, divergences, others),
        divergences=divergences,
        clusters=_clusters(role, score.clustering, overlap, evidence),
        grid=_scores_of_grid(vectors[0], gold, seed) if choice.grid else None,
    )


def _scores_of_grid(vectors: NDArray[np.floating[Any]], gold: NDArray[np.int64], seed: int) -> pl.DataFrame:
    """The layout of the paper's Table 5 in both conventions, as far as there are examples and dimensions for it."""
    ours = peco_grid(vectors, gold, seed=seed, n_repetitions=3).to_frame()
    paper = peco_grid(vectors, gold, convention="paper", seed=seed).to_frame()
    keys = ["n_components", "n_clusters", "divergence"]
    return ours.join(paper.select(*keys, paper_score="score"), on=keys, maintain_order="left")


def _divergences(
    role: str, clustering: ClusterScore, gold: NDArray[np.int64], together: NDArray[np.int64] | None
) -> tuple[DivergenceScore, ...]:
    """The same clusters by every divergence in both conventions; a score of each, and the largest divergence."""
    found = []
    for divergence, convention in _ALL:
        scored = score_clusters(
            clustering.assignments, gold, divergence, convention,
            n_clusters=clustering.n_clusters, threshold=clustering.threshold, seed=clustering.seed,
            together=together,
        )  # fmt: skip
        found.append(
            DivergenceScore(
                role=role,
                divergence=divergence,
                convention=convention,
                score=scored.score,
                uncorrected=scored.uncorrected,
                null_mean=scored.null_mean,
                p_value=scored.p_value,
                largest=float(scored.divergences.max()),
            )
        )
    return tuple(found)


def _scores(
    role: str, score: PecoScore, divergences: Sequence[DivergenceScore], others: Sequence[float]
) -> ClusterScores:
    clustering = score.clustering
    paper = next(each for each in divergences if (each.divergence, each.convention) == ("squared_l2", "paper"))
    significant = (clustering.cluster_q <= _CHANCE) & (clustering.sizes > 0)
    return ClusterScores(
        role=role,
        score=score.score,
        score_low=score.score_low,
        score_high=score.score_high,
        sd=score.sd,
        null_mean=score.null_mean,
        p_value=score.p_value,
        examples_error=score.examples_error,
        paper_score=paper.score,
        n_clusters=score.n_clusters,
        n_empty=clustering.n_empty,
        n_components=score.n_components,
        n_repetitions=score.n_repetitions,
        n_biased=int(clustering.biased.sum()),
        n_biased_examples=clustering.n_biased_examples,
        biased_share=clustering.n_biased_examples / clustering.n_examples,
        n_significant=int(significant.sum()),
        significant_share=float(clustering.sizes[significant].sum() / clustering.n_examples),
        threshold=clustering.threshold,
        other_models=tuple(others),
        curve=Curve(
            tuple(clustering.thresholds[:_MOST_CURVE].tolist()), tuple(clustering.curve[:_MOST_CURVE].tolist())
        ),
    )


def _clusters(
    role: str, clustering: ClusterScore, overlap: ClusterOverlap, evidence: PartialInputRuns
) -> tuple[Cluster, ...]:
    """The clusters that lean beyond chance, the most divergent first: those above the threshold, but a few at least."""
    beyond_chance = overlap.table.filter(pl.col("q_value") <= _CHANCE)
    n_biased = beyond_chance.filter(pl.col("biased")).height
    chosen = beyond_chance.head(min(max(n_biased, FEWEST_CARDS), MOST_CARDS))
    texts = None if evidence.test is None or role not in evidence.test.text_columns else evidence.test.texts(role)
    found = []
    for row in chosen.iter_rows(named=True):
        c = row["cluster"]
        accuracies = {name: row.pop(f"accuracy_{name}") for name in evidence.conditions}
        found.append(
            Cluster(
                role=role,
                **row,
                accuracies=accuracies,
                shares=dict(zip(evidence.label_names, clustering.shares[c].tolist(), strict=True)),
                reference=dict(zip(evidence.label_names, clustering.reference.tolist(), strict=True)),
                words=tuple(Word(**each) for each in overlap.words.get(c, ())),
                patterns=tuple(HeldPattern(**each) for each in overlap.patterns.get(c, ())),
                examples=tuple(
                    ClusterExample(
                        example_id=str(evidence.example_ids[at]),
                        text="" if texts is None else texts[at],
                        label=evidence.label_names[evidence.gold[at]],
                    )
                    for at in overlap.examples.get(c, ())
                ),
            )
        )
    return tuple(found)


def example_table(
    found: Sequence[RoleClusters], evidence: PartialInputRuns, classes: NDArray[np.str_] | None
) -> pl.DataFrame:
    """One row an example: texts, label, and for each role its cluster, how divergent that is and whether biased."""
    columns: dict[str, Any] = {"example_id": [str(each) for each in evidence.example_ids.tolist()]}
    if evidence.test is not None:
        columns |= {role: evidence.test.texts(role) for role in evidence.test.text_columns}
    columns["label"] = [evidence.label_names[code] for code in evidence.gold]
    if classes is not None:
        columns["difficulty"] = classes.tolist()
    for name, runs in evidence.conditions.items():
        columns[f"right_{name}"] = runs.final().scores.mean(axis=0)
    for each in found:
        clustering = each.score.clustering
        columns[f"{each.role}_cluster"] = clustering.assignments
        columns[f"{each.role}_divergence"] = clustering.example_divergences
        columns[f"{each.role}_biased"] = clustering.biased[clustering.assignments]
    return pl.DataFrame(columns)


def cluster_table(found: Sequence[RoleClusters], label_names: Sequence[str]) -> pl.DataFrame:
    """One row a role and cluster: what `Crossing.table` has, label shares, words and patterns."""
    parts = []
    for each in found:
        shares = each.score.clustering.to_frame().select(
            "cluster", *(pl.col(f"share_{c}").alias(f"share_{name}") for c, name in enumerate(label_names)), "p_value"
        )
        words = [
            " ".join(item["word"] for item in each.overlap.words.get(c, [])) for c in each.overlap.table["cluster"]
        ]
        patterns = [
            " | ".join(item["pattern"] for item in each.overlap.patterns.get(c, []))
            for c in each.overlap.table["cluster"]
        ]
        parts.append(
            each.overlap.table.with_columns(
                pl.lit(each.role).alias("role"),
                pl.Series("words", words, dtype=pl.String),
                pl.Series("patterns", patterns, dtype=pl.String),
            )
            .join(shares, on="cluster", how="left", maintain_order="left")
            .select("role", pl.exclude("role"))
        )
    return pl.concat(parts, how="diagonal")


@dataclass(frozen=True)
class Artifacts:
    """What patterns of the training part say of the test examples.

    Attributes:
        patterns: Those that give a label away and stand for themselves.
        classes: Difficulty by all of them, (N,).
        readings: What guessing by them names for each test example.
    """

    patterns: PatternTable
    classes: NDArray[np.str_]
    readings: PatternReadings


def find_artifacts(split: DataSplit, role: str, settings: Settings) -> Artifacts:
    """Mine one text of the training part, as an audit does, and class the test examples by what is found."""
    short, readings = read_role(split, role, settings)
    standing = short.findings().select(STANDING).to_series().to_numpy()
    return Artifacts(short.selected.take(np.flatnonzero(standing)), readings.assignment.classes, readings)


def known_of(evidence: PartialInputRuns, role: str, artifacts: Artifacts | None) -> KnownOfExamples:
    """All that is known of the examples, for one role's clusters."""
    test = evidence.test
    texts = test.texts(role) if test is not None and role in test.text_columns else None
    probabilities, predicted, what = confidences(evidence)
    return KnownOfExamples(
        texts=texts,
        corpus=None if texts is None or test is None else tokenize(texts, tokenizer_of(test)),
        classes=None if artifacts is None else artifacts.classes,
        gold_probabilities=probabilities,
        gold_predicted=predicted,
        confidence=what,
        correct={name: runs.final().scores for name, runs in evidence.conditions.items()},
        patterns=None if artifacts is None else artifacts.patterns,
    )


def confidences(
    evidence: PartialInputRuns,
) -> tuple[NDArray[np.float64] | None, NDArray[np.bool_] | None, str]:
    """The gold label's probability from the model of the whole, whether it was predicted, and what these are of.

    Training dynamics are of the checkpoints of one training, (R, T, N); where only final models are at hand, the runs
    take their place, (R, N), and whether they predict it is not dynamics.
    """
    name = next((each for each in (PAIRED, TEXT) if each in evidence.conditions), "")
    runs = evidence.conditions.get(name)
    if runs is not None and runs.checkpoints is not None and runs.logits is not None and runs.n_checkpoints > 1:
        logits = np.asarray(runs.logits, dtype=np.float64)
        found = softmax_at(logits, evidence.gold)
        what = f"the {runs.n_checkpoints} checkpoints of {runs.n_runs} runs of the {name} model"
        return found, logits.argmax(axis=-1) == evidence.gold, what
    final = evidence.probabilities.get(name)
    if final is None:
        return None, None, ""
    return final, None, f"{len(final)} trained model{'s' if len(final) > 1 else ''} of the {name} condition"


def measure_map(
    found: RoleClusters, evidence: PartialInputRuns, seed: int, undefined: dict[str, str]
) -> SentenceMap | None:
    """Lay out the sentences of one role on the plane, at most 10,000 of them, drawn at random.

    Returns:
        None where openTSNE is not installed; `undefined` then says so.
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
        texts = tuple(_shortened(text) for text in evidence.test.examples[found.role][rows].to_list())
    leaning = found.overlap.table.filter(
        (pl.col("q_value") <= _CHANCE) & pl.col("cluster").is_in(np.flatnonzero(np.bincount(clusters) >= _FEWEST))
    )
    return SentenceMap(
        role=found.role,
        n_examples=n,
        label_names=evidence.label_names,
        x=_packed(plane[:, 0], "<u2"),
        y=_packed(plane[:, 1], "<u2"),
        labels=_packed(evidence.gold[rows], "u1"),
        clusters=_packed(clusters, "<u2"),
        texts=texts,
        divergences=tuple(np.round(clustering.divergences, 4).tolist()),
        threshold=clustering.threshold,
        outlines=tuple(_outlined(found, plane, clusters, row) for row in leaning.iter_rows(named=True)),
    )


def _outlined(
    found: RoleClusters, plane: NDArray[np.int64], clusters: NDArray[np.int64], row: Mapping[str, Any]
) -> ClusterOutline:
    c = row["cluster"]
    return ClusterOutline(
        **{name: row[name] for name in ("cluster", "size", "label", "share", "divergence")},
        words=tuple(item["word"] for item in found.overlap.words.get(c, [])[:4]),
        points=outline(plane[clusters == c]),
    )


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


def outline(points: NDArray[np.int64]) -> tuple[tuple[int, int], ...]:
    """The convex hull of the 70 % of a cluster's points nearest to its median, as a polygon."""
    from scipy.spatial import ConvexHull, QhullError

    distances = ((points - np.median(points, axis=0)) ** 2).sum(axis=1)
    core = points[distances <= np.quantile(distances, _CORE)]
    try:
        return tuple((int(x), int(y)) for x, y in core[ConvexHull(core).vertices])
    except QhullError:
        # All on one line.
        return ()


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
