"""What is measured of shift: the score on other distributions, and how well scores separate their texts from own ones.

Importing this declares the measures, so that policies know them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from goldassay.core.figures import MIN_RUNS, Figure, Measure, Rule, declare, declare_verdict, figure, result, role
from goldassay.core.results import Result
from goldassay.questions.shift.measures.calibration import CalibrationBin
from goldassay.questions.shift.measures.set_metrics import SetGap

declare_verdict("shift")

# A metric may be a correlation or any number, so that its scale is not declared: intervals are cut where it is known.
_SCORE = declare(Measure("shift.score", "score", "points", "higher"))
_GAP = declare(
    Measure(
        "shift.gap", "generalization gap", "points", "lower",
        rule=Rule("max_generalization_gap", "generalization gap", "at most"),
    )
)  # fmt: skip
_RELATIVE_GAP = declare(Measure("shift.relative_gap", "relative gap", "number", "lower", compared=False))
_FLOOR = declare(Measure("shift.best_constant", "best constant answer", "points", bounded=False, compared=False))
_EXCESS = declare(Measure("shift.excess", "score above the best constant answer", "points", "higher"))
_LOSS = declare(Measure("shift.loss", "loss relative to the floor", "number", "lower"))
_EXCESS_LOSS = declare(
    Measure("shift.excess_loss", "loss, each score above its own floor", "number", "lower", compared=False)
)
_KNOWN = declare(Measure("shift.known_share", "texts that stand in the training data", "share", "lower", bounded=False))
_SCORE_WITH_KNOWN = declare(
    Measure("shift.score_with_known", "score with texts of the training data", "points", "higher", compared=False)
)
_GAP_WITH_KNOWN = declare(
    Measure("shift.gap_with_known", "gap with texts of the training data", "points", "lower", compared=False)
)
_CLUSTERS = declare(Measure("shift.clusters", "effective clusters", "number", "higher", bounded=False, compared=False))
_RUNS = Measure("shift.runs", "number of runs", "runs", "higher", rule=MIN_RUNS, bounded=False, compared=False)

METRIC_NAMES = {
    "accuracy": "accuracy",
    "exact_match": "exact match",
    "f1": "F1",
    "mean": "score",
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
}
SCORE_NAMES = {
    "max_softmax": "max softmax",
    "max_logit": "max logit",
    "energy": "energy",
    "entropy": "entropy",
    "mahalanobis": "Mahalanobis",
    "knn": "k-th neighbor",
}


@result
class OfModel(Result):
    """What a row is of.

    Attributes:
        model: Its name.
        size: How many parameters it has; None where that is not known.
    """

    model: str = role("model")
    size: int | None


@result
class GapRow(SetGap, OfModel):
    """The metric of a model on one set, against its own distribution.

    Attributes:
        own: Whether the set is of the model's own distribution: its gap is 0.
        floor_declared: Whether the floor is known, or declared for a mean of graded scores.
        n_runs: R.
        trained: Whether another seed can change the model.
        level: Of the intervals.
        interval_method: How they were made.
        n_known: How many texts are in the training data and were left out; None where that is not known.
        known_share: Which share of all texts of the set is in the training data.
        value_with_known: The metric with these texts; None where neither this nor the own set has any.
        gap_with_known: The gap with those of both sets.
        near_share: Share of the texts that are near copies of own ones; None where that is not known.
    """

    test: str = role("test")
    own: bool
    floor_declared: bool
    n_runs: int = figure(_RUNS)
    trained: bool
    level: float
    interval_method: str
    n_known: int | None = None
    known_share: float | None = None
    value_with_known: float | None = None
    value_with_known_low: float | None = None
    value_with_known_high: float | None = None
    gap_with_known: float | None = None
    gap_with_known_low: float | None = None
    gap_with_known_high: float | None = None
    near_share: float | None = None

    @property
    def metric_name(self) -> str:
        """The metric in words."""
        return METRIC_NAMES[self.metric]

    @property
    def n_all(self) -> int:
        """Texts of the set with those that are in the training data."""
        return self.n + (self.n_known or 0)

    def more_figures(self) -> Iterable[Figure]:
        """All that belong to a metric: an own set has no gap, and `reason` may be of one undefined value only."""
        n, why, metric = self.n, self.reason, self.metric
        no_floor = why or "the right labels are not at hand"
        yield _SCORE.figure(self.value, self.low, self.high, n=n, reason=why, metric=metric)
        yield _FLOOR.figure(self.floor, n=n, reason=no_floor, metric=metric)
        yield _EXCESS.figure(self.excess, self.excess_low, self.excess_high, n=n, reason=no_floor, metric=metric)
        yield _CLUSTERS.figure(self.effective_clusters, n=n, reason=why, metric=metric)
        if self.known_share is not None:
            yield _KNOWN.figure(self.known_share, n=self.n_all, metric=metric)
        if self.value_with_known is not None:
            ends = self.value_with_known_low, self.value_with_known_high
            yield _SCORE_WITH_KNOWN.figure(self.value_with_known, *ends, n=self.n_all, reason=why, metric=metric)
        if self.own:
            return
        for measure, value, low, high, lacking in (
            (_GAP, self.gap, self.gap_low, self.gap_high, why),
            (_RELATIVE_GAP, self.relative_gap, self.relative_low, self.relative_high, why),
            (_LOSS, self.loss, self.loss_low, self.loss_high, no_floor),
            (_EXCESS_LOSS, self.excess_loss, self.excess_loss_low, self.excess_loss_high, no_floor),
        ):
            yield measure.figure(value, low, high, n=n, reason=lacking, metric=metric)
        if self.gap_with_known is not None:
            ends = self.gap_with_known_low, self.gap_with_known_high
            yield _GAP_WITH_KNOWN.figure(self.gap_with_known, *ends, n=self.n_all, reason=why, metric=metric)


@result
class CalibrationRow(Result):
    """The calibration of a model on one set: each figure and bound is the mean over runs; the bins hold all runs."""

    model: str = role("model")
    dataset: str = role("dataset")
    own: bool
    n: int
    n_runs: int
    ece: float
    ece_if_calibrated_low: float
    ece_if_calibrated_high: float
    brier: float
    brier_low: float
    brier_high: float
    accuracy: float
    confidence: float
    overconfidence: float = figure(
        Measure("shift.overconfidence", "surer than right", "points", "lower"),
        "overconfidence_low", "overconfidence_high", n="n",
    )  # fmt: skip
    overconfidence_low: float
    overconfidence_high: float
    bins: tuple[CalibrationBin, ...]


@result
class CoverageRow(Result):
    """Risk against coverage of a model on one set, mean over runs; see `measures.calibration.risk_coverage`.

    Attributes:
        selective_accuracy: {share of the examples that are answered: accuracy on these}.
        coverages: Shares of the examples that are answered.
        risks: The share of errors among these, for each of `coverages`.
    """

    model: str
    dataset: str
    own: bool
    n: int
    n_runs: int
    risk: float
    aurc: float
    aurc_low: float
    aurc_high: float
    aurc_random: float
    aurc_best: float
    excess_aurc: float
    selective_accuracy: Mapping[str, float]
    coverages: tuple[float, ...]
    risks: tuple[float, ...]


@result
class ConfidentError(Result):
    """An example of another set that a model gets wrong with confidence.

    Attributes:
        text: All its texts; None where they are not at hand.
        confidence: Mean over the runs that are wrong.
        share_wrong: Of the runs.
    """

    model: str
    dataset: str
    example_id: str
    text: str | None
    label: str
    prediction: str
    confidence: float
    share_wrong: float


@result
class MarkingWord(Result):
    """A word that is more common on one side, "in" or "out"; see `measures.generalization.DomainWord`."""

    word: str
    side: str
    share_in: float
    share_out: float
    z: float


@result
class DomainRow(Result):
    """How well words separate two sets; see `measures.generalization.DomainShift`."""

    in_distribution: str
    dataset: str
    auroc: float
    words: tuple[MarkingWord, ...]
    n_in: int
    n_out: int
    n_words: int
    skipped: Mapping[str, int]
    low: float
    high: float


@result
class DetectionRow(Result):
    """How well a score of a model separates one other set from its own; see `measures.detection.Detection`."""

    model: str = role("model")
    in_distribution: str
    dataset: str = role("dataset")
    score: str = role("score")
    auroc: float = figure(
        Measure("shift.auroc", "AUROC of detection", "share", "higher"), "auroc_low", "auroc_high", n="n_both"
    )
    auroc_low: float
    auroc_high: float
    auroc_sd: float
    auroc_chance: float
    aupr_out: float
    aupr_out_low: float
    aupr_out_high: float
    aupr_out_sd: float
    aupr_out_chance: float
    aupr_in: float
    aupr_in_low: float
    aupr_in_high: float
    aupr_in_sd: float
    aupr_in_chance: float
    false_alarm_rate: float = figure(
        Measure(
            "shift.false_alarm_rate", "false alarm rate", "share", "lower",
            rule=Rule("max_false_alarm_rate", "false alarm rate of detection", "at most"),
        ),
        "false_alarm_rate_low", "false_alarm_rate_high", n="n_both",
    )  # fmt: skip
    false_alarm_rate_low: float
    false_alarm_rate_high: float
    false_alarm_rate_sd: float
    false_alarm_rate_chance: float
    fpr_id_positive: float
    fpr_id_positive_low: float
    fpr_id_positive_high: float
    fpr_id_positive_sd: float
    fpr_id_positive_chance: float
    threshold: float
    achieved_recall: float
    recall: float
    rule: str
    tied_share: float
    n_in: int
    n_out: int
    n_runs: int = figure(_RUNS)
    interval_method: str

    @property
    def n_both(self) -> int:
        """Examples of both sides."""
        return self.n_in + self.n_out


@result
class ConfidenceHistogram(Result):
    """The shares of own and of other texts by the probability of the predicted class, all runs together.

    Attributes:
        edges: Of B bins, (B + 1,).
        share_in: Of the own texts, (B,).
        mean_in: Mean confidence in these.
        share_out: Of the other texts, (B,).
        mean_out: Mean confidence in these.
    """

    model: str
    in_distribution: str
    dataset: str
    edges: tuple[float, ...]
    share_in: tuple[float, ...]
    mean_in: float
    share_out: tuple[float, ...]
    mean_out: float


@result
class OverlapRow(Result):
    """Texts of another set that are also in the own set.

    Attributes:
        n_examples: Of the other set.
        n_shared: Those that are also in the own set and were left out; None where the texts are not at hand.
        n_near: Those of the rest that are near copies of own texts.
    """

    model: str
    in_distribution: str
    dataset: str
    n_examples: int
    n_shared: int | None
    n_near: int | None


@result
class SetRow(Result):
    """A set that a model answered, as it was compared."""

    model: str
    train_set: str
    dataset: str
    own: bool
    n_runs: int
    seeds: tuple[str, ...]
    n_examples: int
    label_names: tuple[str, ...]
    regression: bool


@result
class ShiftResult(Result):
    """What gaps and detection have in common.

    Attributes:
        kind: "generalization" or "detection".
        sentences: What was found, the most important first.
        notes: What was done and assumed.
        overlaps: A row per model and other set.
        sets: A row per model and set.
    """

    kind: str
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    overlaps: tuple[OverlapRow, ...]
    sets: tuple[SetRow, ...]


@result
class GeneralizationResult(ShiftResult):
    """The gaps of every model.

    Attributes:
        caveats: Those of the notes that limit what the intervals mean.
        generalization: A row per model, set and metric.
        calibration: A row per model and set; none without logits.
        risk_coverage: Likewise.
        confident_errors: The most confident errors on each other set.
        domains: A row per pair of sets whose texts are at hand.
    """

    caveats: tuple[str, ...]
    generalization: tuple[GapRow, ...]
    calibration: tuple[CalibrationRow, ...]
    risk_coverage: tuple[CoverageRow, ...]
    confident_errors: tuple[ConfidentError, ...]
    domains: tuple[DomainRow, ...]


@result
class DetectionResult(ShiftResult):
    """Detection by every model.

    Attributes:
        detection: A row per model, other set and score.
        histograms: A row per model and other set.
    """

    detection: tuple[DetectionRow, ...]
    histograms: tuple[ConfidenceHistogram, ...]
