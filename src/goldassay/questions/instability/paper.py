"""Tables and charts on instability for papers, after Zhou et al. 2020, and full tables of what was measured of runs."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import polars as pl

from goldassay.core.charts import (
    Axis,
    Bar,
    BarGroup,
    Bars,
    Chart,
    Dot,
    DotGroup,
    DotRow,
    Dots,
    Panel,
    Plot,
    Series,
    by_name,
    numbered_series,
)
from goldassay.core.files import file_slug
from goldassay.core.numbers import bounds, count, decimal, in_points, number, points, signed_points
from goldassay.core.sections import Column, PrintedTable, Table
from goldassay.questions.instability.charts import PARTS, checkpoint_traces, paper_correlations, paper_maps, signed_root
from goldassay.questions.instability.result import (
    Deviation,
    FigureInterval,
    InstabilityResult,
    OfRuns,
    RunScores,
    Selection,
    Trajectory,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goldassay.core.results import Result
    from goldassay.core.sections import Around
    from goldassay.questions.instability.result import DatasetCorrelations


R = TypeVar("R", bound=OfRuns)

_ABSENT = "—"
_ROOTS = {"total": "√(Total Var)", "independent": "√(Idp Var)", "covariance": "±√(|Cov|)"}
_OF_MODEL = Column("title", "", "data")
_BARS = (Series("total", "s0"), *PARTS)
# Datasets in one figure: a line style each.
_MOST_LINES = 6


def paper_tables(found: InstabilityResult, _: Around) -> tuple[Table, ...]:
    """The tables that there are values for."""
    tables = (_scores(found), *_deviations(found), _decomposition(found), _selection(found))
    return tuple(table for table in tables if table.rows)


_PRINTED = (
    PrintedTable("zhou2020_table9", "Table 9: accuracy, mean and SD over seeds", ("model",), ("dataset",), digits=2),
    PrintedTable(
        "zhou2020_table1", "Table 1: normalized deviation", ("model",), ("dataset",), digits=2,
        note="by the paper's rule, which rounds both deviations to a hundredth of a point first; intervals are of the "
        "ratios without rounding.",
        needs="the set that others are held against, its name as the reference",
    ),
    PrintedTable(
        "zhou2020_table3", "Table 3: where the variance comes from, roots in points", ("model", "dataset"),
        ("statistic",), digits=2,
        note="the root of the covariance's absolute value, as printed; the report shows its sign.",
        needs="predictions of two runs or more: scores by seed show no parts of a variance",
    ),
)  # fmt: skip
# The tables of Zhou et al. 2020 that runs are laid out as, by name.
PRINTED = {each.name: each for each in _PRINTED}


def printed_tables(found: InstabilityResult, _: Around) -> tuple[PrintedTable, ...]:
    """Tables 9, 1 and 3 of Zhou et al. 2020, in points and by their rules."""
    spread = [
        {**_named(row), "ours": 100 * row.mean, "sd": in_points(row.sd), "n_runs": row.n_runs} for row in found.results
    ]
    deviations = [
        {**_named(row), "ours": row.paper, "low": row.low, "high": row.high}
        for row in (found.deviations.rows if found.deviations else ())
        if row.paper is not None
    ]
    parts = [
        {**_named(row), "statistic": name, "ours": 100 * abs(value) ** 0.5}
        for row in found.results
        for name, value in (
            ("sqrt_total_variance", row.total),
            ("sqrt_independent_variance", row.independent),
            ("sqrt_abs_covariance", row.covariance),
        )
        if value is not None
    ]
    laid = (spread, deviations, parts)
    return tuple(replace(each, cells=tuple(cells)) for each, cells in zip(PRINTED.values(), laid, strict=True))


def _named(row: OfRuns) -> dict[str, str]:
    return {"model": _model(row), "dataset": row.dataset}


class _Grid(Generic[R]):
    """Rows of models and columns of datasets, the reference first; lines of the table, block by block."""

    def __init__(self, rows: Sequence[R], reference: str | None) -> None:
        self.cells = {(_model(row), row.dataset): row for row in rows}
        self.models = list(dict.fromkeys(model for model, _ in self.cells))
        names = dict.fromkeys(dataset for _, dataset in self.cells)
        self.datasets = sorted(names, key=lambda name: name != reference)
        self.block = 0
        self.lines: list[dict[str, Any]] = []

    def add(
        self, title: str, model: str, value: Callable[[R], str], interval: Callable[[R], str] | None = None
    ) -> None:
        """A line with a cell a dataset, a dash where the model has no runs on it; below it the intervals."""
        cells = [self.cells.get((model, dataset)) for dataset in self.datasets]
        self._add(title, [_ABSENT if cell is None else value(cell) for cell in cells])
        if interval is not None:
            self._add("", ["" if cell is None else interval(cell) for cell in cells], style="small")

    def add_heading(self, title: str) -> None:
        """A line with the name of what follows."""
        self._add(title, [], style="heading")

    def _add(self, title: str, cells: Sequence[str], style: str = "") -> None:
        named = {f"dataset{place}": cell for place, cell in enumerate(cells)}
        self.lines.append({"title": title, "block": self.block, "style": style, **named})

    def table(self, name: str, comment: str, first: Column) -> Table:
        """The table with datasets for its head."""
        columns = [
            Column(f"dataset{place}", dataset, sort="number", absent="") for place, dataset in enumerate(self.datasets)
        ]
        return Table(name, comment, (first, *columns), tuple(self.lines), grouped_by="block")


def _model(row: OfRuns) -> str:
    return row.model + ("" if row.condition in ("", "paired", "text") else f", {row.condition}")


def _scores(found: InstabilityResult) -> Table:
    """Mean and SD of each model on each dataset (the layout of Table 9)."""
    grid = _Grid(found.results, found.reference)
    for model in grid.models:
        grid.add(
            model,
            model,
            lambda row: points(row.mean, 2) + ("" if row.sd is None else f" ± {points(row.sd, 2)}"),
            lambda row: bounds(row.sd_low, row.sd_high, 2),
        )
    comment = "Mean and standard deviation over runs, in points; in brackets the 95 % interval of the deviation."
    return grid.table("scores", comment, _OF_MODEL)


def _deviations(found: InstabilityResult) -> list[Table]:
    """Normalized deviations: of right or wrong answers (Table 1), and of graded scores such as F1 (Table 2)."""
    if found.deviations is None:
        return []
    graded = {(_model(row), row.dataset) for row in found.results if row.graded}
    comment = (
        f"Standard deviation over runs against that on {found.deviations.reference}, allowing for sizes; below it the "
        "95 % interval. As published: deviations with ddof 0 rounded to two decimals of a point first."
    )

    def is_graded(row: Deviation) -> bool:
        return (_model(row), row.dataset) in graded

    rows = [row for row in found.deviations.rows if number(row.recommended) is not None]
    tables = []
    for name, wanted in (("normalized-deviation", False), ("normalized-deviation-graded", True)):
        grid = _Grid([row for row in rows if is_graded(row) is wanted], found.deviations.reference)
        for model in grid.models:
            grid.add(
                model, model, lambda row: decimal(row.recommended), lambda row: bounds(row.low, row.high, 2, 1)
            )  # fmt: skip
        grid.block += 1
        for model in grid.models:
            grid.add(f"{model}, as published", model, lambda row: decimal(row.paper))
        tables.append(grid.table(name, comment, _OF_MODEL))
    return tables


def _intervals(found: InstabilityResult) -> Mapping[tuple[str, str], FigureInterval]:
    """The intervals over runs that have two ends, by the name of the set and of the figure."""
    return {
        (each.of, row.figure): row
        for each in found.intervals
        for row in each.figures
        if number(row.runs_low) is not None and number(row.runs_high) is not None
    }


def _decomposition(found: InstabilityResult) -> Table:
    """Signed roots of the variance and its parts (the layout of Table 3)."""
    intervals = _intervals(found)
    grid = _Grid([row for row in found.results if row.total is not None], found.reference)

    def interval(part: str, row: RunScores) -> str:
        known = intervals.get((row.of, part))
        return "" if known is None else f"[{_root(known.runs_low)}, {_root(known.runs_high)}]"

    def root(part: str, row: RunScores) -> str:
        return _root(getattr(row, part))

    for block, model in enumerate(grid.models):
        grid.block = block
        if len(grid.models) > 1:
            grid.add_heading(model)
        for part, title in _ROOTS.items():
            grid.add(title, model, partial(root, part), partial(interval, part))
        grid.add("Design effect", model, lambda row: decimal(row.design_effect))
        grid.add("Effective size", model, lambda row: count(row.effective_size))
    comment = (
        "Signed roots of the variance over runs and its parts, in points, ddof 1 throughout; below them the 95 % "
        "intervals over runs. The published table has the absolute value of the covariance."
    )
    return grid.table("decomposition", comment, Column("title", "Statistic", absent=""))


def _root(value: float) -> str:
    """The root of a variance in points, with the variance's sign."""
    return decimal(math.copysign(100 * math.sqrt(abs(value)), value))


