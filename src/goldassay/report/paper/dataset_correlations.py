"""Rank correlations between datasets as a grid (as Figure 3 of Zhou et al. 2020)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from goldassay.report.figures.instability_correlations import has_values
from goldassay.report.numbers import number
from goldassay.report.outline import mapping, records
from goldassay.report.paper.style import DIVERGING, color_bar, literal, slug, square_figure, width_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from matplotlib.figure import Figure

# In more columns than these a value is wider than its cell.
_MOST_WRITTEN = 9


def figures_of(document: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """One figure a model, over checkpoints and over final scores."""
    grids = [each for each in records(mapping(document, "instability").get("correlations")) if has_values(each)]
    models = {str(each.get("model")) for each in grids}
    for each in grids:
        of = "" if len(models) == 1 else f"-{slug(each.get('model'))}"
        yield f"dataset-correlations{of}-over-{slug(each.get('over'))}", partial(_draw, each)


def _draw(each: Mapping[str, Any]) -> Figure:
    names = [literal(name) for name in each["names"]]
    size = len(names)
    values = [[float("nan") if number(v) is None else float(v) for v in row] for row in each["values"]]
    longest = width_of(names, 6.5) + 0.1
    # Names below stand at 45 degrees.
    figure, axes, place = square_figure(0.42 * size, longest, 0.75 * longest + 0.05)
    image = axes.imshow(values, cmap=DIVERGING, vmin=-1, vmax=1)
    axes.set_xticks(range(size), names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(size), names)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for i, row in enumerate(values if size <= _MOST_WRITTEN else ()):
        for j, value in enumerate(row):
            if value == value:
                color = "white" if abs(value) > 0.6 else "black"
                axes.text(j, i, f"{value:.2f}".replace("-", "−"), ha="center", va="center", fontsize=6, color=color)
    color_bar(figure, image, place)
    return figure
