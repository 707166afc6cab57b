"""Charts of scores over runs: each run, the variance and its parts, groups, checkpoints, datasets and examples."""

from __future__ import annotations

import base64
import binascii
import math
from typing import TYPE_CHECKING, Any

from goldassay.core.charts import (
    Axis,
    Bar,
    BarGroup,
    Bars,
    Block,
    Chart,
    Dot,
    DotGroup,
    DotRow,
    Dots,
    Grid,
    Matrix,
    MatrixCell,
    Panel,
    Part,
    PixelGrid,
    PixelMatrix,
    Plot,
    Point,
    Rule,
    Series,
    Stack,
    Stacks,
    Trace,
    by_name,
    first_of,
    numbered_series,
)
from goldassay.core.documents import mapping, records, row_name
from goldassay.core.numbers import count, decimal, number, percent, points

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# More dots than these do not answer to the pointer: the page would grow too large.
_MOST_HOVERS = 1500
_MOST_MODELS, _MOST_GROUPS, _MOST_PANELS, _MOST_GRIDS, _MOST_STACKS = 12, 12, 12, 6, 16
_MOST_MARKS = 40
_TONES = (
    Series("wrong in every run", "hard"),
    Series("depends on the run", "conflicting"),
    Series("right in every run", "easy"),
)
_MEASURED = "rank correlation"
PARTS = (Series("independent", "s3", 3), Series("covariance", "s4", 4))


def charts(document: Mapping[str, Any]) -> dict[str, Chart]:
    """Every chart of scores over runs."""
    found = mapping(document, "instability")
    return by_name(
        _runs(found),
        _scores(found),
        _decomposition(found),
        _groups(found),
        _trajectories(found),
        correlations(found, _MOST_GRIDS),
        _examples(found),
        maps(found),
    )


def scores_of(row: Mapping[str, Any]) -> list[float]:
    """The score of each run of a row of results."""
    scores = row.get("accuracies")
    return [a for a in map(number, scores) if a is not None] if isinstance(scores, (list, tuple)) else []


def signed_root(variance: float) -> float:
    """The root of a variance, with the sign of the variance."""
    size: float = abs(variance) ** 0.5
    return size if variance >= 0 else -size


def _runs(found: Mapping[str, Any]) -> Chart | None:
    """A strip of dots for each model, dataset and condition, centered on its mean."""
    rows = [
        (row, scores)
        for row in records(found.get("results"))
        if (scores := scores_of(row)) and number(row.get("mean")) is not None
    ]
    if not rows:
        return None
    hovers = sum(len(scores) for _, scores in rows) <= _MOST_HOVERS
    groups = [_strip(row, scores, hovers) for row, scores in rows]
    every = [abs(dot.value) for group in groups for dot in group.rows[0].dots]
    reach = 1.1 * max(0.0005, *every, *(end for group in groups for end in group.rows[0].band or ()))
    return Dots(
        name="instability_runs",
        title="Score of each run",
        caption="Each dot is one run, placed by how far it lies from the mean of its row; so rows compare in spread, "
        "whatever their level. The bar is one standard deviation to either side.",
        groups=tuple(groups),
        axis=Axis("points from the mean of the row", low=-reach, high=reach),
        rules=(Rule(0.0, solid=True),),
        headings="above",
        faint=True,
    )


def _strip(row: Mapping[str, Any], scores: list[float], hovers: bool) -> DotGroup:
    name, mean, sd = row_name(row), float(row["mean"]), number(row.get("sd"))
    dots = tuple(
        Dot(score - mean, f"{name}, run {run}: {points(score, 2)} points" if hovers else "")
        for run, score in enumerate(scores, 1)
    )
    band = None if sd is None else (-sd, sd)
    return DotGroup(name, (DotRow(dots, band=band),), f"{points(mean)}, SD {points(sd, 2)}")


