"""Several sets as one, to train on or to be tested with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.errors import InputError
from goldassay.data import Provenance

if TYPE_CHECKING:
    from goldassay.data import Dataset


def join_sets(name: str, sets: dict[str, Dataset]) -> Dataset:
    """The rows of all sets one after the other; ids carry the name of their set.

    Some may lack a label that others have, as parts of a test set do.

    Raises:
        InputError: The sets have other texts, or labels that the one with most of them has not.
    """
    first = max(sets.values(), key=lambda each: len(each.label_names))
    for key, each in sets.items():
        if each.text_columns != first.text_columns or not set(each.label_names) <= set(first.label_names):
            raise InputError(
                f"{key} has {', '.join(each.text_columns)} and labels {', '.join(each.label_names)}, not those of "
                f"{first.name}",
                file=each.source,
                mend="join sets of one kind",
            )
    columns = ["example_id", *first.text_columns, "label"]
    parts = [
        each.examples.select(columns).with_columns(pl.lit(f"{key}/").add(pl.col("example_id")).alias("example_id"))
        for key, each in sets.items()
    ]
    files = tuple(file for each in sets.values() for file in each.provenance.files)
    return replace(
        first,
        examples=pl.concat(parts),
        name=name,
        groups=(),
        provenance=Provenance(files=files, format="joined", n_read=sum(part.height for part in parts)),
    )
