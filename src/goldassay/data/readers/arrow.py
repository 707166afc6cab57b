"""Arrow IPC, as a file (Feather) or as a stream (what `datasets` caches).

A packed buffer begins with the length that it unpacks to, and rows and buffers are counted in the messages of the file.
The engine sets aside what is claimed, and a flipped bit then ends the process without a word: what a file claims is
checked before. The messages are flatbuffers, of which the fixed part is read: see Message.fbs, File.fbs and Schema.fbs
of https://github.com/apache/arrow/tree/main/format.
"""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from goldassay.core.bounds import check_size, panics_unprinted
from goldassay.core.errors import InputError
from goldassay.data.labels import class_names_in
from goldassay.data.readers import CERTAIN, NO
from goldassay.data.source import read_bytes
from goldassay.data.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

name = "arrow"

_FILE = b"ARROW1"
_STREAM = b"\xff\xff\xff\xff"
_CONTINUES = 0xFFFFFFFF
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3
# Fields of the tables, by their place in the schema of the format.
_MESSAGE_TYPE, _MESSAGE_HEADER, _MESSAGE_BODY = 1, 2, 3
_BATCH_NODES, _BATCH_BUFFERS, _BATCH_COMPRESSION, _BATCH_VARIADIC = 1, 2, 3, 4
_DICTIONARY_DATA = 1
_FOOTER_DICTIONARIES, _FOOTER_BATCHES = 2, 3
# A cell takes as much as in `check_parquet`.
_CELL = 8
_NOT_PACKED = -1


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """The magic number of a file, or the continuation mark of a stream."""
    return CERTAIN if head.startswith((_FILE, _STREAM)) else NO


def read(path: Path) -> Table:
    """Read all columns; integer labels take the names that the metadata of `datasets` give."""
    data, entry = read_bytes(path)
    check_arrow(path, data)
    try:
        buffer = io.BytesIO(data)
        with panics_unprinted():
            frame = pl.read_ipc(buffer) if data.startswith(_FILE) else pl.read_ipc_stream(buffer)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError("the Arrow file is damaged or cut short", file=path, mend="copy it again") from error
    return Table(frame, name, (entry,), class_names=class_names_in(_schema_metadata(data)))


def _schema_metadata(data: bytes) -> str:
    # polars does not give a schema's metadata; they stand in the file as plain text.
    start = data.find(b'{"info":', 0, 1 << 20)
    return data[start : start + (1 << 20)].decode("utf-8", "replace") if start >= 0 else ""


class _DamageError(Exception):
    """The lengths do not fit the file."""


class _Batch(NamedTuple):
    """A batch of rows: its table, and where the buffers lie that it describes."""

    table: _Table
    body: int
    n_bytes: int


def check_arrow(path: Path, data: bytes) -> None:
    """Refuse an Arrow file or stream whose messages claim more than the file holds, or than memory may.

    Args:
        path: Of the file.
        data: Its content.

    Raises:
        InputError: It is damaged, or its rows and unpacked buffers are beyond GOLDASSAY_MAX_BYTES.
    """
    total = 0
    try:
        for batch in _batches(data):
            total += _claimed(batch, data)
    except (_DamageError, struct.error) as error:
        raise InputError("the Arrow file is damaged or cut short", file=path, mend="copy it again") from error
    check_size(path, total)


def _claimed(batch: _Batch, data: bytes) -> int:
    """Bytes that a batch takes in memory."""
    total = 0
    for length, n_missing in batch.table.structs(_BATCH_NODES, "<qq"):
        _require(0 <= n_missing <= length)
        total += _CELL * length
    is_packed = batch.table.place(_BATCH_COMPRESSION) is not None
    n_buffers = 0
    for offset, length in batch.table.structs(_BATCH_BUFFERS, "<qq"):
        _require(offset >= 0 and length >= 0 and offset + length <= batch.n_bytes)
        n_buffers += 1
        if is_packed and length:
            (unpacked,) = struct.unpack_from("<q", data, batch.body + offset)
            _require(unpacked >= _NOT_PACKED)
            length = unpacked if unpacked != _NOT_PACKED else length
        total += length
    for (n_more,) in batch.table.structs(_BATCH_VARIADIC, "<q"):
        _require(0 <= n_more <= n_buffers)
    return total


