"""Where the four questions cross: what a cluster of sentences that gives its label away is about.

Leakage says which clusters lean to a label. The artifacts say by which patterns, training dynamics and difficulty
whether models find them easy, instability whether the score swings with them. Together they tell the people who build
the dataset what to rewrite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.questions.leakage.measures.information import training_dynamics
from goldassay.questions.leakage.measures.token_relevance import weighted_log_odds, word_counts
from goldassay.stats.intervals import correlation_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from goldassay.data.tokenization import TokenizedCorpus
    from goldassay.questions.artifacts.measures.pattern_table import PatternTable
    from goldassay.questions.leakage.measures.clusters import ClusterScore

# As the paper draws confidence.
_BINS = 50


def typical_examples(
    points: ArrayLike, clusters: ArrayLike, cluster: int, texts: Sequence[str], n: int = 5
) -> list[int]:
    """Rows of the n examples nearest to a cluster's mean, each text once.

    Args:
        points: (N, D).
        clusters: (N,).
        cluster: Which.
        texts: N of them; of equal ones (without case) the first is taken.
        n: How many.
    """
    where = np.flatnonzero(np.asarray(clusters) == cluster)
    if not where.size:
        return []
    inside = np.asarray(points, dtype=np.float64)[where]
    distances = ((inside - inside.mean(axis=0)) ** 2).sum(axis=1)
    seen: dict[str, int] = {}
    for row in where[np.argsort(distances, kind="stable")]:
        seen.setdefault(" ".join(texts[row].casefold().split()), int(row))
        if len(seen) == n:
            break
    return list(seen.values())


@dataclass(frozen=True)
class ClusterOverlap(Result):
    """What is known of each cluster from all questions; see `cross_clusters`.

    Attributes:
        table: One row a cluster, the most divergent first: cluster, size, divergence, q_value, biased, label (the one
            it leans to), share (of that label in it), expected (of that label overall), lift, and where measured
            easy, hard, conflicting, uncovered (shares of its examples), confidence, others_confidence, variability,
            accuracy_CONDITION, variance_share.
        words: Cluster to its distinguishing words.
        patterns: Cluster to the patterns that are more frequent in it than elsewhere.
        examples: Cluster to rows of its most typical examples.
        confidence_correlation: Pearson's, of an example's confidence and its cluster's divergence, with the bounds of
            an interval that leaves whole clusters out (`correlation_interval`); NaN where it has none.
        biased_share: Share of the examples in biased clusters.
        confidence: What the confidence is the mean of, or "".
        n_checkpoints: Of how many of one training that is; 0 where final models take their place.
        biased_histogram: Examples of biased clusters in each fiftieth of the range of confidence, (50,).
        other_histogram: Likewise of all other examples.
    """

    table: pl.DataFrame
    words: dict[int, list[dict[str, Any]]]
    patterns: dict[int, list[dict[str, Any]]]
    examples: dict[int, list[int]]
    confidence_correlation: float
    confidence_low: float
    confidence_high: float
    biased_share: float
    confidence: str
    n_checkpoints: int
    biased_histogram: NDArray[np.int64]
    other_histogram: NDArray[np.int64]

    def to_frame(self) -> pl.DataFrame:
        """One row a cluster."""
        return self.table


@dataclass(frozen=True)
class KnownOfExamples:
    """What the other questions know of each of N examples; None where they were not asked.

    Attributes:
        texts: Of the role that was clustered.
        corpus: The same, cut into words.
        classes: "easy", "hard", "conflicting" or "uncovered", (N,).
        gold_probabilities: Of the gold label after each epoch, (R, T, N); or of M final models in their place, (M, N).
        gold_predicted: Whether it was predicted, of the same shape.
        confidence: What these are.
        correct: Condition to correctness of its runs, (R, N).
        patterns: Patterns that give labels away, to be looked for in the texts.
    """

    texts: Sequence[str] | None = None
    corpus: TokenizedCorpus | None = None
    classes: NDArray[np.str_] | None = None
    gold_probabilities: NDArray[np.float64] | None = None
    gold_predicted: NDArray[np.bool_] | None = None
    confidence: str = ""
    correct: Mapping[str, NDArray[np.float64]] | None = None
    patterns: PatternTable | None = None


def overlap_clusters(
    clustering: ClusterScore,
    points: NDArray[np.floating[Any]],
    label_names: Sequence[str],
    known: KnownOfExamples,
    *,
    varying: str = "paired",
    n_words: int = 8,
    n_examples: int = 5,
) -> ClusterOverlap:
    """Lay what all questions know of the examples beside the clusters that they form.

    Confidence, variability and correctness are those of training dynamics (Swayamdipta et al. 2020); of final models
    alone, without epochs, variability is the spread between them. A cluster's share of the variance is cov(its part of
    the score, the score)/var(the score) over runs, as for any group of examples (`decompose_by_group`); all add to 1.

    Args:
        clustering: Of N examples.
        points: What was clustered, (N, D).
        label_names: K names.
        known: Of the same examples in the same order.
        varying: Condition whose score's variance over runs is shared out.
        n_words: At most, of each cluster.
        n_examples: Likewise.

    Raises:
        InputError: What is known is of another number of examples.

    Source: Saxon et al. 2023, section 6.1; Liu et al. 2020; Zhou et al. 2020; Swayamdipta et al. 2020.
    """
    n, k = clustering.n_examples, clustering.n_clusters
    _check_sizes(known, n)
    clusters = clustering.assignments
    leaning = (clustering.shares - clustering.reference).argmax(axis=1)
    rows = np.arange(k)
    share, expected = clustering.shares[rows, leaning], clustering.reference[leaning]
    columns: dict[str, Any] = {
        "cluster": rows,
        "size": clustering.sizes,
        "divergence": clustering.divergences,
        "q_value": clustering.cluster_q,
        "biased": clustering.biased,
        "label": [label_names[code] for code in leaning],
        "share": share,
        "expected": expected,
        "lift": share / np.maximum(expected, 1e-12),
    }
    columns |= (
        _difficulty(known, clusters, k) | _dynamics(known, clusters, k) | _accuracies(known, clusters, k, varying)
    )
    table = pl.DataFrame(columns).filter(pl.col("size") > 0).sort("divergence", descending=True)
    correlation, low, high = _confidence_correlation(known, clustering)
    inside, others = _histograms(known, clustering)
    return ClusterOverlap(
        table=table,
        words=_words(known, clusters, k, n_words),
        patterns=_patterns(known, clusters, k),
        examples={}
        if known.texts is None
        else {c: typical_examples(points, clusters, c, known.texts, n_examples) for c in table["cluster"]},
        confidence_correlation=correlation,
        confidence_low=low,
        confidence_high=high,
        biased_share=clustering.n_biased_examples / n,
        confidence=known.confidence,
        n_checkpoints=_n_checkpoints(known),
        biased_histogram=inside,
        other_histogram=others,
    )


def _check_sizes(known: KnownOfExamples, n: int) -> None:
    sizes = {
        "texts": None if known.texts is None else len(known.texts),
        "words": None if known.corpus is None else len(known.corpus),
        "classes": None if known.classes is None else known.classes.size,
        "gold probabilities": None if known.gold_probabilities is None else known.gold_probabilities.shape[-1],
        **{f"runs of {name}": values.shape[-1] for name, values in (known.correct or {}).items()},
    }
    for name, size in sizes.items():
        if size is not None and size != n:
            raise InputError(f"there are {size} {name} and {n} clustered examples", mend="give the same examples")


def _mean_in(values: NDArray[np.float64], clusters: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    sizes = np.bincount(clusters, minlength=k)
    return np.asarray(np.bincount(clusters, values, minlength=k) / np.maximum(sizes, 1))


def _difficulty(known: KnownOfExamples, clusters: NDArray[np.int64], k: int) -> dict[str, NDArray[np.float64]]:
    if known.classes is None:
        return {}
    names = ("easy", "hard", "conflicting", "uncovered")
    return {name: _mean_in((known.classes == name).astype(np.float64), clusters, k) for name in names}


def _dynamics(known: KnownOfExamples, clusters: NDArray[np.int64], k: int) -> dict[str, NDArray[np.float64]]:
    if known.gold_probabilities is None:
        return {}
    dynamics = training_dynamics(known.gold_probabilities, known.gold_predicted)
    confidence = dynamics.confidence
    sizes = np.bincount(clusters, minlength=k)
    sums = np.bincount(clusters, confidence, minlength=k)
    found = {
        "confidence": sums / np.maximum(sizes, 1),
        "others_confidence": (confidence.sum() - sums) / np.maximum(confidence.size - sizes, 1),
    }
    if dynamics.n_epochs > 1:
        found["variability"] = _mean_in(dynamics.variability, clusters, k)
    if dynamics.correctness is not None:
        found["correctness"] = _mean_in(dynamics.correctness, clusters, k)
    return found


def _accuracies(
    known: KnownOfExamples, clusters: NDArray[np.int64], k: int, varying: str
) -> dict[str, NDArray[np.float64]]:
    correct = known.correct or {}
    found = {f"accuracy_{name}": _mean_in(values.mean(axis=0), clusters, k) for name, values in correct.items()}
    scores = correct.get(varying)
    if scores is not None and len(scores) > 1:
        parts = np.stack([np.bincount(clusters, row, minlength=k) for row in scores]) / clusters.size
        centered = parts - parts.mean(axis=0)
        whole = centered.sum(axis=1)
        square = float(whole @ whole)
        # Where every run has the same score there is nothing to share out.
        found["variance_share"] = centered.T @ whole / square if square > 1e-18 else np.full(k, np.nan)
    return found


def _n_checkpoints(known: KnownOfExamples) -> int:
    """Of one training; 0 of final models."""
    found = known.gold_probabilities
    return found.shape[1] if found is not None and found.ndim == 3 else 0


def _confidence_correlation(known: KnownOfExamples, clustering: ClusterScore) -> tuple[float, float, float]:
    if known.gold_probabilities is None:
        return (float("nan"),) * 3
    # A divergence is one of a whole cluster, so that its examples are no pairs of their own.
    confidence = training_dynamics(known.gold_probabilities).confidence
    return correlation_interval(confidence, clustering.example_divergences, clusters=clustering.assignments)


def _histograms(known: KnownOfExamples, clustering: ClusterScore) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if known.gold_probabilities is None:
        return np.zeros(_BINS, np.int64), np.zeros(_BINS, np.int64)
    confidence = training_dynamics(known.gold_probabilities).confidence
    biased = clustering.biased[clustering.assignments]
    inside, others = (np.histogram(confidence[rows], _BINS, (0, 1))[0] for rows in (biased, ~biased))
    return inside, others


def _words(
    known: KnownOfExamples, clusters: NDArray[np.int64], k: int, n_words: int
) -> dict[int, list[dict[str, Any]]]:
    if known.corpus is None:
        return {}
    counts, names = word_counts(known.corpus, clusters, k)
    if not names:
        return {}
    weights = weighted_log_odds(counts, names)
    return {c: weights.top(c, n_words) for c in range(k)}


def _patterns(
    known: KnownOfExamples, clusters: NDArray[np.int64], k: int, most: int = 5
) -> dict[int, list[dict[str, Any]]]:
    """Of each cluster the patterns held by more of its examples than of the others', by the excess of examples."""
    if known.patterns is None or known.texts is None or not len(known.patterns):
        return {}
    from scipy.sparse import csr_matrix

    from goldassay.questions.artifacts.measures.presence import pattern_features

    held = pattern_features(known.texts, known.patterns)
    n = clusters.size
    member = csr_matrix((np.ones(n), (clusters, np.arange(n))), shape=(k, n))
    counts = np.asarray((member @ held).todense(), dtype=np.float64)
    sizes = np.bincount(clusters, minlength=k)
    excess = counts - np.outer(sizes, counts.sum(axis=0) / n)
    frame = known.patterns.to_frame()
    names, labels = frame["pattern"].to_list(), frame["label"].to_list()
    probabilities = frame["probability"].to_list()
    found: dict[int, list[dict[str, Any]]] = {}
    for c in range(k):
        order = np.argsort(-excess[c], kind="stable")[:most]
        found[c] = [
            {
                "pattern": names[v],
                "label": labels[v],
                "probability": float(probabilities[v]),
                "count": int(counts[c, v]),
                "elsewhere": int(counts[:, v].sum() - counts[c, v]),
            }
            for v in order
            # A pattern of every third example is in every cluster; twice its share is the cluster's own.
            if counts[c, v] >= 3 and counts[c, v] >= 2 * sizes[c] * counts[:, v].sum() / n
        ]
    return found
