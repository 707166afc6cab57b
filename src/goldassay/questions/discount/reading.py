"""What readers of a part of the input tell of each row, out of an audit's report."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.clusters import cluster_rows
from goldassay.core.documents import mapping
from goldassay.core.errors import InputError
from goldassay.gate.reading import read_report
from goldassay.gate.report_tables import NAME, NUMBERS, read_table
from goldassay.questions.leakage.condition_evidence import READER_BITS

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_MEND = "make the report again with goldassay audit or goldassay leakage measure"


@dataclass(frozen=True)
class ShortcutBits:
    """What the readers of one part tell.

    Attributes:
        path: Of the report.
        title: Likewise.
        part: Such as "hypothesis": the part that tells most bits.
        ids: Of the rows, (N,).
        labels: Their gold labels, (N,) text; None where the report does not have them.
        bits: Of each reader, (R, N).
        clusters: What rows share, by the report's rule, (N,); None where each counts by itself.
    """

    path: str
    title: str
    part: str
    ids: tuple[str, ...]
    labels: tuple[str, ...] | None
    bits: NDArray[np.float64]
    clusters: NDArray[np.int64] | None


def read_bits(report: str | os.PathLike[str]) -> ShortcutBits:
    """Read the bits of the part that tells most, from a report's folder.

    Raises:
        InputError: It is no report, or has no readers of a part.
    """
    stored = read_report(report)
    file = stored.folder / "tables" / "examples.parquet"
    if not file.is_file():
        raise InputError("the report has no table of examples", file=file, mend=_MEND)
    table = read_table(file, {"example_id": NAME, "label": NAME, f"{READER_BITS}*": NUMBERS})
    parts = [name for name in table.columns if name.startswith(READER_BITS)]
    if not parts or "example_id" not in table.columns:
        raise InputError("the report does not say what readers of a part tell of each row", file=file, mend=_MEND)
    found = {name: _rectangle(table[name], file) for name in parts}
    best = max(parts, key=lambda name: float(found[name].mean()))
    return ShortcutBits(
        os.fspath(report),
        stored.title,
        best.removeprefix(READER_BITS).removesuffix("_only"),
        tuple(table["example_id"].cast(pl.String).to_list()),
        tuple(table["label"].cast(pl.String).to_list()) if "label" in table.columns else None,
        found[best],
        _clusters(table, mapping(stored.document, "clusters").get("columns") or ()),
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
