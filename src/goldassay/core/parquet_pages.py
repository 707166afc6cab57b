"""Whether the pages of a Parquet file hold as many values as its columns do.

The table engine sets memory aside for as many values as a page's header states, and a damaged count ends the process:
nothing can be caught. The headers are a few bytes a page, so that they are read here first: a child process that reads
the file for trial would read all of it twice, and begin with the engine's own start.

Format: Apache Parquet, parquet.thrift, in Thrift's compact protocol.
"""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from io import BytesIO

_MAGIC = b"PAR1"
_BOOLEANS, _BYTE, _WHOLE, _DOUBLE, _TEXT, _LISTS, _MAP, _STRUCT = (1, 2), 3, (4, 5, 6), 7, 8, (9, 10), 11, 12
# Fields of the format's structures.
_ROW_GROUPS, _COLUMNS, _METADATA = 4, 1, 3
_N_VALUES, _N_BYTES, _FIRST_PAGES = 5, 7, (9, 11)
_UNPACKED, _PACKED, _DICTIONARY, _DATA = 2, 3, 7, (5, 8)
# Of a page with data: values, and in the newer form values that are null, rows, and bytes of both kinds of levels.
_COUNTS = (1, 2, 3, 5, 6)


class _DamageError(Exception):
    """A header contradicts the file's own list of columns, or cannot be read."""


def check_pages(path: Path, source: Path | BytesIO) -> int:
    """Hold the counts of a Parquet file's pages against its columns; how many values there are together.

    Args:
        path: Of the file.
        source: The file, or its content.

    Raises:
        InputError: A count is below 0 or beyond that of its column, or a page does not lie within the file.
        OSError: It cannot be opened.
    """
    try:
        return _opened(source)
    except _DamageError as error:
        raise InputError(
            "the Parquet file is damaged or cut short", file=path, mend="write or copy it again"
        ) from error


def _opened(source: Path | BytesIO) -> int:
    if not isinstance(source, Path):
        with source.getbuffer() as view:
            return _count(view)
    if not source.stat().st_size:
        return 0
    with (
        source.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        memoryview(content) as view,
    ):
        return _count(view)


def _count(data: memoryview) -> int:
    if data[-4:] != _MAGIC:
        # Cut short or encrypted, which the engine says.
        return 0
    length = int.from_bytes(data[-8:-4], "little")
    try:
        groups = _Compact(data, len(data) - 8 - length).struct().get(_ROW_GROUPS, [])
        return sum(_values_of(chunk[_METADATA], data) for group in groups for chunk in group[_COLUMNS])
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise _DamageError(str(error)) from error


def _values_of(column: dict[int, Any], data: memoryview) -> int:
    """Values of a column within a row group."""
    at = min(column[field] for field in _FIRST_PAGES if column.get(field))
    end = at + column[_N_BYTES]
    wanted, met = column[_N_VALUES], 0
    while at < end:
        header = _Compact(data, at)
        page = header.struct()
        counts = [page[_UNPACKED], page[_PACKED], *_counts(page.get(_DICTIONARY, {}), (1,))]
        for kind in _DATA:
            counts += _counts(page.get(kind, {}), _COUNTS if kind == _DATA[1] else (1,))
            met += page.get(kind, {}).get(1, 0)
        if min(counts) < 0 or met > wanted:
            raise _DamageError(f"a page at byte {at} states wrong counts")
        at = header.at + page[_PACKED]
    if met != wanted or at > len(data):
        raise _DamageError(f"{met} values of {wanted} are there")
    return wanted


def _counts(header: dict[int, Any], fields: tuple[int, ...]) -> list[int]:
    return [header[field] for field in fields if field in header]


class _Compact:
    """Reads values of Thrift's compact protocol one after another; a structure is {number of a field: value}."""

    def __init__(self, data: memoryview, at: int) -> None:
        if at < 0:
            raise IndexError("a structure begins before the file")
        self._data = data
        self.at = at

    def struct(self) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            kind = head & 15
            field = field + (head >> 4) if head >> 4 else self._whole()
            fields[field] = kind == 1 if kind in _BOOLEANS else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in _WHOLE:
            return self._whole()
        if kind == _STRUCT:
            return self.struct()
        if kind in _LISTS:
            head = self._byte()
            n = head >> 4
            return [self._value(head & 15) for _ in range(self._unsigned() if n == 15 else n)]
        if kind == _MAP:
            n = self._unsigned()
            kinds = self._byte() if n else 0
            return [(self._value(kinds >> 4), self._value(kinds & 15)) for _ in range(n)]
        if kind in (*_BOOLEANS, _BYTE):
            return self._byte()
        if kind not in (_TEXT, _DOUBLE):
            raise LookupError(f"no type {kind}")
        # What a text says is not asked for.
        length = 8 if kind == _DOUBLE else self._unsigned()
        self.at += length
        return None

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def _unsigned(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
        return value | byte << shift

    def _whole(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
