"""The tables for papers, in the layouts of Zhou et al. 2020: datasets across, models or statistics down."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import bounds, count, decimal, number, points, signed_points, small
from goldassay.report.outline import mapping, records
from goldassay.report.paper.latex import escape, tabular
from goldassay.report.paper.latex import small as smaller
from goldassay.report.paper.leakage_tables import write_leakage_tables
from goldassay.report.paper.shift_tables import write_shift_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_Row = dict[str, Any]


def write_tables(document: Mapping[str, Any]) -> dict[str, str]:
    """Every table that the document has values for, as LaTeX, by name.

    Args:
        document: The report's document, as plain data.
    """
    found = mapping(document, "instability")
    tables = {
        "scores": _scores(found),
        **_deviations(mapping(found, "deviations"), found),
        "decomposition": _decomposition(found),
        "model-selection": _selection(found),
        "differences": _differences(records(mapping(document, "comparison").get("pairs"))),
    }
    return {
        **{name: text for name, text in tables.items() if text},
        **write_shift_tables(document),
        **write_leakage_tables(document),
    }


class _Grid:
    """Rows of models and columns of datasets, the reference first."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], reference: Any) -> None:
        self.cells = {(_model(row), str(row.get("dataset"))): row for row in rows}
        self.models = list(dict.fromkeys(model for model, _ in self.cells))
        names = dict.fromkeys(dataset for _, dataset in self.cells)
        self.datasets = sorted(names, key=lambda name: name != reference)

    def row(self, model: str, show: Callable[[Mapping[str, Any]], str]) -> list[str]:
        """A cell a dataset, as LaTeX; a dash where the model has no runs on it."""
        cells = (self.cells.get((model, dataset)) for dataset in self.datasets)
        return ["---" if cell is None else show(cell) for cell in cells]

    def with_interval(
        self, title: str, model: str, value: Callable[[Mapping[str, Any]], str], interval: Callable[[_Row], str]
    ) -> list[list[str]]:
        """A row of values, and below it, smaller, one of their intervals."""
        below = [smaller("" if cell == "---" else cell) for cell in self.row(model, lambda row: interval(dict(row)))]
        return [[title, *self.row(model, value)], ["", *below]]

    def tabular(self, comment: str, first: str, blocks: Sequence[Sequence[Sequence[str]]]) -> str:
        """The table with datasets for its head."""
        return tabular(comment, "l" + "r" * len(self.datasets), [[first, *map(escape, self.datasets)]], blocks)


def _model(row: Mapping[str, Any]) -> str:
    condition = row.get("condition")
    return str(row.get("model")) + ("" if condition in (None, "paired", "text") else f", {condition}")


def _scores(found: Mapping[str, Any]) -> str:
    """Mean and SD of each model on each dataset (the layout of Table 9)."""
    rows = [row for row in records(found.get("results")) if number(row.get("mean")) is not None]
    if not rows:
        return ""
    grid = _Grid(rows, found.get("reference"))

    def value(row: Mapping[str, Any]) -> str:
        sd = "" if number(row.get("sd")) is None else rf" $\pm$ {escape(points(row.get('sd'), 2))}"
        return escape(points(row.get("mean"), 2)) + sd

    blocks = [
        line
        for model in grid.models
        for line in grid.with_interval(
            escape(model), model, value, lambda row: bounds(row.get("sd_low"), row.get("sd_high"), 2)
        )
    ]
    comment = "Mean and standard deviation over runs, in points; in brackets the 95 % interval of the deviation."
    return grid.tabular(comment, "", [blocks])


def _deviations(deviations: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, str]:
    """Normalized deviations: of right or wrong answers (Table 1), and of graded scores such as F1 (Table 2)."""
    graded = {
        (_model(row), str(row.get("dataset"))) for row in records(found.get("results")) if row.get("graded") is True
    }
    rows = [row for row in records(deviations.get("rows")) if number(row.get("recommended")) is not None]
    tables = {}
    for name, wanted in (("normalized-deviation", False), ("normalized-deviation-graded", True)):
        chosen = [row for row in rows if ((_model(row), str(row.get("dataset"))) in graded) is wanted]
        if not chosen:
            continue
        grid = _Grid(chosen, deviations.get("reference"))
        lines = [
            line
            for model in grid.models
            for line in grid.with_interval(
                escape(model),
                model,
                lambda row: escape(decimal(row.get("recommended"))),
                lambda row: escape(bounds(row.get("low"), row.get("high"), 2, 1)),
            )
        ]
        paper = [
            [escape(f"{model}, as published"), *grid.row(model, lambda row: escape(decimal(row.get("paper"))))]
            for model in grid.models
        ]
        comment = (
            f"Standard deviation over runs against that on {escape(deviations.get('reference'))}, allowing for sizes; "
            "below it the 95 % interval. As published: deviations with ddof 0 rounded to two decimals of a point first."
        )
        tables[name] = grid.tabular(comment, "", [lines, paper])
    return tables


