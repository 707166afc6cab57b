"""The final score of every run, by dataset and model (as Figure 2 of Zhou et al. 2020)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import number
from goldassay.report.outline import mapping
from goldassay.report.paper.style import literal, new_figure, ordered_results, quiet_grid, series

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from matplotlib.figure import Figure


def figures_of(document: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """One figure of all datasets and models."""
    rows = [row for row in ordered_results(mapping(document, "instability")) if _accuracies(row)]
    if rows:
        yield "scores", partial(_draw, rows)


def _accuracies(row: Mapping[str, Any]) -> list[float]:
    return [100 * a for a in map(number, row.get("accuracies") or ()) if a is not None]


def _draw(rows: list[Mapping[str, Any]]) -> Figure:
    datasets = list(dict.fromkeys(str(row.get("dataset")) for row in rows))
    models = list(dict.fromkeys(str(row.get("model")) for row in rows))
    slots = len(datasets) * len(models)
    figure, (axes,) = new_figure(max(1.3, 0.55 + 0.13 * slots + 0.1 * len(datasets)))
    quiet_grid(axes, "x")
    step = 0.8 / len(models)
    named: set[str] = set()
    for row in rows:
        model = models.index(str(row.get("model")))
        place = datasets.index(str(row.get("dataset"))) + (model - (len(models) - 1) / 2) * step
        color, marker = series(model)
        values = _accuracies(row)
        axes.plot([min(values), max(values)], [place, place], color=color, linewidth=0.7, alpha=0.6)
        label = None if models[model] in named else literal(models[model])
        axes.plot(
            values, [place] * len(values), linestyle="none", marker=marker, markersize=3.4, color=color, alpha=0.75,
            markeredgecolor="white", markeredgewidth=0.3, label=label,
        )  # fmt: skip
        named.add(models[model])
    axes.set_yticks(range(len(datasets)), [literal(name) for name in datasets])
    axes.set_ylim(len(datasets) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("score of a run (points)")
    if len(models) > 1:
        figure.legend(loc="outside upper center", ncols=min(len(models), 3))
    return figure
