"""What is gained by leaving the most anomalous examples unanswered."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.resampling import percentile_interval
from goldassay.core.results import Result
from goldassay.shift.inputs import as_finite, check_draws, check_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from goldassay.core.intervals import Interval


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
    values, right = _check(scores, correct)
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
        rows = np.repeat(np.arange(n), np.bincount(rng.integers(0, n, n), minlength=n))
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
    values, right = _check(scores, correct)
    order = np.argsort(values, kind="stable")
    ties = np.unique(values[order], return_inverse=True)[1]
    return 1.0 - float(_risks(1.0 - right[order], ties)[_answered(coverage, values.size) - 1])


def _check(scores: ArrayLike, correct: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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
