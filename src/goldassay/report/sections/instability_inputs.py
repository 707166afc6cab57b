"""Which runs were read: of each model and dataset how many, in which format, over how many examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import count, number, whole_cell
from goldassay.report.outline import Cell, Table, data, mapping, records

if TYPE_CHECKING:
    from collections.abc import Mapping

_SEEDS = 10


def runs_read(document: Mapping[str, Any]) -> Table:
    """A row a set of runs; no rows where the document does not say how they were read."""
    rows = tuple(
        (
            data(row.get("model")),
            data(row.get("dataset")),
            data(row.get("condition")),
            Cell(str(row.get("format"))),
            whole_cell(row.get("n_runs")),
            whole_cell(row.get("n_checkpoints")),
            whole_cell(row.get("n_examples")),
            data(_few(row.get("seeds"))),
            data(_few(row.get("label_names"))),
            data(_few(row.get("group_columns"))),
        )
        for row in records(mapping(document, "instability").get("results"))
        if row.get("format")
    )
    columns = (
        "model", "dataset", "condition", "format", "runs", "checkpoints", "examples", "seeds", "labels", "groups",
    )  # fmt: skip
    return Table("Runs", columns, rows)


def _few(values: Any) -> str | None:
    """The first of some names, and how many there are besides."""
    names = [str(value) for value in values] if isinstance(values, (list, tuple)) else []
    if not names:
        return None
    more = f" and {count(number(len(names) - _SEEDS))} more" if len(names) > _SEEDS else ""
    return ", ".join(names[:_SEEDS]) + more
