"""Opinions: what another model says of the examples, a bias model or a teacher, in the folder of the runs.

They are made once, in the process that plans, and jobs read them as they read data (see `held`).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl

from goldassay.errors import InputError
from goldassay.files import write_parquet, written_whole
from goldassay.training.held import FOLDER

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.data import Dataset
    from goldassay.training.held import Held

TRAIN, DEV = "train", "dev"
_KEY = "goldassay_opinions"
_COLUMNS = ("probabilities", "strengths")


@dataclass(frozen=True, eq=False)
class OpinionsOn:
    """What a model says of N examples.

    Attributes:
        probabilities: Of each label, (N, K).
        strengths: How strongly each label is pointed to, (N, K): of a model its probabilities again; of patterns the
            largest share of the label among the patterns that the example holds, 0 where it holds none. An example is
            biased at a threshold if one of them exceeds it.
    """

    probabilities: NDArray[np.float32]
    strengths: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.probabilities)

    def take(self, rows: NDArray[np.int64]) -> OpinionsOn:
        """Those of some examples."""
        return OpinionsOn(self.probabilities[rows], self.strengths[rows])

    def biased(self, threshold: float) -> NDArray[np.bool_]:
        """Whether any label is pointed to more strongly than the threshold, (N,)."""
        return np.asarray(self.strengths.max(axis=1) > threshold)

    def difficulty(self, gold: NDArray[np.int64], threshold: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which examples are easy (the one label pointed to is right) and which hard (none of them is), (N,) each."""
        pointed = self.strengths > threshold
        right = pointed[np.arange(len(gold)), gold]
        number = pointed.sum(axis=1)
        return right & (number == 1), ~right & (number > 0)


@dataclass(frozen=True, eq=False)
class Opinions:
    """What a model says of several sets of examples.

    Attributes:
        source: What the model is called.
        about: How its opinions came to be, in a clause.
        label_names: Of the training set, in order.
        example_ids: By part: "train", "dev", or the name of a test set as `part_of_test` gives it.
        on: By part, in the order of the ids.
        accuracy: By part: of the most probable label, on labelled examples.
    """

    source: str
    about: str
    label_names: tuple[str, ...]
    example_ids: Mapping[str, tuple[str, ...]]
    on: Mapping[str, OpinionsOn]
    accuracy: Mapping[str, float]

    def for_rows(self, part: str, dataset: Dataset) -> OpinionsOn:
        """The opinions on the rows of a dataset that was drawn from a part, in their order."""
        place = {name: row for row, name in enumerate(self.example_ids[part])}
        ids = dataset.examples["example_id"].cast(str).to_list()
        return self.on[part].take(np.array([place[name] for name in ids], dtype=np.int64))


def part_of_test(name: str) -> str:
    """The part that a test set is."""
    return f"test {name}"


class OpinionSource(Protocol):
    """Where opinions come from.

    Attributes:
        key: What decides the opinions beside the data, for those that take long to make, so that they are made once;
            else None.
        follows_seed: Whether they differ from seed to seed.
    """

    @property
    def key(self) -> str | None:
        """See above."""

    @property
    def follows_seed(self) -> bool:
        """See above."""

    def on(self, parts: Mapping[str, Dataset], seed: int) -> Opinions:
        """Opinions on parts of the data, "train" at least; the other parts are left out where it has none.

        Raises:
            InputError: It has none on the training rows, or they are of other data or labels.
        """


def opinions_of(
    source: str,
    about: str,
    parts: Mapping[str, Dataset],
    probabilities: Mapping[str, NDArray[np.floating[Any]]],
    strengths: Mapping[str, NDArray[np.floating[Any]]] | None = None,
) -> Opinions:
    """Put opinions together, and measure how accurate they are.

    Args:
        source: What the model is called.
        about: How the opinions came to be, in a clause.
        parts: Datasets by part.
        probabilities: By part, (N, K), in the order of the training set's labels.
        strengths: Likewise; the probabilities where not given.
    """
    names = parts[TRAIN].label_names
    on, accuracy = {}, {}
    for part, values in probabilities.items():
        dataset = parts[part]
        strong = values if strengths is None else strengths[part]
        on[part] = OpinionsOn(values.astype(np.float32), strong.astype(np.float32))
        codes = np.array([names.index(name) for name in dataset.label_names], dtype=np.int64)
        accuracy[part] = float(np.mean(values.argmax(axis=1) == codes[dataset.labels()]))
    ids = {part: tuple(parts[part].examples["example_id"].cast(str).to_list()) for part in probabilities}
    return Opinions(source, about, names, ids, on, accuracy)


