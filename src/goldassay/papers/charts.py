"""Charts of a study: our figures against the printed ones, differences from a baseline, and what overlaps with what."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.charts import (
    Axis,
    Chart,
    Dot,
    DotGroup,
    DotRow,
    Dots,
    Grid,
    Matrix,
    MatrixCell,
    Panel,
    Plot,
    Point,
    Rule,
    Trace,
    between,
    numbered_series,
)
from goldassay.core.documents import records
from goldassay.core.numbers import bounds, decimal, number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goldassay.report import Report

    Cell = Mapping[str, Any]

# Of fewer cells no scatter is drawn; of more names the last share a mark.
_FEWEST, _MOST_NAMES = 4, 6
# A ratio this far from one, or its inverse, has the full color.
_FULL = 3.0


def charts(document: Mapping[str, Any], reports: Mapping[str, Report]) -> dict[str, Chart]:
    """The charts of the study's comparisons, and those that it shows of its reports."""
    found: dict[str, Chart] = {}
    for comparison in records(document.get("comparisons")):
        build = _BUILDERS.get(str(comparison.get("drawn")))
        chart = build(comparison) if build is not None else None
        if chart is not None:
            name = f"{comparison.get('drawn')}_{comparison.get('name')}"
            found[name] = replace(chart, name=name)
    for row in records(document.get("shown")):
        report = reports.get(str(row.get("report")))
        chart = report.charts.get(str(row.get("figure"))) if report is not None else None
        if chart is not None:
            name = f"{row.get('report')}_{chart.name}"
            found[name] = replace(chart, name=name, title=str(row.get("title")))
    return found


def _first_keys(comparison: Cell) -> tuple[str, str]:
    down, across = (str((comparison.get(key) or ("",))[0]) for key in ("rows", "columns"))
    return down, across


def _printed(comparison: Cell) -> Chart | None:
    """A mark a cell that is printed and that we have."""
    pairs = [
        (cell, known)
        for cell in records(comparison.get("cells"))
        if (known := between(number(cell.get("printed")), number(cell.get("ours")))) is not None
    ]
    if len(pairs) < _FEWEST:
        return None
    down = _first_keys(comparison)[0]
    names = list(dict.fromkeys(str(cell.get(down)) for cell, _ in pairs))[:_MOST_NAMES]
    labels = (*(comparison.get("rows") or ()), *(comparison.get("columns") or ()))
    digits = int(number(comparison.get("digits")) or 0)
    traces: dict[int, list[Point]] = {}
    for cell, (printed, ours) in pairs:
        name = str(cell.get(down))
        label = " · ".join(str(cell[key]) for key in labels)
        hover = f"{label}: printed {decimal(printed, digits)}, ours {decimal(ours, digits)}"
        low, high = _ends(cell, ours)
        point = Point(printed, ours, hover, low, high, hollow=bool(cell.get("doubted")))
        traces.setdefault(names.index(name) if name in names else len(names), []).append(point)
    values = [
        value for points in traces.values() for p in points for value in (p.x, p.y, p.low, p.high) if value is not None
    ]
    pad = 0.05 * (max(values) - min(values)) or 0.5
    low, high = min(values) - pad, max(values) + pad
    ticks = 0 if high - low > 5 else 2
    panel = Panel(
        "",
        tuple(Trace(tuple(points), series, whisker=True) for series, points in traces.items()),
        Axis("printed", "number", ticks, low, high),
        Axis("ours", "number", ticks, low, high),
        (Rule(across="diagonal"),),
    )
    return Plot(
        name="",
        title=f"{comparison.get('title')}: ours against printed",
        caption="One mark a cell that is printed and that we have: the paper's figure across, ours up, with our "
        "interval, or one standard deviation over runs to either side. On the diagonal both are the same; hollow marks "
        "are cells that the paper itself contradicts.",
        panels=(panel,),
        series=numbered_series([*names, "others"][: max(traces) + 1]),
        height=320,
        legend="marks" if len(names) > 1 else None,
    )


def _ends(cell: Cell, ours: float) -> tuple[float | None, float | None]:
    low, high, sd = (number(cell.get(key)) for key in ("low", "high", "sd"))
    if low is None or high is None:
        return (None, None) if sd is None else (ours - sd, ours + sd)
    return low, high


def _differences(comparison: Cell) -> Chart | None:
    """A group a measure, in it a dot with an interval for each way of training."""
    down, across = _first_keys(comparison)
    cells = [
        (cell, known)
        for cell in records(comparison.get("cells"))
        if (known := between(*(number(cell.get(key)) for key in ("ours", "low", "high")))) is not None
    ]
    if not cells:
        return None
    names = list(dict.fromkeys(str(cell.get(across)) for cell, _ in cells))
    groups: dict[str, list[DotRow]] = {}
    for cell, (ours, low, high) in cells:
        measure = str(cell.get(down))
        hover = f"{measure}: {decimal(ours, 1)} {bounds(low, high, 1, 1.0)}"
        dot = Dot(ours, hover, names.index(str(cell.get(across))), low, high)
        groups.setdefault(measure, []).append(DotRow((dot,)))
    return Dots(
        name="",
        title=str(comparison.get("title")),
        caption="The difference from plain training in points, with its 95 % interval: a block a measure, a mark a way "
        "of training. An interval that holds 0, the dashed line, shows no change.",
        groups=tuple(DotGroup(name, tuple(rows)) for name, rows in groups.items()),
        axis=Axis("difference (points)", "number"),
        series=numbered_series(names),
        rules=(Rule(0.0),),
    )


def _matrix(comparison: Cell) -> Chart | None:
    """A matrix of ratios, a row and a column a class."""
    down, across = _first_keys(comparison)
    known = {
        (str(cell.get(down)), str(cell.get(across))): (cell, ratio)
        for cell in records(comparison.get("cells"))
        if (ratio := number(cell.get("ours"))) is not None
    }
    rows, columns = (list(dict.fromkeys(key[i] for key in known)) for i in (0, 1))
    columns = [name for name in rows if name in columns] + [name for name in columns if name not in rows]
    if len(rows) < 2:
        return None
    cells = []
    for (row, column), (cell, ratio) in known.items():
        low, high = number(cell.get("low")), number(cell.get("high"))
        strength = math.copysign(1.0 if ratio <= 0 else min(1.0, abs(math.log(ratio)) / math.log(_FULL)), ratio - 1)
        hover = f"{row}, {column}: {decimal(ratio)} {bounds(low, high, 2, 1.0)}".rstrip()
        framed = low is not None and high is not None and not low <= 1 <= high
        cells.append(MatrixCell(rows.index(row), columns.index(column), strength, decimal(ratio, 1), hover, framed))
    return Matrix(
        name="",
        title=str(comparison.get("title")),
        caption="Blue: more often on the same example than chance would have it; red: less often; the deeper the "
        "further from once. Framed cells are those whose 95 % interval leaves once out. Empty ones were not compared.",
        grids=(Grid("", tuple(rows), tuple(columns), tuple(cells)),),
        measured="ratio to chance",
    )


_BUILDERS: dict[str, Callable[[Cell], Chart | None]] = {
    "printed": _printed,
    "differences": _differences,
    "matrix": _matrix,
}
