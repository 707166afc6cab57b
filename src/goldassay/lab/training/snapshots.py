"""Tables that jobs share: one Parquet file each in the folder of the runs, named by its content.

What they were made from may change or go away under a long sweep; jobs read these.

Datasets as jobs find them: roles and labels are decided once, in the process that plans.

Opinions as jobs find them: made once, in the process that plans, and read as data are.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.files import write_parquet, written_whole
from goldassay.data.dataset import Dataset
from goldassay.lab.training.teacher_logits import TeacherLogits, TeacherLogitsOn, TeacherSource
from goldassay.runs.store import DATA

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_KEY = "goldassay_held"
_DIGITS = 12


@dataclass(frozen=True)
class SnapshotTable:
    """A table in the folder of the runs.

    Attributes:
        name: What its content is called.
        sha256: Of all that it says.
        path: Of its file.
    """

    name: str
    sha256: str
    path: str


def place_of(folder: Path, name: str, sha256: str) -> Path:
    """Where a table lies in the folder of the runs."""
    return folder / DATA / f"{name}-{sha256[:_DIGITS]}.parquet"


def description_of(about: Mapping[str, Any]) -> str:
    """What goes with a table, as JSON that is always the same."""
    return json.dumps(about, ensure_ascii=False, sort_keys=True)


def has_snapshot(path: Path) -> bool:
    """Whether a file is there and tells what it is; what was cut short, or is not ours, does not."""
    try:
        return _KEY in pl.read_parquet_metadata(path)
    except (pl.exceptions.PolarsError, OSError):
        return False


def write_snapshot(path: Path, table: Callable[[], pl.DataFrame], about: str) -> None:
    """Write a table and what goes with it, unless the file is there and tells what it is.

    Raises:
        OutputError: The folder cannot be written to, or the disk is full.
    """
    if not has_snapshot(path):
        with written_whole(path) as aside:
            write_parquet(table(), aside, compression="zstd", metadata={_KEY: about})


def read_snapshot(path: str, problem: str) -> tuple[dict[str, Any], pl.DataFrame]:
    """What goes with a table, and the table.

    Raises:
        InputError: The file is missing or damaged: the problem.
    """
    try:
        return json.loads(pl.read_parquet_metadata(path)[_KEY]), pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError, KeyError) as error:
        raise InputError(problem, file=path, mend="remove this file and start the command again") from error


# What is learnt, and of questions what may be answered.
_ANSWERS = ("label", "answers", "answer_starts", "candidate_starts", "candidate_ends")


@dataclass(frozen=True)
class Snapshot(SnapshotTable):
    """A dataset in the folder of the runs; its digest is of its ids, texts, labels, groups and weights."""

    def load(self) -> Dataset:
        """The dataset.

        Raises:
            InputError: The file is missing or damaged.
        """
        return _load(self.path)


# Stands for data that are not written yet, where it only matters that there are some.
NO_SNAPSHOT = Snapshot("", "", "")


def take_snapshot(dataset: Dataset, folder: Path, columns: Sequence[str] = ()) -> Snapshot:
    """Write a dataset for jobs to read, unless it is there.

    Args:
        dataset: With labels or, of questions on a context, answers.
        folder: Of the runs.
        columns: Further columns that are needed, such as weights.

    Raises:
        OutputError: The folder cannot be written to, or the disk is full.
    """
    answers = [name for name in _ANSWERS if name in dataset.examples.columns]
    kept = ["example_id", *dataset.text_columns, *answers, *dataset.groups, *columns]
    examples = dataset.examples.select(list(dict.fromkeys(kept)))
    about = description_of(
        {
            "text_columns": dataset.text_columns,
            "label_names": dataset.label_names,
            "name": dataset.name,
            "groups": dataset.groups,
        }
    )
    digest = hashlib.sha256(about.encode() + examples.write_ndjson().encode()).hexdigest()
    readable = re.sub(r"[^\w.-]+", "-", dataset.name).strip("-.") or "data"
    path = place_of(folder, readable[:60], digest)
    write_snapshot(path, lambda: examples, about)
    return Snapshot(dataset.name, digest, str(path))


@lru_cache(maxsize=16)
def _load(path: str) -> Dataset:
    about, examples = read_snapshot(path, "the copy of the data is damaged")
    return Dataset(
        examples, tuple(about["text_columns"]), tuple(about["label_names"]), about["name"], tuple(about["groups"])
    )


_NAME = "opinions"
_COLUMNS = ("probabilities", "strengths")


@dataclass(frozen=True)
class TeacherSnapshot(SnapshotTable):
    """Opinions in the folder of the runs, under the name of the model that has them."""

    def load(self) -> TeacherLogits:
        """The opinions.

        Raises:
            InputError: The file is missing or damaged.
        """
        return _load_teacher(self.path)


def snapshot_teacher(source: TeacherSource, parts: Mapping[str, Snapshot], seed: int, folder: Path) -> TeacherSnapshot:
    """Ask a source, and write its opinions for jobs to read, unless they are there.

    Args:
        source: Of the opinions.
        parts: The data, "train" at least.
        seed: Of the job.
        folder: Of the runs.

    Raises:
        InputError: See `OpinionSource.on`.
        OutputError: The folder cannot be written to, or the disk is full.
    """
    if source.key is None:
        teacher_logits = source.on({part: held.load() for part, held in parts.items()}, seed)
        return _write(teacher_logits, _digest(teacher_logits), folder)
    asked = json.dumps([source.key, sorted((part, held.sha256) for part, held in parts.items())])
    digest = hashlib.sha256(asked.encode()).hexdigest()
    path = place_of(folder, _NAME, digest)
    if has_snapshot(path):
        return TeacherSnapshot(_load_teacher(str(path)).source, digest, str(path))
    return _write(source.on({part: held.load() for part, held in parts.items()}, seed), digest, folder)


def _about(teacher_logits: TeacherLogits) -> str:
    return description_of(
        {
            "source": teacher_logits.source,
            "about": teacher_logits.about,
            "label_names": teacher_logits.label_names,
            "accuracy": dict(teacher_logits.accuracy),
        }
    )


def _digest(teacher_logits: TeacherLogits) -> str:
    digest = hashlib.sha256(_about(teacher_logits).encode())
    for part, on in teacher_logits.on.items():
        digest.update("\0".join((part, *teacher_logits.example_ids[part])).encode())
        digest.update(np.ascontiguousarray(on.probabilities).tobytes())
        digest.update(np.ascontiguousarray(on.strengths).tobytes())
    return digest.hexdigest()


def _write(teacher_logits: TeacherLogits, digest: str, folder: Path) -> TeacherSnapshot:
    path = place_of(folder, _NAME, digest)
    write_snapshot(path, lambda: _table(teacher_logits), _about(teacher_logits))
    return TeacherSnapshot(teacher_logits.source, digest, str(path))


def _table(teacher_logits: TeacherLogits) -> pl.DataFrame:
    frames = []
    for part, on in teacher_logits.on.items():
        columns = {
            "part": pl.repeat(part, len(on), dtype=pl.String, eager=True),
            "example_id": pl.Series(teacher_logits.example_ids[part], dtype=pl.String),
            **{name: _lists(getattr(on, name)) for name in _COLUMNS},
        }
        frames.append(pl.DataFrame(columns))
    return pl.concat(frames)


def _lists(values: NDArray[np.float32]) -> pl.Series:
    return pl.Series(np.ascontiguousarray(values)).reshape((-1, values.shape[1])).arr.to_list()


@lru_cache(maxsize=8)
def _load_teacher(path: str) -> TeacherLogits:
    about, table = read_snapshot(path, "the opinions are damaged")
    parts = {str(part): rows for (part,), rows in table.group_by("part", maintain_order=True)}
    K = len(about["label_names"])
    return TeacherLogits(
        about["source"],
        about["about"],
        tuple(about["label_names"]),
        {part: tuple(rows["example_id"].to_list()) for part, rows in parts.items()},
        {part: TeacherLogitsOn(*(_matrix(rows[name], K) for name in _COLUMNS)) for part, rows in parts.items()},
        about["accuracy"],
    )


def _matrix(column: pl.Series, width: int) -> NDArray[np.float32]:
    return column.explode().to_numpy().astype(np.float32).reshape(-1, width)
