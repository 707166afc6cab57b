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
from goldassay.questions.leakage.condition_evidence import READER_BITS

if TYPE_CHECKING:
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
    table = pl.read_parquet(file)
    parts = [name for name in table.columns if name.startswith(READER_BITS)]
    if not parts or "example_id" not in table.columns:
        raise InputError("the report does not say what readers of a part tell of each row", file=file, mend=_MEND)
    found = {name: np.array(table[name].to_list(), np.float64).T for name in parts}
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


def _clusters(table: pl.DataFrame, columns: object) -> NDArray[np.int64] | None:
    """Rows that share a value of the columns by which the report joined them, as far as they are in the table."""
    known = [name for name in columns if name in table.columns] if isinstance(columns, (list, tuple)) else []
    if not known:
        return None
    codes = {name: table[name].cast(pl.String).rank("dense").fill_null(0).cast(pl.Int64).to_numpy() for name in known}
    return cluster_rows(codes, table.height, chosen=True).codes_if_any