def _scores(found: Mapping[str, Any]) -> Chart | None:
    """A group for each dataset that more than one model was run on, and in it a strip of marks for each model."""
    blocks: dict[str, list[tuple[str, list[float]]]] = {}
    for row in records(found.get("results")):
        if scores := scores_of(row):
            condition = row.get("condition")
            name = str(row.get("dataset")) + ("" if condition in (None, "paired", "text") else f", {condition}")
            blocks.setdefault(name, []).append((str(row.get("model")), scores))
    blocks = {name: rows for name, rows in blocks.items() if len(rows) > 1}
    every = list(dict.fromkeys(model for rows in blocks.values() for model, _ in rows))
    models, omitted = first_of(every, _MOST_MODELS, "models")
    groups = [
        DotGroup(name, tuple(_model_strip(name, model, scores, models) for model, scores in rows if model in models))
        for name, rows in blocks.items()
    ]
    if not any(group.rows for group in groups):
        return None
    return Dots(
        name="instability_scores",
        title="Scores by dataset and model",
        caption="Each mark is one run, the line under it reaches from the lowest to the highest run of its model. "
        "Where the lines of two models overlap, a single run of each can put either first.",
        omitted=omitted,
        groups=tuple(group for group in groups if group.rows),
        axis=Axis("score of a run (points)"),
        series=numbered_series(models),
        headings="above",
        faint=True,
    )


def _model_strip(dataset: str, model: str, scores: list[float], models: Sequence[str]) -> DotRow:
    series = models.index(model)
    dots = [
        Dot(score, f"{model} on {dataset}, run {run}: {points(score, 2)} points", series)
        for run, score in enumerate(scores, 1)
    ]
    return DotRow(tuple(dots), (min(scores), max(scores)), series)


def _decomposition(found: Mapping[str, Any]) -> Chart | None:
    """Two bars a row of results, from zero, in signed roots of the variance."""
    groups = []
    for row in records(found.get("results")):
        parts = [number(row.get(series.name)) for series in PARTS]
        bars = [
            _variance_bar(row_name(row), series, variance, i)
            for i, (series, variance) in enumerate(zip(PARTS, parts, strict=True))
            if variance is not None
        ]
        if len(bars) == len(PARTS):
            groups.append(BarGroup(row_name(row), tuple(bars)))
    if not groups:
        return None
    return Bars(
        name="instability_decomposition",
        title="Where the variance comes from",
        caption="Each part as a standard deviation in points, with its sign: what the examples would add if they moved "
        "independently, and what comes of their moving together (below zero: they offset each other).",
        groups=tuple(groups),
        axis=Axis("signed standard deviation (points)"),
        series=PARTS,
    )


def _variance_bar(name: str, series: Series, variance: float, position: int) -> Bar:
    root = signed_root(variance)
    hover = f"{name}, {series.name}: {points(root, 3)} points, variance {decimal(10_000 * variance, 4)} squared points"
    return Bar(series.name, root, hover, points(root, 2), series=position)


def _groups(found: Mapping[str, Any]) -> Chart | None:
    """Bars from zero, the largest first, a group a grouping."""
    blocks = []
    for grouping in records(found.get("groups")):
        rows = [row for row in records(grouping.get("rows")) if number(row.get("share_of_variance")) is not None]
        rows.sort(key=lambda row: -abs(row["share_of_variance"]))
        if rows:
            bars = tuple(_group_bar(row) for row in rows[:_MOST_GROUPS])
            blocks.append(BarGroup(f"{row_name(grouping)}, by {grouping.get('column')}", bars))
    if not blocks:
        return None
    return Bars(
        name="instability_groups",
        title="Variance by group",
        caption="Share of the variance over runs that each group accounts for; below zero, a group offsets the others. "
        "The twelve largest are drawn.",
        groups=tuple(blocks),
        axis=Axis(unit="percent", digits=0),
        series=(Series("", "s4"),),
        axis_of="each",
    )


def _group_bar(row: Mapping[str, Any]) -> Bar:
    name, share = str(row.get("group")), float(row["share_of_variance"])
    hover = (
        f"{name}: {percent(share)} of the variance, mean score {points(row.get('mean'))},"
        f" SD {points(row.get('sd'), 2)} points, {count(row.get('n_examples'))} examples"
    )
    return Bar(name, share, hover, percent(share))


