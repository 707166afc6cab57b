"""ChaosNLI's data files for SNLI and MNLI: JSON lines with a hundred labels an example, its texts in an object within.

The label is the majority of the hundred; the earlier one stays beside it as `old_label`, which
`columns={"label": "old_label"}` takes instead. (The files for abductive NLI have no premise and hypothesis.)
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.errors import InputError
from goldassay.data.readers import CERTAIN, NO, jsonl

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.data.table import Table

name = "chaosnli"

_INNER = ("premise", "hypothesis", "source")
_FIELDS = {"uid", "label_counter", "majority_label", "old_label", "example"}


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """A first line with the counts of labels, their majority, and an object with premise and hypothesis."""
    try:
        record = json.loads(head.lstrip().split(b"\n", 1)[0])
    except ValueError:
        return NO
    if not isinstance(record, dict) or not record.keys() >= _FIELDS or not isinstance(record["example"], dict):
        return NO
    return CERTAIN if record["example"].keys() >= set(_INNER[:2]) else NO


def read(path: Path) -> Table:
    """Read one row a line: its id, texts and source, both labels, and the entropy of the hundred."""
    table = jsonl.read(path)
    try:
        inner = table.frame["example"].str.json_decode(pl.Struct(dict.fromkeys(_INNER, pl.String))).struct.unnest()
        frame = table.frame.select("uid", "majority_label", "old_label", "entropy").hstack(inner)
    except pl.exceptions.PolarsError as error:
        raise InputError("some lines are not examples of ChaosNLI like the first", file=path) from error
    decision = "The label is the majority of ChaosNLI's hundred annotators; the earlier one is kept as old_label."
    return replace(
        table, frame=frame, format=name, decisions=(*table.decisions, decision), roles={"label": "majority_label"}
    )
