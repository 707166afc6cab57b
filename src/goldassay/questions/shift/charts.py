"""Charts of shift: from one distribution to another, by size, and how sure models are on both."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

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
from goldassay.core.files import file_slug
from goldassay.core.numbers import bounds, count, number, percent, points, signed_points
from goldassay.questions.shift.result import (
    CalibrationRow,
    ConfidenceHistogram,
    CoverageRow,
    DetectionResult,
    DetectionRow,
    GapRow,
    GeneralizationResult,
    ShiftResult,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goldassay.core.sections import Around

    # A model's row on its own distribution, and that on another.
    Slope = tuple[GapRow, GapRow]

R = TypeVar("R", CalibrationRow, CoverageRow)

_MOST_PANELS, _MOST_HISTOGRAMS, _MOST_BARS = 12, 30, 60
_SIDES = (Series("own distribution", "s0", 0), Series("other set", "s1", 1))
# How far the slopes of neighbouring models lie apart, where the two sets are 1 apart.
_APART = 0.03
_MARKS = 6


def charts(found: ShiftResult, _: Around) -> dict[str, Chart]:
    """Every chart of generalization or detection."""
    if isinstance(found, DetectionResult):
        return by_name(_false_alarms(found.detection), _confidence(found.histograms))
    if isinstance(found, GeneralizationResult):
        gaps = _of_first_metric(found.generalization)
        return by_name(_slopes(gaps), _sizes(gaps), _reliability(found.calibration), _coverage(found.risk_coverage))
    return {}


def paper_charts(found: ShiftResult, _: Around) -> dict[str, Chart]:
    """Slopes per pair of sets (Figures 1 and 2 of Hendrycks et al. 2020), false alarms (4), confidence (5)."""
    if isinstance(found, DetectionResult):
        return {**by_name(_paper_alarms(found.detection)), **_paper_confidence(found.histograms)}
    return _paper_slopes(_of_first_metric(found.generalization)) if isinstance(found, GeneralizationResult) else {}


def _model_name(row: GapRow) -> str:
    """A model's name without what it was trained on: each panel has one training set, and its color says the model."""
    return row.model.replace(f"@{row.train}", "", 1)


def _of_first_metric(rows: Sequence[GapRow]) -> list[GapRow]:
    return [row for row in rows if row.metric == rows[0].metric]


def _slopes_of(rows: Sequence[GapRow]) -> dict[tuple[str, str, str], list[Slope]]:
    """The models' slopes by training set, own set and other set."""
    rows = [row for row in rows if number(row.value) is not None]
    own = {row.model: row for row in rows if row.own}
    pairs: dict[tuple[str, str, str], list[Slope]] = {}
    for row in rows:
        start = own.get(row.model)
        if not row.own and start is not None:
            pairs.setdefault((start.train, start.test, row.test), []).append((start, row))
    return pairs


def _slopes(rows: Sequence[GapRow]) -> Chart | None:
    """A panel a training set and other set."""
    pairs = _slopes_of(rows)
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
        for value in (row.value, row.low, row.high)
        if number(value) is not None
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
            Point(at + shift, row.value, _slope_hover(row), number(row.low), number(row.high))
            for at, row in enumerate(slope)
        )
        traces.append(Trace(ends, series, "curve"))
    names = [row.test for row in lines[0]]
    reach = 0.33 + _APART * len(models) / 2
    return Panel(
        title,
        tuple(traces),
        Axis("", "number", low=-reach, high=1 + reach),
        axis,
        ticks=((0.0, names[0]), (1.0, names[1])),
    )


def _slope_hover(row: GapRow) -> str:
    hover = f"{row.model} on {row.test}: {points(row.value)} {bounds(row.low, row.high)}"
    return hover if row.own else f"{hover}, gap {signed_points(row.gap, 1)} {bounds(row.gap_low, row.gap_high)}"


