"""Arrow IPC, as a file (Feather) or as a stream (what `datasets` caches)."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.read_errors import panics_unprinted
from goldassay.data.arrow_lengths import check_arrow
from goldassay.data.class_names import class_names_in
from goldassay.data.readers import CERTAIN, NO
from goldassay.data.source import read_bytes
from goldassay.data.table import Table

if TYPE_CHECKING:
    from pathlib import Path

name = "arrow"

_FILE = b"ARROW1"
_STREAM = b"\xff\xff\xff\xff"


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
