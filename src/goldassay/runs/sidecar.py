"""What lies beside runs: embeddings of examples and relevances of tokens, one Parquet file a run and dataset.

They are recorded at a run's last (or selected) step only, since they are large. Which run a file is of stands in its
metadata under "goldassay_beside", and rows carry example ids, so that a file can be moved, and read without us.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from goldassay.core.bounds import check_parquet
from goldassay.core.errors import InputError, no_such_file, option
from goldassay.core.files import write_parquet, written_whole
from goldassay.runs.tables import is_parquet

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

FORMAT_VERSION = 1
_KEY = "goldassay_beside"
Kind = Literal["embeddings", "relevance"]


@dataclass(frozen=True)
class Origin:
    """Which run on which dataset something was recorded from.

    Attributes:
        model: As in the run's own files, and so are all others.
        train_set: See there.
        condition: See there.
        dataset: See there.
        split: See there.
        seed: See there.
        step: Steps that the network was trained for.
    """

    model: str
    train_set: str
    condition: str
    dataset: str
    split: str
    seed: int
    step: int


@dataclass(frozen=True)
class Embeddings:
    """The layer before the classifier for N examples.

    Attributes:
        origin: Which run.
        example_ids: (N,).
        vectors: By what was put into the network: "paired" for all texts together, a role's name for that text
            alone; (N, D) each.
    """

    origin: Origin
    example_ids: NDArray[np.str_]
    vectors: dict[str, NDArray[np.float32]]


@dataclass(frozen=True)
class RoleRelevance:
    """Relevance of the tokens of one text of N examples.

    Attributes:
        values: Norm of the gradient of the predicted class's log-probability at each token's embedding, at least 0,
            special tokens left out; not normalized. N arrays, each as long as its text.
        tokens: The tokens, likewise.
        cut: Whether the text lost tokens because the network takes no more, (N,).
    """

    values: list[NDArray[np.float32]]
    tokens: list[list[str]]
    cut: NDArray[np.bool_]


@dataclass(frozen=True)
class Relevances:
    """Relevance of the tokens of N examples.

    Attributes:
        origin: Which run.
        example_ids: (N,).
        roles: By the text's role, in the order in which the network reads them.
    """

    origin: Origin
    example_ids: NDArray[np.str_]
    roles: dict[str, RoleRelevance]


def write_embeddings(embeddings: Embeddings, path: Path) -> None:
    """Write embeddings: example_id, and a column of D numbers for each input.

    Raises:
        OutputError: The folder cannot be written to, or the disk is full.
    """
    columns = {
        name: pl.Series(values, dtype=pl.Array(pl.Float32, values.shape[1]))
        for name, values in embeddings.vectors.items()
    }
    frame = pl.DataFrame({"example_id": pl.Series(embeddings.example_ids.tolist(), dtype=pl.String), **columns})
    _write(frame, path, "embeddings", embeddings.origin, list(embeddings.vectors))


def write_relevances(relevances: Relevances, path: Path) -> None:
    """Write relevances: example_id, and for each role ROLE_relevance, ROLE_tokens and ROLE_cut.

    Raises:
        OutputError: The folder cannot be written to, or the disk is full.
    """
    columns = {"example_id": pl.Series(relevances.example_ids.tolist(), dtype=pl.String)}
    for role, relevance in relevances.roles.items():
        columns[f"{role}_relevance"] = _ragged(relevance.values, pl.Float32)
        columns[f"{role}_tokens"] = pl.Series(relevance.tokens, dtype=pl.List(pl.String))
        columns[f"{role}_cut"] = pl.Series(relevance.cut)
    _write(pl.DataFrame(columns), path, "relevance", relevances.origin, list(relevances.roles))


def read_embeddings(path: str | os.PathLike[str], **asked: str | int) -> list[Embeddings]:
    """Read all embeddings at a path, in the order of model, condition, dataset and seed.

    Args:
        path: A file, or a folder that is searched to the bottom.
        asked: Some of `Origin`'s fields with the value they must have: model="bilstm", condition="paired", seed=3.

    Raises:
        InputError: There are none, or a file is damaged.
    """
    return [
        Embeddings(origin, _ids(frame), {name: frame[name].to_numpy() for name in parts})
        for origin, parts, frame in _read(Path(path), "embeddings", asked)
    ]


def read_relevances(path: str | os.PathLike[str], **asked: str | int) -> list[Relevances]:
    """Read all token relevances at a path; the arguments and errors are those of `read_embeddings`."""
    return [
        Relevances(origin, _ids(frame), {role: _role(frame, role) for role in roles})
        for origin, roles, frame in _read(Path(path), "relevance", asked)
    ]


def _role(frame: pl.DataFrame, role: str) -> RoleRelevance:
    values = frame[f"{role}_relevance"]
    lengths = values.list.len().to_numpy()
    flat = values.explode(empty_as_null=False).to_numpy() if lengths.sum() else np.zeros(0, np.float32)
    return RoleRelevance(
        values=np.split(flat, np.cumsum(lengths)[:-1]) if lengths.size else [],
        tokens=frame[f"{role}_tokens"].to_list(),
        cut=frame[f"{role}_cut"].to_numpy(),
    )


def _write(frame: pl.DataFrame, path: Path, kind: Kind, origin: Origin, parts: list[str]) -> None:
    about = {"version": FORMAT_VERSION, "kind": kind, "parts": parts, "origin": vars(origin)}
    metadata = {_KEY: json.dumps(about, ensure_ascii=False, sort_keys=True)}
    with written_whole(path) as aside:
        write_parquet(frame, aside, compression="zstd", statistics=False, metadata=metadata)


def _read(path: Path, kind: Kind, asked: Mapping[str, str | int]) -> Iterator[tuple[Origin, list[str], pl.DataFrame]]:
    if not path.exists():
        raise no_such_file(path)
    files = [path] if path.is_file() else sorted(path.rglob("*.parquet"))
    found = [(origin, parts, file) for file in files for origin, parts in _about(file, kind)]
    chosen = [entry for entry in found if all(getattr(entry[0], name) == want for name, want in asked.items())]
    if not chosen:
        some = ", ".join(f"{name} {want!r}" for name, want in asked.items())
        raise InputError(
            f"there {'are' if kind.endswith('s') else 'is'} no {kind}{f' of {some}' if found and some else ''} here",
            file=path,
            mend=f"train with {option('record', kind)}",
        )
    chosen.sort(key=lambda entry: (entry[0].model, entry[0].condition, entry[0].dataset, entry[0].seed))
    for origin, parts, file in chosen:
        try:
            check_parquet(file, file)
            frame = pl.read_parquet(file)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise _damaged(file) from error
        yield origin, parts, frame


def _about(file: Path, kind: Kind) -> list[tuple[Origin, list[str]]]:
    if not is_parquet(file):
        return []
    try:
        metadata: dict[str, str] = pl.read_parquet_metadata(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damaged(file) from error
    if _KEY not in metadata:
        return []
    about: dict[str, Any] = json.loads(metadata[_KEY])
    if about["version"] > FORMAT_VERSION:
        raise InputError("the file was written by a newer goldassay", file=file, mend="upgrade")
    return [(Origin(**about["origin"]), about["parts"])] if about["kind"] == kind else []


def _ids(frame: pl.DataFrame) -> NDArray[np.str_]:
    return np.array(frame["example_id"].to_list(), dtype=np.str_)


def _ragged(values: Sequence[NDArray[np.float32]], kind: type[pl.Float32]) -> pl.Series:
    return pl.Series([each.tolist() for each in values], dtype=pl.List(kind))


def _damaged(file: Path) -> InputError:
    return InputError("the Parquet file is damaged or cut short", file=file, mend="write or copy it again")
