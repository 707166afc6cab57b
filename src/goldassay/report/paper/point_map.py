"""Points on a plane that is a map, with groups outlined."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Polygon

from goldassay.core.charts import MAP_EXTENT
from goldassay.report.paper.style import INK, color_of, literal, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from goldassay.core.charts import PointMap

_HEIGHT = 3.3
_MARGIN = 40


def draw(chart: PointMap) -> Figure:
    """Draw one color a series; groups with a large value are outlined in full, others dotted."""
    figure, (axes,) = new_figure(_HEIGHT)
    x, y, labels = (np.array(values) for values in (chart.x, chart.y, chart.labels))
    for number, series in enumerate(chart.series):
        inside = labels == number
        if inside.any():
            # Thousands of marks as shapes would make the file as large as a dataset.
            axes.scatter(
                x[inside], y[inside], s=1.4, color=color_of(series), alpha=0.6, linewidths=0, rasterized=True,
                label=literal(series.name) or None,
            )  # fmt: skip
    for outline in chart.outlines:
        style = "-" if outline.strong else (0, (1, 1.5))
        width = 0.8 if outline.strong else 0.5
        corners = np.array(outline.corners)
        axes.add_patch(Polygon(corners, fill=False, edgecolor=INK, linewidth=width, linestyle=style))
    axes.set_xlim(-_MARGIN, MAP_EXTENT + _MARGIN)
    axes.set_ylim(-_MARGIN, MAP_EXTENT + _MARGIN)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(visible=True, linewidth=0.4)
    figure.legend(loc="outside upper center", ncols=3, markerscale=4)
    return figure
