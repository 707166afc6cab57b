"""Anomaly scores from a classifier's logits: a higher score means a more anomalous example.

Of features: the distance from the nearest class of the training features, in units of their own spread (Mahalanobis),
and the distance to the k-th nearest training example. Many tools store what comes after the softmax under the name of
logits: `as_logits` finds these probabilities and takes their logarithms.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from goldassay.core.arguments import check_whole
from goldassay.core.compiled import compiled
from goldassay.core.cores import cores
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


# Products compared at once, in a loop simple enough for the compiler to use vector instructions.
STRIDE = 64


@compiled
def keep_largest(products: NDArray[Any], first: int, best: NDArray[Any], places: NDArray[np.int64]) -> None:
    """Update each row's largest products, kept in falling order, by those of a block of columns.

    Nearly every product is below the row's least kept one, and whole strides are passed over without a branch: that is
    what makes the selection cheap beside the product itself.

    Args:
        products: (B, C).
        first: Number of the block's first column.
        best: The largest so far, (B, m); -inf where there are fewer.
        places: Their columns, (B, m).
    """
    n_kept = best.shape[1]
    n_columns = products.shape[1]
    for row in range(products.shape[0]):
        least = best[row, n_kept - 1]
        for start in range(0, n_columns, STRIDE):
            end = min(start + STRIDE, n_columns)
            # A slice and 32-bit counts: with either left out the loop is not turned into vector instructions.
            stride = products[row, start:end]
            above = np.int32(0)
            for i in range(stride.size):
                above += np.int32(1) if stride[i] > least else np.int32(0)
            if above == 0:
                continue
            for column in range(start, end):
                value = products[row, column]
                if value > least:
                    slot = n_kept - 1
                    while slot > 0 and best[row, slot - 1] < value:
                        best[row, slot] = best[row, slot - 1]
                        places[row, slot] = places[row, slot - 1]
                        slot -= 1
                    best[row, slot] = value
                    places[row, slot] = first + column
                    least = best[row, n_kept - 1]


@compiled
def squared_distances(
    features: NDArray[Any],
    scale: NDArray[np.float64],
    train: NDArray[Any],
    train_scale: NDArray[np.float64],
    places: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Squared distances of rows, each multiplied by its scale, to the training rows named, by differences.

    Args:
        features: (B, D).
        scale: (B,).
        train: (M, D).
        train_scale: (M,).
        places: (B, m), rows of `train`.

    Returns:
        (B, m).
    """
    found = np.empty(places.shape)
    for row in range(places.shape[0]):
        for slot in range(places.shape[1]):
            other = places[row, slot]
            total = 0.0
            for dimension in range(features.shape[1]):
                difference = features[row, dimension] * scale[row] - train[other, dimension] * train_scale[other]
                total += difference * difference
            found[row, slot] = total
    return found


_ROWS_PER_SEARCH = 1024
_COLUMNS_AT_ONCE = 4096
# Kept beyond k, so that single precision cannot put the k-th one out of sight.
_SPARE = 32


def score_knn(features: ArrayLike, train_features: ArrayLike, k: int = 10) -> NDArray[np.float64]:
    """Euclidean distance to the k-th nearest in-distribution training feature, all scaled to length 1; exact.

    sqrt(2 - 2 cos) for the k-th largest cosine. A feature of zeros keeps length 0 and lies at distance 1 from all
    others. A training example scored against its own training set is its own first neighbor.

    Candidates are found by matrix products in single precision, block by block, so that no array of N x N_train
    exists; their distances are then taken by differences in double precision. Where rounding could have hidden a nearer
    neighbor (the least candidate kept lies within the error bound of the k-th), the row is searched again in double
    precision.

    Args:
        features: (N, D), of the examples to score. Single precision is used as it is, without a copy in double.
        train_features: (N_train, D), in-distribution.
        k: Which neighbor, from 1 to N_train.

    Returns:
        (N,), from 0 to 2; a higher score is more anomalous.

    Raises:
        InputError: k is below 1 or above N_train, dimensions differ, or a feature is NaN or infinite.

    Source: Sun, Ming, Zhu and Li 2022, "Out-of-Distribution Detection with Deep Nearest Neighbors".
    """
    values = _as_features(features, "features")
    train = _as_features(train_features, "training features")
    if values.shape[1] != train.shape[1]:
        raise InputError(
            f"features have {values.shape[1]} dimensions, training features {train.shape[1]}",
            mend="give features of the same model",
        )
    check_whole("k", k, 1)
    if k > len(train):
        raise InputError(
            f"k is {k}, and there are {len(train)} training features", mend="choose k from 1 to that number"
        )
    scale, train_scale = _scales(values), _scales(train)
    n_kept = min(len(train), k + _SPARE)
    squared, sure = _search(values, scale, train, train_scale, k, n_kept, np.float32)
    again = np.flatnonzero(~sure)
    if again.size:
        squared[again], _ = _search(values[again], scale[again], train, train_scale, k, n_kept, np.float64)
    return np.sqrt(squared)


