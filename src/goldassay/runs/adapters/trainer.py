"""Predictions of Hugging Face's Trainer, as its users save them, in the folder of each run or checkpoint.

    predict_results_DATASET.txt   index and prediction, as the example scripts write them; also test_ and eval_results_
    predictions_DATASET.npz       predictions and label_ids, the fields of what `Trainer.predict` returns
    predictions_DATASET.npy       likewise, or logits_DATASET.npy; the right labels in label_ids_DATASET.npy beside it

The dataset may be left out of the names. Predictions are logits (N, K) or codes (N,). The label names are those of
the config.json beside the file or in the run's folder, unless `label_names` are given. Model, seed and checkpoint are
read off the folders: MODEL/seed_K/checkpoint-N. A file beside checkpoints that have one of the same name is the
checkpoint "final". How scores moved from step to step stands in trainer_state.json: see `goldassay.runs.curves`.
"""

from __future__ import annotations

import re
import zipfile
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.runs.adapters.numpy_arrays import read_array, read_members
from goldassay.runs.curves import label_names_of, run_folder
from goldassay.runs.labels import name_codes, names_for
from goldassay.runs.run_parts import UNNAMED, Collection, Columns, Request, Slice
from goldassay.runs.tables import head_of, read_table, start_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

NAME = "trainer"
PRIORITY = 25

_TABLE = re.compile(r"(?:predict|test|eval)_results(?:_(?P<dataset>.+))?\.txt")
_ARRAY = re.compile(r"(?:predictions?|preds|logits)(?:_(?P<dataset>.+))?\.np[yz]")
_HEADER = re.compile(rb"index\tprediction\r?\n")
_NUMPY = b"\x93NUMPY"
# The Trainer's mark for an example without a label; GLUE's test sets have -1.
_NO_LABEL = (-100, -1)


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize one file of predictions by its first bytes."""
    if not path.is_file():
        return None
    load = _table(path) or _archive(path) or _array(path)
    if load is None:
        return None
    n_examples, read = load
    match = _TABLE.fullmatch(path.name) or _ARRAY.fullmatch(path.name)
    run = run_folder(path.parent)
    names = request.label_names or label_names_of(run, path.parent)
    checkpoint: int | str | None = run.checkpoint
    if checkpoint is None and any(run.path.glob(f"checkpoint-*/{path.name}")):
        checkpoint = "final"
    dataset = (match["dataset"] if match else None) or run.dataset or UNNAMED
    return [
        Slice(
            collection=Collection(run.model, dataset, "", "paired", ""),
            seed=run.seed,
            checkpoint=checkpoint,
            n_examples=n_examples,
            file=str(path),
            format=NAME,
            load=partial(read, names),
        )
    ]


_Found = tuple[int, "Callable[[tuple[str, ...] | None], Columns]"]


def _table(path: Path) -> _Found | None:
    if _TABLE.fullmatch(path.name) is None or _HEADER.match(head_of(path)) is None:
        return None
    table = read_table(path)
    if table is None or table.height == 0:
        raise InputError("there are no predictions in the file", file=path)
    for column in table.columns:
        if table[column].null_count():
            row = int(table[column].is_null().arg_max() or 0)
            raise InputError("the line has no value here", file=path, row=row + 2, column=column, mend="copy it again")
    if table["prediction"].str.contains(r"^-?\d+\.\d+$").all():
        raise _regression(path)

    def load(names: tuple[str, ...] | None) -> Columns:
        return Columns(example_ids=table["index"], prediction=table["prediction"], label_names=names)

    return table.height, load


def _archive(path: Path) -> _Found | None:
    if start_of(path, 2) != b"PK" or path.suffix != ".npz":
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            members = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise InputError("the archive is damaged or cut short", file=path, mend="copy it again") from error
    values = next((name for name in ("predictions", "logits") if f"{name}.npy" in members), None)
    if values is None or "label_ids.npy" not in members:
        return None
    arrays = read_members(path, {"predictions": values, "label_ids": "label_ids"})
    return _checked(arrays["predictions"], arrays["label_ids"], path)


def _array(path: Path) -> _Found | None:
    match = _ARRAY.fullmatch(path.name)
    if match is None or path.suffix != ".npy" or start_of(path, 6) != _NUMPY:
        return None
    of = f"_{match['dataset']}" if match["dataset"] else ""
    beside = [path.with_name(f"{name}{of}.npy") for name in ("label_ids", "labels")]
    labels = next((read_array(file) for file in beside if file.is_file()), None)
    return _checked(read_array(path), labels, path)


def _checked(values: NDArray[Any], labels: NDArray[Any] | None, path: Path) -> _Found:
    if values.dtype.kind == "f" and (values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1)):
        raise _regression(path)
    if values.dtype.kind not in "fiu" or values.ndim != (2 if values.dtype.kind == "f" else 1):
        raise InputError(
            f"the predictions have the shape {values.shape} and are neither a logit a class nor a code an example",
            file=path,
            mend="give logits (N, K) or codes (N,)",
        )
    if labels is not None and (labels.shape != values.shape[:1] or labels.dtype.kind not in "iu"):
        raise InputError(f"label_ids are not one whole number for each of {len(values)} predictions", file=path)
    if labels is not None and np.isin(labels, _NO_LABEL).any():
        if not np.isin(labels, _NO_LABEL).all():
            n = int(np.isin(labels, _NO_LABEL).sum())
            raise InputError(f"{n} of {len(labels)} examples have no label", file=path, mend="leave them out")
        labels = None

    def load(names: tuple[str, ...] | None) -> Columns:
        logits = values if values.dtype.kind == "f" else None
        return Columns(
            example_ids=pl.Series(range(len(values))).cast(pl.String),
            label=None if labels is None else name_codes(labels, names, path),
            prediction=None if logits is not None else name_codes(values, names, path),
            logits=logits,
            label_names=names if logits is None else names_for(names, logits.shape[1]),
        )

    return len(values), load


def _regression(path: Path) -> InputError:
    return InputError(
        "the predictions are single numbers, as of a regression, and not classes",
        file=path,
        mend="give a table with a score within [0, 1] for each example",
    )
