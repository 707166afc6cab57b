"""Charts of shift: from one distribution to another, by size, and how sure models are on both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.charts import (
    Axis,
    Bar,
    BarGroup,
    Bars,
    Chart,
    Column,
    Panel,
    Plot,
    Point,
    Rule,
    Series,
    Trace,
    between,
    by_name,
    first_of,
    numbered_series,
)
from goldassay.core.documents import mapping, records
from goldassay.core.files import file_slug
from goldassay.core.numbers import bounds, count, number, percent, points, signed_points

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Row = Mapping[str, Any]
    # A model's row on its own distribution, and that on another.
    Slope = tuple[Row, Row]

_MOST_PANELS, _MOST_HISTOGRAMS, _MOST_BARS = 12, 30, 60
_SIDES = (Series("own distribution", "s0", 0), Series("other set", "s1", 1))
# How far the slopes of neighbouring models lie apart, where the two sets are 1 apart.
_APART = 0.03
_MARKS = 6


def charts(document: Mapping[str, Any]) -> dict[str, Chart]:
    """Every chart of generalization and detection."""
    found = mapping(document, "shift")
    return by_name(
        _slopes(found), _sizes(found), _false_alarms(found), _confidence(found), _reliability(found), _coverage(found)
    )


def paper_charts(document: Mapping[str, Any]) -> dict[str, Chart]:
    """Slopes a pair of sets (Figures 1 and 2 of Hendrycks et al. 2020), false alarms (4), confidence (5)."""
    found = mapping(document, "shift")
    return {**_paper_slopes(found), **by_name(_paper_alarms(found)), **_paper_confidence(found)}


def _model_name(row: Row) -> str:
    """A model's name without what it was trained on: each panel has one training set, and its color says the model."""
    return str(row.get("model")).replace(f"@{row.get('train')}", "", 1)


def _of_first(rows: Sequence[Row], key: str) -> list[Row]:
    """The rows with the same value of a key as the first one."""
    return [row for row in rows if row.get(key) == rows[0].get(key)]


def _slopes_of(found: Row) -> dict[tuple[str, str, str], list[Slope]]:
    """The models' slopes by training set, own set and other set; of several metrics the first."""
    rows = _of_first(records(found.get("generalization")), "metric")
    rows = [row for row in rows if number(row.get("value")) is not None]
    own = {str(row.get("model")): row for row in rows if row.get("own") is True}
    pairs: dict[tuple[str, str, str], list[Slope]] = {}
    for row in rows:
        start = own.get(str(row.get("model")))
        if row.get("own") is not True and start is not None:
            key = (str(start.get("train")), str(start.get("test")), str(row.get("test")))
            pairs.setdefault(key, []).append((start, row))
    return pairs


def _slopes(found: Row) -> Chart | None:
    """A panel a training set and other set."""
    pairs = _slopes_of(found)
    shown, omitted = first_of(list(pairs.items()), _MOST_PANELS, "pairs")
    if not shown:
        return None
    models = list(dict.fromkeys(_model_name(row) for _, lines in shown for _, row in lines))
    # One axis for all panels, so that a slope means the same in each.
    values = [
        value
        for _, lines in shown
        for slope in lines
        for row in slope
        for key in ("value", "low", "high")
        if (value := number(row.get(key))) is not None
    ]
    pad = 0.06 * (max(values) - min(values)) or 0.005
    axis = Axis(low=min(values) - pad, high=max(values) + pad)
    return Plot(
        name="shift_slopes",
        title="From the own distribution to another",
        caption="One panel a pair of sets, one line a model: its metric on its own distribution, left, and on the "
        "other, right, in points, with 95 % intervals. A line that falls is a score that does not hold.",
        omitted=omitted,
        panels=tuple(_slope_panel(f"{start} → {end}", lines, models, axis) for (_, start, end), lines in shown),
        series=numbered_series(models),
        legend="marks" if len(models) > 1 else None,
    )


def _slope_panel(title: str, lines: Sequence[Slope], models: Sequence[str], axis: Axis) -> Panel:
    traces = []
    for slope in lines:
        series = models.index(_model_name(slope[1]))
        shift = _APART * (series - (len(models) - 1) / 2)
        ends = tuple(
            Point(at + shift, float(row["value"]), _slope_hover(row), *_interval(row, "low", "high"))
            for at, row in enumerate(slope)
        )
        traces.append(Trace(ends, series, "curve"))
    names = [str(row.get("test")) for row in lines[0]]
    reach = 0.33 + _APART * len(models) / 2
    return Panel(
        title,
        tuple(traces),
        Axis("", "number", low=-reach, high=1 + reach),
        axis,
        ticks=((0.0, names[0]), (1.0, names[1])),
    )


