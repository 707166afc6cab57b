"""What the papers print, a file a table: the numbers alone, under the names that tables of the same paper share.

`doubted` marks cells that the same paper contradicts elsewhere, by arithmetic or by another table.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.lab.papers.recipe import Comparison, Drawn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.core.sections import PrintedTable


def printed_table(name: str) -> pl.DataFrame:
    """A printed table: its keys as text, value and sd as numbers in the paper's units, doubted.

    Args:
        name: First author and year, and the table: "zhou2020_table9".
    """
    text = files(__name__).joinpath(f"{name}.csv").read_bytes()
    frame = pl.read_csv(text, infer_schema=False)
    numbers = [pl.col(column).cast(pl.Float64, strict=False) for column in ("value", "sd") if column in frame.columns]
    return frame.with_columns(*numbers, pl.col("doubted") == "true")


# Of our side of a cell, each in the units of the printed table; what a measure has not is left empty.
OURS = ("ours", "low", "high", "sd", "n_runs")


def compare_cells(
    name: str,
    title: str,
    ours: Sequence[Mapping[str, Any]],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    where: Mapping[str, str] | None = None,
    digits: int = 1,
    note: str = "",
    keep_unmatched: bool = False,
) -> Comparison:
    """Lay our figures beside a printed table, cell by cell.

    Keys that the printed table has not, such as which of our models a cell is of, repeat it for each of their values.

    Args:
        name: The printed table: "zhou2020_table9".
        title: For people.
        ours: A mapping a cell: the keys, and some of `OURS`.
        rows: Keys that make the rows.
        columns: Keys that make the columns.
        where: Keys with one value only, that choose a part of the printed table.
        digits: Decimals to show.
        note: What keeps cells from being the same.
        keep_unmatched: Show printed rows of which we have no cell at all, too.
    """
    keys = [*rows, *columns]
    printed = printed_table(name)
    for key, value in (where or {}).items():
        printed = printed.filter(pl.col(key) == value)
    spread = [pl.col("sd").alias("printed_sd")] if "sd" in printed.columns else [pl.lit(None).alias("printed_sd")]
    known = [key for key in keys if key in printed.columns]
    printed = printed.select(*known, pl.col("value").alias("printed"), *spread, "doubted")
    schema = dict.fromkeys(keys, pl.String) | dict.fromkeys(OURS, pl.Float64)
    found = pl.DataFrame(
        [{key: row.get(key) for key in schema} for row in ours], schema=schema, strict=False
    ).with_columns(pl.col("n_runs").cast(pl.Int64))
    if len(known) < len(keys):
        printed = printed.join(found.select(*(key for key in keys if key not in known)).unique(), how="cross")
    cells = found.join(printed, on=keys, how="full", coalesce=True, nulls_equal=True, maintain_order="left_right")
    cells = cells.with_columns(pl.col("doubted").fill_null(value=False), pl.col("printed_sd").cast(pl.Float64))
    unmatched = None
    if not keep_unmatched:
        ours_of = found.select(rows).unique()
        unmatched = cells.join(ours_of, on=list(rows), how="anti", nulls_equal=True, maintain_order="left")
        cells = cells.join(ours_of, on=list(rows), how="semi", nulls_equal=True, maintain_order="left")
    part = "_".join(str(value) for value in (where or {}).values()).replace(" ", "_")
    return Comparison(
        name=f"{name}_{part}" if part else name,
        title=title,
        rows=tuple(rows),
        columns=tuple(columns),
        cells=cells,
        digits=digits,
        note=note,
        of=dict(where or {}),
        unmatched=unmatched,
    )


def beside_printed(laid: PrintedTable, ours: Sequence[Mapping[str, Any]], **more: Any) -> Comparison:
    """Lay our figures beside the printed table of a layout.

    Args:
        laid: The layout; its own cells do not count.
        ours: As for `compare_cells`.
        more: Likewise, where it is other than in the layout.
    """
    given: dict[str, Any] = {"rows": laid.rows, "columns": laid.columns, "digits": laid.digits, "note": laid.note}
    return compare_cells(laid.name, laid.title, ours, **given | more)


def show_cells(
    name: str,
    title: str,
    ours: Sequence[Mapping[str, Any]],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    digits: int = 1,
    note: str = "",
    drawn: Drawn = "printed",
) -> Comparison:
    """Our figures where nothing is printed; the arguments are those of `compare_cells`, and how it is drawn."""
    schema = dict.fromkeys([*rows, *columns], pl.String) | dict.fromkeys(OURS, pl.Float64)
    cells = pl.DataFrame([{key: row.get(key) for key in schema} for row in ours], schema=schema, strict=False)
    nothing = [pl.lit(None, pl.Float64).alias(key) for key in ("printed", "printed_sd")]
    return Comparison(
        name=name,
        title=title,
        rows=tuple(rows),
        columns=tuple(columns),
        cells=cells.with_columns(pl.col("n_runs").cast(pl.Int64), *nothing, pl.lit(value=False).alias("doubted")),
        digits=digits,
        note=note,
        drawn=drawn,
    )