@dataclass(frozen=True)
class HeldOpinions:
    """Opinions in the folder of the runs.

    Attributes:
        name: What the model is called.
        sha256: Of all that they say.
        path: Of their file.
    """

    name: str
    sha256: str
    path: str

    def load(self) -> Opinions:
        """The opinions.

        Raises:
            InputError: The file is missing or damaged.
        """
        return _load(self.path)


def hold_opinions(source: OpinionSource, parts: Mapping[str, Held], seed: int, folder: Path) -> HeldOpinions:
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
        opinions = source.on({part: held.load() for part, held in parts.items()}, seed)
        return _write(opinions, _digest(opinions), folder)
    asked = json.dumps([source.key, sorted((part, held.sha256) for part, held in parts.items())])
    digest = hashlib.sha256(asked.encode()).hexdigest()
    path = _path(digest, folder)
    if path.exists():
        return HeldOpinions(_load(str(path)).source, digest, str(path))
    return _write(source.on({part: held.load() for part, held in parts.items()}, seed), digest, folder)


def _path(digest: str, folder: Path) -> Path:
    return folder / FOLDER / f"opinions-{digest[:12]}.parquet"


def _about(opinions: Opinions) -> str:
    about = {
        "source": opinions.source,
        "about": opinions.about,
        "label_names": opinions.label_names,
        "accuracy": dict(opinions.accuracy),
    }
    return json.dumps(about, ensure_ascii=False, sort_keys=True)


def _digest(opinions: Opinions) -> str:
    digest = hashlib.sha256(_about(opinions).encode())
    for part, on in opinions.on.items():
        digest.update("\0".join((part, *opinions.example_ids[part])).encode())
        digest.update(np.ascontiguousarray(on.probabilities).tobytes())
        digest.update(np.ascontiguousarray(on.strengths).tobytes())
    return digest.hexdigest()


def _write(opinions: Opinions, digest: str, folder: Path) -> HeldOpinions:
    path = _path(digest, folder)
    if not path.exists():
        frames = []
        for part, on in opinions.on.items():
            columns = {
                "part": pl.repeat(part, len(on), dtype=pl.String, eager=True),
                "example_id": pl.Series(opinions.example_ids[part], dtype=pl.String),
                **{name: _lists(getattr(on, name)) for name in _COLUMNS},
            }
            frames.append(pl.DataFrame(columns))
        with written_whole(path) as aside:
            write_parquet(pl.concat(frames), aside, compression="zstd", metadata={_KEY: _about(opinions)})
    return HeldOpinions(opinions.source, digest, str(path))


def _lists(values: NDArray[np.float32]) -> pl.Series:
    return pl.Series(np.ascontiguousarray(values)).reshape((-1, values.shape[1])).arr.to_list()


@lru_cache(maxsize=8)
def _load(path: str) -> Opinions:
    try:
        about = json.loads(pl.read_parquet_metadata(path)[_KEY])
        table = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError, KeyError) as error:
        raise InputError("the opinions are damaged", file=path, mend="start the command again") from error
    parts = {str(part): rows for (part,), rows in table.group_by("part", maintain_order=True)}
    K = len(about["label_names"])
    return Opinions(
        about["source"],
        about["about"],
        tuple(about["label_names"]),
        {part: tuple(rows["example_id"].to_list()) for part, rows in parts.items()},
        {part: OpinionsOn(*(_matrix(rows[name], K) for name in _COLUMNS)) for part, rows in parts.items()},
        about["accuracy"],
    )


def _matrix(column: pl.Series, width: int) -> NDArray[np.float32]:
    return column.explode().to_numpy().astype(np.float32).reshape(-1, width)


def softmax(logits: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Probabilities of logits, (N, K)."""
    powers = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