def _selection(found: InstabilityResult) -> Table:
    """Model selection on the standard dev set and on the analysis set itself (the layout of Table 6)."""
    grid = _Grid([row for row in found.selections if number(row.gain) is not None], None)

    def by_standard(row: Selection) -> str:
        return f"{points(row.standard_mean)} ± {points(row.standard_sd, 2)}"

    def by_itself(row: Selection) -> str:
        return f"{points(row.analysis_mean)} ± {points(row.analysis_sd, 2)}"

    for block, model in enumerate(grid.models):
        grid.block = block
        grid.add_heading(model)
        grid.add(f"by {found.reference}", model, by_standard)
        grid.add("by re-split dev", model, by_itself)
        grid.add(
            "gain", model, lambda row: signed_points(row.gain, 1), lambda row: bounds(row.gain_low, row.gain_high)
        )  # fmt: skip
    comment = "Accuracy in points on a held-out fifth, by what chose the checkpoint; mean and deviation over runs."
    return grid.table("model-selection", comment, Column("title", "Chosen", absent=""))


def paper_charts(found: InstabilityResult, _: Around) -> dict[str, Chart]:
    """Scores (Figure 2), parts of the variance (Table 3), trajectories (Figure 1), correlations (Figures 3 and 4)."""
    charts = by_name(_score_chart(found), _decomposition_chart(found))
    for chart in (*_trajectory_charts(found), *_correlation_charts(found), *_map_charts(found)):
        # Two models may have names that a file's name cannot tell apart.
        name = chart.name if chart.name not in charts else f"{chart.name}-{len(charts)}"
        charts[name] = replace(chart, name=name)
    return charts


