"""Reading a dataset from wherever it lies: the right reader is found by content."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.core.bounds import check_columns, check_texts, reading
from goldassay.core.errors import InputError, no_such_file
from goldassay.core.naming import split_named_path
from goldassay.data.dataset import Dataset, build_dataset
from goldassay.data.hub import is_hub_name
from goldassay.data.kinds import known_rows
from goldassay.data.readers import all_readers, reader_for
from goldassay.data.roles import columns_named, own_roles, parse_columns
from goldassay.data.source import name_of
from goldassay.data.table import Table, table_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Source:
    """A set of rows as it was handed over, read once and not interpreted.

    Attributes:
        table: Its rows.
        name: What to call the set.
        place: What messages call it: its path, or the argument.
        path: Of the file or folder; None for what is in memory or on the hub.
        argument: What the caller calls it.
        dataset: Where it was handed over as one.
    """

    table: Table
    name: str
    place: str
    path: Path | None = None
    argument: str = ""
    dataset: Dataset | None = None

    def labelled(
        self, columns: Mapping[str, str] | str | None = None, label_names: Sequence[str] | None = None, name: str = ""
    ) -> Dataset:
        """The rows as labelled texts.

        Args:
            columns: Role to column where names do not tell.
            label_names: The labels that may occur, in order.
            name: What to call it instead.

        Raises:
            InputError: See `build_dataset`; of data in memory it names the argument.
        """
        if self.dataset is not None:
            return self.dataset
        roles = parse_columns(columns) if isinstance(columns, str) else columns
        if self.path is not None:
            with reading(self.path):
                return build_dataset(self.table, roles, name or self.name, label_names, self.path)
        try:
            return build_dataset(self.table, roles, name or self.name, label_names)
        except InputError as error:
            if error.file is not None or not self.argument:
                raise
            said = f"{self.argument}: {error.problem}"
            raise InputError(said, row=error.row, column=error.column, mend=error.mend) from error


def open_source(
    data: Any,
    argument: str,
    format: str = "auto",  # noqa: A002
    name: str = "",
    columns: Mapping[str, str] | str | None = None,
) -> Source:
    """Read the rows of whatever was handed over.

    Args:
        data: A path, which may be NAME=PATH, the name of a set on the hub, a `Dataset`, or a table in memory.
        argument: What the caller calls it.
        format: Of a file, where its content does not say it.
        name: What to call a table in memory.
        columns: The column of each role, as a user named them; see `known_rows`.

    Raises:
        InputError: It cannot be read, or is a list of paths.
    """
    if isinstance(data, Dataset):
        roles = {role: role for role in (*data.text_columns, "label") if role in data.examples.columns}
        roles |= {"id": "example_id"} | ({"group": "+".join(data.groups)} if data.groups else {})
        return Source(Table(data.examples, "frame", roles=roles), data.name, data.source, dataset=data)
    if isinstance(data, (str, os.PathLike)):
        given, place = split_named_path(os.fspath(data))
        if is_hub_name(place):
            from goldassay.data.hub import read_hub

            return Source(
                known_rows(read_hub(place), place, columns),
                given or place.removeprefix("hf://datasets/"),
                place,
            )
        path = Path(place)
        table = known_rows(read_table(path, format), place, columns)
        return Source(table, given or name_of(path), place, path)
    if isinstance(data, (list, tuple)) and data and all(isinstance(each, (str, os.PathLike)) for each in data):
        raise InputError(
            f"{argument} is a list of {len(data)} path{'s' if len(data) > 1 else ''}, and one set is read at a time",
            mend=f"give one path as {argument}, or the rows of all of them as one frame",
        )
    try:
        table = table_of(data)
    except InputError as error:
        raise InputError(f"{argument}: {error.problem}", row=error.row, column=error.column, mend=error.mend) from error
    said = name or argument
    return Source(known_rows(table, said, columns), said, said, argument=argument)


def load_data(
    data: Any,
    part: str,
    columns: Mapping[str, str] | str | None,
    name: str | None = None,
    argument: str = "",
    labelled: bool = False,
) -> Dataset:
    """A dataset of a path, a `Dataset` or a frame; of one that has parts, the one named, if it is there.

    Args:
        data: A path, a `Dataset`, rows that were opened, or as for `Dataset.from_frame`.
        part: The part that is wanted.
        columns: As for `Dataset.from_frame`; those of `with_own` by its name, or the part's.
        name: What to call it; by default what it is called.
        argument: What the caller calls it, by default as the part.
        labelled: Whether it must have labels or scores.

    Raises:
        InputError: It cannot be read.
    """
    if isinstance(data, Dataset):
        return data if name is None else replace(data, name=name)
    roles = own_roles(columns, name or part, part) or None
    with columns_named(name or part):
        if isinstance(data, Source):
            dataset = data.labelled(roles, None, name or "")
        elif isinstance(data, (str, os.PathLike)):
            dataset = read_dataset(data, columns=roles, name=name)
        else:
            dataset = open_source(data, argument or part, name=name or part, columns=roles).labelled(roles)
        if labelled and "label" not in dataset.examples.columns:
            dataset.labels()
    parts = dataset.parts
    return replace(parts[part], name=dataset.name) if len(parts) > 1 and part in parts else dataset


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
    place = os.fspath(path)
    if is_hub_name(place):
        return open_source(place, "path", format, columns=columns).labelled(columns, label_names, name or "")
    location = Path(place)
    table = known_rows(read_table(location, format), place, columns)
    source = Source(table, name_of(location), place, location)
    return source.labelled(columns, label_names, name or "")


def read_table(path: Path, format: str = "auto") -> Table:  # noqa: A002
    """Read the rows of a file or folder, uninterpreted."""
    with reading(path):
        if not path.exists():
            raise no_such_file(path)
        table = reader_for(path, format).read(path)
        check_columns(path, table.frame.width)
        check_texts(path, table.frame)
        return replace(table, path=path)


def formats() -> tuple[str, ...]:
    """Names of the formats that can be read."""
    return tuple(all_readers())
