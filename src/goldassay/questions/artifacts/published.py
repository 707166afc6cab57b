"""Easy and hard subsets as others published them: lists of rows without ids, found again in the test set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.errors import InputError
from goldassay.data import Dataset, read_dataset

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

_KEY = "_key"
# Two files may be tokenized differently, which moves spaces and turns quotation marks; nothing else.
_SPACE = r"\s+"
_QUOTES = r"``|''|[“”„]"


def classes_by_text(
    files: Mapping[str, str | os.PathLike[str] | Dataset],
    test: str | os.PathLike[str] | Dataset,
    *,
    columns: str | Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Find the rows of published subsets in the test set that they were taken from, by label and texts.

    Texts are compared without spaces and with all double quotation marks alike, so that a tokenized row is found in the
    raw file. A row that the test set holds several times stands for each of them.

    Args:
        files: Name of a class ("easy", "hard") to the file of its rows, or to them as a dataset.
        test: The test set, with the ids that runs have too.
        columns: Of the test set, which plays which role.

    Returns:
        example_id, label and class, in the order of the test set.

    Raises:
        InputError: A file cannot be read, a row of it is not in the test set, or is in two classes.
    """
    whole = test if isinstance(test, Dataset) else read_dataset(test, columns=columns)
    keyed = _keyed(whole, whole.text_columns).select("example_id", "label", _KEY)
    parts = []
    for name, given in files.items():
        subset = given if isinstance(given, Dataset) else read_dataset(given)
        path = subset.source if isinstance(given, Dataset) else given
        lacking = [role for role in subset.text_columns if role not in whole.text_columns]
        if lacking or len(subset.text_columns) < len(whole.text_columns):
            raise InputError(
                f"its texts are {', '.join(subset.text_columns)}, those of {whole.source} "
                f"{', '.join(whole.text_columns)}",
                file=path,
                mend="give rows with the same texts as the test set",
            )
        rows = _keyed(subset, whole.text_columns)
        lost = rows.filter(~pl.col(_KEY).is_in(keyed[_KEY].implode()))
        if lost.height:
            first = lost.row(0, named=True)[whole.text_columns[-1]]
            raise InputError(
                f"{lost.height} of {rows.height} rows are not in {whole.source} with the same label, first {first!r}",
                file=path,
                mend="give the test set that they were taken from",
            )
        parts.append(keyed.filter(pl.col(_KEY).is_in(rows[_KEY].implode())).with_columns(pl.lit(name).alias("class")))
    classes = pl.concat(parts)
    twice = classes.filter(classes["example_id"].is_duplicated())
    if twice.height:
        of_one = classes.filter(pl.col("example_id") == twice["example_id"][0])["class"].to_list()
        raise InputError(
            f"{twice['example_id'].n_unique()} rows are in several classes, first example {twice['example_id'][0]!r} "
            f"in {' and '.join(of_one)}",
            mend="give subsets that share no row",
        )
    order = keyed.select("example_id")
    return order.join(classes.drop(_KEY), on="example_id", how="inner", maintain_order="left")


def _keyed(dataset: Dataset, roles: tuple[str, ...]) -> pl.DataFrame:
    """The examples with what they are recognized by."""
    texts = [pl.col(role).str.replace_all(_QUOTES, '"').str.replace_all(_SPACE, "").fill_null("") for role in roles]
    label = pl.col("label").fill_null("")
    return dataset.examples.with_columns(pl.concat_str([label, *texts], separator="\n").alias(_KEY))