def _batches(data: bytes) -> Iterator[_Batch]:
    """All batches of rows and of dictionaries, as the footer of a file names them, or in the order of a stream."""
    if not data.startswith(_FILE):
        yield from _streamed(data)
        return
    _require(data.endswith(_FILE) and len(data) > 2 * len(_FILE) + 4)
    end = len(data) - len(_FILE) - 4
    (length,) = struct.unpack_from("<i", data, end)
    _require(0 < length <= end)
    footer = _Table.root(data, end - length)
    for field in (_FOOTER_DICTIONARIES, _FOOTER_BATCHES):
        for offset, n_metadata, _, n_body in footer.structs(field, "<qiiq"):
            _require(offset >= 0 and n_metadata >= 0 and n_body >= 0 and offset + n_metadata + n_body <= len(data))
            (mark,) = struct.unpack_from("<I", data, offset)
            yield from _batch(data, offset + (8 if mark == _CONTINUES else 4), offset + n_metadata)


def _streamed(data: bytes) -> Iterator[_Batch]:
    at = 0
    while at + 8 <= len(data):
        mark, length = struct.unpack_from("<Ii", data, at)
        _require(mark == _CONTINUES)
        if length == 0:
            return
        _require(0 < length <= len(data) - at - 8)
        body = at + 8 + length
        yield from _batch(data, at + 8, body)
        at = body + _body_of(_Table.root(data, at + 8))


def _batch(data: bytes, message: int, body: int) -> Iterator[_Batch]:
    """The batch of a message, if it is one."""
    table = _Table.root(data, message)
    n_bytes = _body_of(table)
    _require(0 <= n_bytes <= len(data) - body)
    kind = table.number(_MESSAGE_TYPE, "<B")
    if kind in (_DICTIONARY_BATCH, _RECORD_BATCH):
        header = table.table(_MESSAGE_HEADER)
        yield _Batch(header if kind == _RECORD_BATCH else header.table(_DICTIONARY_DATA), body, n_bytes)


def _body_of(message: _Table) -> int:
    return message.number(_MESSAGE_BODY, "<q")


def _require(holds: bool) -> None:
    if not holds:
        raise _DamageError


class _Table(NamedTuple):
    """A table of a flatbuffer; absent fields have their defaults."""

    data: bytes
    at: int

    @classmethod
    def root(cls, data: bytes, begin: int) -> _Table:
        """The table to which a flatbuffer points first."""
        return cls(data, begin + _read(data, "<I", begin))

    def place(self, field: int) -> int | None:
        """Where a field lies; None if it is absent."""
        fields = self.at - _read(self.data, "<i", self.at)
        _require(fields >= 0)
        if 4 + 2 * field >= _read(self.data, "<H", fields):
            return None
        offset = _read(self.data, "<H", fields + 4 + 2 * field)
        return self.at + offset if offset else None

    def number(self, field: int, kind: str) -> int:
        """A number of the table; 0 if it is absent."""
        at = self.place(field)
        return 0 if at is None else _read(self.data, kind, at)

    def table(self, field: int) -> _Table:
        """A table within."""
        at = self.place(field)
        if at is None:
            raise _DamageError
        return _Table(self.data, at + _read(self.data, "<I", at))

    def structs(self, field: int, kind: str) -> Iterator[tuple[int, ...]]:
        """The items of a vector; none if it is absent."""
        at = self.place(field)
        if at is None:
            return
        at += _read(self.data, "<I", at)
        n_items, size = _read(self.data, "<I", at), struct.calcsize(kind)
        begin = at + 4
        _require(begin + n_items * size <= len(self.data))
        yield from struct.iter_unpack(kind, self.data[begin : begin + n_items * size])


def _read(data: bytes, kind: str, at: int) -> int:
    _require(at >= 0)
    return int(struct.unpack_from(kind, data, at)[0])
