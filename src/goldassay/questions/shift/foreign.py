"""Sets of other tasks, whose texts a model is shown without asking whether it is right."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.entry_point import option
from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from goldassay.data import Dataset


def with_texts_of(dataset: Dataset, training: Dataset) -> Dataset:
    """The dataset with the texts that a model of the training data takes: several are joined by a space for one.

    Raises:
        InputError: The model takes several, and not these.
    """
    if dataset.text_columns == training.text_columns:
        return dataset
    if len(training.text_columns) > 1:
        raise InputError(
            f"its texts are {', '.join(dataset.text_columns)}, those of the training data "
            f"{', '.join(training.text_columns)}",
            file=dataset.source,
            mend=f"name the columns alike with {option('columns', 'role=name,...')}",
        )
    role = training.text_columns[0]
    joined = pl.concat_str([pl.col(name) for name in dataset.text_columns], separator=" ", ignore_nulls=True)
    examples = dataset.examples.with_columns(joined.alias("__joined")).drop(dataset.text_columns)
    return replace(dataset, examples=examples.rename({"__joined": role}), text_columns=(role,))


def without_labels(dataset: Dataset) -> Dataset:
    """The texts alone."""
    return replace(dataset, examples=dataset.examples.drop("label", strict=False), label_names=(), groups=())


def with_placeholder(dataset: Dataset, training: Dataset) -> Dataset:
    """Texts with a label of the task that means nothing: the training room scores whatever it predicts."""
    return replace(
        dataset,
        examples=dataset.examples.with_columns(pl.lit(training.label_names[0]).alias("label")),
        label_names=training.label_names[:1],
    )
