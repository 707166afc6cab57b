"""Over datasets: each measure against another, a mark a part (as Figures 2 and 5 to 7 of Saxon et al. 2023)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from goldassay.report.figures.labels import place_names
from goldassay.report.figures.leakage_datasets import EQUAL, told
from goldassay.report.numbers import number
from goldassay.report.outline import mapping, records
from goldassay.report.paper.style import MUTED, WIDTH, literal, new_figure, quiet_grid, series, slug, width_of
from goldassay.report.sections.leakage_datasets import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Mark = tuple[Mapping[str, Any], float, float]

_HEIGHT = 2.5
_LETTERS = 5.5
# What is left of width and height for marks, in inches; the layout is made too late to place names by it.
_ROOM = (WIDTH - 0.55, _HEIGHT - 0.75)


def figures_of(document: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """A figure for each pair of measures that was correlated."""
    found = mapping(document, "leakage")
    rows = records(found.get("datasets"))
    for pair in records(found.get("correlations")):
        x, y = str(pair.get("x")), str(pair.get("y"))
        marks = [
            (row, _scaled(x, at), _scaled(y, level))
            for row in rows
            if (at := number(row.get(x))) is not None and (level := number(row.get(y))) is not None
        ]
        if marks:
            yield f"datasets-{slug(x)}-{slug(y)}", partial(_draw, pair, marks)


def _scaled(name: str, value: float) -> float:
    return value if name == "peco" else 100 * value


def _draw(pair: Mapping[str, Any], marks: list[Mark]) -> Figure:
    names = str(pair.get("x")), str(pair.get("y"))
    figure, (axes,) = new_figure(_HEIGHT)
    quiet_grid(axes, "x")
    quiet_grid(axes, "y")
    parts = list(dict.fromkeys(str(row.get("part")) for row, _, _ in marks))
    for position, part in enumerate(parts):
        color, marker = series(position)
        own = [(at, level) for row, at, level in marks if str(row.get("part")) == part]
        axes.plot(
            *zip(*own, strict=True), linestyle="none", marker=marker, markersize=4, color=color,
            markeredgecolor="white", markeredgewidth=0.4, label=literal(part),
        )  # fmt: skip
    axes.margins(0.12)
    if names == EQUAL:
        low = max(axes.get_xlim()[0], axes.get_ylim()[0])
        high = min(axes.get_xlim()[1], axes.get_ylim()[1])
        if low < high:
            axes.plot([low, high], [low, high], color=MUTED, linewidth=0.7, linestyle=(0, (3, 2)), zorder=0)
    _name(axes, marks)
    axes.set_xlabel(_axis(names[0]))
    axes.set_ylabel(_axis(names[1]))
    axes.set_title(told(pair), fontsize=7, loc="left")
    if len(parts) > 1:
        figure.legend(loc="outside upper center", ncols=3)
    return figure


def _axis(name: str) -> str:
    unit = "" if name == "peco" else " (%)" if name == "recovered" else " (points)"
    return f"{NAMES.get(name, name)}{unit}"


def _name(axes: Axes, marks: list[Mark]) -> None:
    """The datasets' names beside their marks, where there is room."""
    limits = axes.get_xlim(), axes.get_ylim()
    scales = [room / (high - low) for room, (low, high) in zip(_ROOM, limits, strict=True)]
    shown = [literal(row.get("dataset")) for row, _, _ in marks]
    middles = [
        ((at - limits[0][0]) * scales[0], (level - limits[1][0]) * scales[1]) for _, at, level in marks
    ]  # fmt: skip
    widths = [width_of([name], _LETTERS) for name in shown]
    places = place_names(middles, widths, _LETTERS / 72, 0.05, (0.0, 0.0, *_ROOM))
    for name, place in zip(shown, places, strict=True):
        if place is not None:
            at, level = (low + each / scale for each, scale, (low, _) in zip(place, scales, limits, strict=True))
            axes.text(at, level, name, fontsize=_LETTERS, color=MUTED, ha="center", va="center")
    axes.set_xlim(limits[0])
    axes.set_ylim(limits[1])
