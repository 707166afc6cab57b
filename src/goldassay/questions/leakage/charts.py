"""Charts of leakage: accuracy of each part of the input, gains of rules, clusters, rows to rewrite, and datasets."""

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
    Dot,
    DotGroup,
    DotRow,
    Dots,
    Outline,
    Panel,
    Plot,
    Point,
    PointMap,
    Rule,
    Series,
    Trace,
    by_name,
    first_of,
    numbered_series,
)
from goldassay.core.documents import mapping, records
from goldassay.core.files import file_slug
from goldassay.core.numbers import bounds, count, decimal, number, percent, points, signed_points
from goldassay.questions.leakage.other_sections import NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SUBSETS = (Series("easy", "easy", 3), Series("hard", "hard", 2), Series("full", "s5", 0))
_DROPPED = ("suggested", "random")


def charts(document: Mapping[str, Any]) -> dict[str, Chart]:
    """Charts of conditions, difficulty, clusters, rows to rewrite and several datasets."""
    found = mapping(document, "leakage")
    return {
        **by_name(rule_chart(found), _conditions(found), _difficulty(found)),
        **cluster_charts(found),
        **by_name(_falls(mapping(found, "suggestion"))),
        **dataset_charts(found),
    }


def paper_charts(document: Mapping[str, Any]) -> dict[str, Chart]:
    """Charts for papers: conditions, the map of sentences and measures over datasets.

    An audit has conditions too, but is no report on leakage alone.
    """
    found = mapping(document, "leakage")
    conditions = _conditions(found, name="conditions") if found.get("source") else None
    return {**by_name(conditions, paper_map(found)), **paper_dataset_charts(found)}


def _conditions(found: Mapping[str, Any], name: str = "leakage_conditions") -> Chart | None:
    """A dot with an interval for each condition, a line for the majority."""
    rows = [row for row in records(found.get("conditions")) if number(row.get("accuracy")) is not None]
    if not rows:
        return None
    majorities = sorted({round(m, 4) for m in (number(row.get("majority")) for row in rows) if m is not None})
    constant = "choosing the most frequent position" if found.get("rules") else "naming the most frequent test label"
    return Dots(
        name=name,
        title="Accuracy by condition",
        caption="Mean accuracy over runs, in points, with its 95 % interval. The dashed line is the accuracy of always "
        f"{constant}: what is to the right of it was read from the text.",
        groups=tuple(_condition(row) for row in rows),
        axis=Axis("accuracy (points)"),
        rules=tuple(Rule(majority, f"majority {points(majority)}") for majority in majorities),
    )


def _condition(row: Mapping[str, Any]) -> DotGroup:
    accuracy, majority = float(row["accuracy"]), number(row.get("majority"))
    low, high = number(row.get("accuracy_low")), number(row.get("accuracy_high"))
    name = str(row.get("condition"))
    dot = Dot(accuracy, f"{name}: {points(accuracy)} {bounds(low, high)} points", low=low, high=high)
    span = None if majority is None else (majority, accuracy)
    return DotGroup(name, (DotRow((dot,), span),), points(accuracy), bounds(low, high))


def _difficulty(found: Mapping[str, Any]) -> Chart | None:
    """Three dots a condition, joined by a line."""
    names = [series.name for series in _SUBSETS]
    rows = [
        row
        for row in records(found.get("difficulty"))
        if number(row.get("accuracy")) is not None and str(row.get("subset")) in names
    ]
    if all(row.get("subset") == "full" for row in rows):
        return None
    groups: dict[str, list[Dot]] = {}
    # The full set last: its number is the first to be left out where there is no room.
    for row in sorted(rows, key=lambda row: row.get("subset") == "full"):
        condition, subset, accuracy = str(row.get("condition")), str(row["subset"]), float(row["accuracy"])
        low, high = number(row.get("low")), number(row.get("high"))
        hover = (
            f"{condition}, {subset}: {points(accuracy)} {bounds(low, high)} points on {count(row.get('n'))} examples"
        )
        dot = Dot(accuracy, hover, names.index(subset), low, high, text=points(accuracy))
        groups.setdefault(condition, []).append(dot)
    order = list(dict.fromkeys(str(row.get("condition")) for row in rows))
    return Dots(
        name="leakage_difficulty",
        title="Easy against hard",
        caption="Accuracy of the probe in points, on the examples that the patterns solve (easy), on those they "
        "mislead (hard), and on the full test set, with 95 % intervals.",
        groups=tuple(
            DotGroup(name, (DotRow(tuple(dots), (min(dot.value for dot in dots), max(dot.value for dot in dots))),))
            for name, dots in ((name, groups[name]) for name in order)
        ),
        axis=Axis("accuracy (points)", low=0.0, high=1.0),
        series=_SUBSETS,
    )


