"""Intervals of differences on one and the same test set, from the tables that lie beside two audits.

An audit's `tables/examples.parquet` has a row a test example: its class by pattern, and the share of seeds that were
right of it. With both, what the examples have in common falls out of the difference, which the reports cannot do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.intervals import Interval
from goldassay.places import under

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.report.reading import StoredReport
    from goldassay.studies.diff.figures import Measured

_CLASSES = {"easy": ("easy",), "hard": ("hard",), "covered": ("easy", "hard", "conflicting")}
# How far a table's mean may lie from the report's figure and still be the same: both are sums of the same numbers.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Examples:
    """The test examples of two audits, in one order."""

    before: pl.DataFrame
    after: pl.DataFrame

    def interval(self, one: Measured, other: Measured, level: float = 0.95) -> Interval | None:
        """The paired interval of other - one; None where the tables do not hold it.

        d_i is the difference at example i, of N. The variance of its mean is Var(d)/N, to which the seeds' noise is
        added, sd²/R of each side; the quantile is Student's with Satterthwaite's degrees of freedom. Seeds' noise that
        is each example's own is counted twice, which makes the interval rather too wide.

        Source: Satterthwaite 1946, "An approximate distribution of estimates of variance components".
        """
        from scipy.special import stdtrit

        values = [self._values(table, each) for table, each in ((self.before, one), (self.after, other))]
        if values[0] is None or values[1] is None:
            return None
        difference = values[1] - values[0]
        n = difference.size
        if n < 2 or abs(float(difference.mean()) - (other.value - one.value)) > _ROUNDING:
            return None
        parts = [(float(difference.var(ddof=1)) / n, n - 1)]
        if one.measure.paired_by == "right":
            sides = [(each.row.get("sd"), each.row.get("n_runs")) for each in (one, other)]
            for sd, runs in sides:
                if not isinstance(sd, (int, float)) or not isinstance(runs, int) or runs < 2:
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

    @staticmethod
    def _values(table: pl.DataFrame, figure: Measured) -> NDArray[np.float64] | None:
        by = figure.measure.paired_by
        if by in _CLASSES:
            return table["difficulty"].is_in(_CLASSES[by]).to_numpy().astype(np.float64)
        column = f"right_{figure.of.get('condition')}"
        if by == "right" and column in table.columns:
            return table[column].to_numpy().astype(np.float64)
        return None


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
    return Examples(one, other)


def _test_files(report: StoredReport) -> list[str]:
    return [digest for each in report.document["inputs"] if each["role"] == "test" for digest in each["sha256"]]


def _table(report: StoredReport) -> pl.DataFrame | None:
    from polars.exceptions import PolarsError

    try:
        table = pl.read_parquet(report.folder / "tables" / "examples.parquet")
    except (OSError, PolarsError):
        return None
    if not {"example_id", "difficulty"} <= set(table.columns):
        return None
    # A table that was left by another audit must not speak for this one.
    easy = under(report.document, "artifacts.difficulty.easy.share")
    share = float((table["difficulty"] == "easy").to_numpy().mean()) if table.height else math.nan
    return table if isinstance(easy, (int, float)) and abs(share - easy) <= _ROUNDING else None
