"""Parquet, as the hub stores datasets."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.bounds import check_parquet, panics_unprinted
from goldassay.core.errors import InputError
from goldassay.data.labels import class_names_in
from goldassay.data.readers import CERTAIN, NO
from goldassay.data.source import read_bytes
from goldassay.data.table import Table

if TYPE_CHECKING:
    from pathlib import Path

name = "parquet"


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """The magic number."""
    return CERTAIN if head.startswith(b"PAR1") else NO


def read(path: Path) -> Table:
    """Read all columns; integer labels take the names that the hub's metadata give."""
    data, entry = read_bytes(path)
    try:
        with panics_unprinted():
            check_parquet(path, io.BytesIO(data))
            frame = pl.read_parquet(io.BytesIO(data))
            metadata = pl.read_parquet_metadata(io.BytesIO(data))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            "the Parquet file is damaged or cut short", file=path, mend="copy or download it again"
        ) from error
    return Table(frame, name, (entry,), class_names=class_names_in(metadata.get("huggingface", "")))
