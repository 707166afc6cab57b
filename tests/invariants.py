"""What holds of every report that was measured; `tests/conftest.py` holds each report that a test makes to it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goldassay.core.figures import Figure, declared
from goldassay.questions.shift.result import METRIC_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goldassay.core.sections import Column, Table
    from goldassay.report.report import Report

# Sums of thousands of scores are off by less.
NEAR = 1e-9
EVERYTHING = (-math.inf, math.inf)
# Between which numbers lie figures of a unit, unless their measure says so, and cells of a kind, which may be of two
# scores.
UNITS = {"share": (0, 1), "points": (-1, 1), "examples": (0, math.inf), "runs": (0, math.inf)}
KINDS = {"points": (-1, 1), "difference": (-1, 1), "percent": (-1, 1), "probability": (0, 1), "count": (0, math.inf)}
# Titles of columns with ratios that are shown as shares, and with what has no greatest value.
UNBOUNDED = {
    "share recovered", "share of variance", "between, of the total", "lost above the floor",
    "lost, each above its own floor", "relative gap", "earned on the third that is given away most",
    "smallest difference found", "points gained per bit of it", "recovered", "accuracy skill", "balanced skill",
    "information share", "score above it", "could be shown",
}  # fmt: skip
# What is lost may be many times what could be gained, and a floor may lie below zero.
UNBOUNDED_MEASURES = ("accuracy_skill", "balanced_skill", "information_share", "decisive_gain")
UNBOUNDED_STARTS = ("shift.excess", "shift.relative")
# A correlation has twice the range of a share, and so has what is lost of one; names in figures and on pages.
CORRELATIONS = {name: METRIC_NAMES[name] for name in ("pearson", "spearman")}
# Draws of examples with repetitions have a larger AUPR than the examples, which lies below all of few draws.
UNORDERED = ("AUPR", "AUPR, own positive")
# Fields of a row that are parts of its `n_examples`.
PARTS = ("n_always_right", "n_always_wrong", "varying", "n_constant")


def broken(report: Report) -> Iterator[str]:
    """What does not hold of a report, a line each; of a document without typed answers nothing is said."""
    if not report.document.get("timing", {}).get("seconds"):
        # Made up by a test: nothing was measured.
        return
    for row in (report.document.get("figures") or ()) if report.answers else ():
        figure = Figure.from_dict(row)
        named = f"{figure.id} of {dict(figure.of)}"
        if not figure.is_defined and not figure.reason:
            yield f"{named} is undefined without a reason"
        wide = figure.id.endswith(UNBOUNDED_MEASURES) or figure.id.startswith(UNBOUNDED_STARTS)
        least, most = EVERYTHING if wide else UNITS.get(figure.unit, EVERYTHING)
        if figure.id.startswith("shift.gap") and dict(figure.of).get("metric") in CORRELATIONS:
            least, most = 2 * least, 2 * most
        for measure in (each for each in declared() if each.id == figure.id):
            least = least if measure.least is None else measure.least
            most = most if measure.most is None else measure.most
        yield from _disordered(named, (least, most), figure.value, figure.low, figure.high)
    shown = [part.table for section in report.sections for part in section.parts if part.table is not None]
    for table in shown:
        for row in table.rows:
            for column in table.columns:
                yield from _cell(table, column, row)
            whole = row.get("n_examples")
            for part in PARTS if isinstance(whole, (int, float)) else ():
                if isinstance(row.get(part), (int, float)) and row[part] > whole:
                    yield f"{table.caption}: {part} is {row[part]} of {whole}"


def _cell(table: Table, column: Column, row: Any) -> Iterator[str]:
    ends = [row.get(key) if key else None for key in (column.key, column.low, column.high)]
    numbers = [float(end) if isinstance(end, (int, float)) else math.nan for end in ends]
    bounds = EVERYTHING if column.title in UNBOUNDED else KINDS.get(column.kind, EVERYTHING)
    if column.key == "gap" and row.get("metric") in CORRELATIONS.values():
        bounds = 2 * bounds[0], 2 * bounds[1]
    if column.title in UNORDERED:
        numbers = [numbers[0], math.nan, math.nan]
    yield from _disordered(f"{table.caption}: {column.title}", bounds, *numbers)


def _disordered(named: str, bounds: tuple[float, float], value: float, low: float, high: float) -> Iterator[str]:
    """Whether low <= value <= high, all within bounds; NaN, for what is not there, compares as false."""
    if low > value + NEAR or high < value - NEAR or low > high + NEAR:
        yield f"{named}: {value} is not from {low} to {high}"
    for each in (value, low, high):
        if each < bounds[0] - NEAR or each > bounds[1] + NEAR:
            yield f"{named}: {each} is not from {bounds[0]} to {bounds[1]}"
