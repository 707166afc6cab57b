"""The sentences on the plane, like ones near each other, with the clusters that lean to a label outlined.

Ten thousand points are a picture of pixels, by label. The page's script draws them anew by cluster or divergence, and
tells the sentence under the pointer; the outlines are shapes that answer without a script, too.
"""

from __future__ import annotations

import base64
import binascii
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import legend
from goldassay.report.figures.png import png_address
from goldassay.report.figures.svg import Canvas
from goldassay.report.numbers import count, number, percent
from goldassay.report.outline import mapping, records
from goldassay.report.palette import LIGHT, N_SERIES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TITLE = "Map of the sentences"
CAPTION = (
    "Each point is a sentence of the test set, colored by its label; sentences that the embedding takes for alike lie "
    "near each other (t-SNE). Outlined are clusters that lean to one label beyond chance, those above the threshold "
    "by a full line. Point at one to read it."
)

# What places are counted in, from 0 to this, in both directions.
EXTENT = 4095
_PIXELS = 880
_DOT = 3
_MOST_NAMED = 6


@dataclass(frozen=True)
class Points:
    """What is drawn: places, label and cluster of each point."""

    x: Sequence[int]
    y: Sequence[int]
    labels: Sequence[int]
    clusters: Sequence[int]


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A square of points, one color a label, and an outline for each cluster that leans."""
    found = mapping(document, "leakage", "map")
    points = points_of(found)
    if points is None:
        return None
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    names = [str(name) for name in found.get("label_names") or ()]
    top = legend(canvas, names[:_MOST_NAMED], 0, 16, width) + 4
    side = float(min(width, 620))
    canvas.bar(0, top, side, side, "paper-sheet")
    canvas.image(0, top, side, side, png_address(_pixels(points)), "dots")
    scale = side / EXTENT
    threshold = number(found.get("threshold")) or 0.0
    tips = _tips(found)
    for each in records(found.get("outlines")):
        corners = [(x * scale, top + side - y * scale) for x, y in each.get("points") or ()]
        if len(corners) < 3:
            continue
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners) + "z"
        cluster = int(each.get("cluster") or 0)
        biased = divergence_of(found, cluster) > threshold
        canvas.path(path, "outline" if biased else "outline faint", tips.get(cluster, f"cluster {cluster}"))
    canvas.height = top + side + 4
    canvas.data = {"map": "map-points", "top": f"{top:g}", "side": f"{side:g}"}
    return canvas


def points_of(found: Mapping[str, Any]) -> Points | None:
    """The points of a map; None where there are none, or the document does not hold what it should."""
    try:
        arrays = [_unpacked(found[name], kind) for name, kind in PACKED.items()]
    except (KeyError, ValueError, TypeError, binascii.Error):
        return None
    points = Points(*arrays)
    lengths = {len(each) for each in arrays}
    inside = all(value <= EXTENT for value in (*points.x, *points.y))
    return points if len(lengths) == 1 and len(points.x) > 1 and inside else None


# Unsigned numbers of two bytes and one, the lesser byte first.
PACKED = {"x": "H", "y": "H", "labels": "B", "clusters": "H"}


def _unpacked(text: Any, kind: str) -> array[int]:
    values = array(kind)
    values.frombytes(base64.b64decode(str(text), validate=True))
    return values


def divergence_of(found: Mapping[str, Any], cluster: int) -> float:
    """The divergence of a cluster."""
    divergences = found.get("divergences")
    inside = isinstance(divergences, (list, tuple)) and cluster < len(divergences)
    return (number(divergences[cluster]) or 0.0) if inside and divergences is not None else 0.0


def _tips(found: Mapping[str, Any]) -> dict[int, str]:
    """What each outlined cluster is about, in a line."""
    tips = {}
    for each in records(found.get("outlines")):
        words = ", ".join(str(word) for word in each.get("words") or ())
        tips[int(each.get("cluster") or 0)] = (
            f"Cluster {each.get('cluster')}, {count(each.get('size'))} sentences: {percent(each.get('share'))} "
            f"{each.get('label')}{f' ({words})' if words else ''}"
        )
    return tips


def _pixels(points: Points) -> list[bytes]:
    """Rows of pixels: a small square a point, later ones over earlier ones."""
    colors = [bytes.fromhex(LIGHT[f"s{series}"][1:]) + b"\xc8" for series in range(N_SERIES)]
    rows = [bytearray(4 * _PIXELS) for _ in range(_PIXELS)]
    scale = (_PIXELS - _DOT) / EXTENT
    for x, y, label in zip(points.x, points.y, points.labels, strict=True):
        left, top = int(x * scale), int((EXTENT - y) * scale)
        run = colors[label % N_SERIES] * _DOT
        for row in rows[top : top + _DOT]:
            row[4 * left : 4 * left + len(run)] = run
    return [bytes(row) for row in rows]
