"""Samples of the lm-evaluation-harness: samples_TASK_TIME.jsonl, one line a document and filter.

The score is the first of acc, exact_match, f1, acc_norm that the task has, else its first metric within [0, 1];
`columns={"score": METRIC}` chooses another. The model is the name of the folder, as the harness lays it out. A run
is named by its time: the harness's own seeds are the same in each run unless they are set. Log-likelihoods of the
choices become logits.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.errors import InputError
from goldassay.runs.slices import Collection, Columns, Request, Slice
from goldassay.runs.tables import head_of, unpacked

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

NAME = "lm-eval"
PRIORITY = 20

_FILE = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl(\.gz|\.zst)?")
_FIELDS = {"doc_id", "target", "resps", "filter", "metrics"}
_PREFERRED = ("acc", "exact_match", "f1", "acc_norm")


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize a file by the fields of its first line."""
    if not path.is_file() or ".jsonl" not in path.name:
        return None
    # The first line may be longer than the head, so that it cannot be parsed yet; these fields stand first in it.
    if not all(field in head_of(path) for field in (b'"doc_id":', b'"doc":')):
        return None
    lines = [line for line in unpacked(path).split(b"\n") if line.strip()]
    if not lines or not _keys(lines[0]) >= _FIELDS:
        return None
    records = [_record(line, number, path) for number, line in enumerate(lines, start=1)]
    filters = list(dict.fromkeys(str(record["filter"]) for record in records))
    match = _FILE.fullmatch(path.name)
    task, time = (match["task"], match["time"]) if match else (path.name.split(".")[0], path.name.split(".")[0])
    slices = []
    for name in filters:
        kept = [record for record in records if str(record["filter"]) == name]
        slices.append(
            Slice(
                collection=Collection(
                    path.resolve().parent.name, task if len(filters) == 1 else f"{task}/{name}", "", "paired", ""
                ),
                seed=time,
                checkpoint=None,
                n_examples=len(kept),
                file=str(path),
                format=NAME,
                load=partial(_load, kept, request, path),
            )
        )
    return slices


def _keys(line: bytes) -> set[str]:
    try:
        record = json.loads(line)
    except ValueError:
        return set()
    return set(record) if isinstance(record, dict) else set()


def _record(line: bytes, number: int, path: Path) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise InputError(f"the line is not JSON ({error})", file=path, row=number) from error
    if not isinstance(record, dict) or not record.keys() >= _FIELDS:
        raise InputError("the line is not a sample like the first", file=path, row=number)
    return record


def _load(records: list[dict[str, Any]], request: Request, path: Path) -> Columns:
    metric = request.columns.get("score") or _metric(records[0], path)
    scores = [record.get(metric) for record in records]
    if not all(isinstance(score, (int, float)) for score in scores):
        raise InputError(f"metric {metric!r} is not a number for each sample", file=path, column=metric)
    logits = _choice_logits(records)
    targets = [str(record["target"]) for record in records]
    names = None
    if logits is not None:
        names = tuple(str(choice) for choice in range(logits.shape[1]))
        if not set(targets) <= set(names):
            logits = names = None
    return Columns(
        example_ids=pl.Series([str(record["doc_id"]) for record in records], dtype=pl.String),
        label=pl.Series(targets, dtype=pl.String) if names is not None else None,
        score=pl.Series([float(score) for score in scores if score is not None]),
        logits=logits,
        label_names=names,
    )


def _metric(record: dict[str, Any], path: Path) -> str:
    offered = [str(name) for name in record["metrics"]]
    usable = [n for n in offered if isinstance(record.get(n), (int, float)) and 0 <= float(record[n]) <= 1]
    for name in (*_PREFERRED, *usable):
        if name in usable:
            return name
    raise InputError(
        f"none of the metrics {', '.join(offered)} is a score within [0, 1]",
        file=path,
        mend="choose one with columns={'score': METRIC}",
    )


def _choice_logits(records: list[dict[str, Any]]) -> NDArray[np.float64] | None:
    """Log-likelihood of each choice (N, K), where each sample has the same number of at least 2."""
    try:
        rows = [[float(choice[0][0]) for choice in record["resps"]] for record in records]
    except (TypeError, ValueError, IndexError, KeyError):
        return None
    widths = {len(row) for row in rows}
    return np.array(rows) if len(widths) == 1 and widths.pop() > 1 else None
