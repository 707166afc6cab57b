"""Charts of scores over runs: each run, the variance and its parts, groups, checkpoints, datasets and examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from goldassay.core.numbers import count, decimal, number, percent, points

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goldassay.core.sections import Around
    from goldassay.questions.instability.result import (
        DatasetCorrelations,
        ExampleMap,
        ExampleSpread,
        Group,
        InstabilityResult,
        MapGroup,
        RunScores,
        Step,
        Trajectory,
    )

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


def charts(found: InstabilityResult, _: Around) -> dict[str, Chart]:
    """Every chart of scores over runs."""
    return by_name(
        _runs(found),
        _scores(found),
        _decomposition(found),
        _groups(found),
        _trajectories(found),
        _correlations(found),
        _examples(found),
        _maps(found),
    )


def signed_root(variance: float) -> float:
    """The root of a variance, with the sign of the variance."""
    size: float = abs(variance) ** 0.5
    return size if variance >= 0 else -size


def _runs(found: InstabilityResult) -> Chart | None:
    """A strip of dots for each model, dataset and condition, centered on its mean."""
    if not found.results:
        return None
    hovers = sum(len(row.accuracies) for row in found.results) <= _MOST_HOVERS
    groups = [_strip(row, hovers) for row in found.results]
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


def _strip(row: RunScores, hovers: bool) -> DotGroup:
    dots = tuple(
        Dot(score - row.mean, f"{row.of}, run {run}: {points(score, 2)} points" if hovers else "")
        for run, score in enumerate(row.accuracies, 1)
    )
    band = None if row.sd is None else (-row.sd, row.sd)
    return DotGroup(row.of, (DotRow(dots, band=band),), f"{points(row.mean)}, SD {points(row.sd, 2)}")


def _scores(found: InstabilityResult) -> Chart | None:
    """Every run of each dataset with several models, on one axis."""
    blocks: dict[str, list[RunScores]] = {}
    for row in found.results:
        name = row.dataset + ("" if row.condition in ("", "paired", "text") else f", {row.condition}")
        blocks.setdefault(name, []).append(row)
    blocks = {name: rows for name, rows in blocks.items() if len(rows) > 1}
    every = list(dict.fromkeys(row.model for rows in blocks.values() for row in rows))
    models, omitted = first_of(every, _MOST_MODELS, "models")
    groups = [
        DotGroup(name, tuple(_model_strip(name, row, models) for row in rows if row.model in models))
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


def _model_strip(dataset: str, row: RunScores, models: Sequence[str]) -> DotRow:
    series, scores = models.index(row.model), row.accuracies
    dots = [
        Dot(score, f"{row.model} on {dataset}, run {run}: {points(score, 2)} points", series)
        for run, score in enumerate(scores, 1)
    ]
    return DotRow(tuple(dots), (min(scores), max(scores)), series)


def _decomposition(found: InstabilityResult) -> Chart | None:
    """Two bars a row of results, from zero, in signed roots of the variance."""
    groups = []
    for row in found.results:
        if row.independent is not None and row.covariance is not None:
            parts = zip(PARTS, (row.independent, row.covariance), strict=True)
            bars = tuple(_variance_bar(row.of, series, variance, i) for i, (series, variance) in enumerate(parts))
            groups.append(BarGroup(row.of, bars))
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


def _groups(found: InstabilityResult) -> Chart | None:
    """Bars from zero, the largest first, a group a grouping."""
    blocks = []
    for grouping in found.groups:
        rows = [row for row in grouping.rows if number(row.share_of_variance) is not None]
        rows.sort(key=lambda row: -abs(row.share_of_variance))
        if rows:
            bars = tuple(_group_bar(row) for row in rows[:_MOST_GROUPS])
            blocks.append(BarGroup(f"{grouping.of}, by {grouping.column}", bars))
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


def _group_bar(row: Group) -> Bar:
    share = row.share_of_variance
    hover = (
        f"{row.group}: {percent(share)} of the variance, mean score {points(row.mean)},"
        f" SD {points(row.sd, 2)} points, {count(row.n_examples)} examples"
    )
    return Bar(row.group, share, hover, percent(share))


def _places(steps: Sequence[Step]) -> list[float]:
    """Where checkpoints lie: by their step where these are different numbers, else evenly."""
    known = [value for value in (number(step.t) for step in steps) if value is not None]
    return known if len(set(known)) == len(steps) else [float(i) for i in range(len(steps))]


def _trajectories(found: InstabilityResult) -> Chart | None:
    """A panel a model, dataset and condition."""
    entries = [each for each in found.trajectories if len(each.points) > 1]
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


def _trajectory(each: Trajectory) -> Panel:
    steps, places = each.points, _places(each.points)
    every = -(-len(steps) // _MOST_MARKS)
    marked = {at for at in range(len(steps)) if at % every == 0 or at + 1 == len(steps)}
    mean, run = checkpoint_traces(steps)
    means = [
        Point(point.x, point.y, _checkpoint_hover(each, step) if at in marked else "")
        for at, (point, step) in enumerate(zip(mean.points, steps, strict=True))
    ]
    return Panel(
        each.of,
        (run, Trace(tuple(means), 0, "curve", mean.band)),
        Axis("checkpoint", "number", 0),
        Axis(),
        ticks=((places[0], str(steps[0].t)), (places[-1], str(steps[-1].t))),
    )


def checkpoint_traces(steps: Sequence[Step], series: tuple[int, int] = (0, 1)) -> tuple[Trace, Trace]:
    """The mean over runs with its band, and one run."""
    placed = list(zip(_places(steps), steps, strict=True))
    band = tuple(
        (x, step.low, step.high) for x, step in placed if step.low is not None and step.high is not None
    )  # fmt: skip
    mean = tuple(Point(x, step.mean) for x, step in placed)
    run = tuple(Point(x, step.run) for x, step in placed)
    return Trace(mean, series[0], "curve", band), Trace(run, series[1], "thin")


def _checkpoint_hover(each: Trajectory, step: Step) -> str:
    band = "" if step.low is None else f", band {points(step.low, 2)} to {points(step.high, 2)}"
    return f"{each.of}, checkpoint {step.t}: mean {points(step.mean, 2)}{band}, seed {each.seed} {points(step.run, 2)}"


def _examples(found: InstabilityResult) -> Chart | None:
    """A stack for each set of runs, cut by the number of runs that are right."""
    if not found.examples:
        return None
    shown, omitted = first_of(found.examples, _MOST_STACKS, "bars")
    return Stacks(
        name="instability_examples",
        title="Examples that depend on the run",
        caption="All examples of a dataset, from those that every run gets wrong (left) through those that some runs "
        "get right to those that every run gets right. What lies between the two ends is decided by the seed.",
        omitted=omitted,
        stacks=tuple(map(_stack, shown)),
        series=_TONES,
    )


def _stack(each: ExampleSpread) -> Stack:
    n, runs = each.n_examples, each.n_runs
    parts = [
        (f"{r} of {runs} runs right", size, 0 if r == 0 else 2 if r == runs else 1)
        for r, size in enumerate(each.histogram)
    ]
    if not parts:
        wrong, right = each.n_always_wrong, each.n_always_right
        parts = [("wrong in every run", wrong, 0), ("others", n - wrong - right, 1), ("right in every run", right, 2)]
    return Stack(
        tuple(
            Part(size / n, tone, f"{each.of}: {count(size)} examples ({percent(size / n)}) {what}")
            for what, size, tone in parts
            if size
        ),
        each.of,
        f"{percent((n - each.n_constant) / n)} depend on the run",
    )


def _correlations(found: InstabilityResult) -> Chart | None:
    """A grid of correlations for each model, below its name."""
    grids = [_correlation_grid(each) for each in found.correlations]
    if not grids:
        return None
    shown, omitted = first_of(grids, _MOST_GRIDS, "grids")
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


def paper_correlations(found: InstabilityResult) -> Iterator[tuple[str, str, Chart]]:
    """(model, what the correlation is over, chart) of each grid."""
    for each in found.correlations:
        yield each.model, each.over, Matrix(name="", grids=(_correlation_grid(each),), measured=_MEASURED)


def _correlation_grid(each: DatasetCorrelations) -> Grid:
    """The correlations between datasets of one model."""
    over = f"{each.n_points} checkpoints, {each.n_runs} runs"
    if each.over == "runs":
        over = f"final scores of {each.n_runs} runs"
    # A model that no file names is called "model".
    of = "" if each.model == "model" else f"{each.model}, "
    cells = []
    for i, name in enumerate(each.names):
        for j, other in enumerate(each.names):
            value = number(each.values[i][j])
            shown = "not defined" if value is None else decimal(value, 3)
            cells.append(MatrixCell(i, j, value, decimal(value, 2), f"{name}, {other}: {shown}"))
    return Grid(f"{of}over {over}", each.names, each.names, tuple(cells))


def _maps(found: InstabilityResult) -> Chart | None:
    """A square of pixels for each set of runs."""
    grids = list(map(_pixel_grid, found.maps))
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


def paper_maps(found: InstabilityResult) -> Iterator[tuple[str, Chart]]:
    """(set of runs, chart) of each map."""
    for each in found.maps:
        yield each.of, PixelMatrix(name="", grids=(_pixel_grid(each),), measured=_MEASURED)


def _pixel_grid(each: ExampleMap) -> PixelGrid:
    """The correlations between examples of one set of runs."""
    size = len(each.example_ids)
    by = f", by {each.column}" if each.column else ""
    title = f"{each.of}{by} ({count(size)} of {count(each.n_varying)})"
    return PixelGrid(title, size, each.values, tuple(map(_block, each.groups)))


def _block(group: MapGroup) -> Block:
    within, others = decimal(group.within), decimal(group.with_others)
    hover = (
        f"{group.group}: {count(group.n_examples)} examples, mean correlation {within} with each "
        f"other, {others} with the rest"
    )
    return Block(group.group, group.n_examples, hover)
