"""The store: Parquet files, one a run, dataset and checkpoint, that pandas, polars and duckdb open without us."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import GoldassayError, inert_cells
from goldassay.core.files import write_parquet, written_together, written_whole
from goldassay.runs.configurations import digest, to_cell
from goldassay.runs.grades import SHARES_OF, write_grades
from goldassay.runs.run_parts import DATA, JOBS
from goldassay.runs.statuses import NOT_TRIED, STATUSES

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from goldassay.runs.run_parts import BestThresholds
    from goldassay.runs.runs import Runs


METADATA_KEY = "goldassay_run"
FORMAT_VERSION = 1
SETTINGS, LOCK = "settings.json", "lock"


def write_runs(runs: Runs, directory: str | os.PathLike[str]) -> list[Path]:
    """Write one Parquet file a run and checkpoint into `directory`; files of the same run are replaced.

    Columns: run_id, model, configuration (first digits of a digest), seed, train_set, condition, checkpoint, dataset,
    split, example_id, label, prediction, score, logits, status (where an answer has no score), and group_NAME; those
    that the runs do not have are left out. Labels and predictions are names. An answer without a score has none here.
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
            identity = identity_of(
                model=runs.base_model or runs.model,
                seed=runs.seeds[run].item(),
                train_set=runs.train_set,
                condition=runs.condition,
                checkpoint=None if runs.checkpoints is None else runs.checkpoints[step].item(),
                dataset=runs.dataset,
                split=runs.split,
                label_names=runs.label_names,
                configuration=runs.configuration,
                grades=runs.grades,
                thresholds=runs.thresholds[run] if runs.thresholds and step == runs.n_checkpoints - 1 else None,
                reported=runs.reported[run] if runs.reported and step == runs.n_checkpoints - 1 else None,
                unrecorded=runs.unrecorded,
                numbered=runs.numbered,
                is_trial=runs.trials,
                keyed=runs.keyed,
            )
            paths.append(write_answers(_columns(runs, run, step, shared), identity, directory))
    return paths


def identity_of(
    *,
    model: str,
    seed: int | str,
    train_set: str,
    condition: str,
    checkpoint: int | str | None,
    dataset: str,
    split: str,
    label_names: Sequence[str] = (),
    n_parameters: int | None = None,
    configuration: Mapping[str, Any] | None = None,
    grades: tuple[float, float] | None = None,
    thresholds: BestThresholds | None = None,
    reported: float | None = None,
    unrecorded: Sequence[str] = (),
    numbered: bool = False,
    is_trial: bool = False,
    keyed: bool = False,
) -> dict[str, Any]:
    """What tells a file of the store from others, as its metadata hold it.

    Args:
        model: What the runs call it.
        seed: Of the run.
        train_set: What it was trained on.
        condition: What it saw.
        checkpoint: Step or name, or None.
        dataset: What it answered on.
        split: Part of it.
        label_names: In order; none where the labels are numbers.
        n_parameters: How many weights the model has, where that is known.
        configuration: How it was asked, where that is known.
        grades: The scale that the scores are shares of, where it has other ends than 0 and 1.
        thresholds: The best scores by no-answer probabilities, where there are some.
        reported: The mean score that the run's log gives, where it gives one.
        unrecorded: Statuses of answers that its file did not record.
        numbered: Whether the seed is a running number.
        is_trial: Whether it is one of several attempts at each example.
        keyed: Whether a harness wrote example, right answer and score of each answer together.
    """
    name = [model, digest(configuration or {}), train_set, condition, f"seed={seed}"]
    known: dict[str, Any] = {} if n_parameters is None else {"n_parameters": n_parameters}
    if configuration:
        known["configuration"] = dict(configuration)
    if grades is not None:
        known["grades"] = list(grades)
    if thresholds is not None:
        known["thresholds"] = thresholds.to_dict()
    if reported is not None:
        known["reported"] = reported
    if unrecorded:
        known["unrecorded"] = list(unrecorded)
    known |= {name: True for name, is_so in (("numbered", numbered), ("is_trial", is_trial), ("keyed", keyed)) if is_so}
    return {
        "version": FORMAT_VERSION,
        "run_id": "/".join(part for part in name if part),
        "model": model,
        "seed": seed,
        "train_set": train_set,
        "condition": condition,
        "checkpoint": checkpoint,
        "dataset": dataset,
        "split": split,
        "label_names": list(label_names),
    } | known