def _paper_slopes(rows: Sequence[GapRow]) -> dict[str, Chart]:
    """A chart a pair of sets, whatever the models were trained on."""
    pairs: dict[tuple[str, str], list[Slope]] = {}
    for (_, start, end), lines in _slopes_of(rows).items():
        pairs.setdefault((start, end), []).extend(lines)
    charts: dict[str, Chart] = {}
    for (start, end), lines in pairs.items():
        name = f"gap-{file_slug(start)}-{file_slug(end)}"
        models = list(dict.fromkeys(_model_name(row) for _, row in lines))
        axis = Axis(f"{lines[0][0].metric} (points)")
        charts[name] = Plot(name=name, panels=(_slope_panel("", lines, models, axis),), series=numbered_series(models))
    return charts


def _sizes(rows: Sequence[GapRow]) -> Chart | None:
    """A panel per other set, where two models or more have a size."""
    own = {row.model: row.test for row in rows if row.own}
    panels: dict[str, list[tuple[GapRow, tuple[float, ...]]]] = {}
    for row in rows:
        known = between(*map(number, (row.size, row.gap, row.gap_low, row.gap_high)))
        if not row.own and known is not None and known[0] > 0:
            panels.setdefault(f"{own.get(row.model, 'own')} → {row.test}", []).append((row, known))
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


def _size_point(row: GapRow, known: tuple[float, ...]) -> Point:
    size, gap, low, high = known
    hover = f"{row.model}, {count(size)} parameters: gap {signed_points(gap, 1)} {bounds(low, high)}"
    return Point(size, gap, hover, low, high)


def _of_first_score(rows: Sequence[DetectionRow]) -> list[DetectionRow]:
    return [row for row in rows if row.score == rows[0].score and number(row.false_alarm_rate) is not None]


def _alarm_bar(row: DetectionRow, series: int) -> Bar:
    rate, low, high = row.false_alarm_rate, number(row.false_alarm_rate_low), number(row.false_alarm_rate_high)
    hover = f"{row.model} on {row.dataset}: {percent(rate)} {bounds(low, high)}"
    return Bar(row.model, rate, hover, points(rate), bounds(low, high, 0), series, low, high)


def _chance(rows: Sequence[DetectionRow]) -> tuple[Rule, ...]:
    chance = number(rows[0].false_alarm_rate_chance)
    return () if chance is None else (Rule(chance, "chance"),)


def _false_alarms(found: Sequence[DetectionRow]) -> Chart | None:
    """A bar per model, in a group per other set."""
    rows = _of_first_score(found)
    if not rows:
        return None
    shown, omitted = first_of(rows, _MOST_BARS, "bars")
    models = list(dict.fromkeys(row.model for row in shown))
    groups: dict[tuple[str, str], list[Bar]] = {}
    for row in shown:
        groups.setdefault((row.in_distribution, row.dataset), []).append(_alarm_bar(row, models.index(row.model)))
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


def _paper_alarms(found: Sequence[DetectionRow]) -> Chart | None:
    rows = _of_first_score(found)
    if not rows:
        return None
    models = list(dict.fromkeys(row.model for row in rows))
    groups: dict[str, list[Bar]] = {}
    for row in rows:
        groups.setdefault(row.dataset, []).append(_alarm_bar(row, models.index(row.model)))
    return Bars(
        name="false-alarms",
        groups=tuple(BarGroup(name, tuple(bars)) for name, bars in groups.items()),
        axis=Axis("own texts flagged (%), chance dashed", low=0.0, high=1.0),
        series=numbered_series(models),
        rules=_chance(rows),
    )


def _steps(edges: Sequence[float], shares: Sequence[float]) -> tuple[Point, ...]:
    inner = (Point(edge, share) for edge, share in zip(edges, shares, strict=False))
    return (Point(edges[0], 0.0), *inner, Point(edges[-1], 0.0))