def _ordered(found: InstabilityResult) -> list[RunScores]:
    """The rows of results, those on the reference first."""
    return sorted(found.results, key=lambda row: row.dataset != found.reference)


def _score_chart(found: InstabilityResult) -> Chart | None:
    rows = _ordered(found)
    if not rows:
        return None
    models = list(dict.fromkeys(row.model for row in rows))
    groups: dict[str, list[DotRow]] = {}
    for row in rows:
        series, scores = models.index(row.model), row.accuracies
        strip = DotRow(tuple(Dot(score, series=series) for score in scores), (min(scores), max(scores)), series)
        groups.setdefault(row.dataset, []).append(strip)
    return Dots(
        name="scores",
        groups=tuple(DotGroup(name, tuple(strips)) for name, strips in groups.items()),
        axis=Axis("score of a run (points)"),
        series=numbered_series(models),
        faint=True,
    )


def _decomposition_chart(found: InstabilityResult) -> Chart | None:
    """Three bars a set of runs, with their intervals over runs."""
    intervals = _intervals(found)
    groups = []
    for row in _ordered(found):
        if row.total is None or row.independent is None or row.covariance is None:
            continue
        bars = []
        for i, (series, variance) in enumerate(
            zip(_BARS, (row.total, row.independent, row.covariance), strict=True)
        ):  # fmt: skip
            known = intervals.get((row.of, series.name))
            low, high = (None, None) if known is None else (signed_root(known.runs_low), signed_root(known.runs_high))
            bars.append(Bar(series.name, signed_root(variance), "", series=i, low=low, high=high))
        groups.append(BarGroup(row.of, tuple(bars)))
    if not groups:
        return None
    axis = Axis("signed standard deviation (points)")
    return Bars(name="decomposition", groups=tuple(groups), axis=axis, series=_BARS)