def write_answers(
    columns: Mapping[str, pl.Series], identity: Mapping[str, Any], directory: str | os.PathLike[str]
) -> Path:
    """Write what one run answered on one dataset; see `write_runs`, which this is for what is no `Runs`.

    Args:
        columns: example_id and some of label, prediction, score, logits, group_NAME, each (N,). Labels and predictions
            are names, or numbers where these are to be predicted.
        identity: See `identity_of`.
        directory: Where to.

    Raises:
        OutputError: The folder cannot be written to, or the disk is full.
    """
    constants = ("run_id", "model", "seed", "train_set", "condition", "checkpoint", "dataset", "split")
    present = {name: identity[name] for name in constants if identity[name] not in (None, "")}
    if configured := digest(identity.get("configuration") or {}):
        present["configuration"] = configured
    frame = pl.DataFrame(dict(columns))
    frame = frame.select(*[pl.lit(value).alias(name) for name, value in present.items()], pl.all())
    content = {**identity, "n_examples": frame.height}
    path = run_file(identity, directory)
    metadata = {METADATA_KEY: json.dumps(content, ensure_ascii=False, sort_keys=True)}
    with written_whole(path) as aside:
        write_parquet(frame, aside, compression="zstd", statistics=False, metadata=metadata)
    return path


@contextmanager
def nothing_left_if_refused(out: str | os.PathLike[str]) -> Iterator[None]:
    """Remove what a command made in a folder of runs that was not there, if it is refused before anything was trained.

    A training that is refused leaves nothing: neither its copies of the data nor folders of jobs that never began.
    """
    folder = Path(out)
    was_there = folder.exists()
    try:
        yield
    except GoldassayError:
        if not was_there and not _has_begun(folder):
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _shared_columns(runs: Runs) -> dict[str, pl.Series]:
    """The columns that are the same in each file."""
    shared = {"example_id": pl.Series(runs.example_ids.tolist(), dtype=pl.String)}
    if runs.gold is not None and runs.label_names:
        shared["label"] = _names(runs, runs.gold)
    weights = {} if runs.weights is None else {runs.weighted_by or "weight": runs.weights}
    for name, values in (runs.groups | runs.traits | weights).items():
        shared[f"group_{name}"] = pl.Series(list(map(str, values.tolist())), dtype=pl.String)
    return shared


def _names(runs: Runs, codes: Any) -> pl.Series:
    return pl.Series(runs.label_names, dtype=pl.String).gather(codes)


def _columns(runs: Runs, run: int, step: int, shared: dict[str, pl.Series]) -> dict[str, pl.Series]:
    at = (run, step) if runs.scores.ndim == 3 else (run,)
    columns: dict[str, pl.Series] = {"example_id": shared["example_id"]}
    if "label" in shared:
        columns["label"] = shared["label"]
    if runs.predictions is not None:
        columns["prediction"] = _names(runs, runs.predictions[at])
    columns["score"] = pl.Series(runs.scores[at])
    if runs.status_codes is not None and runs.status_codes[at].any():
        columns["status"] = pl.Series(runs.status[at].tolist(), dtype=pl.Enum(STATUSES))
        columns["score"] = columns["score"].set(pl.Series(~runs.scored[at] & (runs.scores[at] == 0)), None)
    if runs.logits is not None:
        width = runs.logits.shape[-1]
        columns["logits"] = pl.Series(runs.logits[at]).reshape((-1, width)).arr.to_list()
    columns.update({name: values for name, values in shared.items() if name.startswith("group_")})
    return columns


def run_file(identity: Mapping[str, Any], directory: str | os.PathLike[str]) -> Path:
    """Where `write_answers` writes a run's answers on a dataset; see `identity_of`."""
    parts = [identity["model"], identity["train_set"], identity["condition"], identity["dataset"], identity["split"]]
    parts.append(f"seed-{identity['seed']}")
    if identity["checkpoint"] is not None:
        parts.append(f"checkpoint-{identity['checkpoint']}")
    if configured := digest(identity.get("configuration") or {}):
        parts.append(f"configuration-{configured}")
    readable = [re.sub(r"[^\w.-]+", "-", str(part)).strip("-.") for part in parts]
    name = "__".join(part for part in readable if part)[:150]
    # The readable name may be that of another run too ("a/b" and "a b"), so a digest of the true one is added.
    hashed = hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:8]
    return Path(directory) / f"{name}__{hashed}.parquet"


