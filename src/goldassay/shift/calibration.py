"""Does confidence mean what it says: are 80 % of the answers given with 80 % confidence right?"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.resampling import percentile_interval, resample_examples
from goldassay.core.results import Result
from goldassay.shift.inputs import as_finite, check_draws, check_share

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from goldassay.core.intervals import Interval


@dataclass(frozen=True)
class CalibrationBin:
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
    labels = _check(values, gold, n_bins)
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


def _check(values: NDArray[np.float64], gold: ArrayLike, n_bins: int) -> NDArray[np.int64]:
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
