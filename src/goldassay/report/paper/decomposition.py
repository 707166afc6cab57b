"""Where the variance over runs comes from, as bars with intervals (the values of Table 3 of Zhou et al. 2020)."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import number
from goldassay.report.outline import mapping, records
from goldassay.report.palette import LIGHT
from goldassay.report.paper.style import INK, MUTED, literal, new_figure, ordered_results, quiet_grid
from goldassay.report.sections.instability import row_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from matplotlib.figure import Figure

_PARTS = (("total", "s0"), ("independent", "s3"), ("covariance", "s4"))


def figures_of(document: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """One figure: three bars a set of runs."""
    found = mapping(document, "instability")
    rows = [row for row in ordered_results(found) if all(number(row.get(part)) is not None for part, _ in _PARTS)]
    if rows:
        yield "decomposition", partial(_draw, rows, _bounds(found))


def _bounds(found: Mapping[str, Any]) -> dict[tuple[str, str], tuple[float, float]]:
    """Bounds over runs of each part, by the row's name and the part."""
    bounds = {}
    for each in records(found.get("intervals")):
        for row in records(each.get("figures")):
            low, high = number(row.get("runs_low")), number(row.get("runs_high"))
            if low is not None and high is not None:
                bounds[row_name(each), str(row.get("figure"))] = (low, high)
    return bounds


def signed_root(variance: float) -> float:
    """The root of a variance in points, with the sign of what it is of."""
    return math.copysign(100 * math.sqrt(abs(variance)), variance)


def _draw(rows: list[Mapping[str, Any]], bounds: Mapping[tuple[str, str], tuple[float, float]]) -> Figure:
    figure, (axes,) = new_figure(max(1.3, 0.6 + 0.36 * len(rows)))
    quiet_grid(axes, "x")
    for place, row in enumerate(rows):
        for position, (part, color) in enumerate(_PARTS):
            y = place + (position - 1) * 0.26
            root = signed_root(row[part])
            axes.barh(y, root, height=0.24, color=LIGHT[color], label=part if place == 0 else None)
            if (row_name(row), part) in bounds:
                ends = [signed_root(bound) for bound in bounds[row_name(row), part]]
                axes.plot(ends, [y, y], color=INK, linewidth=0.7, solid_capstyle="butt")
    axes.axvline(0, color=MUTED, linewidth=0.6)
    axes.set_yticks(range(len(rows)), [literal(row_name(row)) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("signed standard deviation (points)")
    figure.legend(loc="outside upper center", ncols=3)
    return figure
