"""Labels as numbers, the same way wherever sentences meet patterns."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# What benchmarks write where annotators found no majority, or gave nothing.
_MISSING = (None, "-", "")


def encode_labels(
    labels: Sequence[Any] | NDArray[Any] | pl.Series, label_names: Sequence[str] | None, n_sentences: int
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Number the labels; -1 where there is none (None, "-" or "").

    Whole numbers that are not themselves names are taken as positions in `label_names`.

    Args:
        labels: N strings or whole numbers; of an array or column of them no Python object is made each.
        label_names: Names in order; None: the distinct labels, sorted.
        n_sentences: N, which `labels` must have too.

    Returns:
        Numbers (N,), and the names.

    Raises:
        InputError: The lengths differ, or a label is of another kind or not among the names.
    """
    if isinstance(labels, np.ndarray) and labels.dtype.kind == "i":
        labels = pl.Series(labels)
    if isinstance(labels, np.ndarray):
        labels = labels.tolist()
    # What is a list already is not copied: of millions of labels that would be the largest thing here.
    plain = labels if isinstance(labels, (list, tuple, pl.Series)) else list(labels)
    if len(plain) != n_sentences:
        raise InputError(
            f"{n_sentences} sentences and {len(plain)} labels do not match", mend="give one label for each sentence"
        )
    found = set(plain.unique().to_list() if isinstance(plain, pl.Series) else plain)
    distinct = {label for label in found if label not in _MISSING}
    for label in distinct:
        if isinstance(label, bool) or not isinstance(label, (str, numbers.Integral)):
            raise InputError(
                f"label {label!r} is {type(label).__name__}", mend="give labels as strings or whole numbers"
            )
    names = tuple(map(str, sorted(distinct, key=_order))) if label_names is None else tuple(label_names)
    codes = _numbers(distinct, names)
    codes.update(dict.fromkeys(_MISSING, -1))
    if isinstance(plain, pl.Series):
        known = list(found)
        numbered = [codes[label] for label in known]
        coded = plain.replace_strict(pl.Series(known, dtype=plain.dtype), numbered, return_dtype=pl.Int64)
        return coded.to_numpy(writable=True), names
    return np.fromiter(map(codes.__getitem__, plain), np.int64, len(plain)), names


def _order(label: Any) -> tuple[bool, Any]:
    return (isinstance(label, str), label)


def _numbers(distinct: set[Any], names: tuple[str, ...]) -> dict[Any, int]:
    numbered = {name: number for number, name in enumerate(names)}
    if all(str(label) in numbered for label in distinct):
        return {label: numbered[str(label)] for label in distinct}
    strange = [
        label
        for label in distinct
        if (label not in numbered if isinstance(label, str) else not 0 <= label < len(names))
    ]
    if strange:
        first = min(strange, key=_order)
        raise InputError(
            f"label {first!r} is not among the labels {', '.join(names)}", mend="rename it, or name all labels"
        )
    return {label: numbered[label] if isinstance(label, str) else int(label) for label in distinct}
