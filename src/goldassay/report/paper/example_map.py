"""Rank correlations between examples, group by group (as Figure 4 of Zhou et al. 2020)."""

from __future__ import annotations

import base64
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Rectangle

from goldassay.report.figures.instability_map import UNDEFINED, map_size
from goldassay.report.numbers import number
from goldassay.report.outline import mapping, records
from goldassay.report.paper.style import DIVERGING, MUTED, WIDTH, color_bar, literal, slug, square_figure, width_of
from goldassay.report.sections.instability import row_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from matplotlib.figure import Figure

# Group names closer than this share of the map would run into each other.
_APART = 0.048
# Size of the groups' names.
_NAMES = 5.5


def figures_of(document: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """One figure a map."""
    for each in records(mapping(document, "instability").get("maps")):
        size = map_size(each)
        if size:
            yield f"example-map-{slug(row_name(each))}", partial(_draw, each, size)


def _draw(each: Mapping[str, Any], size: int) -> Figure:
    raw = np.frombuffer(base64.b64decode(str(each["values"])), np.int8).reshape(size, size)
    values = np.where(raw == UNDEFINED, np.nan, raw / 100.0)
    groups = records(each.get("groups"))
    shown = [literal(group.get("group")) for group in groups]
    left = width_of(shown, _NAMES) + 0.1 if shown else 0.2
    figure, axes, place = square_figure(WIDTH, left, 0.05)
    image = axes.imshow(values, cmap=DIVERGING, vmin=-1, vmax=1, interpolation="nearest", aspect="equal")
    start, written = 0.0, -float(size)
    ticks, names = [], []
    for group in groups:
        wide = number(group.get("n_examples")) or 0
        middle = start + wide / 2
        block = Rectangle((start - 0.5, start - 0.5), wide, wide, fill=False, edgecolor=MUTED, linewidth=0.4)
        axes.add_patch(block)
        if middle - written >= _APART * size:
            ticks.append(middle - 0.5)
            names.append(literal(group.get("group")))
            written = middle
        start += wide
    axes.set_yticks(ticks, names, fontsize=_NAMES)
    axes.set_xticks([])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set(visible=True, linewidth=0.4)
    if not names:
        axes.set_ylabel("examples", labelpad=2)
    color_bar(figure, image, place)
    return figure
