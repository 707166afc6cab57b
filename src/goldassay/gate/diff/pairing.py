"""Intervals of differences on one and the same test set, from the tables that lie beside two reports.

A report's `tables/examples.parquet` has a row a test example, with columns that hold its part of some measures: see
`goldassay.core.figures.Pairing`. With both tables, what the examples have in common falls out of the difference, which
the reports cannot do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.figures import measure_of
from goldassay.core.intervals import Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.core.figures import Figure, Pairing
    from goldassay.gate.reading import StoredReport

_TABLE = "tables/examples.parquet"
# How far a table's mean may lie from the report's figure and still be the same: both are sums of the same numbers.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class _Side:
    """A report and its test examples."""

    report: StoredReport
    table: pl.DataFrame

    def values(self, figure: Figure, pairing: Pairing) -> NDArray[np.float64] | None:
        """Each example's part of a figure, (N,); None where the table does not hold it."""
        column = pairing.column_of(figure)
        if column not in self.table.columns:
            return None
        held = self.table[column]
        return (held.is_in(pairing.values) if pairing.values else held).to_numpy().astype(np.float64)

    def number(self, id_: str, figure: Figure) -> float:
        """The value of the figure of another id with the same names; NaN where there is none."""
        found = (each.value for each in self.report.figures if each.id == id_ and each.of == figure.of)
        return next(found, math.nan)


@dataclass(frozen=True)
class Examples:
    """The test examples of two reports, in one order."""

    before: _Side
    after: _Side

    def interval(self, one: Figure, other: Figure, pairing: Pairing, level: float = 0.95) -> Interval | None:
        """The paired interval of other - one; None where the tables do not hold it.

        d_i is the difference at example i, of N. The variance of its mean is Var(d)/N, to which the seeds' noise is
        added, sd²/R of each side; the quantile is Student's with Satterthwaite's degrees of freedom. Seeds' noise that
        is each example's own is counted twice, which makes the interval rather too wide.

        Source: Satterthwaite 1946, "An approximate distribution of estimates of variance components".
        """
        from scipy.special import stdtrit

        sides = ((self.before, one), (self.after, other))
        values = [side.values(figure, pairing) for side, figure in sides]
        if values[0] is None or values[1] is None:
            return None
        difference = values[1] - values[0]
        n = difference.size
        if n < 2 or abs(float(difference.mean()) - (other.value - one.value)) > _ROUNDING:
            return None
        parts = [(float(difference.var(ddof=1)) / n, n - 1.0)]
        if pairing.sd:
            for side, figure in sides:
                sd, runs = side.number(pairing.sd, figure), side.number(pairing.runs, figure)
                if math.isnan(sd) or math.isnan(runs) or runs < 2:
                    return None
                parts.append((sd * sd / runs, runs - 1))
        variance = sum(part for part, _ in parts)
        if variance == 0:
            # That no example differs does not make the change known without error.
            return None
        degrees = variance**2 / sum(part**2 / df for part, df in parts)
        reach = float(stdtrit(degrees, (1 + level) / 2)) * math.sqrt(variance)
        middle = float(difference.mean())
        return Interval(middle - reach, middle + reach, level, "paired")


def shared_examples(before: StoredReport, after: StoredReport) -> Examples | None:
    """The test examples of two reports on the same test file; None where the tables or the files are not the same."""
    digests = [_test_files(report) for report in (before, after)]
    if not digests[0] or digests[0] != digests[1]:
        return None
    tables = [_table(report) for report in (before, after)]
    if tables[0] is None or tables[1] is None:
        return None
    one, other = (table.sort("example_id") for table in tables if table is not None)
    if one["example_id"].to_list() != other["example_id"].to_list() or one["example_id"].is_duplicated().any():
        return None
    return Examples(_Side(before, one), _Side(after, other))


def _test_files(report: StoredReport) -> list[str]:
    return [digest for each in report.document["inputs"] if each["role"] == "test" for digest in each["sha256"]]


def _table(report: StoredReport) -> pl.DataFrame | None:
    from polars.exceptions import PolarsError

    try:
        table = pl.read_parquet(report.folder / _TABLE)
    except (OSError, PolarsError):
        return None
    return table if "example_id" in table.columns and _fits(_Side(report, table)) else None


def _fits(side: _Side) -> bool:
    """Whether the table has the report's figures as means: one that another report left must not speak for it."""
    for figure in side.report.figures:
        measure = measure_of(figure.id)
        if measure is None or measure.pairing is None or not measure.takes(figure):
            continue
        values = side.values(figure, measure.pairing)
        told = side.number(measure.pairing.mean or figure.id, figure)
        if values is not None and not (values.size and abs(float(values.mean()) - told) <= _ROUNDING):
            return False
    return True
