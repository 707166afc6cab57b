"""Reading a dataset from wherever it lies: the right reader is found by content."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.core.boundary import reading
from goldassay.core.bounds import check_columns, check_texts
from goldassay.core.errors import no_such_file
from goldassay.core.pipes import is_pipe
from goldassay.data.building import build_dataset
from goldassay.data.hub_names import is_hub_name
from goldassay.data.readers import all_readers, reader_for
from goldassay.data.roles import parse_columns
from goldassay.data.source import bare_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data.dataset import Dataset
    from goldassay.data.table import Table


def read_dataset(
    path: str | os.PathLike[str],
    format: str = "auto",  # noqa: A002 (the name is part of the public contract)
    name: str | None = None,
    columns: Mapping[str, str] | str | None = None,
    label_names: Sequence[str] | None = None,
) -> Dataset:
    """Read a dataset from a file, a folder, or the hub.

    Args:
        path: A file (also gzip or zstandard), a folder, or a hub name:
            `owner/name[@revision][:configuration[/split]]` or `hf://datasets/owner/name[@revision]/path`.
        format: Name of a reader, or "auto" to tell by content; see `formats`.
        name: What to call the dataset; its file name if not given.
        columns: Role to column where names do not tell: `{"premise": "sentence1"}` or "premise=sentence1,...".
        label_names: The labels that may occur, in order; any other is refused.

    Raises:
        InputError: Anything that keeps the data from being used, in one line.
    """
    roles = parse_columns(columns) if isinstance(columns, str) else columns
    place = os.fspath(path)
    if is_hub_name(place):
        from goldassay.data.hub import read_hub

        return build_dataset(read_hub(place), roles, name or place.removeprefix("hf://datasets/"), label_names)
    location = Path(place)
    table = read_table(location, format)
    with reading(location):
        return build_dataset(table, roles, name or name_of(location), label_names, location)


def read_table(path: Path, format: str = "auto") -> Table:  # noqa: A002
    """Read the rows of a file or folder, uninterpreted."""
    with reading(path):
        if not path.exists():
            raise no_such_file(path)
        table = reader_for(path, format).read(path)
        check_columns(path, table.frame.width)
        check_texts(path, table.frame)
        return table


def formats() -> tuple[str, ...]:
    """Names of the formats that can be read."""
    return tuple(all_readers())


def name_of(path: Path) -> str:
    """What a dataset is called after its file or folder."""
    if is_pipe(path):
        return "pipe"
    stem = bare_name(path) if path.is_file() else path.resolve().name
    known = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".tab", ".txt", ".parquet", ".arrow", ".feather", ".ipc")
    shown = path.name[: len(stem)] if path.is_file() else stem
    for ending in known:
        if stem.endswith(ending):
            return shown[: -len(ending)]
    return shown
