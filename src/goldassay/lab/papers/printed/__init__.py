"""What the papers print, a file a table: the numbers alone, under the names that tables of the same paper share.

`doubted` marks cells that the same paper contradicts elsewhere, by arithmetic or by another table.
"""

from __future__ import annotations

from importlib.resources import files

import polars as pl


def printed_table(name: str) -> pl.DataFrame:
    """A printed table: its keys as text, value and sd as numbers in the paper's units, doubted.

    Args:
        name: First author and year, and the table: "zhou2020_table9".
    """
    text = files(__name__).joinpath(f"{name}.csv").read_bytes()
    frame = pl.read_csv(text, infer_schema=False)
    numbers = [pl.col(column).cast(pl.Float64, strict=False) for column in ("value", "sd") if column in frame.columns]
    return frame.with_columns(*numbers, pl.col("doubted") == "true")
