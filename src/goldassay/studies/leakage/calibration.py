"""Probabilities out of scores that are none yet: a scale and an offset a class, found on other examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_N_FOLDS = 2
_FARTHEST = 30.0


def cross_calibrate(logits: NDArray[np.floating], gold: NDArray[np.int64], seed: int = 0) -> NDArray[np.float64]:
    """Log-probabilities a z_c + b_c - log sum_c exp(a z_c + b_c), (N, K), of each half with a and b of the other.

    a and b make the mean log-probability of the other half's gold labels largest. Linear probes are sure of what they
    learned by heart; without this their log-probabilities say more about that than about what the input tells.
    Decisions are not touched by it. As no example helps to scale itself, an input that tells nothing gives about 0
    bits, not more.

    Args:
        logits: z, (N, K).
        gold: (N,).
        seed: Of the halves.

    Source: Platt 1999; Guo et al. 2017, vector scaling with one scale for all classes.
    """
    z = np.asarray(logits, dtype=np.float64)
    middle = np.median(z)
    # Scores of classes never seen in training are of another size, and would leave the others no room.
    z = np.clip((z - middle) / (np.median(np.abs(z - middle)) or 1.0), -_FARTHEST, _FARTHEST)
    half = np.random.default_rng(seed).permutation(gold.size) % _N_FOLDS
    found = np.empty_like(z)
    for fold in range(_N_FOLDS):
        scale, offsets = _fit(z[half != fold], gold[half != fold])
        moved = scale * z[half == fold] + offsets
        found[half == fold] = moved - _log_sum(moved)
    return found


def _fit(z: NDArray[np.float64], gold: NDArray[np.int64]) -> tuple[float, NDArray[np.float64]]:
    from scipy.optimize import minimize

    n, k = z.shape
    if not n:
        return 0.0, np.zeros(k)
    hot = np.zeros((n, k))
    hot[np.arange(n), gold] = 1.0

    def loss(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        moved = parameters[0] * z + parameters[1:]
        log_p = moved - _log_sum(moved)
        excess = np.exp(log_p) - hot
        # Held back by as much as one example says: a class that this half lacks does not become impossible.
        penalty = 0.5 * (parameters[1:] ** 2).sum() / n
        gradient = np.concatenate([[(excess * z).sum() / n], excess.sum(axis=0) / n + parameters[1:] / n])
        return float(-(log_p * hot).sum() / n + penalty), gradient

    start = np.concatenate([[0.1], np.zeros(k)])
    fitted = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None), *[(None, None)] * k])
    return float(fitted.x[0]), np.asarray(fitted.x[1:])


def _log_sum(values: NDArray[np.float64]) -> NDArray[np.float64]:
    top = values.max(axis=1, keepdims=True)
    return np.asarray(top + np.log(np.exp(values - top).sum(axis=1, keepdims=True)))
