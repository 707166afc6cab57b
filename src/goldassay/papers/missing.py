"""Printed cells beside which nothing of ours is, and why: what was not run needs something that is not there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goldassay.papers.choosing import NotRun
    from goldassay.papers.recipe import Comparison

NOT_RUN = "not_run"
_SETS, _MODEL, _SPLIT = ("dataset", "train"), "model", "split"
_METRIC, _SIZE = "metric", "examples"


def with_reasons(comparison: Comparison, not_run: Iterable[NotRun]) -> Comparison:
    """Say in each printed cell without a figure of ours what it would need, as far as that is known.

    The column `not_run` is added where any cell has a reason; printed rows that are not shown else are shown then.
    """
    cells = comparison.cells
    if comparison.unmatched is not None:
        cells = pl.concat([cells, comparison.unmatched], how="diagonal_relaxed")
    listed = list(not_run)
    rows = cells.to_dicts()
    reasons = [_reason({**comparison.of, **row}, listed) for row in rows]
    if not any(reasons):
        return comparison
    cells = cells.with_columns(pl.Series(NOT_RUN, reasons, pl.String))
    n_shown = comparison.cells.height
    shown = pl.int_range(pl.len()) < n_shown
    return replace(comparison, cells=cells.filter(shown | pl.col(NOT_RUN).is_not_null()), unmatched=None)


def _reason(row: Mapping[str, Any], not_run: Iterable[NotRun]) -> str | None:
    """Of a cell that has a printed figure alone."""
    if row.get("printed") is None or row.get("ours") is not None:
        return None
    sets = {str(row[key]) for key in _SETS if row.get(key) is not None}
    if row.get(_SPLIT) is not None and row.get(_METRIC) == _SIZE:
        # Of a file, which no training of others brings.
        split = str(row[_SPLIT])
        files = {f"{name} {split}" for name in sets} | (sets if split == "test" else set())
        return next((f"needs {name}" for each in not_run for name in each.needs if name in files), None)
    if row.get(_SPLIT) is not None:
        sets = {f"{name} {row[_SPLIT]}" for name in sets} | sets
    sets |= {f"{name} train" for name in sets}
    model = row.get(_MODEL)
    found = [
        each
        for each in not_run
        if (not sets or not sets.isdisjoint((each.test, each.train))) and (model is None or each.model == model)
    ]
    if not found:
        return None
    # A test set says more of a cell than what it is trained on.
    return next((each.why for each in found if each.test in sets), found[0].why)