def _interval(row: Row, low: str, high: str) -> tuple[float | None, float | None]:
    return number(row.get(low)), number(row.get(high))


def _slope_hover(row: Row) -> str:
    hover = (
        f"{row.get('model')} on {row.get('test')}: {points(row.get('value'))} {bounds(*_interval(row, 'low', 'high'))}"
    )
    if row.get("own") is not True:
        hover += f", gap {signed_points(row.get('gap'), 1)} {bounds(row.get('gap_low'), row.get('gap_high'))}"
    return hover


def _paper_slopes(found: Row) -> dict[str, Chart]:
    """A chart a pair of sets, whatever the models were trained on."""
    pairs: dict[tuple[str, str], list[Slope]] = {}
    for (_, start, end), lines in _slopes_of(found).items():
        pairs.setdefault((start, end), []).extend(lines)
    charts: dict[str, Chart] = {}
    for (start, end), lines in pairs.items():
        name = f"gap-{file_slug(start)}-{file_slug(end)}"
        models = list(dict.fromkeys(_model_name(row) for _, row in lines))
        axis = Axis(f"{lines[0][0].get('metric')} (points)")
        charts[name] = Plot(name=name, panels=(_slope_panel("", lines, models, axis),), series=numbered_series(models))
    return charts


def _sizes(found: Row) -> Chart | None:
    """A panel an other set, where two models or more have a size."""
    rows = _of_first(records(found.get("generalization")), "metric")
    own = {row.get("model"): row.get("test") for row in rows if row.get("own") is True}
    panels: dict[str, list[tuple[Row, tuple[float, ...]]]] = {}
    for row in rows:
        known = between(*(number(row.get(key)) for key in ("size", "gap", "gap_low", "gap_high")))
        if row.get("own") is not True and known is not None and known[0] > 0:
            panels.setdefault(f"{own.get(row.get('model'), 'own')} → {row.get('test')}", []).append((row, known))
    several = [(name, each) for name, each in panels.items() if len({known[0] for _, known in each}) > 1]
    shown, omitted = first_of(several, _MOST_PANELS, "pairs")
    if not shown:
        return None
    models = list(dict.fromkeys(_model_name(row) for _, each in shown for row, _ in each))
    return Plot(
        name="shift_sizes",
        title="Gap against size",
        caption="One panel a pair of sets, one mark a model of known size: its gap in points with its 95 % interval, "
        "over its parameters on a logarithmic axis. Above the dashed line a score is lower elsewhere.",
        omitted=omitted,
        panels=tuple(
            Panel(
                name,
                tuple(Trace((_size_point(row, known),), models.index(_model_name(row)), "none") for row, known in each),
                Axis("parameters", "size", log=True),
                Axis("gap (points)"),
                (Rule(0.0, across="y"),),
            )
            for name, each in shown
        ),
        series=numbered_series(models),
    )


def _size_point(row: Row, known: tuple[float, ...]) -> Point:
    size, gap, low, high = known
    hover = f"{row.get('model')}, {count(size)} parameters: gap {signed_points(gap, 1)} {bounds(low, high)}"
    return Point(size, gap, hover, low, high)


def _alarms_of(found: Row) -> list[Row]:
    """The rows of detection; of several scores the first."""
    rows = _of_first(records(found.get("detection")), "score")
    return [row for row in rows if number(row.get("false_alarm_rate")) is not None]


def _alarm_bar(row: Row, name: str, series: int) -> Bar:
    rate = float(row["false_alarm_rate"])
    low, high = _interval(row, "false_alarm_rate_low", "false_alarm_rate_high")
    hover = f"{row.get('model')} on {row.get('dataset')}: {percent(rate)} {bounds(low, high)}"
    return Bar(name, rate, hover, points(rate), bounds(low, high, 0), series, low, high)


def _chance(rows: Sequence[Row]) -> tuple[Rule, ...]:
    chance = number(rows[0].get("false_alarm_rate_chance"))
    return () if chance is None else (Rule(chance, "chance"),)


