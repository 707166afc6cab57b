"""Training dynamics of allenai/cartography: dynamics_epoch_k.jsonl with guid, logits_epoch_k and gold.

Each epoch is a checkpoint of one run, named by its folder. An example that some epochs lack is incomplete, and refused
like any example that is missing.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.runs.labels import name_codes, names_for
from goldassay.runs.run_parts import Collection, Columns, Request, Slice
from goldassay.runs.tables import head_of, lines_of, logits_array, read_table

if TYPE_CHECKING:
    from pathlib import Path

NAME = "cartography"
PRIORITY = 20

_LOGITS = re.compile(r"logits_epoch_(\d+)")


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize a file by the fields of its first line."""
    if not path.is_file() or ".jsonl" not in path.name:
        return None
    first = _first_record(head_of(path))
    column = next((name for name in first if _LOGITS.fullmatch(name)), None)
    if column is None or not {"guid", "gold"} <= first.keys():
        return None
    match = _LOGITS.fullmatch(column)
    folder = path.resolve().parent
    run = folder.parent if folder.name == "training_dynamics" else folder
    return [
        Slice(
            collection=Collection("model", "train", "train", "paired", ""),
            seed=run.name,
            checkpoint=int(match.group(1)) if match else None,
            n_examples=sum(1 for _ in lines_of(path)),
            file=str(path),
            format=NAME,
            load=partial(_load, path, column, request),
        )
    ]


def _first_record(data: bytes) -> dict[str, Any]:
    try:
        record = json.loads(data.split(b"\n", 1)[0])
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _load(path: Path, column: str, request: Request) -> Columns:
    table = read_table(path)
    if table is None or not {"guid", "gold", column} <= set(table.columns):
        raise InputError("the lines do not all hold guid, gold and the logits of one epoch", file=path)
    logits = logits_array(table[column], path)
    return Columns(
        example_ids=table["guid"].cast(pl.String),
        label=name_codes(table["gold"].to_numpy(), request.label_names, path),
        logits=logits.astype(np.float64),
        label_names=names_for(request.label_names, logits.shape[1]),
    )
