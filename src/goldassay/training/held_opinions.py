"""Opinions as jobs find them: made once, in the process that plans, and read as data are."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.training.held_table import HeldTable, description_of, is_held, place_of, read_held, write_held
from goldassay.training.opinions import Opinions, OpinionsOn, OpinionSource

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.training.held import Held

_NAME = "opinions"
_COLUMNS = ("probabilities", "strengths")


@dataclass(frozen=True)
class HeldOpinions(HeldTable):
    """Opinions in the folder of the runs, under the name of the model that has them."""

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
    path = place_of(folder, _NAME, digest)
    if is_held(path):
        return HeldOpinions(_load(str(path)).source, digest, str(path))
    return _write(source.on({part: held.load() for part, held in parts.items()}, seed), digest, folder)


def _about(opinions: Opinions) -> str:
    return description_of(
        {
            "source": opinions.source,
            "about": opinions.about,
            "label_names": opinions.label_names,
            "accuracy": dict(opinions.accuracy),
        }
    )


def _digest(opinions: Opinions) -> str:
    digest = hashlib.sha256(_about(opinions).encode())
    for part, on in opinions.on.items():
        digest.update("\0".join((part, *opinions.example_ids[part])).encode())
        digest.update(np.ascontiguousarray(on.probabilities).tobytes())
        digest.update(np.ascontiguousarray(on.strengths).tobytes())
    return digest.hexdigest()


def _write(opinions: Opinions, digest: str, folder: Path) -> HeldOpinions:
    path = place_of(folder, _NAME, digest)
    write_held(path, lambda: _table(opinions), _about(opinions))
    return HeldOpinions(opinions.source, digest, str(path))


def _table(opinions: Opinions) -> pl.DataFrame:
    frames = []
    for part, on in opinions.on.items():
        columns = {
            "part": pl.repeat(part, len(on), dtype=pl.String, eager=True),
            "example_id": pl.Series(opinions.example_ids[part], dtype=pl.String),
            **{name: _lists(getattr(on, name)) for name in _COLUMNS},
        }
        frames.append(pl.DataFrame(columns))
    return pl.concat(frames)


def _lists(values: NDArray[np.float32]) -> pl.Series:
    return pl.Series(np.ascontiguousarray(values)).reshape((-1, values.shape[1])).arr.to_list()


@lru_cache(maxsize=8)
def _load(path: str) -> Opinions:
    about, table = read_held(path, "the opinions are damaged")
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
