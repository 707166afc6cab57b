"""The store: Parquet files, one a run, dataset and checkpoint, that pandas, polars and duckdb open without us."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.files import write_parquet, written_whole

if TYPE_CHECKING:
    import os

    from goldassay.runs.runs import Runs

METADATA_KEY = "goldassay_run"
FORMAT_VERSION = 1


def write_runs(runs: Runs, directory: str | os.PathLike[str]) -> list[Path]:
    """Write one Parquet file a run and checkpoint into `directory`; files of the same run are replaced.

    Columns: run_id, model, seed, train_set, condition, checkpoint, dataset, split, example_id, label, prediction,
    score, logits, and group_NAME; those that the runs do not have are left out. Labels and predictions are names.
    What is constant in a file is stored once (dictionary encoding) and repeated in the file's metadata under
    "goldassay_run", with the label names in order, so that a folder is listed without reading rows. Each file is
    written whole or not at all, and the same runs give the same bytes.

    Returns:
        The paths, run by run, then checkpoint by checkpoint.

    Raises:
        OutputError: The folder cannot be written to, or the disk is full.
    """
    shared = _shared_columns(runs)
    paths = []
    for run in range(runs.n_runs):
        for step in range(runs.n_checkpoints):
            identity = _identity(runs, run, step)
            frame = _frame(runs, run, step, identity, shared)
            path = Path(directory) / _file_name(identity)
            metadata = {METADATA_KEY: json.dumps(identity, ensure_ascii=False, sort_keys=True)}
            with written_whole(path) as aside:
                write_parquet(frame, aside, compression="zstd", statistics=False, metadata=metadata)
            paths.append(path)
    return paths


def _identity(runs: Runs, run: int, step: int) -> dict[str, Any]:
    seed = runs.seeds[run].item()
    checkpoint = None if runs.checkpoints is None else runs.checkpoints[step].item()
    name = [runs.model, runs.train_set, runs.condition, f"seed={seed}"]
    return {
        "version": FORMAT_VERSION,
        "run_id": "/".join(part for part in name if part),
        "model": runs.model,
        "seed": seed,
        "train_set": runs.train_set,
        "condition": runs.condition,
        "checkpoint": checkpoint,
        "dataset": runs.dataset,
        "split": runs.split,
        "label_names": list(runs.label_names),
        "n_examples": runs.n_examples,
    }


def _shared_columns(runs: Runs) -> dict[str, pl.Series]:
    """The columns that are the same in each file."""
    shared = {"example_id": pl.Series(runs.example_ids, dtype=pl.String)}
    if runs.gold is not None and runs.label_names:
        shared["label"] = _names(runs, runs.gold)
    for name, values in runs.groups.items():
        shared[f"group_{name}"] = pl.Series(values, dtype=pl.String)
    return shared


def _names(runs: Runs, codes: Any) -> pl.Series:
    return pl.Series(runs.label_names, dtype=pl.String).gather(codes)


def _frame(runs: Runs, run: int, step: int, identity: dict[str, Any], shared: dict[str, pl.Series]) -> pl.DataFrame:
    at = (run, step) if runs.scores.ndim == 3 else (run,)
    columns: dict[str, pl.Series] = {"example_id": shared["example_id"]}
    if "label" in shared:
        columns["label"] = shared["label"]
    if runs.predictions is not None:
        columns["prediction"] = _names(runs, runs.predictions[at])
    columns["score"] = pl.Series(runs.scores[at])
    if runs.logits is not None:
        width = runs.logits.shape[-1]
        columns["logits"] = pl.Series(runs.logits[at]).reshape((-1, width)).arr.to_list()
    columns.update({name: values for name, values in shared.items() if name.startswith("group_")})
    constants = ("run_id", "model", "seed", "train_set", "condition", "checkpoint", "dataset", "split")
    present = {name: identity[name] for name in constants if identity[name] not in (None, "")}
    frame = pl.DataFrame(columns)
    return frame.select(*[pl.lit(value).alias(name) for name, value in present.items()], pl.all())


def _file_name(identity: dict[str, Any]) -> str:
    parts = [identity["model"], identity["train_set"], identity["condition"], identity["dataset"], identity["split"]]
    parts.append(f"seed-{identity['seed']}")
    if identity["checkpoint"] is not None:
        parts.append(f"checkpoint-{identity['checkpoint']}")
    readable = [re.sub(r"[^\w.-]+", "-", str(part)).strip("-.") for part in parts]
    name = "__".join(part for part in readable if part)[:150]
    # The readable name may be that of another run too ("a/b" and "a b"), so a digest of the true one is added.
    digest = hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:8]
    return f"{name}__{digest}.parquet"
