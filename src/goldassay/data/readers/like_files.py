"""A folder of tables of like columns, a file a task, read as one: the file's name is a group, as MMLU's subjects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.errors import InputError
from goldassay.data.readers import BY_NAME, NO, reader_for
from goldassay.data.source import bare_name
from goldassay.data.table import Table, stacked

if TYPE_CHECKING:
    from pathlib import Path

name = "like-files"

_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
_LISTED = 5


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """A folder with two tables or more, all of one ending, whose columns a reader of data knows."""
    return BY_NAME if path.is_dir() and len(_files(path)) > 1 else NO


def read(path: Path) -> Table:
    """Read all files; those of other columns than most are named and passed over.

    Raises:
        InputError: No two files have the same columns.
    """
    tables = {}
    foreign = []
    for file in _files(path):
        try:
            tables[bare_name(file).rpartition(".")[0]] = reader_for(file).read(file)
        except InputError:
            foreign.append(file.name)
    columns = [tuple(table.frame.columns) for table in tables.values()]
    most = max(columns, key=columns.count, default=())
    foreign += [stem for stem, table in tables.items() if tuple(table.frame.columns) != most]
    like = {stem: table for stem, table in tables.items() if tuple(table.frame.columns) == most}
    if len(like) < 2:
        raise InputError("the files have different columns", file=path, mend="give one file, or files of like columns")
    said = [f"{len(like)} files of like columns are groups of rows: {_listed(list(like))}."]
    said += [f"Files of other columns are passed over: {_listed(sorted(foreign))}."] if foreign else []
    return stacked(like, name, tuple(said), "file")


def _files(path: Path) -> list[Path]:
    """The files of the ending that most have."""
    by_ending = [sorted(path.glob(f"*{ending}")) + sorted(path.glob(f"*{ending}.gz")) for ending in _ENDINGS]
    return max(by_ending, key=len)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
