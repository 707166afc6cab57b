"""How many bits an input gives about the label, to a model that can read it: usable information.

Training dynamics: how sure a model is of an example's label over the epochs of its training.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.arguments import as_codes, as_numbers, check_bootstrap
from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.stats.bootstrap import percentile_interval, resample_examples

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

EMPTY_INPUT = "a model trained on empty input"
_SMALLEST = float(np.finfo(np.float64).smallest_subnormal)


def pvi(gold_probabilities: ArrayLike, null_probabilities: ArrayLike) -> NDArray[np.float64]:
    """Pointwise usable information of each example, in bits: log2 q(y|x) - log2 q0(y).

    Args:
        gold_probabilities: Probability of the gold label from a model trained on the input x, (N,).
        null_probabilities: The same from a model trained on empty input, (N,).

    Returns:
        (N,); at most -log2 q0(y). A probability of 0 counts as the smallest positive float.

    Raises:
        InputError: Lengths differ, or values outside [0, 1].

    Source: Ethayarajh, Choi and Swayamdipta 2022, "Understanding dataset difficulty with V-usable information".
    """
    q, q0 = _probabilities(gold_probabilities, null_probabilities)
    return _bits(q0) - _bits(q)


def label_shares(labels: ArrayLike, gold: ArrayLike) -> NDArray[np.float64]:
    """The share that each example's gold label has among some labels: what stands in for a missing null model.

    Args:
        labels: Codes of the training set (or of any other), any length.
        gold: Codes of the N examples.

    Returns:
        (N,).

    Raises:
        InputError: Codes are not whole numbers from 0, or there are none.
    """
    codes, right = as_codes(labels, "labels"), as_codes(gold, "gold")
    size = int(max(codes.max(initial=0), right.max(initial=0))) + 1
    return np.asarray(np.bincount(codes, minlength=size)[right] / codes.size, dtype=np.float64)


@dataclass(frozen=True)
class UsableInformation(Result):
    """Usable information of a set of examples, in bits; see `usable_information`.

    Attributes:
        information: Mean PVI, with bootstrap bounds over examples.
        h_yb: Mean of -log2 q0(y): the label's entropy as the null model sees it.
        h_yx: Mean of -log2 q(y|x): what is left of it once x is read.
        share_negative: Share of examples with PVI below 0, on which reading x misled the model.
        information_right: Mean PVI of the examples predicted right; NaN if not told which.
        information_wrong: Mean PVI of the others.
        pvi: (N,).
        n_examples: N.
        n_clipped: How many probabilities were 0 and counted as the smallest positive float.
        null: Where q0 comes from.
        level: Of the interval.
        seed: Of the bootstrap.
    """

    information: float
    information_low: float
    information_high: float
    h_yb: float
    h_yx: float
    share_negative: float
    information_right: float
    information_wrong: float
    pvi: NDArray[np.float64]
    n_examples: int
    n_clipped: int
    null: str
    level: float
    seed: int

    def to_frame(self) -> pl.DataFrame:
        """One row an example: its position and its PVI."""
        return pl.DataFrame({"example": np.arange(self.n_examples), "pvi": self.pvi})


def usable_information(
    gold_probabilities: ArrayLike,
    null_probabilities: ArrayLike | None = None,
    *,
    gold: ArrayLike | None = None,
    train_gold: ArrayLike | None = None,
    correct: ArrayLike | None = None,
    null_is: str = EMPTY_INPUT,
    seed: int = 0,
    n_draws: int = 1000,
    level: float = 0.95,
) -> UsableInformation:
    """Mean PVI over examples, and what it is made of.

    information = mean(-log2 q0(y)) - mean(-log2 q(y|x)). The input x may be the whole or a part: of a
    hypothesis_only model this is the leakage in bits, example by example. Where a null model is missing, label
    shares of the training set take its place, or those of the examples themselves if there are no training labels.
    Null and model must know the same of labels: probabilities that were fitted or scaled on examples like these have
    learned their label shares, and against those of a training set with others they have bits without reading a word.

    Args:
        gold_probabilities: Probability of the gold label given the input, (N,).
        null_probabilities: The same from a model trained on empty input, (N,).
        gold: Codes of the N examples; needed without `null_probabilities`.
        train_gold: Codes of the training set.
        correct: Whether the model predicts the gold label, (N,).
        null_is: What `null_probabilities` are of, in words.
        seed: Of the bootstrap over examples.
        n_draws: Of the bootstrap.
        level: Of the interval.

    Raises:
        InputError: Lengths differ, values outside [0, 1], or neither a null model nor gold.

    Source: Ethayarajh, Choi and Swayamdipta 2022.
    """
    check_bootstrap(seed, n_draws, level)
    if null_probabilities is None:
        if gold is None:
            raise InputError("there is neither a null model nor gold", mend="give one of the two")
        null_is = (
            f"label shares of the {'examples' if train_gold is None else 'training set'}, for want of a null model"
        )
        null_probabilities = label_shares(gold if train_gold is None else train_gold, gold)
    q, q0 = _probabilities(gold_probabilities, null_probabilities)
    values = pvi(q, q0)
    draws = resample_examples(values[np.newaxis], np.random.default_rng(seed), n_draws)[:, 0]
    bounds = percentile_interval(draws, level)
    right = None if correct is None else np.asarray(correct, dtype=bool)
    if right is not None and right.shape != values.shape:
        raise InputError(f"correct has {right.size} values, probabilities {values.size}")
    return UsableInformation(
        information=float(values.mean()),
        information_low=bounds.low,
        information_high=bounds.high,
        h_yb=float(_bits(q0).mean()),
        h_yx=float(_bits(q).mean()),
        share_negative=float(np.mean(values < 0)),
        information_right=_mean(values, right),
        information_wrong=_mean(values, None if right is None else ~right),
        pvi=values,
        n_examples=values.size,
        n_clipped=int(np.sum(q == 0) + np.sum(q0 == 0)),
        null=null_is,
        level=level,
        seed=seed,
    )


def _mean(values: NDArray[np.float64], mask: NDArray[np.bool_] | None) -> float:
    return float("nan") if mask is None or not mask.any() else float(values[mask].mean())


def _bits(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(-np.log2(np.maximum(probabilities, _SMALLEST)), dtype=np.float64)


def _probabilities(q: ArrayLike, q0: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    one, two = (
        as_numbers(values, name).astype(np.float64)
        for values, name in ((q, "gold probabilities"), (q0, "null probabilities"))
    )
    if one.ndim != 1 or one.size == 0 or one.shape != two.shape:
        raise InputError(
            f"gold probabilities have shape {one.shape}, null probabilities {two.shape}",
            mend="give one number an example to both, of the same examples",
        )
    for values in (one, two):
        if not np.all((values >= 0) & (values <= 1)):
            raise InputError("probabilities have values outside [0, 1]")
    return one, two


@dataclass(frozen=True)
class TrainingDynamics:
    """What the epochs of R trainings say of N examples.

    Attributes:
        confidence: Mean probability of the gold label over epochs, then over trainings, (N,).
        variability: Its standard deviation (ddof 0) over the epochs of one training, mean over trainings, (N,); NaN
            with one epoch.
        correctness: Share of the epochs after which the label was predicted, mean over trainings, (N,); None where it
            is not known.
        n_runs: R.
        n_epochs: T.
    """

    confidence: NDArray[np.float64]
    variability: NDArray[np.float64]
    correctness: NDArray[np.float64] | None
    n_runs: int
    n_epochs: int


def training_dynamics(probabilities: ArrayLike, right: ArrayLike | None = None) -> TrainingDynamics:
    """Confidence mean_t p_t, variability sqrt(mean_t (p_t - mean_t p_t)^2), correctness mean_t q_t, averaged over R.

    Variability is within a training: what differs between seeds is none of it.

    Args:
        probabilities: Of the gold label after each epoch, (R, T, N) or of one training (T, N).
        right: Whether the gold label was predicted, of the same shape.

    Raises:
        InputError: Shapes differ, or a probability is none.

    Source: Swayamdipta et al. 2020, section 2.
    """
    found = np.asarray(probabilities, np.float64)
    found = found[np.newaxis] if found.ndim == 2 else found
    if found.ndim != 3 or not found.size:
        raise InputError(f"probabilities have shape {np.shape(probabilities)}", mend="give (runs, epochs, examples)")
    if not ((found >= 0) & (found <= 1)).all():
        raise InputError("a probability is not in [0, 1]", mend="give probabilities, not logits")
    correct = None
    if right is not None:
        correct = np.asarray(right, np.float64).reshape(found.shape) if np.size(right) == found.size else None
        if correct is None:
            raise InputError(
                f"right has shape {np.shape(right)}, and probabilities {found.shape}", mend="give the same examples"
            )
    n_runs, n_epochs, n = found.shape
    return TrainingDynamics(
        confidence=found.mean(axis=(0, 1)),
        variability=found.std(axis=1).mean(axis=0) if n_epochs > 1 else np.full(n, np.nan),
        correctness=None if correct is None else correct.mean(axis=(0, 1)),
        n_runs=n_runs,
        n_epochs=n_epochs,
    )