def _search(
    values: NDArray[Any],
    scale: NDArray[np.float64],
    train: NDArray[Any],
    train_scale: NDArray[np.float64],
    k: int,
    n_kept: int,
    precision: type[np.float32 | np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Squared distance to the k-th nearest, (N,), and whether rounding cannot have hidden a nearer one."""
    from threadpoolctl import threadpool_limits

    # With h of length 1 or 0 the squared distance is |a|² - 2 (a.b - |b|²/2): what is compared among training
    # rows is a.b + (1 - |b|²)/2, the last term in a column of its own, needed only where a row of zeros exists.
    with_zeros = bool((train_scale == 0).any())
    columns = _unit(train, train_scale, precision, 0.5 * (train_scale == 0) if with_zeros else None)
    ones = np.ones(len(values)) if with_zeros else None
    # Of a product of D terms in rounded unit vectors; u is half the spacing at 1.
    bound = 1.01 * (columns.shape[1] + 3) * float(np.finfo(precision).eps) / 2
    squared, sure = np.empty(len(values)), np.ones(len(values), dtype=np.bool_)

    def work(start: int) -> None:
        block = slice(start, min(start + n_rows, len(values)))
        rows = _unit(values[block], scale[block], precision, None if ones is None else ones[block])
        best = np.full((len(rows), n_kept), -np.inf, dtype=precision)
        places = np.zeros((len(rows), n_kept), dtype=np.int64)
        # One room for the products of all blocks: fetching it from the system anew costs beside so short a product.
        room = np.empty(len(rows) * min(_COLUMNS_AT_ONCE, len(columns)), dtype=precision)
        for first in range(0, len(columns), _COLUMNS_AT_ONCE):
            others = columns[first : first + _COLUMNS_AT_ONCE]
            products = room[: len(rows) * len(others)].reshape(len(rows), len(others))
            keep_largest(np.matmul(rows, others.T, out=products), first, best, places)
        exact = np.sort(squared_distances(values[block], scale[block], train, train_scale, places), axis=1)
        squared[block] = exact[:, k - 1]
        if n_kept < len(train):
            # No row left out has a true product above the least one kept plus the bound.
            own = (scale[block] > 0).astype(np.float64)
            sure[block] = 1.0 + own - 2.0 * (best[:, -1] + bound) >= exact[:, k - 1]

    # Every core takes rows of its own through all three steps, so that none waits while another selects.
    n_threads = cores()
    n_rows = min(_ROWS_PER_SEARCH, -(-len(values) // n_threads))
    with threadpool_limits(1), ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(work, range(0, len(values), n_rows)))
    return squared, sure


def _unit(
    values: NDArray[Any],
    scale: NDArray[np.float64],
    precision: type[np.float32 | np.float64],
    extra: NDArray[np.float64] | None,
) -> NDArray[Any]:
    """Rows of length 1 in a precision, with one more column if there is one; scaled block by block to save memory."""
    unit = np.empty((len(values), values.shape[1] + (extra is not None)), dtype=precision)
    for start in range(0, len(values), _ROWS_PER_SEARCH):
        block = slice(start, start + _ROWS_PER_SEARCH)
        unit[block, : values.shape[1]] = values[block] * scale[block, np.newaxis]
    if extra is not None:
        unit[:, -1] = extra
    return unit


def _scales(values: NDArray[Any]) -> NDArray[np.float64]:
    """1/length of each row, and 0 for a row of zeros."""
    largest = np.abs(values).max(axis=1).astype(np.float64)
    largest[largest < 1e-290] = 0.0
    safe = np.where(largest > 0, largest, 1.0)
    lengths = np.empty(len(values))
    for start in range(0, len(values), _ROWS_PER_SEARCH):
        block = slice(start, start + _ROWS_PER_SEARCH)
        lengths[block] = np.sqrt(np.square(values[block] / safe[block, np.newaxis]).sum(axis=1))
    return np.where(largest > 0, 1.0 / (np.where(lengths > 0, lengths, 1.0) * safe), 0.0)


def _as_features(features: ArrayLike, what: str) -> NDArray[Any]:
    values = np.asarray(features)
    if values.dtype == np.float32 and values.ndim == 2 and values.size and np.isfinite(values).all():
        return np.ascontiguousarray(values)
    return np.ascontiguousarray(as_finite(values, what, ("(N, D)",)))


# Of the sum of a row: probabilities written with two or three digits do not quite sum to 1.
_TOLERANCE = 0.02


def are_probabilities(logits: NDArray[Any]) -> bool:
    """Whether all rows, (N, K), lie in [0, 1] and sum to 1, as logits of two classes or more never all do."""
    if logits.shape[-1] < 2 or not ((logits >= 0) & (logits <= 1)).all():
        return False
    return bool((np.abs(logits.sum(axis=-1, dtype=np.float64) - 1) <= _TOLERANCE).all())


def as_logits(outputs: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """The logits of R runs, (R, N, K), with logarithms for those runs that hold probabilities, and whether any does."""
    held = [are_probabilities(run) for run in outputs]
    if not any(held):
        return outputs, False
    runs = [
        logits_of(run / run.sum(axis=-1, keepdims=True)) if found else run
        for run, found in zip(outputs.astype(np.float64), held, strict=True)
    ]
    return np.stack(runs), True
