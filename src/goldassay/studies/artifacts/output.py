"""Tables on disk: Parquet that keeps everything, and CSV beside it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from goldassay.files import write_parquet
from goldassay.report.report import flattened
from goldassay.results import to_plain

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl


def write_tables(tables: Mapping[str, pl.DataFrame], folder: Path) -> None:
    """Write NAME.parquet and NAME.csv of each table into a folder that is there; lists in CSV are joined by "|"."""
    for name, table in tables.items():
        write_parquet(table, folder / f"{name}.parquet")
        flattened(table).write_csv(folder / f"{name}.csv")


def as_json(value: Mapping[str, Any]) -> str:
    """A result as JSON; what is not defined is null."""
    text = json.dumps(to_plain(dict(value)), ensure_ascii=False, allow_nan=False, indent=2)
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"
