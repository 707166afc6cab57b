"""Tables that jobs share: one Parquet file each in the folder of the runs, named by its content.

What they were made from may change or go away under a long sweep; jobs read these.

Datasets as jobs find them: roles and labels are decided once, in the process that plans.

Opinions as jobs find them: made once, in the process that plans, and read as data are.

The state of a training on disk: one file, whole or not there, from which a run goes on as if nothing had happened.

A state is one safetensors file: weights, moments of the optimizers and training dynamics as tensors, and the position
in the training as JSON in the file's own metadata. One file can be renamed into place in one step, two cannot. There is
no state of random generators: what is drawn at a step is a function of seed and step (see `seeds`).
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import torch

from goldassay.core.errors import InputError
from goldassay.core.files import write_parquet, written_whole
from goldassay.data.dataset import Dataset
from goldassay.lab.training.objectives import TeacherLogits, TeacherLogitsOn, TeacherSource
from goldassay.runs.run_parts import DATA

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor, nn


_METADATA = "goldassay_held"
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
        return _METADATA in pl.read_parquet_metadata(path)
    except (pl.exceptions.PolarsError, OSError):
        return False


def write_snapshot(path: Path, table: Callable[[], pl.DataFrame], about: str) -> None:
    """Write a table and what goes with it, unless the file is there and tells what it is.

    Raises:
        OutputError: The folder cannot be written to, or the disk is full.
    """
    if not has_snapshot(path):
        with written_whole(path) as aside:
            write_parquet(table(), aside, compression="zstd", metadata={_METADATA: about})


def read_snapshot(path: str, problem: str) -> tuple[dict[str, Any], pl.DataFrame]:
    """What goes with a table, and the table.

    Raises:
        InputError: The file is missing or damaged: the problem.
    """
    try:
        return json.loads(pl.read_parquet_metadata(path)[_METADATA]), pl.read_parquet(path)
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


FORMAT_VERSION = 1
_KEY = "goldassay"
# By the names that safetensors gives them, in the order in which the library writes them: the widest first.
_TYPES = {
    torch.int64: "I64",
    torch.float64: "F64",
    torch.float32: "F32",
    torch.int32: "I32",
    torch.bfloat16: "BF16",
    torch.float16: "F16",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}
_BYTES_AT_ONCE = 16 * 2**20


@dataclass
class Position:
    """Where a training is.

    Attributes:
        step: Steps done.
        epoch: Epochs done.
        batch: Batches done of the epoch begun.
        dev_scores: After each epoch done; see `targets.Target.dev_score`.
        best_step: At which the best dev score was reached, or None.
        finished: Nothing is left to train.
        memory: Of the objective.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    dev_scores: list[float] = field(default_factory=list)
    best_step: int | None = None
    finished: bool = False
    memory: dict[str, Any] = field(default_factory=dict)

    @property
    def best_score(self) -> float:
        """The best dev score so far; minus infinity before the first."""
        return max(self.dev_scores, default=float("-inf"))


def write_tensors(path: Path, tensors: Mapping[str, Tensor], content: Mapping[str, Any]) -> None:
    """Write tensors with JSON beside them, whole or not at all; the same content gives the same bytes.

    Tensors go to the file one after the other, 16 MiB at a time, so that no second copy of them is in memory. The bytes
    are those that the safetensors library writes: the length of the header in 8 bytes, the header as JSON padded to a
    multiple of 8, the tensors by type and name.

    Raises:
        OutputError: The folder cannot be written to, or the disk is full.
    """
    ready = _in_order(tensors)
    with written_whole(path) as aside, aside.open("wb") as file:
        file.write(_header(ready, content))
        for tensor in ready.values():
            if tensor.numel():
                flat = tensor.detach().reshape(-1)
                for part in flat.split(_BYTES_AT_ONCE // tensor.element_size()):
                    file.write(part.cpu().contiguous().view(torch.uint8).numpy().data)


def _in_order(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    order = list(_TYPES)
    return dict(sorted(tensors.items(), key=lambda item: (order.index(item[1].dtype), item[0])))


def _header(ready: Mapping[str, Tensor], content: Mapping[str, Any]) -> bytes:
    """What comes before the numbers of tensors that are in order."""
    header: dict[str, Any] = {
        "__metadata__": {_KEY: json.dumps({"version": FORMAT_VERSION, **content}, sort_keys=True)}
    }
    end = 0
    for name, tensor in ready.items():
        begin, end = end, end + tensor.nbytes
        header[name] = {"dtype": _TYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """What `write_tensors` wrote.

    Raises:
        InputError: The file is damaged, or of a newer version.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            content = json.loads(metadata[_KEY])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no mapping)
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise InputError("the checkpoint is damaged", file=path, mend="delete it, and the run begins anew") from error
    if content["version"] > FORMAT_VERSION:
        raise InputError("the checkpoint was written by a newer goldassay", file=path, mend="upgrade")
    return tensors, content


def write_state(path: Path, position: Position, tensors: Mapping[str, Tensor]) -> None:
    """Write the state of a training; the one before is replaced in one step."""
    write_tensors(path, tensors, {"position": asdict(position)})


def size_of_state(position: Position, tensors: Mapping[str, Tensor]) -> int:
    """Bytes of the file that `write_state` would write."""
    header = _header(_in_order(tensors), {"position": asdict(position)})
    return len(header) + sum(tensor.nbytes for tensor in tensors.values())


def read_state(path: Path) -> tuple[Position, dict[str, Tensor]] | None:
    """The last whole state, or None where there is none."""
    if not path.exists():
        return None
    tensors, content = read_tensors(path)
    return Position(**content["position"]), tensors


def weights_of(module: nn.Module) -> dict[str, Tensor]:
    """All weights and buffers of a module, by name; those under two names once."""
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def restore_weights(module: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Put weights back in place.

    Raises:
        InputError: Some are missing, too many or of another shape.
    """
    own = weights_of(module)
    wrong = sorted(own.keys() ^ tensors.keys()) or [n for n in own if own[n].shape != tensors[n].shape]
    if wrong:
        raise InputError(f"the checkpoint does not fit the network at {wrong[0]!r}", mend="delete it")
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(tensors[name])


def part_of(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin with a prefix and a dot, without it."""
    return {name.removeprefix(f"{prefix}."): value for name, value in tensors.items() if name.startswith(f"{prefix}.")}


def named(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors under a prefix."""
    return {f"{prefix}.{name}": value for name, value in tensors.items()}
