"""Runs as one long table, a row a prediction: for statsmodels, R, or anything else that reads CSV."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.escaping import inert_cells
from goldassay.core.files import written_together
from goldassay.runs.configurations import to_cell
from goldassay.runs.grades import SHARES_OF, write_grades

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from goldassay.runs.runs import Runs

NAME = "long.csv"


def write_long(sets: Iterable[Runs], directory: str | os.PathLike[str]) -> Path:
    """Write all sets of runs into DIRECTORY/long.csv, complete or not at all.

    Columns: model, dataset, split, condition, train_set, seed, checkpoint, example_id, label, prediction, score,
    `group_NAME`, `config_NAME` for each setting that is told, and `shares_of_grades`, the scale that the scores are
    shares of, where that has other ends than 0 and 1. Columns without a value in any set are left out.
    Texts that a spreadsheet would execute have an apostrophe before them. The table is read back as format "long".

    A mixed model with seeds and examples crossed is, in R, `score ~ model + (1 | seed:model) + (1 | example_id)`.

    Raises:
        OutputError: The folder cannot be written to, or the disk is full.
    """
    table = pl.concat([long_frame(runs) for runs in sets], how="diagonal_relaxed")
    kept = [name for name in table.columns if not (table[name].is_null() | (table[name].cast(pl.String) == "")).all()]
    with written_together(directory) as aside:
        inert_cells(table.select(kept)).write_csv(aside / NAME)
    return Path(directory) / NAME


def long_frame(runs: Runs) -> pl.DataFrame:
    """A row for each run, checkpoint and example, in this order."""
    shape = (runs.n_runs, runs.n_checkpoints, runs.n_examples)
    n = int(np.prod(shape))

    def by(axis: int, values: Any) -> pl.Series:
        """What belongs to an axis, for each row."""
        places = np.broadcast_to(np.arange(shape[axis]).reshape([-1 if at == axis else 1 for at in range(3)]), shape)
        return values.gather(places.ravel())

    def names(codes: Any) -> pl.Series:
        return pl.Series(list(runs.label_names), dtype=pl.String).gather(np.asarray(codes).ravel())

    columns: dict[str, Any] = {
        name: pl.repeat(getattr(runs, name), n, dtype=pl.String, eager=True)
        for name in ("dataset", "split", "condition", "train_set")
    }
    columns["model"] = pl.repeat(runs.base_model or runs.model, n, dtype=pl.String, eager=True)
    columns["seed"] = by(0, _as_text(runs.seeds))
    if runs.checkpoints is not None:
        columns["checkpoint"] = by(1, _as_text(runs.checkpoints))
    columns["example_id"] = by(2, pl.Series(runs.example_ids.tolist(), dtype=pl.String))
    if runs.gold is not None:
        columns["label"] = by(2, names(runs.gold))
    if runs.predictions is not None:
        columns["prediction"] = names(runs.predictions)
    columns["score"] = runs.scores.ravel()
    for name, values in runs.groups.items():
        columns[f"group_{name}"] = by(2, pl.Series(values.tolist(), dtype=pl.String))
    for name, value in runs.configuration.items():
        columns[f"config_{name}"] = pl.repeat(to_cell(value), n, dtype=pl.String, eager=True)
    if runs.grades is not None:
        columns[SHARES_OF] = pl.repeat(write_grades(runs.grades), n, dtype=pl.String, eager=True)
    first = ["model", "dataset", "split", "condition", "train_set", "seed"]
    return pl.DataFrame(columns).select([*first, *(name for name in columns if name not in first)])


def _as_text(values: Any) -> pl.Series:
    return pl.Series([str(value) for value in values.tolist()], dtype=pl.String)
