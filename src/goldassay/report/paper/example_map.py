"""Rank correlations between examples, group by group (as Figure 4 of Zhou et al. 2020)."""

from __future__ import annotations

import base64
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.report.figures.instability_map import UNDEFINED, map_size
from goldassay.report.numbers import number
from goldassay.report.outline import mapping, records
from goldassay.report.paper.style import DIVERGING, MUTED, WIDTH, literal, new_figure, slug
from goldassay.report.sections.instability import row_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from matplotlib.figure import Figure

# Group names closer than this share of the map would run into each other.
_APART = 0.035


def figures_of(document: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """One figure a map."""
    for each in records(mapping(document, "instability").get("maps")):
        size = map_size(each)
        if size:
            yield f"example-map-{slug(row_name(each))}", partial(_draw, each, size)


def _draw(each: Mapping[str, Any], size: int) -> Figure:
    raw = np.frombuffer(base64.b64decode(str(each["values"])), np.int8).reshape(size, size)
    values = np.where(raw == UNDEFINED, np.nan, raw / 100.0)
    figure, (axes,) = new_figure(0.86 * WIDTH)
    image = axes.imshow(values, cmap=DIVERGING, vmin=-1, vmax=1, interpolation="nearest", aspect="equal")
    start, written = 0.0, -float(size)
    ticks, names = [], []
    for group in records(each.get("groups")):
        wide = number(group.get("n_examples")) or 0
        middle = start + wide / 2
        # Lines between groups show where the blocks lie.
        if start:
            axes.axhline(start - 0.5, color=MUTED, linewidth=0.3)
            axes.axvline(start - 0.5, color=MUTED, linewidth=0.3)
        if middle - written >= _APART * size:
            ticks.append(middle - 0.5)
            names.append(literal(group.get("group")))
            written = middle
        start += wide
    axes.set_yticks(ticks, names, fontsize=5.5)
    axes.set_xticks([])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set(visible=True, linewidth=0.4)
    if not names:
        axes.set_ylabel("examples")
    bar = figure.colorbar(image, ax=axes, shrink=0.7, pad=0.02, ticks=[-1, 0, 1])
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    return figure