def steps_of(each: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The checkpoints of a trajectory that have a mean."""
    return [step for step in records(each.get("points")) if number(step.get("mean")) is not None]


def places_of(steps: Sequence[Mapping[str, Any]]) -> list[float]:
    """Where checkpoints lie: by their step where these are different numbers, else evenly."""
    known = [value for value in (number(step.get("t")) for step in steps) if value is not None]
    return known if len(set(known)) == len(steps) else [float(i) for i in range(len(steps))]


def _trajectories(found: Mapping[str, Any]) -> Chart | None:
    """A panel a model, dataset and condition."""
    entries = [each for each in records(found.get("trajectories")) if len(steps_of(each)) > 1]
    if not entries:
        return None
    shown, omitted = first_of(entries, _MOST_PANELS, "panels")
    return Plot(
        name="instability_trajectories",
        title="Scores over training",
        caption="The thick line is the mean over runs at each checkpoint, the band one standard deviation to either "
        "side, the thin line one run. Each panel has its own scale.",
        omitted=omitted,
        panels=tuple(_trajectory(each) for each in shown),
        series=(Series("mean", "s0", 0), Series("one run", "s1", 1)),
        legend=None,
    )


def _trajectory(each: Mapping[str, Any]) -> Panel:
    steps = steps_of(each)
    places = places_of(steps)
    every = -(-len(steps) // _MOST_MARKS)
    marked = {at for at in range(len(steps)) if at % every == 0 or at + 1 == len(steps)}
    mean, run = checkpoint_traces(steps)
    means = [
        Point(point.x, point.y, _checkpoint_hover(each, step) if at in marked else "")
        for at, (point, step) in enumerate(zip(mean.points, steps, strict=True))
    ]
    return Panel(
        row_name(each),
        (run, Trace(tuple(means), 0, "curve", mean.band)),
        Axis("checkpoint", "number", 0),
        Axis(),
        ticks=((places[0], str(steps[0].get("t"))), (places[-1], str(steps[-1].get("t")))),
    )


def checkpoint_traces(steps: Sequence[Mapping[str, Any]], series: tuple[int, int] = (0, 1)) -> tuple[Trace, Trace]:
    """The mean over runs with its band, and one run."""
    placed = list(zip(places_of(steps), steps, strict=True))
    band = tuple(
        (x, low, high)
        for x, step in placed
        if (low := number(step.get("low"))) is not None and (high := number(step.get("high"))) is not None
    )
    mean = tuple(Point(x, float(step["mean"])) for x, step in placed)
    run = tuple(Point(x, value) for x, step in placed if (value := number(step.get("run"))) is not None)
    return Trace(mean, series[0], "curve", band), Trace(run, series[1], "thin")


def _checkpoint_hover(each: Mapping[str, Any], step: Mapping[str, Any]) -> str:
    low, high = step.get("low"), step.get("high")
    band = "" if number(low) is None else f", band {points(low, 2)} to {points(high, 2)}"
    return (
        f"{row_name(each)}, checkpoint {step.get('t')}: mean {points(step['mean'], 2)}{band}, "
        f"seed {each.get('seed')} {points(step.get('run'), 2)}"
    )


def _examples(found: Mapping[str, Any]) -> Chart | None:
    """A stack for each set of runs, cut by the number of runs that are right."""
    rows = [(row, n) for row in records(found.get("examples")) if (n := number(row.get("n_examples")))]
    if not rows:
        return None
    shown, omitted = first_of(rows, _MOST_STACKS, "bars")
    return Stacks(
        name="instability_examples",
        title="Examples that depend on the run",
        caption="All examples of a dataset, from those that every run gets wrong (left) through those that some runs "
        "get right to those that every run gets right. What lies between the two ends is decided by the seed.",
        omitted=omitted,
        stacks=tuple(_stack(row, n) for row, n in shown),
        series=_TONES,
    )


def _stack(row: Mapping[str, Any], n: float) -> Stack:
    name = row_name(row) or " "
    values = row.get("histogram")
    histogram = [number(value) or 0 for value in values] if isinstance(values, (list, tuple)) else []
    runs = len(histogram) - 1
    parts = [
        (f"{r} of {runs} runs right", size, 0 if r == 0 else 2 if r == runs else 1) for r, size in enumerate(histogram)
    ]
    if not parts:
        wrong, right = (number(row.get(key)) or 0 for key in ("n_always_wrong", "n_always_right"))
        parts = [("wrong in every run", wrong, 0), ("others", n - wrong - right, 1), ("right in every run", right, 2)]
    return Stack(
        tuple(
            Part(size / n, tone, f"{name}: {count(size)} examples ({percent(size / n)}) {what}")
            for what, size, tone in parts
            if size
        ),
        name,
        f"{percent((n - (number(row.get('n_constant')) or 0)) / n)} depend on the run",
    )


def correlations(found: Mapping[str, Any], most: int) -> Chart | None:
    """A grid of correlations for each model, below its name."""
    grids = [correlation_grid(each) for each in _correlations_of(found)]
    if not grids:
        return None
    shown, omitted = first_of(grids, most, "grids")
    return Matrix(
        name="instability_correlations",
        title="Datasets that move together",
        caption="Rank correlation between the scores on two datasets, over the checkpoints of a run and averaged over "
        "runs, or over the final scores of the runs. Blue rise and fall together, red against each other, pale hardly "
        "at all.",
        omitted=omitted,
        grids=tuple(shown),
        measured=_MEASURED,
    )


def paper_correlations(found: Mapping[str, Any]) -> Iterator[tuple[str, str, Chart]]:
    """(model, what the correlation is over, chart) of each grid."""
    for each in _correlations_of(found):
        chart = Matrix(name="", grids=(correlation_grid(each),), measured=_MEASURED)
        yield str(each.get("model")), str(each.get("over")), chart


def _correlations_of(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [each for each in records(found.get("correlations")) if _has_values(each)]


def _has_values(each: Mapping[str, Any]) -> bool:
    """Whether there are two names or more, and a value for each pair of them."""
    names, values = each.get("names"), each.get("values")
    if not isinstance(names, (list, tuple)) or not isinstance(values, (list, tuple)) or len(names) < 2:
        return False
    rows = [row for row in values if isinstance(row, (list, tuple)) and len(row) == len(names)]
    return len(rows) == len(values) == len(names)


def correlation_grid(each: Mapping[str, Any]) -> Grid:
    """The correlations between datasets of one model."""
    names = tuple(str(name) for name in each["names"])
    over = f"{each.get('n_points')} checkpoints, {each.get('n_runs')} runs"
    if each.get("over") == "runs":
        over = f"final scores of {each.get('n_runs')} runs"
    # A model that no file names is called "model".
    of = "" if each.get("model") in (None, "model") else f"{each['model']}, "
    cells = []
    for i, name in enumerate(names):
        for j, other in enumerate(names):
            value = number(each["values"][i][j])
            shown = "not defined" if value is None else decimal(value, 3)
            cells.append(MatrixCell(i, j, value, decimal(value, 2), f"{name}, {other}: {shown}"))
    return Grid(f"{of}over {over}", names, names, tuple(cells))


def maps(found: Mapping[str, Any]) -> Chart | None:
    """A square of pixels for each set of runs."""
    grids = [pixel_grid(each, size) for each, size in _maps_of(found)]
    if not grids:
        return None
    return PixelMatrix(
        name="instability_map",
        title="Examples that go together",
        caption="Rank correlation between examples that change (in brackets how many are drawn), over the checkpoints "
        "of a run or over runs. Blue go right and wrong together, red against each other. Examples lie group by group, "
        "those that go together side by side; blue blocks on the diagonal are groups that the model gets right or "
        "wrong as a whole.",
        grids=tuple(grids),
        measured=_MEASURED,
    )


def paper_maps(found: Mapping[str, Any]) -> Iterator[tuple[str, Chart]]:
    """(set of runs, chart) of each map."""
    for each, size in _maps_of(found):
        yield row_name(each), PixelMatrix(name="", grids=(pixel_grid(each, size),), measured=_MEASURED)


def _maps_of(found: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], int]]:
    return [(each, size) for each in records(found.get("maps")) if (size := _map_size(each))]


def _map_size(each: Mapping[str, Any]) -> int:
    """How many examples a map has; 0 where its values are no square."""
    try:
        size = math.isqrt(len(values := base64.b64decode(str(each.get("values")), validate=True)))
    except (binascii.Error, ValueError):
        return 0
    return size if size > 1 and size * size == len(values) else 0


def pixel_grid(each: Mapping[str, Any], size: int) -> PixelGrid:
    """The correlations between examples of one set of runs."""
    by = f", by {each['column']}" if each.get("column") else ""
    title = f"{row_name(each)}{by} ({count(size)} of {count(each.get('n_varying'))})"
    return PixelGrid(title, size, str(each["values"]), tuple(_block(group) for group in records(each.get("groups"))))


def _block(group: Mapping[str, Any]) -> Block:
    within, others = decimal(group.get("within")), decimal(group.get("with_others"))
    hover = (
        f"{group.get('group')}: {count(group.get('n_examples'))} examples, mean correlation {within} with each "
        f"other, {others} with the rest"
    )
    return Block(str(group.get("group")), int(number(group.get("n_examples")) or 0), hover)
