"""Predictions as ChaosNLI publishes and asks for them: {model: {uid: {uid, logits, predicted_label}}}.

Classes are in ChaosNLI's own order: entailment, neutral, contradiction, or 1 and 2 for abductive NLI. Where a record
has probabilities (`predicted_probabilities`) in place of logits, their logarithms are taken. One file may hold the
examples of SNLI and of MNLI, which are two datasets here, as they are there: ids of SNLI name a picture. Right labels
are those of ChaosNLI's data file (chaosNLI_snli.jsonl, ...) where it lies beside or in a folder chaosNLI_* next to it.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, right_labels
from goldassay.data.source import name_of
from goldassay.runs.labels import INFERENCE
from goldassay.runs.run_parts import Collection, Columns, Request, Slice
from goldassay.runs.tables import head_of, logits_array, read_table, start_of, unpacked

if TYPE_CHECKING:
    from pathlib import Path

NAME = "chaosnli"
PRIORITY = 35

_START = re.compile(rb'\s*\{\s*"[^"]*"\s*:\s*\{\s*"[^"]*"\s*:\s*\{\s*"uid"\s*:')
_OF_SNLI = re.compile(r"\.jpg#|^vg_")
_OUTPUTS = ("logits", "predicted_probabilities")
_DATA_FILES = {
    "chaosnli_snli": "chaosNLI_snli",
    "chaosnli_mnli": "chaosNLI_mnli_m",
    "chaosnli_alphanli": "chaosNLI_alphanli",
}


def find(path: Path, request: Request) -> list[Slice] | None:  # noqa: ARG001
    """Recognize an object of models, each an object of examples with their own uid and predicted label."""
    if not path.is_file() or start_of(path, 1) not in (b"{", b"\x1f", b"\x28") or not _START.match(head_of(path)):
        return None
    try:
        models = json.loads(unpacked(path))
    except ValueError as error:
        raise InputError(f"the file is not whole JSON ({error})", file=path, mend="copy it again") from error
    slices = []
    for model, records in models.items():
        if not isinstance(records, dict) or not all(_is_prediction(record) for record in records.values()):
            return None
        for dataset, rows in _by_dataset(records).items():
            slices.append(
                Slice(
                    collection=Collection(str(model), dataset, "", "paired", ""),
                    seed=name_of(path),
                    checkpoint=None,
                    n_examples=len(rows),
                    file=str(path),
                    format=NAME,
                    load=partial(_load, rows, dataset, path),
                )
            )
    return slices


def _is_prediction(record: Any) -> bool:
    return isinstance(record, dict) and "uid" in record and "predicted_label" in record


def _by_dataset(records: dict[str, dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    parts: dict[str, list[dict[str, Any]]] = {}
    for record in records.values():
        if str(record["predicted_label"]) in ("1", "2"):
            dataset = "chaosnli_alphanli"
        else:
            dataset = "chaosnli_snli" if _OF_SNLI.search(str(record["uid"])) else "chaosnli_mnli"
        parts.setdefault(dataset, []).append(record)
    return parts


def _load(records: list[dict[str, Any]], dataset: str, path: Path) -> Columns:
    names = ("1", "2") if dataset == "chaosnli_alphanli" else INFERENCE
    ids = pl.Series([str(record["uid"]) for record in records], dtype=pl.String)
    output = next((name for name in _OUTPUTS if all(name in record for record in records)), None)
    logits = None
    if output is not None:
        logits = logits_array(pl.Series(output, [record[output] for record in records]), path).astype(np.float64)
        if logits.shape[1] != len(names):
            raise InputError(
                f"logits have {logits.shape[1]} classes, but there are {len(names)} labels: {', '.join(names)}",
                file=path,
                column=output,
            )
        if output == "predicted_probabilities":
            with np.errstate(divide="ignore", invalid="ignore"):
                logits = np.log(logits)
    return Columns(
        example_ids=ids,
        label=_right_labels(ids, dataset, path),
        prediction=pl.Series([str(record["predicted_label"]) for record in records], dtype=pl.String),
        logits=logits,
        label_names=names,
    )


def _right_labels(ids: pl.Series, dataset: str, path: Path) -> pl.Series | None:
    """Majority labels of ChaosNLI's own data file for these examples, if it is there."""
    folder = path.resolve().parent
    places = (folder, *sorted(folder.glob("chaosNLI_*/")), *sorted(folder.parent.glob("chaosNLI_*/")))
    file = next((f for f in (place / f"{_DATA_FILES[dataset]}.jsonl" for place in places) if f.is_file()), None)
    table = None if file is None else read_table(file)
    if table is None or not {"uid", "majority_label"} <= set(table.columns):
        return None
    gold = pl.DataFrame({"uid": ids}).join(
        table.select("uid", pl.col("majority_label").cast(pl.String)), on="uid", how="left", maintain_order="left"
    )["majority_label"]
    if gold.null_count():
        raise InputError(
            f"{gold.null_count()} of {ids.len()} predicted examples are not in ChaosNLI's data, "
            f"first {ids.filter(gold.is_null())[0]}",
            file=file,
            mend=f"check that it is the same dataset, or give the right labels with {right_labels()}",
        )
    return gold