def _falls(found: Mapping[str, Any]) -> Chart | None:
    """Improvement over the share of rows dropped: those suggested, and as many at random; both start from all rows."""
    falls = [
        row
        for row in records(found.get("falls"))
        if number(row.get("improvement")) is not None and number(row.get("share")) is not None
    ]
    before = mapping(found, "before")
    if not falls or number(before.get("improvement")) is None:
        return None
    constant = "guessing" if found.get("of_items") else "the most frequent label"
    traces = []
    for series, kind in enumerate(_DROPPED):
        rows = [{"share": 0.0, "n_dropped": 0, **before}, *(row for row in falls if row.get("rows") == kind)]
        traces.append(Trace(tuple(_fall(kind, row) for row in rows), series, "curve", whisker=True))
    panel = Panel(
        "",
        tuple(traces),
        Axis("rows dropped", "percent", 0, low=0.0, high=max(float(row["share"]) for row in falls) * 1.05),
        Axis("improvement (points)", "signed points", 0),
        (Rule(0.0, across="y", solid=True),),
    )
    return Plot(
        name="leakage_falls",
        title="Leakage without the first rows",
        caption=f"How much better than {constant} a probe of the part alone is among the rows left, "
        "in accuracy points with 95 % intervals over refits: without the rows suggested, and without as many drawn at "
        "random.",
        panels=(panel,),
        series=numbered_series(_DROPPED),
        height=200,
    )


def _fall(kind: str, row: Mapping[str, Any]) -> Point:
    low, high = number(row.get("improvement_low")), number(row.get("improvement_high"))
    hover = (
        f"{kind}, {count(row.get('n_dropped'))} rows dropped: {signed_points(row['improvement'], 1)} "
        f"{bounds(low, high)} points"
    )
    return Point(float(row["share"]), float(row["improvement"]), hover, low, high)


_RULE = "rule: "
_MOST = 12


def rule_chart(found: Mapping[str, Any]) -> Chart | None:
    """A dot a rule and a reader of a part, those that gain most first; none of a rule that gains nothing.

    Args:
        found: What leakage measured of items; of other data there is no chart.
    """
    rows = [row for row in records(mapping(found, "effects").get("effects")) if number(row.get("value")) is not None]
    if not found.get("rules"):
        return None
    readers = [row for row in rows if not _is_rule(row)]
    rules = sorted((row for row in rows if _is_rule(row) and float(row["value"]) > 0), key=_value, reverse=True)
    kept, omitted = first_of(rules, _MOST, "rules that gain something")
    shown = sorted([*readers, *kept], key=_value, reverse=True)
    if not kept:
        return None
    limits = {key: number(shown[0].get(key)) for key in ("caution", "unsound")}
    return Dots(
        name="leakage_rules",
        title="What rules and readers gain",
        caption="Gain over guessing of rules without training, and of quick probes that see a part of the items, as a "
        "share of what guessing leaves to be gained; the line reaches from the lower end, which is simultaneous over "
        "all of them, to the upper one. Dashed: the limits for caution and for unsound, of which the second holds for "
        "rules alone.",
        omitted=omitted,
        groups=tuple(_group(row) for row in shown),
        axis=Axis("gained of what guessing leaves", "percent"),
        series=(Series("rule without training"), Series("quick probe of a part", "s2", 1)),
        # Both labels have no room beside each other.
        rules=tuple(
            Rule(limit, f"unsound from {percent(limit)}" if name == "unsound" else "")
            for name, limit in limits.items()
            if limit is not None
        ),
    )