def _confidence(histograms: Sequence[ConfidenceHistogram]) -> Chart | None:
    """A panel per model and other set."""
    if not histograms:
        return None
    shown, omitted = first_of(histograms, _MOST_HISTOGRAMS, "panels")
    several = len({row.model for row in histograms}) > 1
    return Plot(
        name="shift_confidence",
        title="Confidence in own and foreign texts",
        caption="One panel a model and other set: the share of texts by the probability of the predicted class, all "
        "runs together. Filled: the model's own distribution; the line: the other. Where they lie over each other, "
        "confidence cannot separate them.",
        omitted=omitted,
        panels=tuple(_confidence_panel((row.model, row.dataset) if several else row.dataset, row) for row in shown),
        series=_SIDES,
        height=120,
        legend="lines",
    )


def _confidence_panel(title: str | tuple[str, str], row: ConfidenceHistogram) -> Panel:
    edges, inside, outside = row.edges, row.share_in, row.share_out
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


def _paper_confidence(histograms: Sequence[ConfidenceHistogram]) -> dict[str, Chart]:
    charts: dict[str, Chart] = {}
    for row in histograms:
        name = f"confidence-{file_slug(row.model)}-{file_slug(row.dataset)}"
        series = (Series("own", "s0", 0), Series(row.dataset, "s2", 1))
        charts[name] = Plot(name=name, panels=(_confidence_panel("", row),), series=series, height=135, legend="lines")
    return charts


def _by_model(
    name: str,
    title: str,
    caption: str,
    rows: Sequence[R],
    panel_of: Callable[[str, Sequence[R], Sequence[str]], Panel | None],
) -> Chart | None:
    """A panel per model with a series per set."""
    sets = list(dict.fromkeys(row.dataset for row in rows))
    models, omitted = first_of(list(dict.fromkeys(row.model for row in rows)), _MOST_PANELS, "models")
    panels = [panel_of(model, [row for row in rows if row.model == model], sets) for model in models]
    drawn = tuple(panel for panel in panels if panel is not None)
    if not drawn:
        return None
    series = numbered_series(sets)
    return Plot(
        name=name, title=title, caption=caption, omitted=omitted, panels=drawn, series=series, height=170
    )  # fmt: skip


def _reliability(rows: Sequence[CalibrationRow]) -> Chart | None:
    return _by_model(
        "shift_reliability",
        "Does confidence mean what it says",
        "One panel a model, one line a set: accuracy of the examples of like confidence, in bins of equal "
        "mass, all runs together. Below the dashed line the model is surer than it is right.",
        rows,
        _reliability_panel,
    )


def _reliability_panel(model: str, rows: Sequence[CalibrationRow], sets: Sequence[str]) -> Panel | None:
    traces = []
    for row in rows:
        bins = tuple(
            Point(
                each.confidence,
                each.accuracy,
                f"{row.dataset}: confidence {points(each.confidence)}, accuracy {points(each.accuracy)}, "
                f"{count(each.n)} answers",
            )
            for each in row.bins
        )
        if bins:
            traces.append(Trace(bins, sets.index(row.dataset), "thin"))
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


def _coverage(rows: Sequence[CoverageRow]) -> Chart | None:
    return _by_model(
        "shift_coverage",
        "Risk against coverage",
        "One panel a model, one line a set: the share of errors among the answers given, when only the surest "
        "are, mean over runs. A line that falls to the left is a confidence that can be used; a level one is none.",
        rows,
        _coverage_panel,
    )


def _coverage_panel(model: str, rows: Sequence[CoverageRow], sets: Sequence[str]) -> Panel | None:
    traces = []
    for row in rows:
        curve = list(zip(row.coverages, row.risks, strict=True))
        marked = set(range(len(curve) - 1, -1, -max(1, len(curve) // _MARKS)))
        line = [
            Point(
                share,
                risk,
                f"{row.dataset}: {points(risk)} % wrong when {points(share, 0)} % are answered" if at in marked else "",
            )
            for at, (share, risk) in enumerate(curve)
        ]
        if line:
            traces.append(Trace(tuple(line), sets.index(row.dataset), "curve"))
    if not traces:
        return None
    risk = max(point.y for trace in traces for point in trace.points)
    return Panel(
        model,
        tuple(traces),
        Axis("answered (%)", low=0.0, high=1.0),
        Axis("wrong (%)", low=0.0, high=1.08 * risk or 1.0),
    )
