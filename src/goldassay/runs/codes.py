"""Label codes as names: files that number their classes say which is which in `label_names`, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.entry_point import option
from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


def name_codes(codes: Any, label_names: tuple[str, ...] | None, path: Path) -> pl.Series:
    """Whole numbers as the names they stand for; without names as their digits.

    Raises:
        InputError: The codes are not whole numbers, or there are more of them than names.
    """
    values: NDArray[Any] = np.asarray(codes)
    if values.dtype.kind in "UTSO":
        return pl.Series([str(value) for value in values.tolist()], dtype=pl.String)
    if values.dtype.kind not in "iub":
        raise InputError("labels are neither names nor whole numbers", file=path)
    if label_names is None:
        return pl.Series(values.astype(np.int64)).cast(pl.String)
    if values.size and (values.min() < 0 or values.max() >= len(label_names)):
        raise InputError(
            f"there are label codes up to {values.max()}, but {len(label_names)} labels",
            file=path,
            mend=f"name all of them in order with {option('label_names', 'NAME,NAME,...')}",
        )
    return pl.Series(label_names, dtype=pl.String).gather(values.astype(np.int64))


def names_for(label_names: tuple[str, ...] | None, n_classes: int) -> tuple[str, ...]:
    """The label names, or the digits of the codes where there are none."""
    return label_names if label_names is not None else tuple(str(code) for code in range(n_classes))
