"""A table of patterns in a file, read and written a part at a time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.artifacts.pattern_rows import PART
from goldassay.artifacts.pattern_table import PatternTable
from goldassay.core.files import sink_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class PatternFile:
    """A file of patterns that may be too many for memory; the same file that `PatternTable.write` writes.

    Attributes:
        path: Where it is.
        label_names: Labels in the order of `counts`.
        settings: What the patterns were mined with.
    """

    path: Path
    label_names: tuple[str, ...]
    settings: dict[str, Any]

    def __len__(self) -> int:
        return int(self.settings["n_mined"])

    def read(self) -> PatternTable:
        """The whole table in memory."""
        return PatternTable.read(self.path)

    def parts(self) -> Iterator[PatternTable]:
        """The table in parts of at most some hundred thousand rows, in order; at least one, which may be empty."""
        rows = pl.scan_parquet(self.path)
        for begin in range(0, max(len(self), 1), PART):
            yield PatternTable(self.label_names, self.settings, rows.slice(begin, PART).collect())


def write_in_parts(parts: Iterator[pl.DataFrame], path: Path, metadata: dict[str, str]) -> None:
    """Write frames of one schema, one after the other, as one Parquet file; at least one is needed.

    polars pulls the frames in a thread of its own while this one waits in Python, so that Ctrl-C is heard.

    Raises:
        OSError: The disk is full or fails.
    """
    from polars.io.plugins import register_io_source

    first = next(parts)
    stop = threading.Event()
    failed: list[BaseException] = []

    def frames(*_: Any) -> Iterator[pl.DataFrame]:
        yield first
        try:
            for frame in parts:
                if stop.is_set():
                    raise InterruptedError
                yield frame
        except BaseException as error:
            failed.append(error)
            raise

    source = register_io_source(frames, schema=first.schema)
    with path.open("wb") as file, ThreadPoolExecutor(1) as pool:
        writing = pool.submit(sink_parquet, source, file, metadata=metadata, row_group_size=PART, maintain_order=True)
        try:
            writing.result()
        except BaseException as error:
            stop.set()
            # polars wraps what was raised while it pulled; the reason itself says more.
            raise (failed[0] if failed else error) from None
