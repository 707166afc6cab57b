"""Probabilities out of scores that are none yet: a scale and an offset a class, found on other examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_N_FOLDS = 2
_FARTHEST = 30.0


def cross_calibrate(
    logits: NDArray[np.floating], gold: NDArray[np.int64], seed: int = 0, codes: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Log-probabilities a z_c + b_c - log sum_c exp(a z_c + b_c), (N, K), of each half with a and b of the other.

    a and b make the mean log-probability of the other half's gold labels largest. Linear probes are sure of what they
    learned by heart; without this their log-probabilities say more about that than about what the input tells.
    Decisions are not touched by it. As no example helps to scale itself, an input that tells nothing gives about 0
    bits, not more.

    Args:
        logits: z, (N, K); -inf for a class that is impossible for an example, as the fifth of four choices.
        gold: (N,).
        seed: Of the halves.
        codes: Cluster of each example from 0, (N,); whole clusters are then put into one half.

    Source: Platt 1999; Guo et al. 2017, vector scaling with one scale for all classes.
    """
    z = np.asarray(logits, dtype=np.float64)
    possible = z > -np.inf
    middle = np.median(z[possible])
    # Scores of classes never seen in training are of another size, and would leave the others no room.
    near = np.clip((z - middle) / (np.median(np.abs(z[possible] - middle)) or 1.0), -_FARTHEST, _FARTHEST)
    z = np.where(possible, near, -np.inf)
    n = gold.size if codes is None else int(codes.max()) + 1
    half = np.random.default_rng(seed).permutation(n) % _N_FOLDS
    half = half if codes is None else half[codes]
    found = np.empty_like(z)
    for fold in range(_N_FOLDS):
        scale, offsets = _fit(z[half != fold], gold[half != fold])
        found[half == fold] = _log_probabilities(z[half == fold], scale, offsets)
    return found


def cross_null(gold: NDArray[np.int64], n_classes: int, seed: int = 0) -> NDArray[np.float64]:
    """Log-probabilities of a model that reads nothing, (N, K): of each half with the offsets of the other, no score.

    What `cross_calibrate` is to be held against. It learns the label shares of the test set from the other half; label
    shares of the training set know nothing of these, and where the two differ, a model that reads nothing would seem
    to have bits: the divergence of the shares. Fitted alike, on the same halves, both know the same of labels.

    Args:
        gold: (N,).
        n_classes: K.
        seed: Of the halves: that of `cross_calibrate`.
    """
    return cross_calibrate(np.zeros((gold.size, n_classes)), gold, seed)


def _fit(z: NDArray[np.float64], gold: NDArray[np.int64]) -> tuple[float, NDArray[np.float64]]:
    from scipy.optimize import minimize

    n, k = z.shape
    if not n:
        return 0.0, np.zeros(k)
    rows = np.arange(n)
    hot = np.zeros((n, k))
    hot[rows, gold] = 1.0
    filled = np.where(z > -np.inf, z, 0.0)

    def loss(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        log_p = _log_probabilities(z, parameters[0], parameters[1:])
        excess = np.exp(log_p) - hot
        # Held back by as much as one example says: a class that this half lacks does not become impossible.
        penalty = 0.5 * (parameters[1:] ** 2).sum() / n
        gradient = np.concatenate([[(excess * filled).sum() / n], excess.sum(axis=0) / n + parameters[1:] / n])
        return float(-log_p[rows, gold].sum() / n + penalty), gradient

    start = np.concatenate([[0.1], np.zeros(k)])
    fitted = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None), *[(None, None)] * k])
    return float(fitted.x[0]), np.asarray(fitted.x[1:])


def _log_probabilities(z: NDArray[np.float64], scale: float, offsets: NDArray[np.float64]) -> NDArray[np.float64]:
    possible = z > -np.inf
    # A scale of 0 would make of what is impossible no number.
    moved = np.where(possible, scale * np.where(possible, z, 0.0) + offsets, -np.inf)
    return np.asarray(moved - _log_sum(moved))


def _log_sum(values: NDArray[np.float64]) -> NDArray[np.float64]:
    top = values.max(axis=1, keepdims=True)
    return np.asarray(top + np.log(np.exp(values - top).sum(axis=1, keepdims=True)))
