"""Charts of clusters of sentences: how many examples lie in biased ones, confidence in them, and their map."""

from __future__ import annotations

import base64
import binascii
from array import array
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.charts import (
    MAP_EXTENT,
    Axis,
    Chart,
    Outline,
    Panel,
    Plot,
    Point,
    PointMap,
    Rule,
    Series,
    Trace,
    by_name,
    numbered_series,
)
from goldassay.core.documents import mapping, records
from goldassay.core.files import file_slug
from goldassay.core.numbers import count, number, percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Unsigned numbers of two bytes and one, the lesser byte first.
_PACKED = {"x": "H", "y": "H", "labels": "B", "clusters": "H"}
_Pairs = list[tuple[float, float]]


def cluster_charts(found: Mapping[str, Any]) -> dict[str, Chart]:
    """Charts of a report's clusters."""
    return by_name(_curve(found), _confidence(found), _map(mapping(found, "map")))


def paper_map(found: Mapping[str, Any]) -> Chart | None:
    """The map under the name of its file."""
    chart = _map(mapping(found, "map"))
    return chart and replace(chart, name=f"sentence-map-{file_slug(mapping(found, 'map').get('role'))}")


def _curve(found: Mapping[str, Any]) -> Chart | None:
    """A step line for each text."""
    peco = records(found.get("peco"))
    rows = [(str(row.get("role")), curve) for row in peco if (curve := _thresholds(row))]
    if not rows:
        return None
    reach = max(t for _, curve in rows for t, share in curve if share > 0)
    high = max(0.3, min(1.0, reach * 1.1))
    threshold = number(peco[0].get("threshold"))
    panel = Panel(
        "",
        tuple(
            Trace(tuple(Point(t, share) for t, share in curve if t <= high), series, "steps")
            for series, (_, curve) in enumerate(rows)
        ),
        Axis("divergence of the example's cluster", "number", 2, low=0.0, high=high),
        Axis("examples", "percent", 0, low=0.0, high=max(share for _, curve in rows for _, share in curve)),
        () if threshold is None else (Rule(threshold),),
    )
    return Plot(
        name="leakage_curve",
        title="Examples in diverging clusters",
        caption="The share of examples whose cluster diverges by more than the threshold on the horizontal axis. The "
        "area under a line, less what chance alone gives, is the outlier score; the dashed line is where a cluster "
        "counts as biased.",
        panels=(panel,),
        series=numbered_series([role for role, _ in rows]),
        height=180,
        legend="lines",
    )


def _thresholds(row: Mapping[str, Any]) -> _Pairs:
    curve = mapping(row, "curve")
    thresholds, shares = curve.get("thresholds"), curve.get("shares")
    if not isinstance(thresholds, (list, tuple)) or not isinstance(shares, (list, tuple)):
        return []
    pairs = [(number(a), number(b)) for a, b in zip(thresholds, shares, strict=False)]
    found = [(t, s) for t, s in pairs if t is not None and s is not None]
    return found if any(share > 0 for _, share in found) else []


def _confidence(found: Mapping[str, Any]) -> Chart | None:
    """Two histograms for each text that has biased clusters."""
    panels = []
    for row in records(found.get("confidence")):
        inside, others = _counts(row.get("biased_histogram")), _counts(row.get("other_histogram"))
        if inside and others:
            sizes = f"{count(sum(inside))} in biased clusters, {count(sum(others))} others"
            panels.append(
                Panel(
                    (str(row.get("role")), sizes),
                    (_histogram(inside, 0), _histogram(others, 1)),
                    Axis("mean probability of the right label", "number", 1, low=0.0, high=1.0),
                    Axis("examples", "percent", 0, low=0.0),
                )
            )
    if not panels:
        return None
    return Plot(
        name="leakage_confidence",
        title="Confidence in clusters that give their label away",
        caption="How sure models of the whole input are of the right label: the share of examples in each fiftieth of "
        "the range, for examples in biased clusters and for all others. If bias made examples easy, the first would "
        "lie further right.",
        panels=tuple(panels),
        series=(Series("in biased clusters", "s2", 0), Series("others", "s5", 1)),
        height=170,
        legend="lines",
    )


def _histogram(counts: Sequence[float], series: int) -> Trace:
    n, total = len(counts), sum(counts)
    steps = [Point(i / n, value / total) for i, value in enumerate(counts)]
    return Trace((Point(0.0, 0.0), *steps, Point(1.0, 0.0)), series, "steps")


def _counts(values: Any) -> list[float]:
    found = [number(value) for value in values] if isinstance(values, (list, tuple)) else []
    counts = [value for value in found if value is not None and value >= 0]
    return counts if counts and len(counts) == len(found) and sum(counts) else []


def _map(found: Mapping[str, Any]) -> PointMap | None:
    """Sentences as points, one series a label, and an outline for each cluster that leans."""
    try:
        x, y, labels, clusters = (_unpacked(found[name], kind) for name, kind in _PACKED.items())
    except (KeyError, ValueError, TypeError, binascii.Error):
        return None
    if len({len(x), len(y), len(labels), len(clusters)}) != 1 or len(x) < 2 or max(*x, *y) > MAP_EXTENT:
        return None
    names = found.get("label_names")
    names = [str(name) for name in names] if isinstance(names, (list, tuple)) else []
    values = found.get("divergences")
    divergences = [number(value) or 0.0 for value in values] if isinstance(values, (list, tuple)) else []
    # Every label and cluster that a point names has a name and a divergence.
    names += [""] * (max(labels) + 1 - len(names))
    divergences += [0.0] * (max(clusters) + 1 - len(divergences))
    texts = found.get("texts")
    known = isinstance(texts, (list, tuple)) and len(texts) == len(x)
    threshold = number(found.get("threshold")) or 0.0
    outlines = [_outline(each, divergences, threshold) for each in records(found.get("outlines"))]
    return PointMap(
        name="leakage_map",
        title="Map of the sentences",
        caption="Each point is a sentence of the test set, colored by its label; sentences that the embedding takes "
        "for alike lie near each other (t-SNE). Outlined are clusters that lean to one label beyond chance, those "
        "above the threshold by a full line. Point at one to read it.",
        x=tuple(x),
        y=tuple(y),
        labels=tuple(labels),
        groups=tuple(clusters),
        series=numbered_series(names),
        outlines=tuple(outline for outline in outlines if outline is not None),
        group_is="cluster",
        group_values=tuple(divergences),
        value_is="divergence",
        texts=tuple(str(text) for text in texts) if known and isinstance(texts, (list, tuple)) else (),
    )


def _unpacked(text: Any, kind: str) -> array[int]:
    values = array(kind)
    values.frombytes(base64.b64decode(str(text), validate=True))
    return values


def _outline(each: Mapping[str, Any], divergences: Sequence[float], threshold: float) -> Outline | None:
    corners = each.get("points")
    if not isinstance(corners, (list, tuple)) or len(corners) < 3:
        return None
    cluster = int(number(each.get("cluster")) or 0)
    words = each.get("words")
    about = f" ({', '.join(map(str, words))})" if isinstance(words, (list, tuple)) and words else ""
    hover = (
        f"Cluster {cluster}, {count(each.get('size'))} sentences: {percent(each.get('share'))} "
        f"{each.get('label')}{about}"
    )
    divergence = divergences[cluster] if 0 <= cluster < len(divergences) else 0.0
    return Outline(cluster, tuple((float(x), float(y)) for x, y in corners), hover, divergence > threshold)