def _false_alarms(found: Row) -> Chart | None:
    """A bar a model, in a group an other set."""
    rows = _alarms_of(found)
    if not rows:
        return None
    shown, omitted = first_of(rows, _MOST_BARS, "bars")
    models = list(dict.fromkeys(str(row.get("model")) for row in shown))
    groups: dict[tuple[str, str], list[Bar]] = {}
    for row in shown:
        model = str(row.get("model"))
        key = (str(row.get("in_distribution")), str(row.get("dataset")))
        groups.setdefault(key, []).append(_alarm_bar(row, model, models.index(model)))
    several = len({own for own, _ in groups}) > 1
    return Bars(
        name="shift_false_alarms",
        title="False alarms",
        caption="The share of the model's own texts that are flagged when 95 % (or what was asked for) of the other "
        "set are, by its confidence, with its 95 % interval. The dashed line is chance; less is better, and beyond the "
        "line the model is surer of foreign texts than of its own.",
        omitted=omitted,
        groups=tuple(
            BarGroup(f"{own} against {other}" if several else other, tuple(bars))
            for (own, other), bars in groups.items()
        ),
        axis=Axis("own texts flagged (%)", "points", 0, low=0.0, high=1.0),
        series=numbered_series(models),
        rules=_chance(rows),
        aligned=True,
    )


def _paper_alarms(found: Row) -> Chart | None:
    rows = _alarms_of(found)
    if not rows:
        return None
    models = list(dict.fromkeys(str(row.get("model")) for row in rows))
    groups: dict[str, list[Bar]] = {}
    for row in rows:
        model = str(row.get("model"))
        groups.setdefault(str(row.get("dataset")), []).append(_alarm_bar(row, model, models.index(model)))
    return Bars(
        name="false-alarms",
        groups=tuple(BarGroup(name, tuple(bars)) for name, bars in groups.items()),
        axis=Axis("own texts flagged (%), chance dashed", low=0.0, high=1.0),
        series=numbered_series(models),
        rules=_chance(rows),
    )


def _numbers(values: Any) -> list[float]:
    return [number(value) or 0.0 for value in values] if isinstance(values, (list, tuple)) else []


def _histograms(found: Row) -> list[tuple[Row, list[float], list[float], list[float]]]:
    """Each histogram with its edges, and the shares of own and of other texts between them."""
    histograms = []
    for row in records(found.get("histograms")):
        edges, inside, outside = (_numbers(row.get(key)) for key in ("edges", "share_in", "share_out"))
        if len(edges) > 1 and len(inside) == len(outside) == len(edges) - 1:
            histograms.append((row, edges, inside, outside))
    return histograms


def _steps(edges: Sequence[float], shares: Sequence[float]) -> tuple[Point, ...]:
    inner = (Point(edge, share) for edge, share in zip(edges, shares, strict=False))
    return (Point(edges[0], 0.0), *inner, Point(edges[-1], 0.0))


def _confidence(found: Row) -> Chart | None:
    """A panel a model and other set."""
    histograms = _histograms(found)
    if not histograms:
        return None
    shown, omitted = first_of(histograms, _MOST_HISTOGRAMS, "panels")
    several = len({row.get("model") for row, *_ in histograms}) > 1
    panels = []
    for row, edges, inside, outside in shown:
        dataset = str(row.get("dataset"))
        panels.append(
            _confidence_panel((str(row.get("model")), dataset) if several else dataset, edges, inside, outside)
        )
    return Plot(
        name="shift_confidence",
        title="Confidence in own and foreign texts",
        caption="One panel a model and other set: the share of texts by the probability of the predicted class, all "
        "runs together. Filled: the model's own distribution; the line: the other. Where they lie over each other, "
        "confidence cannot tell them apart.",
        omitted=omitted,
        panels=tuple(panels),
        series=_SIDES,
        height=120,
        legend="lines",
    )


def _confidence_panel(
    title: str | tuple[str, str], edges: Sequence[float], inside: Sequence[float], outside: Sequence[float]
) -> Panel:
    columns = [
        Column(
            edges[i],
            edges[i + 1],
            f"confidence {points(edges[i], 0)} to {points(edges[i + 1], 0)}: own {percent(a)}, other {percent(b)}",
        )
        for i, (a, b) in enumerate(zip(inside, outside, strict=True))
    ]
    return Panel(
        title,
        (Trace(_steps(edges, inside), 0, "area"), Trace(_steps(edges, outside), 1, "steps")),
        Axis("confidence (%)", low=edges[0], high=edges[-1]),
        Axis("texts (%)", low=0.0),
        ticks=tuple((at, points(at, 0)) for at in (edges[0], (edges[0] + edges[-1]) / 2, edges[-1])),
        columns=tuple(columns),
    )


