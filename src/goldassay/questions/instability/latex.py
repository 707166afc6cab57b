"""Tables on instability for papers, in the layouts of Zhou et al. 2020: datasets across, models or statistics down."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records
from goldassay.core.numbers import bounds, count, decimal, number, points, signed_points
from goldassay.core.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_ABSENT = "—"
_PARTS = {"total": "√(Total Var)", "independent": "√(Idp Var)", "covariance": "±√(|Cov|)"}


def paper_tables(document: Mapping[str, Any]) -> tuple[Table, ...]:
    """The tables that the document has values for."""
    found = mapping(document, "instability")
    tables = (_scores(found), *_deviations(found), _decomposition(found), _selection(found))
    return tuple(table for table in tables if table.rows)


class _Grid:
    """Rows of models and columns of datasets, the reference first; lines of the table, block by block."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], reference: Any) -> None:
        self.cells = {(_model(row), str(row.get("dataset"))): row for row in rows}
        self.models = list(dict.fromkeys(model for model, _ in self.cells))
        names = dict.fromkeys(dataset for _, dataset in self.cells)
        self.datasets = sorted(names, key=lambda name: name != reference)
        self.block = 0
        self.lines: list[dict[str, Any]] = []

    def add(
        self,
        title: str,
        model: str,
        value: Callable[[Mapping[str, Any]], str],
        interval: Callable[[Mapping[str, Any]], str] | None = None,
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


_OF_MODEL = Column("title", "", "data")


def _model(row: Mapping[str, Any]) -> str:
    condition = row.get("condition")
    return str(row.get("model")) + ("" if condition in (None, "paired", "text") else f", {condition}")


def _scores(found: Mapping[str, Any]) -> Table:
    """Mean and SD of each model on each dataset (the layout of Table 9)."""
    rows = [row for row in records(found.get("results")) if number(row.get("mean")) is not None]
    grid = _Grid(rows, found.get("reference"))

    def value(row: Mapping[str, Any]) -> str:
        sd = "" if number(row.get("sd")) is None else f" ± {points(row.get('sd'), 2)}"
        return points(row.get("mean"), 2) + sd

    for model in grid.models:
        grid.add(model, model, value, lambda row: bounds(row.get("sd_low"), row.get("sd_high"), 2))
    comment = "Mean and standard deviation over runs, in points; in brackets the 95 % interval of the deviation."
    return grid.table("scores", comment, _OF_MODEL)


def _deviations(found: Mapping[str, Any]) -> list[Table]:
    """Normalized deviations: of right or wrong answers (Table 1), and of graded scores such as F1 (Table 2)."""
    deviations = mapping(found, "deviations")
    graded = {
        (_model(row), str(row.get("dataset"))) for row in records(found.get("results")) if row.get("graded") is True
    }
    rows = [row for row in records(deviations.get("rows")) if number(row.get("recommended")) is not None]
    comment = (
        f"Standard deviation over runs against that on {deviations.get('reference')}, allowing for sizes; below it the "
        "95 % interval. As published: deviations with ddof 0 rounded to two decimals of a point first."
    )
    tables = []
    for name, wanted in (("normalized-deviation", False), ("normalized-deviation-graded", True)):
        chosen = [row for row in rows if ((_model(row), str(row.get("dataset"))) in graded) is wanted]
        grid = _Grid(chosen, deviations.get("reference"))
        for model in grid.models:
            grid.add(
                model,
                model,
                lambda row: decimal(row.get("recommended")),
                lambda row: bounds(row.get("low"), row.get("high"), 2, 1),
            )
        grid.block += 1
        for model in grid.models:
            grid.add(f"{model}, as published", model, lambda row: decimal(row.get("paper")))
        tables.append(grid.table(name, comment, _OF_MODEL))
    return tables


def _decomposition(found: Mapping[str, Any]) -> Table:
    """Signed roots of the variance and its parts (the layout of Table 3)."""
    rows = [row for row in records(found.get("results")) if number(row.get("total")) is not None]
    intervals = {
        (_model(each), str(each.get("dataset")), str(row.get("figure"))): row
        for each in records(found.get("intervals"))
        for row in records(each.get("figures"))
    }
    grid = _Grid(rows, found.get("reference"))

    def interval(part: str, row: Mapping[str, Any]) -> str:
        known = intervals.get((_model(row), str(row.get("dataset")), part), {})
        low, high = known.get("runs_low"), known.get("runs_high")
        return "" if number(low) is None or number(high) is None else f"[{_root(low)}, {_root(high)}]"

    for block, model in enumerate(grid.models):
        grid.block = block
        if len(grid.models) > 1:
            grid.add_heading(model)
        for part, title in _PARTS.items():
            grid.add(title, model, partial(_root_of, part), partial(interval, part))
        grid.add("Design effect", model, lambda row: decimal(row.get("design_effect")))
        grid.add("Effective size", model, lambda row: count(row.get("effective_size")))
    comment = (
        "Signed roots of the variance over runs and its parts, in points, ddof 1 throughout; below them the 95 % "
        "intervals over runs. The published table has the absolute value of the covariance."
    )
    return grid.table("decomposition", comment, Column("title", "Statistic", absent=""))


def _mean_and_deviation(kind: str, row: Mapping[str, Any]) -> str:
    return f"{points(row.get(f'{kind}_mean'))} ± {points(row.get(f'{kind}_sd'), 2)}"


def _root_of(part: str, row: Mapping[str, Any]) -> str:
    return _root(row.get(part))


def _root(value: Any) -> str:
    """The root of a variance in points, with the variance's sign."""
    x = number(value)
    return decimal(None if x is None else math.copysign(100 * math.sqrt(abs(x)), x))


def _selection(found: Mapping[str, Any]) -> Table:
    """Model selection on the standard dev set and on the analysis set itself (the layout of Table 6)."""
    rows = [row for row in records(found.get("selections")) if number(row.get("gain")) is not None]
    grid = _Grid(rows, None)
    for block, model in enumerate(grid.models):
        grid.block = block
        grid.add_heading(model)
        for kind, title in (("standard", f"by {found.get('reference')}"), ("analysis", "by re-split dev")):
            grid.add(title, model, partial(_mean_and_deviation, kind))
        grid.add(
            "gain",
            model,
            lambda row: signed_points(row.get("gain"), 1),
            lambda row: bounds(row.get("gain_low"), row.get("gain_high")),
        )
    comment = "Accuracy in points on a held-out fifth, by what chose the checkpoint; mean and deviation over runs."
    return grid.table("model-selection", comment, Column("title", "Chosen", absent=""))
