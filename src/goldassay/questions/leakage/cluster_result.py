"""What is measured of clusters of sentences: records of the result, and their figures."""

from __future__ import annotations

from collections.abc import Mapping

from goldassay.core.figures import Measure, Rule, declare, figure, left_out, result, role
from goldassay.core.results import Result

PECO = declare(Measure("leakage.peco", "outlier score of clusters", "number", "lower"))
# Whole clusters change sides: the interval of as many independent examples would be far too narrow.
_BIASED = declare(
    Measure(
        "leakage.biased_share", "examples in biased clusters", "share", "lower", bounded=False,
        rule=Rule("max_biased_share", "share of test examples in biased clusters", "at most"),
    )
)  # fmt: skip


@result
class Curve(Result):
    """The share of examples in clusters that diverge by more than each threshold."""

    thresholds: tuple[float, ...]
    shares: tuple[float, ...]


@result
class ClusterScores(Result):
    """How far the clusters of one text's sentences give the label away (PECO); see `PecoScore`.

    Attributes:
        role: Of the sentences.
        score: Outlier score, chance taken off; with its interval.
        score_low: Lower end.
        score_high: Upper end.
        sd: Over clusterings.
        null_mean: What chance gives.
        p_value: Of the score.
        examples_error: Standard error over examples.
        paper_score: In the paper's convention.
        n_clusters: k.
        n_empty: Clusters without an example.
        n_components: Of the PCA.
        n_repetitions: Clusterings.
        n_biased: Clusters whose divergence is above the threshold.
        n_biased_examples: Examples in these.
        biased_share: Share of the examples.
        n_significant: Clusters that lean beyond chance.
        significant_share: Share of the examples in these.
        threshold: From which divergence on a cluster is biased.
        other_models: Scores of embeddings of further models.
        curve: Examples by threshold.
    """

    role: str = role("role")
    score: float = figure(PECO, "score_low", "score_high")
    score_low: float
    score_high: float
    sd: float
    null_mean: float
    p_value: float
    examples_error: float
    paper_score: float
    n_clusters: int
    n_empty: int
    n_components: int
    n_repetitions: int
    n_biased: int
    n_biased_examples: int
    biased_share: float = figure(_BIASED)
    n_significant: int
    significant_share: float
    threshold: float
    other_models: tuple[float, ...]
    curve: Curve


@result
class DivergenceScore(Result):
    """The score of the same clusters by one divergence in one convention, and the largest divergence of a cluster."""

    role: str
    divergence: str
    convention: str
    score: float
    uncorrected: float
    null_mean: float
    p_value: float
    largest: float


@result
class Word(Result):
    """A word that sets a cluster apart: how often it occurs in it and elsewhere."""

    word: str
    z: float
    count: int
    elsewhere: int


@result
class HeldPattern(Result):
    """A pattern that is more frequent in a cluster than elsewhere, with the label that it gives away."""

    pattern: str
    label: str
    probability: float
    count: int
    elsewhere: int


@result
class ClusterExample(Result):
    """A typical sentence of a cluster."""

    example_id: str
    text: str
    label: str


@result
class Cluster(Result):
    """A cluster that leans to a label beyond chance; see `ClusterOverlap`.

    Attributes:
        role: Of the sentences.
        cluster: Its number.
        size: Its examples.
        divergence: Of its label shares from those of all examples.
        q_value: Of the divergence, false discoveries controlled.
        biased: Whether the divergence is above the threshold.
        label: That it leans to.
        share: Of that label in it.
        expected: Of that label in all examples.
        lift: Share over expected.
        easy: Share of its examples that patterns solve, as the next three; None where no pattern was mined.
        hard: That patterns mislead.
        conflicting: For which patterns disagree.
        uncovered: That hold no pattern.
        confidence: Mean probability of the gold label; None without probabilities, as the next three.
        others_confidence: The same of all other examples.
        variability: Over epochs or models.
        correctness: Share of epochs in which the gold label is predicted.
        variance_share: Of the variance of the score over runs; None for one run.
        accuracies: Of each condition in it.
        shares: Of each label in it.
        reference: Of each label in all examples.
        words: That set it apart.
        patterns: Likewise.
        examples: Typical ones.
    """

    role: str
    cluster: int
    size: int
    divergence: float
    q_value: float
    biased: bool
    label: str
    share: float
    expected: float
    lift: float
    accuracies: Mapping[str, float]
    shares: Mapping[str, float]
    reference: Mapping[str, float]
    words: tuple[Word, ...]
    patterns: tuple[HeldPattern, ...]
    examples: tuple[ClusterExample, ...]
    easy: float | None = left_out(default=None)
    hard: float | None = left_out(default=None)
    conflicting: float | None = left_out(default=None)
    uncovered: float | None = left_out(default=None)
    confidence: float | None = left_out(default=None)
    others_confidence: float | None = left_out(default=None)
    variability: float | None = left_out(default=None)
    correctness: float | None = left_out(default=None)
    variance_share: float | None = left_out(default=None)


@result
class ClusterConfidence(Result):
    """How sure models of the whole are of examples in biased clusters and of all others.

    Attributes:
        role: Of the sentences.
        of: What the confidence is the mean of.
        n_checkpoints: Of one training; 0 of final models.
        correlation: Of an example's confidence and its cluster's divergence; with its interval.
        low: Lower end.
        high: Upper end.
        biased_share: Share of the examples in biased clusters.
        biased_histogram: Examples of biased clusters in each fiftieth of the range of confidence.
        other_histogram: All others.
        biased_mean: Mean confidence in biased clusters; None where there are none.
    """

    role: str
    of: str
    n_checkpoints: int
    correlation: float
    low: float
    high: float
    biased_share: float
    biased_histogram: tuple[int, ...]
    other_histogram: tuple[int, ...]
    biased_mean: float | None


@result
class GridScore(Result):
    """The outlier score by one number of clusters and components; see `PecoGrid`.

    Attributes:
        paper_score: Of the first clustering, in the paper's convention.
    """

    role: str
    n_components: int
    n_clusters: int
    divergence: str
    score: float
    paper_score: float
    sd: float | None
    null_mean: float
    p_value: float
    biased_share: float


@result
class ClusterOutline(Result):
    """The outline of a cluster on the map, as a polygon, and what the cluster is about."""

    cluster: int
    size: int
    label: str
    share: float
    divergence: float
    words: tuple[str, ...]
    points: tuple[tuple[int, int], ...]


@result
class SentenceMap(Result):
    """Sentences on the plane, like ones near each other.

    Attributes:
        role: Of the sentences.
        n_examples: All of them, of which at most 10,000 are drawn.
        label_names: The labels in order.
        x: From 0 to 4095, two bytes each in base64, as y and clusters.
        y: Likewise.
        labels: Codes, one byte each.
        clusters: Of each point.
        texts: Beginnings of the sentences; None where they are not at hand.
        divergences: Of each cluster.
        threshold: From which divergence on a cluster is biased.
        outlines: Of the clusters that lean beyond chance.
    """

    role: str
    n_examples: int
    label_names: tuple[str, ...]
    x: str
    y: str
    labels: str
    clusters: str
    texts: tuple[str, ...] | None
    divergences: tuple[float, ...]
    threshold: float
    outlines: tuple[ClusterOutline, ...]
