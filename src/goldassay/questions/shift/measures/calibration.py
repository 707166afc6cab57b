"""Does confidence mean what it says: are 80 % of the answers given with 80 % confidence right?

What is gained by leaving the most anomalous examples unanswered.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.questions.shift.measures.false_alarms import as_finite, check_draws, check_share
from goldassay.stats.bootstrap import draw_once, percentile_interval, resample_examples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from goldassay.stats.intervals import Interval


@dataclass(frozen=True)
class CalibrationBin(Result):
    """Examples of like confidence: a row of the table.

    Attributes:
        low: Lowest confidence.
        high: Highest.
        n: How many examples.
        confidence: Mean confidence.
        accuracy: Share that is right.
    """

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Calibration(Result):
    """How far confidence lies from accuracy; see `measure_calibration`.

    Attributes:
        ece: Expected calibration error.
        ece_if_calibrated: Interval of what a perfectly calibrated model with these confidences shows on so many
            examples: it is above 0, and an `ece` within it is no evidence of miscalibration.
        brier: Brier score, from 0 to 2.
        brier_interval: Of it.
        accuracy: Share that is right.
        confidence: Mean confidence.
        overconfidence: confidence - accuracy.
        overconfidence_interval: Of it.
        bins: By rising confidence.
        n_examples: N.
        n_classes: K.
        level: Of the intervals.
        interval_method: How they were made.
        seed: Of the draws.
        n_draws: How many.
        skipped: Reason -> count of what has no value.
    """

    ece: float
    ece_if_calibrated: Interval
    brier: float
    brier_interval: Interval
    accuracy: float
    confidence: float
    overconfidence: float
    overconfidence_interval: Interval
    bins: tuple[CalibrationBin, ...]
    n_examples: int
    n_classes: int
    level: float
    interval_method: str
    seed: int
    n_draws: int
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a bin, with the columns of `CalibrationBin`."""
        return pl.DataFrame([asdict(row) for row in self.bins])


def measure_calibration(
    probabilities: ArrayLike,
    gold: ArrayLike,
    *,
    n_bins: int = 15,
    seed: int = 0,
    n_draws: int = 1000,
    level: float = 0.95,
) -> Calibration:
    """Expected calibration error in bins of equal mass, Brier score, and overconfidence, of one run.

    ECE = sum_b n_b/N |accuracy_b - confidence_b|; Brier = 1/N sum_i sum_y (p_iy - [y = gold_i])². Bins hold equally
    many examples but for ties: equal confidences share a bin, so that the order of the examples changes nothing. Bins
    of equal width would leave most of them nearly empty where a model is confident.

    Args:
        probabilities: (N, K), rows summing to 1.
        gold: (N,), codes of the labels.
        n_bins: At most so many bins.
        seed: Of the draws.
        n_draws: How many, for the intervals.
        level: Of the intervals.

    Raises:
        InputError: Lengths differ, rows do not sum to 1 (within .001), a label is not among the classes, or a setting
            is out of range.

    Source: Brier 1950; Naeini, Cooper and Hauskrecht 2015 (ECE); Nguyen and O'Connor 2015 (equal mass); Bröcker and
    Smith 2007, "Increasing the reliability of reliability diagrams", for the interval under calibration.
    """
    check_share(level, "level")
    check_draws(n_draws, seed)
    values = as_finite(probabilities, "probabilities", ("(N, K)",))
    labels = _checked_labels(values, gold, n_bins)
    n, n_classes = values.shape
    confidence = values.max(axis=1)
    correct = (values.argmax(axis=1) == labels).astype(np.float64)
    squares = np.square(values).sum(axis=1) - 2 * values[np.arange(n), labels] + 1
    bins = _bin(confidence, n_bins)
    rng = np.random.default_rng(seed)
    drawn = resample_examples(np.stack([squares, confidence - correct]), rng, n_draws)
    by_chance = np.array([_error(bins, confidence, rng.random(n) < confidence) for _ in range(n_draws)])
    return Calibration(
        ece=_error(bins, confidence, correct),
        ece_if_calibrated=percentile_interval(by_chance, level, method="labels drawn from the confidences"),
        brier=float(squares.mean()),
        brier_interval=percentile_interval(drawn[:, 0], level),
        accuracy=float(correct.mean()),
        confidence=float(confidence.mean()),
        overconfidence=float((confidence - correct).mean()),
        overconfidence_interval=percentile_interval(drawn[:, 1], level),
        bins=_rows(bins, confidence, correct),
        n_examples=n,
        n_classes=n_classes,
        level=level,
        interval_method="bootstrap over examples",
        seed=seed,
        n_draws=n_draws,
    )


