"""Folders MODEL/seed_k/-DATASET/ with pred_results.txt and logits_results.txt, as Zhou et al. 2020 released them.

Each file holds one JSON list: label codes, or a list of logits for each example. `label_names` says which class is
which (in the released ones: contradiction, entailment, neutral). Examples are known by their position.
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
from goldassay.runs.tables import unpacked

if TYPE_CHECKING:
    from pathlib import Path

NAME = "seed-folders"
PRIORITY = 20

_PREDICTIONS, _LOGITS = "pred_results.txt", "logits_results.txt"


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize a folder of one run on one dataset; the folders above it are searched like any other."""
    if not path.is_dir():
        return None
    found = [path / name for name in (_LOGITS, _PREDICTIONS) if (path / name).is_file()]
    place = path.resolve()
    seed = re.fullmatch(r"seed[_-]?(\d+)", place.parent.name)
    if not found or seed is None:
        return None
    return [
        Slice(
            collection=Collection(place.parent.parent.name, place.name.removeprefix("-"), "", "paired", ""),
            seed=int(seed.group(1)),
            checkpoint=None,
            n_examples=len(_read(found[-1])),
            file=str(path),
            format=NAME,
            load=partial(_load, path, request),
        )
    ]


def _load(path: Path, request: Request) -> Columns:
    logits = prediction = None
    n_classes = 0
    if (path / _LOGITS).is_file():
        logits = np.array(_read(path / _LOGITS), dtype=np.float64)
        if logits.ndim != 2:
            raise InputError("the logits are not one list an example", file=path / _LOGITS)
        n_classes = logits.shape[1]
    if (path / _PREDICTIONS).is_file():
        codes = np.array(_read(path / _PREDICTIONS))
        n_classes = max(n_classes, int(codes.max(initial=-1)) + 1)
        prediction = name_codes(codes, request.label_names, path / _PREDICTIONS)
        if logits is not None and len(codes) != len(logits):
            raise InputError(f"there are {len(codes)} predictions but {len(logits)} rows of logits", file=path)
    n_examples = len(logits) if logits is not None else len(prediction if prediction is not None else ())
    return Columns(
        example_ids=pl.Series(range(n_examples)).cast(pl.String),
        prediction=prediction,
        logits=logits,
        label_names=names_for(request.label_names, n_classes) if logits is not None else request.label_names,
    )


def _read(file: Path) -> list[Any]:
    try:
        values = json.loads(unpacked(file))
    except ValueError as error:
        raise InputError(f"the file does not hold one JSON list ({error})", file=file) from error
    if not isinstance(values, list) or not values:
        raise InputError("the file does not hold a JSON list of examples", file=file)
    return values
