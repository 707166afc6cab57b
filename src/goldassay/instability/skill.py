"""Does a model know anything? Its score against the best that always giving one answer could reach."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.instability.decomposition import parts_of_variance
from goldassay.instability.scores import as_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class ScoreAboveConstant(Result):
    """A mean score against that of the best constant answer; see `score_above_constant`.

    Attributes:
        score: Mean score over runs and examples.
        constant: Code of the most frequent label; None without labels.
        constant_score: What always answering it scores; 0 without labels.
        low: Lower end (one-sided, (1 + level)/2) of the score above every constant answer.
        n_runs: R.
        n_examples: N.
    """

    score: float
    constant: int | None
    constant_score: float
    low: float
    n_runs: int
    n_examples: int


def score_above_constant(scores: ArrayLike, gold: ArrayLike | None = None, level: float = 0.95) -> ScoreAboveConstant:
    """By how much the mean score surely exceeds that of every constant answer.

    With d_ik = mean_r C_ri - [y_i = k], the least over the labels k of the lower ends of mean_i d_ik: each is Student's
    t interval with the noise of examples and of runs, as in `compare`. To exceed the best constant is to exceed each,
    so that no correction is needed (intersection-union). Without labels the score is held against 0.

    Args:
        scores: Correctness (R, N), or with `gold` None any score that is 0 at worst.
        gold: Labels as codes (N,), where the scores are correctness.
        level: Of the two-sided intervals, of which the lower ends are taken.

    Raises:
        InputError: There are fewer than 2 examples, scores are not finite, or labels do not fit.

    Source: Berger 1982, "Multiparameter hypothesis testing and acceptance sampling", for the intersection-union test.
    """
    from scipy.special import stdtrit

    values = as_scores(scores)
    n_runs, n_examples = values.shape
    if n_examples < 2:
        raise InputError("one example tells nothing about others", mend="give at least 2")
    means = values.mean(axis=0)
    shares = covariances = np.zeros(1)
    if gold is not None:
        codes = np.asarray(gold)
        if codes.shape != (n_examples,):
            raise InputError(
                f"gold has shape {codes.shape}", mend=f"give one label for each of the {n_examples} examples"
            )
        counts = np.bincount(codes)
        shares = counts / n_examples
        covariances = np.bincount(codes, weights=means - means.mean()) / n_examples
    variances = (means.var() + shares * (1 - shares) - 2 * covariances) / (n_examples - 1)
    of_runs, overlap = 0.0, 0.0
    if n_runs > 1:
        parts = parts_of_variance(values, None, ddof=1)
        of_runs, overlap = parts.total / n_runs, parts.independent / n_runs
    # As in `compare`: the noise of examples without that of runs, and degrees of freedom that few runs do not raise.
    rest = np.maximum(variances - overlap, 0.0)
    weight = max(of_runs, overlap)
    squares = rest**2 / (n_examples - 1) + (weight**2 / (n_runs - 1) if n_runs > 1 else 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(squares > 0, (rest + weight) ** 2 / squares, 1.0)
    errors = np.sqrt(rest + (of_runs or overlap))
    lows = float(means.mean()) - shares - stdtrit(df, (1 + level) / 2) * errors
    best = int(shares.argmax())
    return ScoreAboveConstant(
        score=float(means.mean()),
        constant=None if gold is None else best,
        constant_score=float(shares[best]),
        low=float(lows.min()),
        n_runs=n_runs,
        n_examples=n_examples,
    )


def examples_to_exceed(found: ScoreAboveConstant) -> int | None:
    """How many examples would show that the score exceeds the constant, if both stay as they are; None if it does not.

    The width of the interval falls with the square root of their number.
    """
    margin = found.score - found.constant_score
    if margin <= 0:
        return None
    if found.low > 0:
        return found.n_examples
    return math.ceil(found.n_examples * ((margin - found.low) / margin) ** 2)