def _is_rule(row: Mapping[str, Any]) -> bool:
    return str(row.get("reader")).startswith(_RULE)


def _value(row: Mapping[str, Any]) -> float:
    return float(row["value"])


def _group(row: Mapping[str, Any]) -> DotGroup:
    value, low, high = _value(row), number(row.get("low")), number(row.get("high"))
    name = str(row.get("reader")).removeprefix(_RULE) if _is_rule(row) else f"probe, {row.get('part')} alone"
    dot = Dot(value, f"{name}: {percent(value)} {bounds(low, high)}", 0 if _is_rule(row) else 1, low=low, high=high)
    return DotGroup(name, (DotRow((dot,)),), percent(value), bounds(low, high))


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


# Two accuracies, which can be read against each other.
_EQUAL = ("paired", "accuracy")


def dataset_charts(found: Mapping[str, Any]) -> dict[str, Chart]:
    """One chart, with a panel for each pair of measures that was correlated."""
    panels, parts = _panels(found)
    if not panels:
        return {}
    chart = Plot(
        name="leakage_datasets",
        title="What goes together over datasets",
        caption="Each mark is a part of a dataset; its shape and color tell which text was shown. The correlation is "
        "printed above each panel, with its 95 % interval. On the dashed line both are equal.",
        panels=tuple(panels.values()),
        series=numbered_series(parts),
        height=190,
    )
    return {chart.name: chart}


def paper_dataset_charts(found: Mapping[str, Any]) -> dict[str, Chart]:
    """A chart for each pair of measures that was correlated."""
    panels, parts = _panels(found, units=True)
    names = {(x, y): f"datasets-{file_slug(x)}-{file_slug(y)}" for x, y in panels}
    return {
        names[pair]: Plot(name=names[pair], panels=(panel,), series=numbered_series(parts), height=200)
        for pair, panel in panels.items()
    }


def _panels(found: Mapping[str, Any], *, units: bool = False) -> tuple[dict[tuple[str, str], Panel], list[str]]:
    """The panels by their measures, and the parts that are their series."""
    rows = records(found.get("datasets"))
    parts = list(dict.fromkeys(str(row.get("part")) for row in rows))
    panels = {}
    for pair in records(found.get("correlations")):
        names = str(pair.get("x")), str(pair.get("y"))
        points_of = [_of_part(rows, names, part) for part in parts]
        if not any(points_of):
            continue
        panels[names] = Panel(
            f"r = {decimal(pair.get('r'))} {bounds(pair.get('low'), pair.get('high'), 2, 1.0)}".rstrip(),
            tuple(Trace(each, series) for series, each in enumerate(points_of) if each),
            _axis(names[0], units),
            _axis(names[1], units),
            (Rule(across="diagonal"),) if names == _EQUAL else (),
        )
    return panels, parts


def _of_part(rows: list[Mapping[str, Any]], names: tuple[str, str], part: str) -> tuple[Point, ...]:
    return tuple(
        Point(
            x,
            y,
            f"{row.get('dataset')}, {part}: {NAMES.get(names[0])} {_printed(names[0], x)}, "
            f"{NAMES.get(names[1])} {_printed(names[1], y)}",
            name=str(row.get("dataset")),
        )
        for row in rows
        if str(row.get("part")) == part
        and (x := number(row.get(names[0]))) is not None
        and (y := number(row.get(names[1]))) is not None
    )


def _axis(name: str, units: bool) -> Axis:
    title = NAMES.get(name, name)
    if name == "peco":
        return Axis(title, "number", 2)
    if name == "recovered":
        return Axis(f"{title} (%)" if units else title, "percent")
    return Axis(f"{title} (points)" if units else title)


def _printed(name: str, value: float) -> str:
    return decimal(value, 2) if name == "peco" else percent(value, 0) if name == "recovered" else points(value, 0)
