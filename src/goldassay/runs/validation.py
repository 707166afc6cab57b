"""What must hold of the arrays of runs; each check says in one line what is wrong and how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.naming import listing
from goldassay.runs.grades import advice

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_scores(scores: NDArray[np.float64], *, axes: str = "(R, N) or (R, T, N)") -> None:
    """Refuse scores that are not finite numbers in [0, 1], or that have no examples.

    Raises:
        InputError: The shape is wrong, nothing is there, or a value is NaN or out of range.
    """
    if scores.ndim not in (2, 3):
        raise InputError(f"scores have {scores.ndim} axes", mend=f"they must be {axes}")
    if scores.size == 0:
        raise InputError(f"there are no examples in the runs (scores have shape {scores.shape})")
    # One pass over the data tells that all is well; NaN fails both comparisons.
    if scores.min() >= 0.0 and scores.max() <= 1.0:
        return
    nan = np.isnan(scores)
    if nan.any():
        place = _place(np.argwhere(nan)[0])
        raise InputError(
            f"{int(nan.sum())} scores are not a number, the first at {place}",
            mend="leave out the runs or examples that were not scored",
        )
    bad = (scores < 0) | (scores > 1)
    first = np.argwhere(bad)[0]
    raise InputError(
        f"{int(bad.sum())} scores lie outside [0, 1], the first at {_place(first)} is {scores[tuple(first)]:g}",
        mend=advice(scores),
    )


def check_codes(codes: NDArray[Any], n_labels: int, what: str) -> None:
    """Refuse label codes that do not point into the label names.

    Raises:
        InputError: A code is below 0 or not below `n_labels`.
    """
    if codes.size and (codes.min() < 0 or codes.max() >= n_labels):
        bad = codes[(codes < 0) | (codes >= n_labels)].flat[0]
        raise InputError(
            f"{what} holds the label code {bad}, but there are {n_labels} labels (codes 0 to {n_labels - 1})",
            mend="give all labels with label_names",
        )


def check_unique(ids: NDArray[Any], *, file: str | None = None) -> None:
    """Refuse example ids that occur twice.

    Raises:
        InputError: An id is there more than once; the line holds the count and the first ids.
    """
    names = ids.tolist()
    if len(set(names)) == len(names):
        return
    column = pl.Series(names)
    again = column.filter(column.is_duplicated()).unique(maintain_order=True)
    raise InputError(
        f"{again.len()} example ids are there more than once, first {listing(again.to_list())}",
        file=file,
        mend="keep one row an example, run and checkpoint",
    )


def _place(position: NDArray[Any]) -> str:
    names = ("run", "example") if len(position) == 2 else ("run", "checkpoint", "example")
    return ", ".join(f"{name} {int(index)}" for name, index in zip(names, position, strict=True))
