"""Probabilities out of scores, softmax(a z + b), fitted on rows that the model did not learn from.

`calibrate` is for the margins of a probe: it picks the simplest form that helps, and is compiled, as it runs for every
fold of every probe. `cross_calibrate` is for scores of any size, of which some may be impossible: each half of the rows
is calibrated by the other, and a penalty keeps classes possible that one half lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What is added to every probability before they are made to sum to 1 again: float32 tells 1 - 2e-7 from 1.
LEAST_PROBABILITY = 2e-7
# With fewer rows a scale is luck.
MIN_ROWS = 20

_N_ROUNDS = 5
_N_NEWTON = 40
_SCALES = (1e-3, 1e3)
_N_FOLDS = 2
_FARTHEST = 30.0


@dataclass(frozen=True)
class Calibration:
    """Probabilities softmax(a z + b) of margins z; see `calibrate`.

    Attributes:
        scale: a, above 0.
        shifts: b, (K,).
    """

    scale: float
    shifts: NDArray[np.float64]

    def log_probabilities(self, margins: NDArray[np.float32]) -> NDArray[np.float64]:
        """Natural logarithms, (n, K); no probability is below 2e-7, or as close to 1.

        Args:
            margins: z, (n, K).
        """
        raised = self.scale * margins.astype(np.float64) + self.shifts
        raised = np.exp(raised - raised.max(axis=1, keepdims=True))
        shares = raised / raised.sum(axis=1, keepdims=True)
        return np.asarray(np.log((shares + LEAST_PROBABILITY) / (1 + shares.shape[1] * LEAST_PROBABILITY)))


def calibrate(
    margins: NDArray[np.float32], labels: NDArray[np.int64], weights: NDArray[np.float64], rng: np.random.Generator
) -> Calibration:
    """Choose between margins as they are, a scale, and a scale and a shift a class, by log loss.

    Each is fitted to one half of the rows and judged on the other, both ways; the best is then fitted to all. Of equals
    the simplest is taken, and with fewer than 20 rows margins stay as they are.

    Args:
        margins: z, (n, K), of rows that the probe was not fitted to.
        labels: (n,).
        weights: Of the rows, (n,).
        rng: Of the halves.

    Source: Guo et al. 2017 for the scale ("temperature"); Platt 1999 for scale and shift.
    """
    n, n_classes = margins.shape
    plain = Calibration(1.0, np.zeros(n_classes))
    half = rng.permutation(n) % 2
    if n < MIN_ROWS or not (weights[half == 0].any() and weights[half == 1].any()):
        return plain
    losses = np.zeros(3)
    for number in range(2):
        own = np.where(half == number, weights, 0.0)
        other = weights - own
        losses[0] += mean_loss(margins, labels, other, 1.0, plain.shifts)
        for place, n_rounds in ((1, 0), (2, _N_ROUNDS)):
            losses[place] += mean_loss(margins, labels, other, *fit_calibration(margins, labels, own, n_rounds))
    best = int(np.argmin(losses))
    if best == 0:
        return plain
    return Calibration(*fit_calibration(margins, labels, weights, 0 if best == 1 else _N_ROUNDS))


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
        scale, offsets = _fit_penalized(z[half != fold], gold[half != fold])
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


@compiled
def mean_loss(
    margins: NDArray[np.float32],
    labels: NDArray[np.int64],
    weights: NDArray[np.float64],
    scale: float,
    shifts: NDArray[np.float64],
) -> float:
    """Weighted mean of -log softmax(a z + b) at the labels, natural logarithms."""
    n, n_classes = margins.shape
    loss, total_weight = 0.0, 0.0
    for i in range(n):
        if weights[i] == 0:
            continue
        top = -np.inf
        for k in range(n_classes):
            top = max(top, scale * margins[i, k] + shifts[k])
        total = 0.0
        for k in range(n_classes):
            total += np.exp(scale * margins[i, k] + shifts[k] - top)
        own = labels[i]
        loss += weights[i] * (np.log(total) + top - scale * margins[i, own] - shifts[own])
        total_weight += weights[i]
    return loss / total_weight


@compiled
def fit_calibration(
    margins: NDArray[np.float32], labels: NDArray[np.int64], weights: NDArray[np.float64], n_rounds: int
) -> tuple[float, NDArray[np.float64]]:
    """The a and b that make the mean log loss of softmax(a z + b) smallest; b = 0 with no round.

    In each round a is found by Newton's method, and b moves by log((observed + 1/2) / (expected + 1/2)) of each class,
    a step of iterative scaling (Darroch and Ratcliff 1972), which always lowers the loss.

    Args:
        margins: z, (n, K).
        labels: (n,).
        weights: Of the rows, (n,), some above 0.
        n_rounds: How often a and b take turns; a is found once more at the end.
    """
    n, n_classes = margins.shape
    scale = 1.0
    shifts = np.zeros(n_classes, np.float64)
    raised = np.empty(n_classes, np.float64)
    observed = np.zeros(n_classes, np.float64)
    for i in range(n):
        observed[labels[i]] += weights[i]
    for turn in range(n_rounds + 1):
        low, high = _SCALES
        for _ in range(_N_NEWTON):
            slope, curve = 0.0, 1e-12
            expected = np.zeros(n_classes, np.float64)
            for i in range(n):
                if weights[i] == 0:
                    continue
                top = -np.inf
                for k in range(n_classes):
                    raised[k] = scale * margins[i, k] + shifts[k]
                    top = max(top, raised[k])
                total, first, second = 0.0, 0.0, 0.0
                # Margins apart from the label's own: far from 0 all together, they would lose their digits.
                own = np.float64(margins[i, labels[i]])
                for k in range(n_classes):
                    raised[k] = np.exp(raised[k] - top)
                    apart = margins[i, k] - own
                    total += raised[k]
                    first += raised[k] * apart
                    second += raised[k] * apart * apart
                first /= total
                slope += weights[i] * first
                curve += weights[i] * (second / total - first * first)
                for k in range(n_classes):
                    expected[k] += weights[i] * raised[k] / total
            if slope > 0:
                high = scale
            else:
                low = scale
            moved = scale - slope / curve
            # The loss is convex in the scale; where Newton's step leaves the bracket, halve that by its logarithm.
            if not low < moved < high:
                moved = np.sqrt(low * high)
            done = abs(moved - scale) < 1e-4 * scale
            if done:
                break
            scale = moved
        if turn < n_rounds:
            for k in range(n_classes):
                shifts[k] += np.log((observed[k] + 0.5) / (expected[k] + 0.5))
    return scale, shifts


def _fit_penalized(z: NDArray[np.float64], gold: NDArray[np.int64]) -> tuple[float, NDArray[np.float64]]:
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
