"""The sentences on the plane by label, clusters that lean to one outlined (as Figure 1 of Saxon et al. 2023)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Polygon

from goldassay.report.figures.leakage_map import EXTENT, divergence_of, points_of
from goldassay.report.numbers import number
from goldassay.report.outline import mapping, records
from goldassay.report.palette import LIGHT, N_SERIES
from goldassay.report.paper.style import INK, literal, new_figure, slug

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from matplotlib.figure import Figure

    from goldassay.report.figures.leakage_map import Points

_HEIGHT = 3.3


def figures_of(document: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """The map, if there is one."""
    found = mapping(document, "leakage", "map")
    points = points_of(found)
    if points is not None:
        yield f"sentence-map-{slug(found.get('role'))}", partial(_draw, found, points)


def _draw(found: Mapping[str, Any], points: Points) -> Figure:
    figure, (axes,) = new_figure(_HEIGHT)
    x, y, labels = (np.array(values) for values in (points.x, points.y, points.labels))
    names = [str(name) for name in found.get("label_names") or ()]
    for series in np.unique(labels):
        inside = labels == series
        # Thousands of marks as shapes would make the file as large as a dataset.
        axes.scatter(
            x[inside], y[inside], s=1.4, color=LIGHT[f"s{series % N_SERIES}"], alpha=0.6, linewidths=0, rasterized=True,
            label=literal(names[series]) if series < len(names) else None,
        )  # fmt: skip
    threshold = number(found.get("threshold")) or 0.0
    for each in records(found.get("outlines")):
        corners = np.array(each.get("points") or [])
        if len(corners) < 3:
            continue
        biased = divergence_of(found, int(each.get("cluster") or 0)) > threshold
        style = "-" if biased else (0, (1, 1.5))
        axes.add_patch(Polygon(corners, fill=False, edgecolor=INK, linewidth=0.8 if biased else 0.5, linestyle=style))
    axes.set_xlim(-40, EXTENT + 40)
    axes.set_ylim(-40, EXTENT + 40)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(visible=True, linewidth=0.4)
    figure.legend(loc="outside upper center", ncols=3, markerscale=4)
    return figure
