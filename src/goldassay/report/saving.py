"""What lies beside a page: its texts and pictures, and tables as Parquet that keeps everything and as CSV."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from goldassay.core.escaping import inert_cells
from goldassay.core.files import write_parquet

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl


def write_page(texts: Mapping[str, str], tables: Mapping[str, pl.DataFrame], folder: Path) -> None:
    """Write texts by their path, and tables into tables/, into an empty folder; figures/ is made for those in it."""
    for name in ("figures", "tables"):
        (folder / name).mkdir()
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode("utf-8", "replace"))
    write_tables(tables, folder / "tables")


def earlier_files(folder: Path) -> set[str]:
    """What an earlier study left in its folder, by path: pictures of ours, and tables that lie there in both forms.

    A page that is written over another must not have the other's tables beside it. What somebody else put there stays,
    and all of it where no study.json of ours says that there was a page. A report lists its files itself.
    """
    from goldassay.report.charts.svg import is_standalone

    try:
        ours = "goldassay_version" in json.loads((folder / "study.json").read_bytes())
    except (OSError, ValueError, TypeError):
        return set()
    if not ours:
        return set()
    tables = {path for path in folder.glob("tables/*.parquet") if path.with_suffix(".csv").is_file()}
    pictures = {path for path in folder.glob("figures/*.svg") if is_standalone(path.read_bytes())}
    found = tables | {path.with_suffix(".csv") for path in tables} | pictures
    return {path.relative_to(folder).as_posix() for path in found}


def write_tables(tables: Mapping[str, pl.DataFrame], folder: Path) -> None:
    """Write NAME.parquet and NAME.csv of each table into a folder that is there; see `flattened` for the CSV."""
    for name, table in tables.items():
        write_parquet(table, folder / f"{name}.parquet")
        flattened(table).write_csv(folder / f"{name}.csv")


def flattened(table: pl.DataFrame) -> pl.DataFrame:
    """A table as its CSV has it, which people open in spreadsheets.

    Lists of plain values are joined by "|"; anything deeper becomes JSON. Nothing in it is hidden, and no
    spreadsheet executes any of it (`inert_cells`).
    """
    import polars as pl

    numeric = {
        name for name, kind in table.schema.items() if isinstance(kind, pl.List) and kind.inner.is_numeric()
    }  # fmt: skip
    columns: list[pl.Expr | pl.Series] = []
    for name, kind in table.schema.items():
        if isinstance(kind, pl.List) and not _is_nested(kind.inner):
            columns.append(pl.col(name).cast(pl.List(pl.String)).list.join("|"))
        elif kind.is_nested():
            values = [
                None if v is None else json.dumps(v, ensure_ascii=False, default=str) for v in table[name].to_list()
            ]
            columns.append(pl.Series(name, values, dtype=pl.String))
        else:
            columns.append(pl.col(name))
    return inert_cells(table.select(columns), exact=numeric)


def _is_nested(kind: Any) -> bool:
    return bool(kind.is_nested())
