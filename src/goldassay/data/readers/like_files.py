"""A folder of tables of like columns, a file a task, read as one: the file's name is a group, as MMLU's subjects."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
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
# Beside data: hidden files, documents, licences, what a hub says of a dataset.
_DESCRIBES = re.compile(
    r"\.|.*\.(md|rst|pdf|bib|cff|ya?ml)$|readme|licen[cs]e|citation|notice|dataset_infos?\.json$", re.IGNORECASE
)


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """A folder with two tables or more, all of one ending, or with one and nothing besides but what describes it."""
    if not path.is_dir():
        return NO
    files = _files(path)
    besides = [item for item in path.iterdir() if item not in files and not _DESCRIBES.match(item.name)]
    return BY_NAME if len(files) > 1 or (files and not besides) else NO


def read(path: Path) -> Table:
    """Read all files; those of other columns than most are named and passed over. One by itself is the data.

    Raises:
        InputError: No two files have the same columns.
    """
    if len(files := _files(path)) == 1:
        table = reader_for(files[0]).read(files[0])
        return replace(table, decisions=(f"The folder is read by its one table, {files[0].name}.", *table.decisions))
    tables: dict[str, Table] = {}
    foreign, held = [], []
    for file in files:
        try:
            table = reader_for(file).read(file)
        except InputError:
            foreign.append(file.name)
            held.append(f"{file.name} cannot be read")
            continue
        tables[bare_name(file).rpartition(".")[0]] = table
        held.append(f"{file.name} has {_listed(list(map(repr, table.frame.columns)))}")
    columns = [tuple(table.frame.columns) for table in tables.values()]
    most = max(columns, key=columns.count, default=())
    foreign += [stem for stem, table in tables.items() if tuple(table.frame.columns) != most]
    like = {stem: table for stem, table in tables.items() if tuple(table.frame.columns) == most}
    if len(like) < 2:
        one = next((file for file in files if file.name not in foreign), files[0])
        more = f"; and {len(files) - _LISTED} more" if len(files) > _LISTED else ""
        raise InputError(
            f"no two files have the same columns: {'; '.join(held[:_LISTED])}{more}", file=path,
            mend=f"give one file, as {shlex.quote(str(one))}, or files of like columns",
        )  # fmt: skip
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
