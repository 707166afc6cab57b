"""What readers of a part of the input tell of each row, out of an audit's report."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.entry_point import option
from goldassay.core.errors import InputError
from goldassay.gate.reading import NAME, NUMBERS, read_report, read_table
from goldassay.questions.leakage.partial_input import READER_BITS
from goldassay.stats.clusters import cluster_rows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

_MEND = "make the report again with goldassay audit or goldassay leakage measure"


@dataclass(frozen=True)
class ShortcutBits:
    """What the readers of one part tell.

    Attributes:
        path: Of the report.
        title: Likewise.
        part: Such as "hypothesis": the one that was named, else the part that tells most bits.
        ids: Of the rows, (N,).
        labels: Their gold labels, (N,) text; None where the report does not have them.
        bits: Of each reader, (R, N).
        clusters: What rows share, by the report's rule, (N,); None where each counts by itself.
        others: The bits of the other parts, {part: (R, N)}.
    """

    path: str
    title: str
    part: str
    ids: tuple[str, ...]
    labels: tuple[str, ...] | None
    bits: NDArray[np.float64]
    clusters: NDArray[np.int64] | None
    others: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)


def reported_bits(report: str | os.PathLike[str] | None, part: str | None) -> ShortcutBits | None:
    """The bits to discount by, as a command was told; None where no report was named.

    Raises:
        InputError: As `read_bits`, or a part is named without a report.
    """
    if report is not None:
        return read_bits(report, part)
    if part is not None:
        raise InputError(
            f"{option('discount_part', part)} is given without a report to discount by",
            mend=f"name the report of an audit with {option('discount', 'REPORT')}",
        )
    return None


def read_bits(report: str | os.PathLike[str], part: str | None = None) -> ShortcutBits:
    """Read what readers of each part tell, from a report's folder.

    Args:
        report: The folder, or its report.json.
        part: The part to discount, such as "premise"; by default the one that tells most.

    Raises:
        InputError: It is no report, or has no readers of a part, or none of the part that is named.
    """
    stored = read_report(report)
    file = stored.folder / "tables" / "examples.parquet"
    if not file.is_file():
        raise InputError("the report has no table of examples", file=file, mend=_MEND)
    table = read_table(file, {"example_id": NAME, "label": NAME, f"{READER_BITS}*": NUMBERS})
    parts = [name for name in table.columns if name.startswith(READER_BITS)]
    if not parts or "example_id" not in table.columns:
        raise InputError("the report does not say what readers of a part tell of each row", file=file, mend=_MEND)
    found = {name.removeprefix(READER_BITS).removesuffix("_only"): _rectangle(table[name], file) for name in parts}
    if part is not None and part not in found:
        raise InputError(
            f"{option('discount_part', part)}: the report has no readers of that part", file=file,
            mend=f"its parts are {', '.join(found)}",
        )  # fmt: skip
    best = part or max(found, key=lambda name: float(found[name].mean()))
    return ShortcutBits(
        os.fspath(report),
        stored.title,
        best,
        tuple(table["example_id"].cast(pl.String).to_list()),
        tuple(table["label"].cast(pl.String).to_list()) if "label" in table.columns else None,
        found[best],
        _clusters(table, stored.parsed.cluster_columns),
        {name: bits for name, bits in found.items() if name != best},
    )


def _rectangle(column: pl.Series, file: Path) -> NDArray[np.float64]:
    """A column of lists as (R, N)."""
    lengths = column.list.len()
    if column.null_count() or column.is_empty() or lengths.n_unique() > 1 or not lengths[0]:
        raise InputError(f"the column {column.name!r} has no bits of the same readers for each row", file=file,
                         mend=_MEND)  # fmt: skip
    found = column.explode().cast(pl.Float64).fill_null(float("nan")).to_numpy().reshape(len(column), -1).T
    if not np.isfinite(found).all():
        raise InputError(f"the column {column.name!r} has values that are no numbers", file=file, mend=_MEND)
    return found


def _clusters(table: pl.DataFrame, columns: object) -> NDArray[np.int64] | None:
    """Rows that share a value of the columns by which the report joined them, as far as they are in the table."""
    known = [name for name in columns if name in table.columns] if isinstance(columns, (list, tuple)) else []
    if not known:
        return None
    codes = {name: table[name].cast(pl.String).rank("dense").fill_null(0).cast(pl.Int64).to_numpy() for name in known}
    return cluster_rows(codes, table.height, chosen=True).codes_if_any
