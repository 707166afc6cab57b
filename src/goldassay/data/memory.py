"""Datasets that were handed over in memory, as an argument of a function."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def dataset_in_memory(
    data: Any,
    argument: str,
    *,
    columns: Mapping[str, str] | str | None = None,
    name: str | None = None,
    label_names: Sequence[str] | None = None,
) -> Dataset:
    """`Dataset.from_frame` of an argument, which every refusal names: data in memory have no file that would.

    Args:
        data: As for `Dataset.from_frame`.
        argument: What the caller calls them.
        columns: As for `Dataset.from_frame`.
        name: Likewise.
        label_names: Likewise.

    Raises:
        InputError: They are a list of paths, or no dataset can be made of them.
    """
    if isinstance(data, (list, tuple)) and data and all(isinstance(each, (str, os.PathLike)) for each in data):
        raise InputError(
            f"{argument} is a list of {len(data)} path{'s' if len(data) > 1 else ''}, and one set is read at a time",
            mend=f"give one path as {argument}, or the rows of all of them as one frame",
        )
    try:
        return Dataset.from_frame(data, columns, name, label_names)
    except InputError as error:
        if error.file is not None:
            raise
        said = f"{argument}: {error.problem}"
        raise InputError(said, row=error.row, column=error.column, mend=error.mend) from error
