"""The patterns that a report keeps, for a comparison of two reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.listings import WORTH, Listed, Listing, declare_listing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_SCHEMA = {"pattern": pl.String, "label": pl.String, "support": pl.Int64, "probability": pl.Float64}
# `artifacts mine` keeps all that it counted in patterns.parquet, and what the audit keeps in findings.parquet.
_FILES = ("tables/patterns.parquet", "findings.parquet")


def read_kept_patterns(document: Mapping[str, Any], folder: Path) -> Listed | None:
    """All kept patterns, from the table next to the report or from the points of its picture, and the strongest.

    A table or picture counts as complete where it has exactly as many patterns as the report says were kept.
    """
    section = document.get("artifacts") or {}
    if "strongest" not in section:
        return None
    candidates = (_table(folder), _points(section))
    kept = next((each for each in candidates if each is not None and each.height == section.get("n_selected")), None)
    strongest = _plain([{**row, "label": label} for label, rows in section["strongest"].items() for row in rows])
    prior = section.get("prior") or {}
    return Listed(None if kept is None else _with_worth(kept, prior), _with_worth(strongest, prior))


declare_listing(Listing("patterns", "pattern", "label", ("support", "probability"), read_kept_patterns))


def _table(folder: Path) -> pl.DataFrame | None:
    from polars.exceptions import PolarsError

    for place in _FILES:
        try:
            return _plain(pl.read_parquet(folder / place).select(list(_SCHEMA)).to_dicts())
        except (OSError, PolarsError):
            continue
    return None


def _points(section: Mapping[str, Any]) -> pl.DataFrame | None:
    threshold = (section.get("settings") or {}).get("threshold")
    if not isinstance(threshold, float):
        return None
    return _plain([row for row in section.get("scatter") or () if (row.get("probability") or 0.0) > threshold])


def _plain(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    table = pl.DataFrame([{name: row.get(name) for name in _SCHEMA} for row in rows], schema=_SCHEMA)
    return table.unique("pattern", keep="first", maintain_order=True)


def _with_worth(table: pl.DataFrame, prior: Mapping[str, float]) -> pl.DataFrame:
    """How many more examples have the pattern's label than chance gives."""
    expected = [float(prior.get(label) or 0.0) for label in table["label"].to_list()]
    share = pl.col("probability") - pl.Series(expected, dtype=pl.Float64)
    return table.with_columns((pl.col("support") * share).alias(WORTH))
