"""Gold labels from a dataset, for runs whose files do not hold them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from goldassay.errors import InputError

if TYPE_CHECKING:
    from goldassay.data import Dataset


@dataclass(frozen=True)
class Gold:
    """The right labels of a dataset, by example id.

    Attributes:
        example_ids: Strings, in the dataset's order.
        label: Names.
        label_names: In order.
        groups: Per-example group names.
        name: Of the dataset.
    """

    example_ids: pl.Series
    label: pl.Series
    label_names: tuple[str, ...]
    groups: dict[str, pl.Series]
    name: str


def read_gold(gold: Dataset | str | os.PathLike[str]) -> Gold:
    """Take the labels and groups of a dataset, or of the file of one.

    Raises:
        InputError: The dataset has no labels, or cannot be read.
    """
    if isinstance(gold, (str, os.PathLike)):
        from goldassay.data import read_dataset

        gold = read_dataset(gold)
    if not gold.label_names or "label" not in gold.examples.columns:
        raise InputError(f"the dataset {gold.name} has no labels to score runs by", mend="give one with a label column")
    return Gold(
        example_ids=gold.examples["example_id"].cast(pl.String),
        label=gold.examples["label"].cast(pl.String),
        label_names=tuple(gold.label_names),
        groups={name: gold.examples[name].cast(pl.String) for name in gold.groups},
        name=gold.name,
    )
