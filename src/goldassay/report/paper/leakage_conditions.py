"""Accuracy from each part of the input, with its interval, against always naming the commonest label."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import number, points
from goldassay.report.outline import mapping, records
from goldassay.report.paper.style import BLUE, MUTED, literal, new_figure, quiet_grid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from matplotlib.figure import Figure


def figures_of(document: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """One figure of all conditions; an audit has them too, but is no report on leakage alone."""
    found = mapping(document, "leakage")
    rows = [row for row in records(found.get("conditions")) if number(row.get("accuracy")) is not None]
    if rows and found.get("source"):
        yield "conditions", partial(_draw, rows)


def _draw(rows: list[Mapping[str, Any]]) -> Figure:
    figure, (axes,) = new_figure(max(1.0, 0.6 + 0.19 * len(rows)))
    quiet_grid(axes, "x")
    for place, row in enumerate(rows):
        low, high = number(row.get("accuracy_low")), number(row.get("accuracy_high"))
        if low is not None and high is not None:
            axes.plot([100 * low, 100 * high], [place, place], color=BLUE, linewidth=1.0)
        axes.plot(
            100 * row["accuracy"], place, marker="o", markersize=4, color=BLUE, markeredgecolor="white",
            markeredgewidth=0.4,
        )  # fmt: skip
    majority = number(rows[0].get("majority"))
    if majority is not None:
        axes.axvline(100 * majority, color=MUTED, linewidth=0.8, linestyle=(0, (3, 2)), zorder=0)
        axes.set_title(f"dashed: majority, {points(majority)}", fontsize=6.5, color=MUTED, loc="right")
    axes.set_yticks(range(len(rows)), [literal(row.get("condition")) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("accuracy (points)")
    return figure