def _has_begun(folder: Path) -> bool:
    """Whether a folder holds more than data to train on and settings of jobs."""
    files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return any(
        not (path.parts[0] == DATA or (path.parts[0] == JOBS and path.name in (LOCK, SETTINGS))) for path in files
    )


NAME = "long.csv"


def write_long(sets: Iterable[Runs], directory: str | os.PathLike[str]) -> Path:
    """Write all sets of runs into DIRECTORY/long.csv, complete or not at all.

    Columns: model, dataset, split, condition, train_set, seed, checkpoint, example_id, label, prediction, score,
    `group_NAME`, `config_NAME` for each setting that is told, and `shares_of_grades`, the scale that the scores are
    shares of, where that has other ends than 0 and 1. Columns without a value in any set are left out.
    Texts that a spreadsheet would execute have an apostrophe before them. The table is read back as format "long".

    A mixed model with seeds and examples crossed is, in R, `score ~ model + (1 | seed:model) + (1 | example_id)`.

    Raises:
        OutputError: The folder cannot be written to, or the disk is full.
    """
    table = pl.concat([long_frame(runs) for runs in sets], how="diagonal_relaxed")
    kept = [name for name in table.columns if not (table[name].is_null() | (table[name].cast(pl.String) == "")).all()]
    with written_together(directory) as aside:
        inert_cells(table.select(kept)).write_csv(aside / NAME)
    return Path(directory) / NAME


def long_frame(runs: Runs) -> pl.DataFrame:
    """A row for each run, checkpoint and example, in this order, but for attempts that were not tried."""
    shape = (runs.n_runs, runs.n_checkpoints, runs.n_examples)
    n = int(np.prod(shape))

    def by(axis: int, values: Any) -> pl.Series:
        """What belongs to an axis, for each row."""
        places = np.broadcast_to(np.arange(shape[axis]).reshape([-1 if at == axis else 1 for at in range(3)]), shape)
        return values.gather(places.ravel())

    def names(codes: Any) -> pl.Series:
        return pl.Series(list(runs.label_names), dtype=pl.String).gather(np.asarray(codes).ravel())

    columns: dict[str, Any] = {
        name: pl.repeat(getattr(runs, name), n, dtype=pl.String, eager=True)
        for name in ("dataset", "split", "condition", "train_set")
    }
    columns["model"] = pl.repeat(runs.base_model or runs.model, n, dtype=pl.String, eager=True)
    columns["seed"] = by(0, _as_text(runs.seeds))
    if runs.checkpoints is not None:
        columns["checkpoint"] = by(1, _as_text(runs.checkpoints))
    columns["example_id"] = by(2, pl.Series(runs.example_ids.tolist(), dtype=pl.String))
    if runs.gold is not None:
        columns["label"] = by(2, names(runs.gold))
    if runs.predictions is not None:
        columns["prediction"] = names(runs.predictions)
    columns["score"] = runs.scores.ravel()
    for name, values in runs.groups.items():
        columns[f"group_{name}"] = by(2, pl.Series(values.tolist(), dtype=pl.String))
    for name, value in runs.configuration.items():
        columns[f"config_{name}"] = pl.repeat(to_cell(value), n, dtype=pl.String, eager=True)
    if runs.grades is not None:
        columns[SHARES_OF] = pl.repeat(write_grades(runs.grades), n, dtype=pl.String, eager=True)
    first = ["model", "dataset", "split", "condition", "train_set", "seed"]
    table = pl.DataFrame(columns).select([*first, *(name for name in columns if name not in first)])
    return table.filter(pl.Series(runs.status.ravel() != STATUSES[NOT_TRIED]))


def _as_text(values: Any) -> pl.Series:
    return pl.Series([str(value) for value in values.tolist()], dtype=pl.String)