def _paper_confidence(found: Row) -> dict[str, Chart]:
    charts: dict[str, Chart] = {}
    for row, edges, inside, outside in _histograms(found):
        name = f"confidence-{file_slug(row.get('model'))}-{file_slug(row.get('dataset'))}"
        series = (Series("own", "s0", 0), Series(str(row.get("dataset")), "s2", 1))
        panel = _confidence_panel("", edges, inside, outside)
        charts[name] = Plot(name=name, panels=(panel,), series=series, height=135, legend="lines")
    return charts


def _by_model(
    found: Row, key: str, panel_of: Callable[[str, Sequence[Row], Sequence[str]], Panel | None]
) -> tuple[tuple[Panel, ...], list[str], str]:
    """A panel a model with a series a set, the sets, and what is left out."""
    rows = records(found.get(key))
    sets = list(dict.fromkeys(str(row.get("dataset")) for row in rows))
    models, omitted = first_of(list(dict.fromkeys(str(row.get("model")) for row in rows)), _MOST_PANELS, "models")
    panels = [panel_of(model, [row for row in rows if str(row.get("model")) == model], sets) for model in models]
    return tuple(panel for panel in panels if panel is not None), sets, omitted


def _reliability(found: Row) -> Chart | None:
    panels, sets, omitted = _by_model(found, "calibration", _reliability_panel)
    if not panels:
        return None
    return Plot(
        name="shift_reliability",
        title="Does confidence mean what it says",
        caption="One panel a model, one line a set: accuracy of the examples of like confidence, in bins of equal "
        "mass, all runs together. Below the dashed line the model is surer than it is right.",
        omitted=omitted,
        panels=panels,
        series=numbered_series(sets),
        height=170,
    )


def _reliability_panel(model: str, rows: Sequence[Row], sets: Sequence[str]) -> Panel | None:
    traces = []
    for row in rows:
        series = sets.index(str(row.get("dataset")))
        bins = [
            Point(
                known[0],
                known[1],
                f"{row.get('dataset')}: confidence {points(known[0])}, accuracy {points(known[1])}, "
                f"{count(each.get('n'))} answers",
            )
            for each in records(row.get("bins"))
            if (known := between(number(each.get("confidence")), number(each.get("accuracy")))) is not None
        ]
        if bins:
            traces.append(Trace(tuple(bins), series, "thin"))
    if not traces:
        return None
    every = [point for trace in traces for point in trace.points]
    low = max(0.0, min(value for point in every for value in (point.x, point.y)) - 0.04)
    return Panel(
        model,
        tuple(traces),
        Axis("confidence", low=min(point.x for point in every) - 0.02, high=1.0),
        Axis("accuracy (points)", low=low, high=1.0),
        (Rule(across="diagonal"),),
    )


def _coverage(found: Row) -> Chart | None:
    panels, sets, omitted = _by_model(found, "risk_coverage", _coverage_panel)
    if not panels:
        return None
    return Plot(
        name="shift_coverage",
        title="Risk against coverage",
        caption="One panel a model, one line a set: the share of errors among the answers given, when only the surest "
        "are, mean over runs. A line that falls to the left is a confidence that can be used; a level one is none.",
        omitted=omitted,
        panels=panels,
        series=numbered_series(sets),
        height=170,
    )


def _coverage_panel(model: str, rows: Sequence[Row], sets: Sequence[str]) -> Panel | None:
    traces = []
    for row in rows:
        curve = _risks(row)
        marked = set(range(len(curve) - 1, -1, -max(1, len(curve) // _MARKS)))
        line = [
            Point(
                share,
                risk,
                f"{row.get('dataset')}: {points(risk)} % wrong when {points(share, 0)} % are answered"
                if at in marked
                else "",
            )
            for at, (share, risk) in enumerate(curve)
        ]
        if line:
            traces.append(Trace(tuple(line), sets.index(str(row.get("dataset"))), "curve"))
    if not traces:
        return None
    risk = max(point.y for trace in traces for point in trace.points)
    return Panel(
        model,
        tuple(traces),
        Axis("answered (%)", low=0.0, high=1.0),
        Axis("wrong (%)", low=0.0, high=1.08 * risk or 1.0),
    )


def _risks(row: Row) -> list[tuple[float, float]]:
    shares, risks = row.get("coverages"), row.get("risks")
    if not isinstance(shares, (list, tuple)) or not isinstance(risks, (list, tuple)):
        return []
    pairs = [(number(a), number(b)) for a, b in zip(shares, risks, strict=False)]
    return [(a, b) for a, b in pairs if a is not None and b is not None]
