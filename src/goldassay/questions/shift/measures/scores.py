"""Anomaly scores from a classifier's logits: a higher score means a more anomalous example.

Distance from the nearest class of the training features, in units of their own spread.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.questions.shift.measures.false_alarms import as_finite

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


_ROWS_AT_ONCE = 4096
# Below this intensity a shrunk covariance could be as good as singular again.
_LEAST_SHRINKAGE = 1e-6


@dataclass(frozen=True)
class Mahalanobis(Result):
    """Class means and one shared covariance; see `fit_mahalanobis`.

    Attributes:
        classes: Labels of the classes, ascending, as text.
        means: (C, D), in that order.
        whitening: W (D, D) with W W' = S^-1: distances are Euclidean between rows of h W.
        shrinkage: a of S = (1 - a) covariance + a mean variance I; 0 where none was needed or asked for.
        singular: Whether the covariance could not be inverted as it was.
        note: What that means, in a sentence, or "".
        n_examples: Of the training features.
        n_dimensions: D.
        skipped: Reason -> count of what has no value.
    """

    classes: tuple[str, ...]
    means: NDArray[np.float64]
    whitening: NDArray[np.float64]
    shrinkage: float
    singular: bool
    note: str
    n_examples: int
    n_dimensions: int
    skipped: dict[str, int] = field(default_factory=dict)

    def score(self, features: ArrayLike) -> NDArray[np.float64]:
        """Squared distance to the nearest class mean: min_c (h - mu_c)' S^-1 (h - mu_c).

        Args:
            features: (N, D).

        Returns:
            (N,), at least 0; a higher score is more anomalous.

        Raises:
            InputError: They have other dimensions than the training features, or are not finite.
        """
        values = as_finite(features, "features", ("(N, D)",))
        if values.shape[1] != self.n_dimensions:
            raise InputError(
                f"features have {values.shape[1]} dimensions, training features {self.n_dimensions}",
                mend="give features of the same model",
            )
        centers = self.means @ self.whitening
        scores = np.empty(len(values))
        for start in range(0, len(values), _ROWS_AT_ONCE):
            white = values[start : start + _ROWS_AT_ONCE] @ self.whitening
            nearest = [np.square(white - center).sum(axis=1) for center in centers]
            scores[start : start + len(white)] = np.min(nearest, axis=0)
        return scores


def fit_mahalanobis(
    train_features: ArrayLike, train_labels: ArrayLike, *, shrinkage: float | None = None
) -> Mahalanobis:
    """Class means mu_c and the covariance shared by all classes, of in-distribution training features.

    covariance = 1/N sum_i (h_i - mu_{y_i})(h_i - mu_{y_i})'. Where it is singular, it is shrunk towards a multiple of
    the identity by the intensity of Ledoit and Wolf, and the result says so.

    Args:
        train_features: (N, D).
        train_labels: (N,), of any kind.
        shrinkage: In [0, 1], instead; 0 is refused where the covariance is singular.

    Raises:
        InputError: Lengths differ, features are not finite, no class varies in any dimension, or shrinkage is out
            of range.

    Source: Lee et al. 2018, "A Simple Unified Framework for Detecting Out-of-Distribution Samples and Adversarial
    Attacks"; Ledoit and Wolf 2004 for the shrinkage.
    """
    values = as_finite(train_features, "training features", ("(N, D)",))
    labels = np.asarray(train_labels)
    if labels.shape != values.shape[:1]:
        raise InputError(f"{len(values)} training features have labels of shape {labels.shape}", mend="give one each")
    if shrinkage is not None and not 0 <= shrinkage <= 1:
        raise InputError(f"the shrinkage is {shrinkage}", mend="it must lie in [0, 1]")
    # Among objects may be some, as None, that have no order.
    names, codes = np.unique(labels.astype(np.str_) if labels.dtype == object else labels, return_inverse=True)
    means = np.stack([values[codes == code].mean(axis=0) for code in range(len(names))])
    residuals = values - means[codes]
    with np.errstate(over="ignore", invalid="ignore"):
        covariance = residuals.T @ residuals / len(values)
    spread = float(np.trace(covariance)) / len(covariance)
    if not np.isfinite(spread):
        raise InputError("the training features are too large for squares of them", mend="scale all features down")
    if not spread > 0:
        raise InputError("the training features do not vary within any class", mend="give more examples a class")
    eigenvalues, vectors = np.linalg.eigh(covariance)
    singular = bool(eigenvalues[0] <= eigenvalues[-1] * len(covariance) * np.finfo(np.float64).eps)
    if shrinkage is None:
        shrinkage = _ledoit_wolf(residuals) if singular else 0.0
    elif singular and shrinkage == 0:
        raise InputError("the covariance is singular", mend="let shrinkage be above 0, or leave it out")
    # Shrinking moves the eigenvalues and leaves the directions, so that nothing need be decomposed again.
    shrunk = (1 - shrinkage) * np.maximum(eigenvalues, 0.0) + shrinkage * spread
    return Mahalanobis(
        classes=tuple(str(name) for name in names),
        means=means,
        whitening=vectors / np.sqrt(shrunk),
        shrinkage=float(shrinkage),
        singular=singular,
        note=_note(len(values), len(names), len(covariance), shrinkage) if singular else "",
        n_examples=len(values),
        n_dimensions=len(covariance),
    )


def score_mahalanobis(
    features: ArrayLike, train_features: ArrayLike, train_labels: ArrayLike, *, shrinkage: float | None = None
) -> NDArray[np.float64]:
    """Squared Mahalanobis distance to the nearest class: min_c (h - mu_c)' S^-1 (h - mu_c).

    `fit_mahalanobis` tells whether the covariance was singular and how far it was shrunk; here that is a warning.

    Args:
        features: (N, D), of the examples to score.
        train_features: (N_train, D), in-distribution.
        train_labels: (N_train,).
        shrinkage: As for `fit_mahalanobis`.

    Returns:
        (N,); a higher score is more anomalous.

    Raises:
        InputError: As for `fit_mahalanobis` and `Mahalanobis.score`.

    Source: Lee et al. 2018.
    """
    fitted = fit_mahalanobis(train_features, train_labels, shrinkage=shrinkage)
    if fitted.singular:
        warnings.warn(fitted.note, UserWarning, stacklevel=2)
    return fitted.score(features)


def _ledoit_wolf(residuals: NDArray[np.float64]) -> float:
    from sklearn.covariance import ledoit_wolf_shrinkage

    return max(_LEAST_SHRINKAGE, float(ledoit_wolf_shrinkage(residuals, assume_centered=True)))


def _note(n_examples: int, n_classes: int, n_dimensions: int, shrinkage: float) -> str:
    why = (
        f"{n_examples} training examples of {n_classes} classes cannot span {n_dimensions} dimensions"
        if n_examples - n_classes < n_dimensions
        else "some dimensions are constant or follow from others"
    )
    return (
        f"The shared covariance is singular ({why}); it was shrunk by {shrinkage:.3g} towards a multiple of identity."
    )
