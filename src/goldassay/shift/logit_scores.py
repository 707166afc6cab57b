"""Anomaly scores from a classifier's logits: a higher score means a more anomalous example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from goldassay.core.errors import InputError
from goldassay.shift.inputs import as_finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_AXES = ("(N, K)", "(R, N, K)")


def score_max_softmax(
    logits: ArrayLike, *, temperature: float = 1.0, scale: Literal["probability", "log"] = "probability"
) -> NDArray[np.float64]:
    """Lack of confidence: -max_y softmax(z/T)_y, or -log max_y softmax(z/T)_y.

    Both scales have the same order, but confidences near 1 round to exactly 1 and tie. The scale "log" keeps them apart
    down to differences of logits of about 700: -log p_max = log1p(sum_{y != max} exp((z_y - z_max)/T)). Rank with it
    where logits are at hand. With two classes the temperature changes no rank.

    Args:
        logits: (N, K), or (R, N, K) for several runs. Log probabilities are logits.
        temperature: T, above 0.
        scale: Of the score.

    Returns:
        (N,) or (R, N).

    Raises:
        InputError: There are fewer than 2 classes, a logit is NaN or infinite, or a setting is out of range.

    Source: Hendrycks and Gimpel 2017, "A Baseline for Detecting Misclassified and Out-of-Distribution Examples".
    """
    if scale not in ("probability", "log"):
        raise InputError(f"there is no scale {scale!r}", mend="choose 'probability' or 'log'")
    others = _others(_as_logits(logits, temperature))
    return np.log1p(others) if scale == "log" else -1.0 / (1.0 + others)


def score_max_logit(logits: ArrayLike) -> NDArray[np.float64]:
    """Lack of evidence for any class: -max_y z_y.

    Args:
        logits: (N, K), or (R, N, K) for several runs.

    Returns:
        (N,) or (R, N).

    Raises:
        InputError: There are fewer than 2 classes, or a logit is NaN or infinite.

    Source: Hendrycks et al. 2022, "Scaling Out-of-Distribution Detection for Real-World Settings".
    """
    return -_as_logits(logits).max(axis=-1)


def score_energy(logits: ArrayLike, *, temperature: float = 1.0) -> NDArray[np.float64]:
    """Free energy: -T log sum_y exp(z_y/T). It needs logits: for probabilities it is constant.

    Args:
        logits: (N, K), or (R, N, K) for several runs.
        temperature: T, above 0.

    Returns:
        (N,) or (R, N).

    Raises:
        InputError: There are fewer than 2 classes, a logit is NaN or infinite, or the temperature is not above 0.

    Source: Liu, Wang, Owens and Li 2020, "Energy-based Out-of-distribution Detection".
    """
    values = _as_logits(logits, temperature)
    return -temperature * (values.max(axis=-1) + np.log1p(_others(values)))


def score_entropy(logits: ArrayLike, *, temperature: float = 1.0) -> NDArray[np.float64]:
    """Entropy of the predicted distribution in nats: -sum_y p_y log p_y, p = softmax(z/T).

    Args:
        logits: (N, K), or (R, N, K) for several runs. Log probabilities are logits.
        temperature: T, above 0.

    Returns:
        (N,) or (R, N), from 0 to log K.

    Raises:
        InputError: There are fewer than 2 classes, a logit is NaN or infinite, or the temperature is not above 0.

    Source: Shannon 1948; Steinhardt and Liang 2016 for its use as a sign of unreliable predictions.
    """
    values = _as_logits(logits, temperature)
    differences = values - values.max(axis=-1, keepdims=True)
    weights = np.exp(differences)
    # With d = z - max and s = sum exp(d): -sum p log p = log s - sum p d, whose terms are all positive, so that nothing
    # cancels where one class has nearly everything.
    return np.log1p(_others(values)) - (weights * differences).sum(axis=-1) / weights.sum(axis=-1)


def logits_of(probabilities: ArrayLike) -> NDArray[np.float64]:
    """Turn probabilities into logits, log p, for scores that take these; zeros become the smallest positive number.

    Args:
        probabilities: (N, K), or (R, N, K).

    Raises:
        InputError: One is outside [0, 1], or a row does not sum to 1 (within .001, for single precision).
    """
    values = as_finite(probabilities, "probabilities", _AXES)
    if values.min() < 0 or bool((np.abs(values.sum(axis=-1) - 1) > 1e-3).any()):
        raise InputError("the probabilities do not sum to 1", mend="give logits to the scores as they are")
    return np.log(np.maximum(values, np.finfo(np.float64).smallest_subnormal))


def score_sides(
    logits_in: ArrayLike, logits_out: ArrayLike
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """All scores from logits for both sides, named as the functions are, ready for `measure_detection`.

    "max_softmax" is on the scale "log", which ranks alike and does not saturate.

    Args:
        logits_in: (N_in, K), or (R, N_in, K).
        logits_out: (N_out, K), or (R, N_out, K), of the same classes.

    Raises:
        InputError: The sides have different numbers of classes, or as for the scores.
    """
    sides = _as_logits(logits_in), _as_logits(logits_out)
    n_in, n_out = (values.shape[-1] for values in sides)
    if n_in != n_out:
        raise InputError(
            f"in-distribution logits are of {n_in} classes, out-of-distribution logits of {n_out}",
            mend="give logits of the same model for both",
        )
    inside, outside = sides
    return {
        "max_softmax": (score_max_softmax(inside, scale="log"), score_max_softmax(outside, scale="log")),
        "max_logit": (score_max_logit(inside), score_max_logit(outside)),
        "energy": (score_energy(inside), score_energy(outside)),
        "entropy": (score_entropy(inside), score_entropy(outside)),
    }


def _as_logits(logits: ArrayLike, temperature: float = 1.0) -> NDArray[np.float64]:
    values = as_finite(logits, "logits", _AXES)
    if values.shape[-1] < 2:
        raise InputError("there are logits of one class", mend="give two or more; a sigmoid's logit z is (0, z)")
    if not 0 < temperature < np.inf:
        raise InputError(f"the temperature is {temperature}", mend="it must be above 0")
    return values if temperature == 1 else values / temperature


def _others(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """sum_{y != max} exp(z_y - z_max), without the 1 of the maximum, in which small terms would drown."""
    best = values.argmax(axis=-1)[..., np.newaxis]
    weights = np.exp(values - np.take_along_axis(values, best, axis=-1))
    np.put_along_axis(weights, best, 0.0, axis=-1)
    return weights.sum(axis=-1)
