"""The examples behind a verdict: what was measured of each, beside all that the user's data say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.finding import RowToRead

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goldassay.data import Dataset

KEYS = ("dataset", "example_id")


def beside_data(found: pl.DataFrame, datasets: Mapping[str, Dataset]) -> pl.DataFrame:
    """Join what was measured to the rows of the datasets, in the order of the former.

    Args:
        found: A row an example: `dataset`, `example_id` and what was measured of it.
        datasets: {name: dataset}, as far as they are at hand; of others there is what was measured alone.

    Returns:
        `dataset`, `example_id`, what was measured, then every column of the data. Where both have a column, it is that
        of the data.
    """
    tables = [
        dataset.examples.with_columns(pl.col("example_id").cast(pl.String), pl.lit(name).alias("dataset"))
        for name, dataset in datasets.items()
        if name in set(found["dataset"].to_list())
    ]
    if not tables:
        return found
    data = pl.concat(tables, how="diagonal_relaxed").unique(KEYS, keep="first", maintain_order=True)
    measured = found.select(*KEYS, pl.exclude(*data.columns))
    return measured.join(data, on=KEYS, how="left", maintain_order="left")


def first_to_read(
    rows: pl.DataFrame, datasets: Mapping[str, Dataset], why: Callable[[dict[str, Any]], str], most: int
) -> tuple[RowToRead, ...]:
    """The first examples of a table of `beside_data` whose texts are at hand, each with why it is worth reading.

    Args:
        rows: The most telling ones first; an example that stands there several times counts once.
        datasets: {name: dataset}.
        why: A sentence on a row.
        most: How many at most.
    """
    known = rows.filter(pl.col("dataset").is_in(list(datasets))).unique(KEYS, keep="first", maintain_order=True)
    return tuple(
        RowToRead(
            row["example_id"],
            "\n".join(str(row[column] or "") for column in datasets[row["dataset"]].text_columns),
            str(row["label"]),
            why(row),
        )
        for row in known.head(most).iter_rows(named=True)
    )
