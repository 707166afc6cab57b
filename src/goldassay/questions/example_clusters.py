"""Which examples of a dataset do not count as independent; every interval over examples asks here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.data.fields import value_codes
from goldassay.data.row_keys import text_codes
from goldassay.stats.clusters import Clusters, cluster_rows
from goldassay.stats.verdicts import Doubt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset

AUTO, NONE = "auto", "none"


def example_clusters(
    dataset: Dataset,
    by: str = AUTO,
    *,
    near_copies: bool = True,
    codes: Mapping[str, NDArray[np.int64]] | None = None,
) -> Clusters:
    """The clusters of a dataset's rows.

    Args:
        dataset: The examples with their texts.
        by: `auto`: rows are joined that share a text (a premise, a hypothesis, a passage) or a group that the user
            named; see `cluster_rows` for where that joins too much. Texts are compared without case and with single
            spaces, and near copies are taken for the same. `none`: each row counts by itself. Otherwise columns or keys
            (see `fields.with_keys`), separated by commas.
        near_copies: Take near copies of a text for the same.
        codes: `text_codes` of each role, where they are known already.

    Raises:
        InputError: A column is not there, or all rows are one cluster.
    """
    if by == NONE:
        return Clusters(np.arange(len(dataset)), "Each row counts by itself, as chosen.", ())
    if by == AUTO:
        columns = _codes(dataset, (*dataset.text_columns, *dataset.cluster_columns), near_copies, codes)
        return cluster_rows(columns, len(dataset), n_alike=len(dataset.text_columns))
    check_cluster_columns(by, dataset)
    keyed = dataset.with_keys(named_columns(by))
    return cluster_rows(_codes(keyed, named_columns(by), near_copies, codes), len(dataset), chosen=True)


def text_clusters(dataset: Dataset) -> NDArray[np.int64]:
    """Codes from 0 of rows that share a text, compared without case and with single spaces, whatever was chosen, (N,).

    For choices within training rows, which no interval rests on.
    """
    roles = dataset.text_columns
    columns = dict(zip(roles, text_codes(dataset, roles).T, strict=True))
    return cluster_rows(columns, len(dataset), n_alike=len(roles)).codes


def check_cluster_columns(by: str, *datasets: Dataset | None) -> None:
    """Refuse columns to make clusters by that none of the datasets has: before anything is mined or trained.

    Raises:
        InputError: A column is not there; the line names those that are.
    """
    given = [dataset for dataset in datasets if dataset is not None]
    if by in (AUTO, NONE) or not given:
        return
    names = named_columns(by)
    keyed = {name for dataset in given for name in dataset.with_keys(names).examples.columns}
    if missing := [each for each in names if each not in keyed]:
        columns = dict.fromkeys(name for dataset in given for name in dataset.examples.columns)
        raise InputError(
            f"there is no column {missing[0]!r} to make clusters by",
            file=given[0].source,
            mend=f"choose from {', '.join(each for each in columns if each != 'example_id')}, or none",
        )


def named_columns(by: str) -> tuple[str, ...]:
    """Columns or keys that a user named, separated by commas."""
    return tuple(dict.fromkeys(each.strip() for each in by.split(",")))


def cluster_doubts(clusters: Clusters | None) -> list[Doubt]:
    """Why rows that depend on each other leave intervals too narrow for the word sound; empty where they do not."""
    if clusters is None or not clusters.ignored:
        return []
    names = " and ".join(clusters.ignored)
    return [
        Doubt(
            f"More than a fifth of the test rows share one {names}: these rows depend on each other, and the intervals "
            "cannot allow for it.",
            "Audit on test rows from more sources, or name the columns that rows depend by with --clusters.",
        )
    ]


def clusters_of(
    dataset: Dataset | None, example_ids: NDArray[Any] | None = None, by: str = AUTO
) -> NDArray[np.int64] | None:
    """Codes of `example_clusters`; None where every example counts by itself.

    Args:
        dataset: The examples with their texts, if at hand.
        example_ids: Those that are measured, in their order, (N,); by default all of the dataset.
        by: See `example_clusters`.

    Returns:
        (N,), or None, also where the dataset lacks some of the examples.
    """
    if dataset is None:
        return None
    if example_ids is not None:
        known = pl.DataFrame({"id": dataset.examples["example_id"].cast(pl.String)}).with_row_index("row")
        ids = pl.DataFrame({"id": pl.Series([str(each) for each in example_ids.tolist()], dtype=pl.String)})
        rows = ids.join(known.unique("id", maintain_order=True), on="id", how="left", maintain_order="left")["row"]
        if rows.null_count():
            return None
        dataset = dataset.take(rows.to_numpy().astype(np.int64))
    return example_clusters(dataset, by).codes_if_any


def _codes(
    dataset: Dataset, names: tuple[str, ...], near_copies: bool, known: Mapping[str, NDArray[np.int64]] | None
) -> dict[str, NDArray[np.int64]]:
    texts = tuple(name for name in names if name in dataset.text_columns)
    of_text = dict(known or {})
    if known is None and texts:
        of_text = dict(zip(texts, text_codes(dataset, texts, near_copies=near_copies).T, strict=True))
    return {
        name: of_text[name] if name in of_text else value_codes(dataset.examples[name])
        for name in names
        if name in of_text or name in dataset.examples.columns
    }