def _trajectory_charts(found: InstabilityResult) -> list[Chart]:
    """One chart a model and condition; datasets beyond the first six go to further ones."""
    kin: dict[str, list[Trajectory]] = {}
    for each in found.trajectories:
        if len(each.points) > 1:
            kin.setdefault(f"{each.model} {each.condition}", []).append(each)
    charts: list[Chart] = []
    for model, entries in kin.items():
        name = "trajectories" if len(kin) == 1 else f"trajectories-{file_slug(model)}"
        for start in range(0, len(entries), _MOST_LINES):
            shown = entries[start : start + _MOST_LINES]
            pairs = [checkpoint_traces(each.points, (i, i)) for i, each in enumerate(shown)]
            traces = tuple(trace for mean, run in pairs for trace in (run, mean))
            panel = Panel("", traces, Axis("checkpoint", "number"), Axis("score (points)"))
            charts.append(
                Plot(
                    name=name if start == 0 else f"{name}-{start // _MOST_LINES + 1}",
                    panels=(panel,),
                    series=numbered_series([each.dataset for each in shown]),
                    height=175,
                    legend="lines",
                )
            )
    return charts


def _correlation_charts(found: InstabilityResult) -> list[Chart]:
    grids = list(paper_correlations(found))
    several = len({model for model, _, _ in grids}) > 1
    return [
        replace(chart, name=f"dataset-correlations{f'-{file_slug(model)}' if several else ''}-over-{file_slug(over)}")
        for model, over, chart in grids
    ]


def _map_charts(found: InstabilityResult) -> list[Chart]:
    return [replace(chart, name=f"example-map-{file_slug(name)}") for name, chart in paper_maps(found)]


def trajectory_table(found: Sequence[Trajectory]) -> pl.DataFrame:
    """One row a model, dataset, condition and checkpoint."""
    rows = [{**names_of(each), **vars(point), "t": str(point.t)} for each in found for point in each.points]
    return pl.DataFrame(rows, infer_schema_length=None)


def score_table(results: Sequence[RunScores]) -> pl.DataFrame:
    """One row a set of runs, with a column for each field that any of them has."""
    return frame_of_rows(list(map(fields_of, results)))


def fields_of(record: Result) -> dict[str, Any]:
    """The fields of a record as they are, but for those that its plain form leaves out."""
    return {name: getattr(record, name) for name in record.to_dict()}


def names_of(record: OfRuns) -> dict[str, str]:
    """What the runs of a record are called."""
    return {"model": record.model, "dataset": record.dataset, "condition": record.condition}


def frame_of_rows(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """A column for each name that any of the rows has."""
    # Of tuples without items polars makes columns of objects.
    plain = [{key: list(value) if isinstance(value, tuple) else value for key, value in row.items()} for row in rows]
    return pl.DataFrame(plain, infer_schema_length=None)


def pairs_of_datasets(each: DatasetCorrelations) -> list[dict[str, Any]]:
    """One row a pair of datasets."""
    return [
        {
            "model": each.model, "condition": each.condition, "over": each.over,
            "a": each.names[i], "b": each.names[j],
            "correlation": each.values[i][j], "low": each.low[i][j], "high": each.high[i][j],
            "n_runs_used": each.n_runs_used[i][j],
        }
        for i in range(len(each.names)) for j in range(i + 1, len(each.names))
    ]  # fmt: skip
