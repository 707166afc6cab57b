"""Charts of leakage: accuracy of each part of the input, gains of rules, clusters, rows to rewrite, and datasets."""

from __future__ import annotations

import base64
from array import array
from dataclasses import replace
from typing import TYPE_CHECKING

from goldassay.core.charts import (
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
from goldassay.core.files import file_slug
from goldassay.core.numbers import bounds, count, decimal, number, percent, points, signed_points
from goldassay.questions.leakage.other_sections import NAMES
from goldassay.questions.leakage.result import (
    RULE,
    ComparedDatasets,
    Condition,
    DatasetPart,
    ItemFall,
    LeakageResult,
    MeasuredLeakage,
    RowFall,
    SuggestedItems,
    SuggestedRewrites,
    SuggestedRows,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.sections import Around
    from goldassay.questions.leakage.cluster_result import ClusterOutline, SentenceMap
    from goldassay.stats.effects import Effect

_SUBSETS = (Series("easy", "easy", 3), Series("hard", "hard", 2), Series("full", "s5", 0))
_DROPPED = ("suggested", "random")
_MOST_RULES = 12
# Two accuracies, which can be read against each other.
_EQUAL = ("paired", "accuracy")


def charts(found: LeakageResult, _: Around) -> dict[str, Chart]:
    """Charts of conditions, difficulty and clusters; or of rows to rewrite, or of several datasets."""
    if isinstance(found, SuggestedRewrites):
        return by_name(_falls(found.suggestion))
    if isinstance(found, ComparedDatasets):
        return by_name(_datasets(found))
    assert isinstance(found, MeasuredLeakage)
    return by_name(
        _rules(found), _conditions(found), _difficulty(found), _curve(found), _confidence(found),
        None if found.map is None else _map(found.map),
    )  # fmt: skip


def paper_charts(found: LeakageResult, _: Around) -> dict[str, Chart]:
    """Charts for papers: conditions and the map of sentences, or measures over datasets."""
    if isinstance(found, ComparedDatasets):
        return _paper_datasets(found)
    if not isinstance(found, MeasuredLeakage):
        return {}
    drawn = None
    if found.map is not None:
        drawn = replace(_map(found.map), name=f"sentence-map-{file_slug(found.map.role)}")
    return by_name(_conditions(found, name="conditions"), drawn)


def _rules(found: MeasuredLeakage) -> Chart | None:
    """A dot for each rule and each reader of a part, those that gain most first; none of a rule that gains nothing."""
    if not found.rules or found.effects is None:
        return None
    measured = [each for each in found.effects.effects if number(each.value) is not None]
    readers = [each for each in measured if not _is_rule(each)]
    rules = sorted((each for each in measured if _is_rule(each) and each.value > 0), key=_value, reverse=True)
    kept, omitted = first_of(rules, _MOST_RULES, "rules that gain something")
    if not kept:
        return None
    shown = sorted([*readers, *kept], key=_value, reverse=True)
    return Dots(
        name="leakage_rules",
        title="What rules and readers gain",
        caption="Gain over guessing of rules without training, and of quick probes that see a part of the items, as a "
        "share of what guessing leaves to be gained; the line reaches from the lower end, which is simultaneous over "
        "all of them, to the upper one. Dashed: the limits for caution and for unsound, of which the second holds for "
        "rules alone.",
        omitted=omitted,
        groups=tuple(_effect(each) for each in shown),
        axis=Axis("gained of what guessing leaves", "percent"),
        series=(Series("rule without training"), Series("quick probe of a part", "s2", 1)),
        # Both labels have no room beside each other.
        rules=(Rule(shown[0].caution, ""), Rule(shown[0].unsound, f"unsound from {percent(shown[0].unsound)}")),
    )


def _is_rule(effect: Effect) -> bool:
    return effect.reader.startswith(RULE)


def _value(effect: Effect) -> float:
    return effect.value


def _effect(each: Effect) -> DotGroup:
    low, high = number(each.low), number(each.high)
    name = each.reader.removeprefix(RULE) if _is_rule(each) else f"probe, {each.part} alone"
    hover = f"{name}: {percent(each.value)} {bounds(low, high)}"
    dot = Dot(each.value, hover, 0 if _is_rule(each) else 1, low=low, high=high)
    return DotGroup(name, (DotRow((dot,)),), percent(each.value), bounds(low, high))


def _conditions(found: MeasuredLeakage, name: str = "leakage_conditions") -> Chart | None:
    """A dot with an interval for each condition, a line for the majority."""
    if not found.conditions:
        return None
    majorities = sorted({round(each.majority, 4) for each in found.conditions})
    constant = "choosing the most frequent position" if found.rules else "naming the most frequent test label"
    return Dots(
        name=name,
        title="Accuracy by condition",
        caption="Mean accuracy over runs, in points, with its 95 % interval. The dashed line is the accuracy of always "
        f"{constant}: what is to the right of it was read from the text.",
        groups=tuple(_condition(each) for each in found.conditions),
        axis=Axis("accuracy (points)"),
        rules=tuple(Rule(majority, f"majority {points(majority)}") for majority in majorities),
    )


def _condition(each: Condition) -> DotGroup:
    low, high = number(each.accuracy_low), number(each.accuracy_high)
    hover = f"{each.condition}: {points(each.accuracy)} {bounds(low, high)} points"
    row = DotRow((Dot(each.accuracy, hover, low=low, high=high),), (each.majority, each.accuracy))
    return DotGroup(each.condition, (row,), points(each.accuracy), bounds(low, high))


def _difficulty(found: MeasuredLeakage) -> Chart | None:
    """Three dots a condition, joined by a line."""
    names = [series.name for series in _SUBSETS]
    rows = [each for each in found.difficulty if number(each.accuracy) is not None]
    if all(each.subset == "full" for each in rows):
        return None
    groups: dict[str, list[Dot]] = {each.condition: [] for each in rows}
    # The full set last: its number is the first to be left out where there is no room.
    for each in sorted(rows, key=lambda each: each.subset == "full"):
        low, high = number(each.low), number(each.high)
        hover = (
            f"{each.condition}, {each.subset}: {points(each.accuracy)} {bounds(low, high)} points on {count(each.n)} "
            "examples"
        )
        dot = Dot(each.accuracy, hover, names.index(each.subset), low, high, text=points(each.accuracy))
        groups[each.condition].append(dot)
    return Dots(
        name="leakage_difficulty",
        title="Easy against hard",
        caption="Accuracy of the probe in points, on the examples that the patterns solve (easy), on those they "
        "mislead (hard), and on the full test set, with 95 % intervals.",
        groups=tuple(
            DotGroup(name, (DotRow(tuple(dots), (min(dot.value for dot in dots), max(dot.value for dot in dots))),))
            for name, dots in groups.items()
        ),
        axis=Axis("accuracy (points)", low=0.0, high=1.0),
        series=_SUBSETS,
    )


def _curve(found: MeasuredLeakage) -> Chart | None:
    """A step line for each text: the examples in clusters that diverge by more than a threshold."""
    curves = {
        each.role: list(zip(each.curve.thresholds, each.curve.shares, strict=True))
        for each in found.peco
        if any(share > 0 for share in each.curve.shares)
    }
    if not curves:
        return None
    reach = max(t for curve in curves.values() for t, share in curve if share > 0)
    high = max(0.3, min(1.0, reach * 1.1))
    panel = Panel(
        "",
        tuple(
            Trace(tuple(Point(t, share) for t, share in curve if t <= high), series, "steps")
            for series, curve in enumerate(curves.values())
        ),
        Axis("divergence of the example's cluster", "number", 2, low=0.0, high=high),
        Axis("examples", "percent", 0, low=0.0, high=max(share for curve in curves.values() for _, share in curve)),
        (Rule(found.peco[0].threshold),),
    )
    return Plot(
        name="leakage_curve",
        title="Examples in diverging clusters",
        caption="The share of examples whose cluster diverges by more than the threshold on the horizontal axis. The "
        "area under a line, less what chance alone gives, is the outlier score; the dashed line is where a cluster "
        "counts as biased.",
        panels=(panel,),
        series=numbered_series(list(curves)),
        height=180,
        legend="lines",
    )


def _confidence(found: MeasuredLeakage) -> Chart | None:
    """Two histograms for each text that has biased clusters."""
    panels = tuple(
        Panel(
            (each.role, f"{count(inside)} in biased clusters, {count(others)} others"),
            (_histogram(each.biased_histogram, inside, 0), _histogram(each.other_histogram, others, 1)),
            Axis("mean probability of the right label", "number", 1, low=0.0, high=1.0),
            Axis("examples", "percent", 0, low=0.0),
        )
        for each in found.confidence
        if (inside := sum(each.biased_histogram)) and (others := sum(each.other_histogram))
    )
    if not panels:
        return None
    return Plot(
        name="leakage_confidence",
        title="Confidence in clusters that give their label away",
        caption="How sure models of the whole input are of the right label: the share of examples in each fiftieth of "
        "the range, for examples in biased clusters and for all others. If bias made examples easy, the first would "
        "lie further right.",
        panels=panels,
        series=(Series("in biased clusters", "s2", 0), Series("others", "s5", 1)),
        height=170,
        legend="lines",
    )


def _histogram(counts: Sequence[int], total: int, series: int) -> Trace:
    steps = [Point(at / len(counts), value / total) for at, value in enumerate(counts)]
    return Trace((Point(0.0, 0.0), *steps, Point(1.0, 0.0)), series, "steps")


def _map(found: SentenceMap) -> PointMap:
    """Sentences as points, one series a label, and an outline for each cluster that leans."""
    return PointMap(
        name="leakage_map",
        title="Map of the sentences",
        caption="Each point is a sentence of the test set, colored by its label; sentences that the embedding takes "
        "for alike lie near each other (t-SNE). Outlined are clusters that lean to one label beyond chance, those "
        "above the threshold by a full line. Point at one to read it.",
        x=_unpacked(found.x, "H"),
        y=_unpacked(found.y, "H"),
        labels=_unpacked(found.labels, "B"),
        groups=_unpacked(found.clusters, "H"),
        series=numbered_series(found.label_names),
        outlines=tuple(_outline(each, found) for each in found.outlines if len(each.points) > 2),
        group_is="cluster",
        group_values=found.divergences,
        value_is="divergence",
        texts=found.texts or (),
    )


def _unpacked(text: str, kind: str) -> tuple[int, ...]:
    """Unsigned numbers of one byte ("B") or two ("H"), the lesser byte first."""
    values = array(kind)
    values.frombytes(base64.b64decode(text))
    return tuple(values)


def _outline(each: ClusterOutline, found: SentenceMap) -> Outline:
    about = f" ({', '.join(each.words)})" if each.words else ""
    hover = f"Cluster {each.cluster}, {count(each.size)} sentences: {percent(each.share)} {each.label}{about}"
    corners = tuple((float(x), float(y)) for x, y in each.points)
    return Outline(each.cluster, corners, hover, found.divergences[each.cluster] > found.threshold)


def _falls(found: SuggestedRows | SuggestedItems) -> Chart | None:
    """Improvement over the share of rows dropped: those suggested, and as many at random; both start from all rows."""
    after_dropping: tuple[RowFall | ItemFall, ...] = found.after_dropping
    constant = "guessing" if isinstance(found, SuggestedItems) else "the most frequent label"
    before = found.before
    traces = []
    for series, kind in enumerate(_DROPPED):
        start = _fall(kind, 0.0, 0, before.improvement, before.improvement_low, before.improvement_high)
        further = (
            _fall(kind, row.share, row.n_dropped, row.improvement, row.improvement_low, row.improvement_high)
            for row in after_dropping
            if row.rows == kind
        )
        traces.append(Trace((start, *further), series, "curve", whisker=True))
    panel = Panel(
        "",
        tuple(traces),
        Axis("rows dropped", "percent", 0, low=0.0, high=max(row.share for row in after_dropping) * 1.05),
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


def _fall(kind: str, share: float, n_dropped: int, improvement: float, low: float, high: float) -> Point:
    ends = number(low), number(high)
    hover = f"{kind}, {count(n_dropped)} rows dropped: {signed_points(improvement, 1)} {bounds(*ends)} points"
    return Point(share, improvement, hover, *ends)


def _datasets(found: ComparedDatasets) -> Chart | None:
    """Each measure of leakage against another, a panel for each pair of measures that was correlated."""
    panels, parts = _panels(found)
    if not panels:
        return None
    return Plot(
        name="leakage_datasets",
        title="What goes together over datasets",
        caption="Each mark is a part of a dataset; its shape and color tell which text was shown. The correlation is "
        "printed above each panel, with its 95 % interval. On the dashed line both are equal.",
        panels=tuple(panels.values()),
        series=numbered_series(parts),
        height=190,
    )


def _paper_datasets(found: ComparedDatasets) -> dict[str, Chart]:
    """A chart for each pair of measures that was correlated."""
    panels, parts = _panels(found, units=True)
    names = {(x, y): f"datasets-{file_slug(x)}-{file_slug(y)}" for x, y in panels}
    return {
        names[pair]: Plot(name=names[pair], panels=(panel,), series=numbered_series(parts), height=200)
        for pair, panel in panels.items()
    }


def _panels(found: ComparedDatasets, *, units: bool = False) -> tuple[dict[tuple[str, str], Panel], list[str]]:
    """The panels by their measures, and the parts that are their series."""
    parts = list(dict.fromkeys(each.part for each in found.datasets))
    panels = {}
    for pair in found.correlations:
        names = pair.x, pair.y
        points_of = [_of_part(found.datasets, names, part) for part in parts]
        panels[names] = Panel(
            f"r = {decimal(pair.r)} {bounds(pair.low, pair.high, 2, 1.0)}".rstrip(),
            tuple(Trace(each, series) for series, each in enumerate(points_of) if each),
            _axis(pair.x, units),
            _axis(pair.y, units),
            (Rule(across="diagonal"),) if names == _EQUAL else (),
        )
    return panels, parts


def _of_part(rows: Sequence[DatasetPart], names: tuple[str, str], part: str) -> tuple[Point, ...]:
    shown = []
    for row in (row for row in rows if row.part == part):
        x, y = (row.measured(name) for name in names)
        if x is not None and y is not None:
            hover = " ".join((f"{row.dataset}, {part}: {NAMES[names[0]]} {_printed(names[0], x)},",
                              f"{NAMES[names[1]]} {_printed(names[1], y)}"))  # fmt: skip
            shown.append(Point(x, y, hover, name=row.dataset))
    return tuple(shown)


def _axis(name: str, units: bool) -> Axis:
    title = NAMES[name]
    if name == "peco":
        return Axis(title, "number", 2)
    if name == "recovered":
        return Axis(f"{title} (%)" if units else title, "percent")
    return Axis(f"{title} (points)" if units else title)


def _printed(name: str, value: float) -> str:
    return decimal(value, 2) if name == "peco" else percent(value, 0) if name == "recovered" else points(value, 0)
