"""Rows that are called by their numbers in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goldassay.data.dataset import Dataset


def end_of_numbers(dataset: Dataset) -> int | None:
    """The number after that of the file's last row; None where rows have ids of their own."""
    if "id" in dataset.provenance.roles:
        return None
    # A part of a file has the numbers of the file.
    ids = map(str, dataset.examples["example_id"].to_list())
    return max([dataset.provenance.n_read, *(int(each) + 1 for each in ids if each.isdecimal())])


def any_beyond(ids: Iterable[str], end: int | None) -> bool:
    """Whether some ids are numbers of rows beyond a file's end.

    They are of a file with other rows, such as that before some were dropped, whose numbers here are those of other
    texts.
    """
    return end is not None and any(each.isdecimal() and int(each) >= end for each in ids)
