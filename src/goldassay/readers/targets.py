"""Right answers that models are trained and scored on: codes of classes, and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset


def has_numbers(dataset: Dataset) -> bool:
    """Whether a dataset's labels are numbers."""
    labels = dataset.examples.get_column("label", default=None)
    return labels is not None and labels.dtype.is_float()


def numbers_of(dataset: Dataset) -> NDArray[np.float64]:
    """Labels as they are, (N,); whole numbers that were read as classes are numbers too.

    Raises:
        InputError: One is no number.
    """
    numbers = as_numbers(dataset)
    if numbers is None:
        raise other_kind(dataset, "classes", "numbers")
    return numbers.to_numpy().astype(np.float64)


def as_numbers(dataset: Dataset) -> pl.Series | None:
    """Labels as numbers, whole ones that were taken for classes among them; None where some are none."""
    numbers = dataset.examples["label"].cast(pl.Float64, strict=False)
    return None if numbers.null_count() or not numbers.is_finite().all() else numbers


def gold_codes(dataset: Dataset, label_names: tuple[str, ...]) -> NDArray[np.int64]:
    """Labels as codes of the training set's labels, (N,).

    Raises:
        InputError: A label is not among them.
    """
    unknown = sorted(set(dataset.label_names) - set(label_names))
    if unknown:
        raise InputError(
            f"there are labels that the training set lacks ({', '.join(unknown)})",
            file=dataset.source,
            mend="map them to the training labels, or drop their rows",
        )
    codes = np.array([label_names.index(name) for name in dataset.label_names], dtype=np.int64)
    return codes[dataset.labels()]


def closeness(
    predictions: NDArray[np.float64], labels: NDArray[np.float64], span: tuple[float, float]
) -> NDArray[np.float64]:
    """1 - |prediction - label| / (highest - lowest), not below 0, (..., N): how right predicted numbers are."""
    reach = span[1] - span[0] or 1.0
    return np.clip(1 - np.abs(predictions - labels) / reach, 0.0, 1.0)


def other_kind(dataset: Dataset, own: str, wanted: str) -> InputError:
    """That the labels are of one kind ("numbers", "classes"), and those of the training data of another."""
    return InputError(
        f"its labels are {own}, those of the training data are {wanted}",
        file=dataset.source,
        mend=f"give a file of the same task; {dataset.other_label()}",
    )
