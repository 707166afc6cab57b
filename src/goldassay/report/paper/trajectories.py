"""Scores over training: mean, band of one standard deviation, one run (as Figure 1 of Zhou et al. 2020)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import number
from goldassay.report.outline import mapping, records
from goldassay.report.palette import N_SERIES
from goldassay.report.paper.style import literal, new_figure, quiet_grid, series, slug

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from matplotlib.figure import Figure

_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))


def figures_of(document: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """One figure a model and condition; more datasets than there are colors go to further ones."""
    kin: dict[str, list[Mapping[str, Any]]] = {}
    for each in records(mapping(document, "instability").get("trajectories")):
        if len(_steps(each)) > 1:
            kin.setdefault(f"{each.get('model')} {each.get('condition')}", []).append(each)
    for model, entries in kin.items():
        for start in range(0, len(entries), N_SERIES):
            name = "trajectories" if len(kin) == 1 else f"trajectories-{slug(model)}"
            yield (
                name if start == 0 else f"{name}-{start // N_SERIES + 1}",
                partial(_draw, entries[start : start + N_SERIES]),
            )


def _steps(each: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [step for step in records(each.get("points")) if number(step.get("mean")) is not None]


def _draw(entries: list[Mapping[str, Any]]) -> Figure:
    figure, (axes,) = new_figure(2.2)
    quiet_grid(axes, "y")
    for position, each in enumerate(entries):
        steps = _steps(each)
        named = [number(step.get("t")) for step in steps]
        places = [float(i) if None in named else float(t or 0) for i, t in enumerate(named)]
        color, _ = series(position)

        def points(key: str, steps: list[Mapping[str, Any]] = steps) -> list[float]:
            values = (number(step.get(key)) for step in steps)
            return [float("nan") if value is None else 100 * value for value in values]

        axes.fill_between(places, points("low"), points("high"), color=color, alpha=0.16, linewidth=0)
        axes.plot(places, points("run"), color=color, linewidth=0.5, alpha=0.8)
        axes.plot(
            places, points("mean"), color=color, linewidth=1.2, linestyle=_LINES[position],
            label=literal(each.get("dataset")),
        )  # fmt: skip
    axes.set_xlabel("checkpoint")
    axes.set_ylabel("score (points)")
    axes.margins(x=0.01)
    figure.legend(loc="outside upper center", ncols=3)
    return figure
