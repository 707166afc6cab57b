"""Gold labels from a dataset, for runs whose files do not hold them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.read_errors import reading
from goldassay.data.roles import columns_named
from goldassay.data.row_keys import end_of_numbers
from goldassay.runs.adapters.long_table import find_roles
from goldassay.runs.labels import order_labels
from goldassay.runs.run_parts import Gold
from goldassay.runs.tables import read_table

if TYPE_CHECKING:
    from goldassay.data.dataset import Dataset


def read_gold(gold: Dataset | str | os.PathLike[str]) -> Gold:
    """Take the labels and groups of a dataset, or of the file of one.

    Raises:
        InputError: The dataset has no labels, or cannot be read.
    """
    if isinstance(gold, (str, os.PathLike)):
        from goldassay.data.reading import read_dataset

        path = Path(gold)
        try:
            with columns_named("test"):
                gold = read_dataset(path)
        except InputError:
            with reading(path):
                table = _read_labels(path)
            if table is None:
                raise
            return table
    if not gold.label_names or "label" not in gold.examples.columns:
        problem = f"the dataset {gold.name} has no labels to score runs by"
        with columns_named("test"):
            raise InputError(problem, file=gold.source, mend=gold.other_label())
    return Gold(
        example_ids=gold.examples["example_id"].cast(pl.String),
        label=gold.examples["label"].cast(pl.String),
        label_names=tuple(gold.label_names),
        groups={name: gold.examples[name].cast(pl.String) for name in gold.groups},
        name=gold.name,
        left_out=", ".join(f"{n:,} rows were left out: {why}" for why, n in gold.provenance.dropped.items()),
        end=end_of_numbers(gold),
    )


def read_texts(gold: Dataset | str | os.PathLike[str]) -> dict[str, str] | None:
    """What was given to a model, by example id: the texts of a dataset, each after its role if there are several.

    None where the file holds labels, but no texts.

    Raises:
        InputError: The file is neither a dataset nor a table of labels.
    """
    from goldassay.data.reading import read_dataset

    if isinstance(gold, (str, os.PathLike)):
        try:
            dataset = read_dataset(gold)
        except InputError:
            if _read_labels(Path(gold)) is None:
                raise
            return None
    else:
        dataset = gold
    several = len(dataset.text_columns) > 1
    parts = [pl.format("{}: {}", pl.lit(n), pl.col(n)) if several else pl.col(n) for n in dataset.text_columns]
    texts = dataset.examples.select("example_id", pl.concat_str(parts, separator="\n").alias("text"))
    return dict(zip(texts["example_id"].cast(pl.String), texts["text"], strict=True))


def _read_labels(path: Path) -> Gold | None:
    """Gold from a table of ids and labels without texts, which is no dataset but all that scoring needs.

    Its other columns of names that repeat are taken as groups.
    """
    table = read_table(path) if path.is_file() else None
    roles = {} if table is None else find_roles(table.columns, {}, path)
    if table is not None and {"label_counter", "majority_label"} <= set(table.columns):
        # ChaosNLI's file for abductive NLI, whose examples are no pairs of texts.
        roles = {"example_id": "uid", "label": "majority_label"} if "uid" in table.columns else {}
    if table is None or not {"example_id", "label"} <= roles.keys() or table.height == 0:
        return None
    ids, label = table[roles["example_id"]], table[roles["label"]]
    if ids.null_count() or label.dtype.is_nested():
        return None
    # An empty cell is no label of its own, of which all answers would be wrong.
    is_blank = label.is_null() | (label.cast(pl.String).str.strip_chars() == "").fill_null(value=False)
    n_blank, n_rows = int(is_blank.sum()), table.height
    if n_blank == n_rows:
        raise InputError(f"all {n_rows:,} right labels are blank", file=path, column=label.name, mend="fill them in")
    table = table.filter(~is_blank)
    ids, label = table[roles["example_id"]], table[roles["label"]]
    others = [name for name in table.columns if name not in (ids.name, label.name)]
    groups = [name for name in others if table[name].dtype == pl.String and _repeats(table[name])]
    return Gold(
        example_ids=ids.cast(pl.String),
        label=label.cast(pl.String),
        label_names=order_labels(label.cast(pl.String).unique().to_list()),
        groups={name: table[name] for name in groups},
        name=path.name.split(".")[0],
        left_out=f"{n_blank:,} of its {n_rows:,} rows have a blank label" if n_blank else "",
    )


def _repeats(column: pl.Series) -> bool:
    return column.null_count() == 0 and 1 < column.n_unique() <= column.len() // 10