def _checked_labels(values: NDArray[np.float64], gold: ArrayLike, n_bins: int) -> NDArray[np.int64]:
    labels = np.asarray(gold)
    if labels.shape != values.shape[:1] or not np.issubdtype(labels.dtype, np.integer):
        raise InputError(
            f"{len(values)} rows of probabilities have gold of shape {labels.shape} and kind {labels.dtype}",
            mend="give one label code each",
        )
    if labels.min() < 0 or labels.max() >= values.shape[1]:
        raise InputError(f"gold reaches from {labels.min()} to {labels.max()}, of {values.shape[1]} classes")
    if values.min() < 0 or bool((np.abs(values.sum(axis=1) - 1) > 1e-3).any()):
        raise InputError("the probabilities do not sum to 1", mend="turn logits into probabilities by a softmax")
    if n_bins < 1:
        raise InputError(f"the number of bins is {n_bins}", mend="it must be at least 1")
    return labels.astype(np.int64)


def _bin(confidence: NDArray[np.float64], n_bins: int) -> NDArray[np.int64]:
    """Bin of each example, numbered without holes: that in which the middle of its ties falls."""
    _, codes, counts = np.unique(confidence, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    places = np.minimum((n_bins * middle / confidence.size).astype(np.int64), n_bins - 1)
    return np.unique(places[codes], return_inverse=True)[1].astype(np.int64)


def _error(
    bins: NDArray[np.int64], confidence: NDArray[np.float64], correct: NDArray[np.float64] | NDArray[np.bool_]
) -> float:
    return float(np.abs(np.bincount(bins, weights=confidence - correct)).sum() / confidence.size)


def _rows(
    bins: NDArray[np.int64], confidence: NDArray[np.float64], correct: NDArray[np.float64]
) -> tuple[CalibrationBin, ...]:
    rows = []
    for number in range(int(bins.max()) + 1):
        own = bins == number
        inside, n = confidence[own], int(own.sum())
        rows.append(
            CalibrationBin(
                float(inside.min()), float(inside.max()), n, float(inside.mean()), float(correct[own].mean())
            )
        )
    return tuple(rows)


@dataclass(frozen=True)
class RiskCoverage(Result):
    """Risk against coverage; see `risk_coverage`.

    Attributes:
        aurc: Area under the curve; lower is better.
        aurc_interval: Of it.
        aurc_random: Of a score without information: the risk at full coverage.
        aurc_best: Of a score that puts every error last.
        excess_aurc: aurc - aurc_best.
        risk: Share of errors at full coverage.
        selective_accuracy: Coverage -> accuracy on the examples answered.
        coverages: Of the curve, rising, at most `n_points` of them.
        risks: Of the curve.
        n_examples: N.
        n_errors: How many are wrong, as a sum of 1 - correct.
        level: Of the interval.
        interval_method: How it was made.
        seed: Of the bootstrap.
        n_draws: Of the bootstrap.
        skipped: Reason -> count of what has no value.
    """

    aurc: float
    aurc_interval: Interval
    aurc_random: float
    aurc_best: float
    excess_aurc: float
    risk: float
    selective_accuracy: dict[float, float]
    coverages: NDArray[np.float64]
    risks: NDArray[np.float64]
    n_examples: int
    n_errors: float
    level: float
    interval_method: str
    seed: int
    n_draws: int
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a point of the curve: coverage, risk."""
        return pl.DataFrame({"coverage": self.coverages, "risk": self.risks})


def risk_coverage(
    scores: ArrayLike,
    correct: ArrayLike,
    *,
    coverages: Sequence[float] = (0.5, 0.8, 0.9, 0.95, 1.0),
    n_points: int = 1000,
    seed: int = 0,
    n_draws: int = 1000,
    level: float = 0.95,
) -> RiskCoverage:
    """Risk when only the least anomalous examples are answered, at every coverage, and the area under that curve.

    risk(n) = errors among the n examples of lowest score / n; AURC = 1/N sum_{n=1..N} risk(n). Tied examples are
    answered in random order: the curve is its expectation, exactly, so that the order of the file changes nothing.

    Args:
        scores: (N,); a higher score is more anomalous and is left unanswered first.
        correct: (N,), in [0, 1].
        coverages: At which to give the selective accuracy, each in (0, 1].
        n_points: Most points of the curve that are kept; the area is of all of them.
        seed: Of the bootstrap.
        n_draws: Of the bootstrap.
        level: Of the interval.

    Raises:
        InputError: Lengths differ, values are not finite or correctness is outside [0, 1], or a setting is out of
            range.

    Source: El-Yaniv and Wiener 2010; Geifman, Uziel and El-Yaniv 2019, "Bias-Reduced Uncertainty Estimation for Deep
    Neural Classifiers" (AURC and its excess).
    """
    check_share(level, "level")
    check_draws(n_draws, seed)
    values, right = _checked_scores(scores, correct)
    if n_points < 2:
        raise InputError(f"the number of points is {n_points}", mend="it must be at least 2")
    n = values.size
    order = np.argsort(values, kind="stable")
    errors = 1.0 - right[order]
    ties = np.unique(values[order], return_inverse=True)[1]
    curve = _risks(errors, ties)
    best = float(_risks(np.sort(errors), np.arange(n)).mean())
    rng = np.random.default_rng(seed)
    drawn = np.empty(n_draws)
    for draw in range(n_draws):
        rows = np.repeat(np.arange(n), draw_once(n, rng).astype(np.int64))
        drawn[draw] = _risks(errors[rows], ties[rows]).mean()
    kept = np.unique(np.linspace(0, n - 1, min(n, n_points)).round().astype(np.int64))
    return RiskCoverage(
        aurc=float(curve.mean()),
        aurc_interval=percentile_interval(drawn, level),
        aurc_random=float(errors.mean()),
        aurc_best=best,
        excess_aurc=float(curve.mean()) - best,
        risk=float(errors.mean()),
        selective_accuracy={float(share): 1.0 - float(curve[_answered(share, n) - 1]) for share in coverages},
        coverages=(kept + 1) / n,
        risks=curve[kept],
        n_examples=n,
        n_errors=float(errors.sum()),
        level=level,
        interval_method="bootstrap over examples",
        seed=seed,
        n_draws=n_draws,
    )


def selective_accuracy(scores: ArrayLike, correct: ArrayLike, coverage: float) -> float:
    """Accuracy on the ceil(coverage N) least anomalous examples; ties at the edge enter by their mean.

    Args:
        scores: (N,); a higher score is more anomalous.
        correct: (N,), in [0, 1].
        coverage: In (0, 1].

    Raises:
        InputError: As for `risk_coverage`.

    Source: El-Yaniv and Wiener 2010, "On the foundations of noise-free selective classification".
    """
    values, right = _checked_scores(scores, correct)
    order = np.argsort(values, kind="stable")
    ties = np.unique(values[order], return_inverse=True)[1]
    return 1.0 - float(_risks(1.0 - right[order], ties)[_answered(coverage, values.size) - 1])


def _checked_scores(scores: ArrayLike, correct: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    values = as_finite(scores, "scores", ("(N,)",))
    right = as_finite(correct, "correctness values", ("(N,)",))
    if values.shape != right.shape:
        raise InputError(f"{values.size} scores have {right.size} correctness values", mend="give one each")
    if right.min() < 0 or right.max() > 1:
        raise InputError("correctness is outside [0, 1]", mend="give fractions")
    return values, right


def _answered(coverage: float, n: int) -> int:
    """How many examples a coverage is; the tolerance keeps .7 of 10 at 7, whatever its last binary digit."""
    return max(1, math.ceil(check_share(coverage, "coverage", with_one=True) * n - 1e-9))


def _risks(errors: NDArray[np.float64], ties: NDArray[np.int64]) -> NDArray[np.float64]:
    """Expected risk of the first 1, 2, ... N examples, of which neighbors with equal `ties` are in random order."""
    starts = np.flatnonzero(np.r_[True, ties[1:] != ties[:-1]])
    sizes = np.diff(np.r_[starts, ties.size])
    means = np.add.reduceat(errors, starts) / sizes
    return np.cumsum(np.repeat(means, sizes)) / np.arange(1, ties.size + 1)
