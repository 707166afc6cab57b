"""Differences between models with their intervals, against zero."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import number
from goldassay.report.outline import mapping, records
from goldassay.report.paper.style import BLUE, MUTED, WIDTH, literal, new_figure, quiet_grid, width_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from matplotlib.figure import Figure


def figures_of(document: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """One figure: a row a pair, filled where the two are told apart."""
    pairs = records(mapping(document, "comparison").get("pairs"))
    rows = [pair for pair in pairs if all(number(pair.get(key)) is not None for key in ("difference", "low", "high"))]
    if rows:
        yield "differences", partial(_draw, rows)


def _draw(rows: list[Mapping[str, Any]]) -> Figure:
    names = [f"{literal(row.get('a'))} − {literal(row.get('b'))}" for row in rows]
    # Names that would leave too little of the width stand on two lines.
    if broken := width_of(names, 6.5) > 0.45 * WIDTH:
        names = [name.replace(" − ", " −\n", 1) for name in names]
    figure, (axes,) = new_figure(max(1.0, 0.5 + (0.26 if broken else 0.17) * len(rows)))
    quiet_grid(axes, "x")
    axes.axvline(0, color=MUTED, linewidth=0.8)
    for place, row in enumerate(rows):
        told = bool(row.get("told_apart"))
        axes.plot([100 * row["low"], 100 * row["high"]], [place, place], color=BLUE, linewidth=1.0)
        axes.plot(
            100 * row["difference"], place, marker="o", markersize=4, color=BLUE,
            markerfacecolor=BLUE if told else "white", markeredgewidth=0.9,
        )  # fmt: skip
    axes.set_yticks(range(len(rows)), names)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("difference (points)")
    return figure
