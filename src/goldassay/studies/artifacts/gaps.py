"""`artifacts gap`: accuracy of any runs on easy and hard examples, a row a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.artifacts import difficulty_gap
from goldassay.errors import InputError
from goldassay.files import written_together
from goldassay.progress import Progress, silent
from goldassay.runs.reading import find_slices, list_slices, runs_of
from goldassay.runs.slices import Request
from goldassay.runs.tables import read_table
from goldassay.studies.artifacts.output import write_tables

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from goldassay.runs.slices import Slice
    from goldassay.subsets import SubsetAccuracies

ID = "example_id"
SHOWN = ("full", "easy", "hard")


@dataclass(frozen=True)
class GapTable:
    """Accuracies on full, easy, hard, and the gap, a row a model and condition.

    Attributes:
        table: model, condition, train_set, dataset, n_runs; full, easy, hard, each with _low and _high, and gap with
            its own (95 %, over examples and runs); reason where a figure is not defined.
        results: The accuracies on every class, in the order of the rows.
    """

    table: pl.DataFrame
    results: tuple[SubsetAccuracies, ...]

    def to_dict(self) -> dict[str, Any]:
        """The rows, and how the intervals were made."""
        first = self.results[0]
        return {
            "rows": self.table.to_dicts(),
            "n_examples": {row.subset: row.n for row in first.subsets},
            "interval_method": first.interval_method,
            "level": first.level,
            "seed": first.seed,
            "n_draws": first.n_draws,
        }

    def save(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write the table as Parquet and CSV.

        Raises:
            OutputError: The folder cannot be written to.
        """
        with written_together(directory) as folder:
            write_tables({"gap": self.table}, folder)
        return [Path(directory) / f"gap.{kind}" for kind in ("parquet", "csv")]


def measure_gaps(
    subsets: str | os.PathLike[str],
    runs: Sequence[str | os.PathLike[str]],
    *,
    models: Sequence[str] = (),
    condition: str | None = None,
    dataset: str | None = None,
    class_column: str = "class",
    seed: int = 0,
    progress: Progress = silent,
) -> GapTable:
    """Measure the gap of each model, condition and training set that the runs hold.

    Args:
        subsets: A table with example_id and the class of each, as `artifacts assign` writes it; its labels, if it has
            any, score runs that have predictions only.
        runs: Files and folders of predictions.
        models: Only these; a name with * takes all that match as runs of one. Without it each model has a row.
        condition: Only this one.
        dataset: Only this one.
        class_column: The column of classes.
        seed: Of the bootstrap.
        progress: Told after each row.

    Raises:
        InputError: A file cannot be read, has no such columns, or the ids of subsets and runs do not fit.
    """
    path = Path(subsets)
    table, classes = _read_classes(path, class_column)
    found = find_slices(runs, "auto", Request())
    asked = [
        row
        for row in _collections(found, models)
        if condition in (None, row["condition"])
        if dataset in (None, row["dataset"])
    ]
    if not asked:
        raise InputError(
            f"there are no runs of condition {condition or 'any'} on dataset {dataset or 'any'}",
            mend="see what is there with: goldassay runs list PATH",
        )
    gold = path if {"label"} <= set(table.columns) else None
    rows, results = [], []
    for done, which in enumerate(asked, start=1):
        last = "last" if which.pop("several") else None
        of_one = runs_of(found, which, fallback_gold=gold, checkpoint=last)
        result = difficulty_gap(of_one, classes, seed=seed)
        rows.append(_row(of_one.model, of_one.condition, of_one.train_set, of_one.dataset, result))
        results.append(result)
        progress(done, len(asked))
    return GapTable(pl.DataFrame(rows), tuple(results))


def _read_classes(path: Path, class_column: str) -> tuple[pl.DataFrame, dict[str, str]]:
    if not path.is_file():
        raise InputError("there is no such file", file=path, mend="make one with artifacts assign")
    table = read_table(path)
    if table is None:
        raise InputError("this is no table", file=path, mend="give Parquet, CSV, TSV or JSON lines")
    for name in (ID, class_column):
        if name not in table.columns:
            raise InputError(
                f"there is no column {name!r} (columns: {', '.join(table.columns[:20])})",
                file=path,
                mend="make the file with artifacts assign, or name the column of classes with --class",
            )
    listed = table.select(pl.col(ID, class_column).cast(pl.String)).drop_nulls()
    if listed[ID].n_unique() < listed.height:
        twice = listed.filter(listed[ID].is_duplicated())[ID][0]
        raise InputError(f"example {twice!r} is there twice", file=path, column=ID, mend="give each example once")
    return table, dict(listed.iter_rows())


def _collections(found: Sequence[Slice], models: Sequence[str]) -> list[dict[str, Any]]:
    """What to read, a row each: as it is there, or as the names with * ask for it."""
    keys = ("dataset", "condition", "split", "train_set")
    rows = list_slices(found).select("model", *keys, several=pl.col("n_checkpoints") > 1)
    if not models:
        return rows.to_dicts()
    chosen = []
    for name in models:
        pattern = "^" + "".join(".*" if c == "*" else "." if c == "?" else _escaped(c) for c in name) + "$"
        matching = rows.filter(pl.col("model").str.contains(pattern))
        if not matching.height:
            raise InputError(
                f"there are no runs of a model {name!r}",
                mend=f"there are {', '.join(rows['model'].unique().sort()[:8])}",
            )
        grouped = matching.group_by(keys, maintain_order=True).agg(pl.col("several").any())
        chosen += [{"model": name, **row} for row in grouped.to_dicts()]
    return chosen


def _escaped(character: str) -> str:
    return character if character.isalnum() or character == "_" else f"\\{character}"


def _row(model: str, condition: str, train_set: str, dataset: str, result: SubsetAccuracies) -> dict[str, Any]:
    row: dict[str, Any] = {
        "model": model,
        "condition": condition,
        "train_set": train_set,
        "dataset": dataset,
        "n_runs": result.n_runs,
    }
    for name in SHOWN:
        part = result[name]
        row |= {name: part.accuracy, f"{name}_low": part.low, f"{name}_high": part.high}
    return row | {
        "gap": result.delta,
        "gap_low": result.delta_low,
        "gap_high": result.delta_high,
        "reason": result.reason,
    }
