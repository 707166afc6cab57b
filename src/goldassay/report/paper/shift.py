"""Shift for papers: gaps, false alarms against chance, and confidence on both sides."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from goldassay.report.figures.shift_slopes import series_of
from goldassay.report.numbers import number
from goldassay.report.outline import mapping, records
from goldassay.report.paper.style import (
    BLUE,
    MUTED,
    RED,
    WIDTH,
    literal,
    new_figure,
    quiet_grid,
    series,
    slug,
    width_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from matplotlib.figure import Figure

_Pair = tuple[Any, Any]
# A legend's mark and the gap behind its name, in inches.
_MARK = 0.33


def figures_of(document: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """Slopes a pair of sets (Figs. 1 and 2), false alarms (Fig. 4), confidence a model and set (Fig. 5)."""
    found = mapping(document, "shift")
    gaps = records(found.get("generalization"))
    gaps = [row for row in gaps if row.get("metric") == gaps[0].get("metric") and number(row.get("value")) is not None]
    own = {row.get("model"): row for row in gaps if row.get("own") is True}
    pairs: dict[_Pair, list[_Pair]] = {}
    for row in gaps:
        start = own.get(row.get("model"))
        if row.get("own") is not True and start is not None:
            pairs.setdefault((start.get("test"), row.get("test")), []).append((start, row))
    for (start, end), rows in pairs.items():
        yield f"gap-{slug(start)}-{slug(end)}", partial(_slopes, rows)
    detection = records(found.get("detection"))
    detection = [row for row in detection if row.get("score") == detection[0].get("score")]
    if detection:
        yield "false-alarms", partial(_alarms, detection)
    for row in records(found.get("histograms")):
        yield f"confidence-{slug(row.get('model'))}-{slug(row.get('dataset'))}", partial(_confidence, row)


def _slopes(rows: list[_Pair]) -> Figure:
    figure, (axes,) = new_figure(1.9)
    quiet_grid(axes, "y")
    for place, (start, end) in enumerate(rows):
        color, shape = series(place)
        shift = 0.02 * (place - (len(rows) - 1) / 2)
        values = [100 * row["value"] for row in (start, end)]
        axes.plot(
            [shift, 1 + shift],
            values,
            color=color,
            marker=shape,
            markersize=4,
            linewidth=1.0,
            label=literal(series_of(end)),
        )
        for x, row in ((shift, start), (1 + shift, end)):
            if number(row.get("low")) is not None and number(row.get("high")) is not None:
                axes.plot([x, x], [100 * row["low"], 100 * row["high"]], color=color, linewidth=0.7)
    axes.set_xticks([0, 1], [literal(rows[0][0].get("test")), literal(rows[0][1].get("test"))])
    axes.set_xlim(-0.25, 1.25)
    axes.set_ylabel(f"{literal(rows[0][0].get('metric'))} (points)")
    _name_models(figure, [series_of(end) for _, end in rows])
    return figure


def _name_models(figure: Figure, names: list[str]) -> None:
    """A legend above all, of as many columns as there is room for."""
    room = int(WIDTH / (width_of(names, 6.5) + _MARK))
    figure.legend(loc="outside upper center", ncols=max(1, min(room, len(names))))


def _alarms(rows: list[Mapping[str, Any]]) -> Figure:
    sets = list(dict.fromkeys(str(row.get("dataset")) for row in rows))
    models = list(dict.fromkeys(str(row.get("model")) for row in rows))
    figure, (axes,) = new_figure(max(1.4, 0.5 + 0.14 * len(rows) + 0.08 * len(sets)))
    quiet_grid(axes, "x")
    high = 0.8 / len(models)
    for row in rows:
        place = models.index(str(row.get("model")))
        y = sets.index(str(row.get("dataset"))) + high * (place - (len(models) - 1) / 2)
        rate = 100 * row["false_alarm_rate"]
        color, _ = series(place)
        axes.barh(
            y,
            rate,
            height=0.9 * high,
            color=color,
            label=literal(models[place]) if row.get("dataset") == sets[0] else None,
        )
        low, top = number(row.get("false_alarm_rate_low")), number(row.get("false_alarm_rate_high"))
        if low is not None and top is not None:
            axes.plot([100 * low, 100 * top], [y, y], color="black", linewidth=0.7)
    axes.axvline(100 * rows[0]["false_alarm_rate_chance"], color=MUTED, linewidth=0.9, linestyle="--")
    axes.set_yticks(range(len(sets)), [literal(name) for name in sets])
    axes.set_ylim(len(sets) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("own texts flagged (%), chance dashed")
    if len(models) > 1:
        _name_models(figure, models)
    return figure


def _confidence(row: Mapping[str, Any]) -> Figure:
    figure, (axes,) = new_figure(1.5)
    edges = [100 * edge for edge in row["edges"]]
    axes.stairs([100 * share for share in row["share_in"]], edges, fill=True, color=BLUE, alpha=0.3, label="own")
    axes.stairs(
        [100 * share for share in row["share_out"]], edges, color=RED, linewidth=1.0, label=literal(row.get("dataset"))
    )
    axes.set_xlabel("confidence (%)")
    axes.set_ylabel("texts (%)")
    axes.set_xlim(edges[0], edges[-1])
    axes.legend(loc="upper left")
    return figure
