"""Patterns that went and patterns that came, from the fullest list that both reports have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.places import under
from goldassay.report.outline import records

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.report.reading import StoredReport

_COLUMNS = ("pattern", "label", "support", "probability")


@dataclass(frozen=True)
class PatternChange:
    """What became of the patterns that give a label away.

    Attributes:
        source: What was compared, as a sentence.
        n_before: Patterns of the first report.
        n_after: Patterns of the second.
        gone: Only in the first: pattern, label, support, probability; the most telling first.
        new: Only in the second.
        turned: In both, with another label: as in the second, with label_before.
        stayed: In both, with the same label: as in the second, with support_before and probability_before.
    """

    source: str
    n_before: int
    n_after: int
    gone: pl.DataFrame
    new: pl.DataFrame
    turned: pl.DataFrame
    stayed: pl.DataFrame


def compare_patterns(before: StoredReport, after: StoredReport) -> PatternChange | None:
    """Lay the kept patterns of two reports side by side; None where one of them has none to show.

    All kept patterns are taken where both reports have them, in the table beside the page or in the picture's points;
    else the strongest of each label, which are in every report: what is gone then may just have lost its rank.
    """
    sections = [under(report.document, "artifacts") for report in (before, after)]
    if not all(isinstance(section, dict) and "strongest" in section for section in sections):
        return None
    full = [_kept(report, section) for report, section in zip((before, after), sections, strict=True)]
    if full[0] is not None and full[1] is not None:
        one, other = full[0], full[1]
        source = "All patterns that were kept are compared."
    else:
        one, other = (_strongest(section) for section in sections)
        source = (
            "Only the strongest patterns of each label are compared: the tables of all are not beside both reports. "
            "A pattern that is gone may just rank lower."
        )
    both = other.join(one, on="pattern", how="inner", suffix="_before")
    return PatternChange(
        source=source,
        n_before=one.height,
        n_after=other.height,
        gone=_ranked(one.join(other, on="pattern", how="anti"), sections[0]),
        new=_ranked(other.join(one, on="pattern", how="anti"), sections[1]),
        turned=_ranked(both.filter(pl.col("label") != pl.col("label_before")), sections[1]),
        stayed=_ranked(both.filter(pl.col("label") == pl.col("label_before")).drop("label_before"), sections[1]),
    )


def _kept(report: StoredReport, section: Mapping[str, Any]) -> pl.DataFrame | None:
    """Every pattern that was kept, or None where neither table nor picture has exactly so many."""
    n = section.get("n_selected")
    for table in (_table(report), _points(section)):
        if table is not None and table.height == n:
            return table
    return None


def _table(report: StoredReport) -> pl.DataFrame | None:
    from polars.exceptions import PolarsError

    # `artifacts mine` keeps all that it counted in patterns.parquet, and what the audit keeps in findings.parquet.
    for place in ("tables/patterns.parquet", "findings.parquet"):
        try:
            table = pl.read_parquet(report.folder / place)
            return _plain(table.select(_COLUMNS).to_dicts())
        except (OSError, PolarsError):
            continue
    return None


def _points(section: Mapping[str, Any]) -> pl.DataFrame | None:
    threshold = under(section, "settings.threshold")
    if not isinstance(threshold, float):
        return None
    return _plain([row for row in records(section.get("scatter")) if (row.get("probability") or 0.0) > threshold])


def _strongest(section: Mapping[str, Any]) -> pl.DataFrame:
    rows = [{**row, "label": label} for label, found in section["strongest"].items() for row in records(found)]
    return _plain(rows)


def _plain(rows: list[Any]) -> pl.DataFrame:
    schema = {"pattern": pl.String, "label": pl.String, "support": pl.Int64, "probability": pl.Float64}
    table = pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)
    return table.unique("pattern", keep="first", maintain_order=True)


def _ranked(table: pl.DataFrame, section: Mapping[str, Any]) -> pl.DataFrame:
    """The patterns that give away most first: by how many more examples have their label than chance gives."""
    prior = under(section, "prior") or {}
    expected = [float(prior.get(label) or 0.0) for label in table["label"].to_list()]
    gain = table["support"].to_numpy() * (
        table["probability"].to_numpy() - pl.Series(expected, dtype=pl.Float64).to_numpy()
    )
    return (
        table.with_columns(_gain=pl.Series(gain, dtype=pl.Float64))
        .sort("_gain", "pattern", descending=[True, False])
        .drop("_gain")
    )
