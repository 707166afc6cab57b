"""Training dynamics: how sure a model is of an example's label over the epochs of its training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


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