def _decomposition(found: Mapping[str, Any]) -> str:
    """Signed roots of the variance and its parts (the layout of Table 3)."""
    rows = [row for row in records(found.get("results")) if number(row.get("total")) is not None]
    if not rows:
        return ""
    intervals = {
        (_model(each), str(each.get("dataset")), str(row.get("figure"))): row
        for each in records(found.get("intervals"))
        for row in records(each.get("figures"))
    }
    grid = _Grid(rows, found.get("reference"))

    def root(value: Any) -> str:
        x = number(value)
        return escape(decimal(None if x is None else math.copysign(100 * math.sqrt(abs(x)), x)))

    def value(part: str, row: Mapping[str, Any]) -> str:
        return root(row.get(part))

    def interval(part: str, row: _Row) -> str:
        known = intervals.get((_model(row), str(row.get("dataset")), part), {})
        low, high = known.get("runs_low"), known.get("runs_high")
        return "" if number(low) is None or number(high) is None else f"[{root(low)}, {root(high)}]"

    blocks = []
    for model in grid.models:
        block: list[list[str]] = []
        if len(grid.models) > 1:
            block.append([rf"\textit{{{escape(model)}}}", *[""] * len(grid.datasets)])
        for part, title in _PARTS.items():
            block += grid.with_interval(title, model, partial(value, part), partial(interval, part))
        block.append(["Design effect", *grid.row(model, lambda row: escape(decimal(row.get("design_effect"))))])
        block.append(["Effective size", *grid.row(model, lambda row: escape(count(row.get("effective_size"))))])
        blocks.append(block)
    comment = (
        "Signed roots of the variance over runs and its parts, in points, ddof 1 throughout; below them the 95 % "
        "intervals over runs. The published table has the absolute value of the covariance."
    )
    return grid.tabular(comment, "Statistic", blocks)


_PARTS = {
    "total": r"$\sqrt{\mathrm{Total\ Var}}$",
    "independent": r"$\sqrt{\mathrm{Idp\ Var}}$",
    "covariance": r"$\pm\sqrt{|\mathrm{Cov}|}$",
}


def _selection(found: Mapping[str, Any]) -> str:
    """Model selection on the standard dev set and on the analysis set itself (the layout of Table 6)."""
    rows = [row for row in records(found.get("selections")) if number(row.get("gain")) is not None]
    if not rows:
        return ""
    grid = _Grid(rows, None)
    reference = escape(found.get("reference"))

    def cell(kind: str) -> Callable[[Mapping[str, Any]], str]:
        return lambda row: (
            rf"{escape(points(row.get(f'{kind}_mean')))} $\pm$ {escape(points(row.get(f'{kind}_sd'), 2))}"
        )

    blocks = []
    for model in grid.models:
        block = [
            [f"by {reference}", *grid.row(model, cell("standard"))],
            ["by re-split dev", *grid.row(model, cell("analysis"))],
            *grid.with_interval(
                "gain",
                model,
                lambda row: escape(signed_points(row.get("gain"), 1)),
                lambda row: escape(bounds(row.get("gain_low"), row.get("gain_high"))),
            ),
        ]
        blocks.append([[rf"\textit{{{escape(model)}}}", *[""] * len(grid.datasets)], *block])
    comment = "Accuracy in points on a held-out fifth, by what chose the checkpoint; mean and deviation over runs."
    return grid.tabular(comment, "Chosen", blocks)


def _differences(pairs: Sequence[Mapping[str, Any]]) -> str:
    """Differences of models with their intervals and p-values."""
    if not pairs:
        return ""
    lines = [
        [
            escape(f"{pair.get('a')} − {pair.get('b')}"),
            escape(signed_points(pair.get("difference"))),
            smaller(escape(bounds(pair.get("low"), pair.get("high"), 2))),
            escape(small(pair.get("adjusted_p"))),
            escape(points(pair.get("detectable_difference"), 2)),
        ]
        for pair in pairs
    ]
    over = str(pairs[0].get("interval_method") or "").rpartition("over ")[2]
    comment = (
        f"Differences of mean scores in points, over {escape(over)}; p after Holm's correction; the smallest true "
        "difference found with a chance of 80 %."
    )
    head = [["Models", "Difference", "95\\,\\% interval", "$p$", "Could be shown"]]
    return tabular(comment, "lrlrr", head, [lines])
