"""Prediction files of the HANS evaluation script: header `pairID,gold_label`, in which gold_label is the prediction.

They hold the raw three-way predictions of an NLI model; gold, with its two classes, comes from a dataset.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from goldassay.data.source import name_of
from goldassay.runs.run_parts import UNNAMED_MODEL, Collection, Columns, Request, Slice
from goldassay.runs.tables import head_of, read_table

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

NAME = "hans"
PRIORITY = 25


def find(path: Path, request: Request) -> list[Slice] | None:  # noqa: ARG001
    """Recognize a file by its header: these two columns and no other."""
    if not path.is_file():
        return None
    header = head_of(path)[:200].lstrip(b"\xef\xbb\xbf").split(b"\n", 1)[0].strip()
    if header.replace(b"\t", b",") != b"pairID,gold_label":
        return None
    table = read_table(path)
    if table is None or table.height == 0:
        return None
    return [
        Slice(
            collection=Collection(UNNAMED_MODEL, "hans", "", "paired", ""),
            seed=name_of(path),
            checkpoint=None,
            n_examples=table.height,
            file=str(path),
            format=NAME,
            load=partial(_load, table),
        )
    ]


def _load(table: pl.DataFrame) -> Columns:
    return Columns(example_ids=table["pairID"], prediction=table["gold_label"])
