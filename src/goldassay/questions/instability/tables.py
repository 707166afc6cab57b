"""Full tables of what was measured of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.core.results import Result
    from goldassay.questions.instability.result import DatasetCorrelations, OfRuns, RunScores, Trajectory


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
