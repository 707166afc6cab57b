"""NumPy archives (.npz) of arrays in memory's own shapes.

Arrays are known by name: logits (R,[T,]N,K), predictions (or preds) (R,[T,]N), scores (R,[T,]N), and, if they
are there, features (or embeddings) (R,[T,]N,D), gold (or labels) (N,), seeds (R,), checkpoints (T,), example_ids (N,),
label_names (K,). A single run may leave out R. Objects in an archive are pickles, and refused.
"""

from __future__ import annotations

import zipfile
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.bounds import ARCHIVE_DAMAGE, check_members, check_size
from goldassay.core.errors import InputError
from goldassay.runs.labels import name_codes, names_for
from goldassay.runs.run_parts import Collection, Columns, Request, Slice, not_loaded
from goldassay.runs.runs import condition_within, condition_words
from goldassay.runs.tables import ZIP, start_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

NAME = "npz"
PRIORITY = 30

_SYNONYMS = {
    "logits": ("logits",),
    "predictions": ("predictions", "preds"),
    "scores": ("scores", "correct"),
    "features": ("features", "embeddings"),
    "gold": ("gold", "labels", "label"),
    "seeds": ("seeds",),
    "checkpoints": ("checkpoints",),
    "example_ids": ("example_ids", "ids"),
    "label_names": ("label_names",),
}


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize a zip archive of arrays."""
    if not path.is_file() or start_of(path, 2) != b"PK" or not _may_begin_with_array(path):
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except zipfile.BadZipFile as error:
        raise InputError("the archive is damaged or cut short", file=path, mend="copy it again") from error
    if not members or not all(member.filename.endswith(".npy") for member in members):
        return None
    arrays = _by_role(path, members, listed=request.listed)
    kinds = [kind for kind in ("logits", "predictions", "scores") if kind in arrays]
    if not kinds:
        return None
    along = [*kinds, *(["features"] if "features" in arrays else [])]
    for kind in along:
        arrays[kind] = _with_axes(arrays[kind], kind, path)
    first = arrays[kinds[0]]
    n_runs, n_checkpoints, n_examples = first.shape[:3]
    for kind in along:
        if arrays[kind].shape[:3] != first.shape[:3]:
            raise InputError(f"{kind} and {kinds[0]} have different runs or examples", file=path)
    seeds = _names(arrays, "seeds", n_runs, path)
    steps = _names(arrays, "checkpoints", n_checkpoints, path) if n_checkpoints > 1 else [None]
    stem = path.name.split(".")[0]
    return [
        Slice(
            collection=Collection("model", stem, "", condition_within(stem, path=path), ""),
            seed=seeds[run] if seeds[run] is not None else run,
            checkpoint=steps[step],
            n_examples=n_examples,
            file=str(path),
            format=NAME,
            load=not_loaded if request.listed else partial(_load, arrays, run, step, request, path),
            numbered=seeds[run] is None,
            condition_words=condition_words(stem, path=path),
        )
        for run in range(n_runs)
        for step in range(n_checkpoints)
    ]


def _may_begin_with_array(path: Path) -> bool:
    """Whether the first member can be an array: the directory of a log with many samples takes long to parse."""
    start = start_of(path, 1024)
    if start[:4] != ZIP:
        return True
    length = int.from_bytes(start[26:28], "little")
    return len(start) < 30 + length or start[30 : 30 + length].endswith(b".npy")


def read_members(path: Path, wanted: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    """Arrays of an archive: {role: name in the archive}, as far as they are there.

    Raises:
        InputError: The archive is damaged, unpacks to more than it may, or holds Python objects.
    """
    try:
        with zipfile.ZipFile(path) as packed:
            check_members(path, len(packed.infolist()))
            check_size(path, sum(member.file_size for member in packed.infolist()))
        with np.load(path, allow_pickle=False) as archive:
            found = {role: archive[name] for role, name in wanted.items() if name in archive.files}
    except InputError:
        raise
    except DAMAGE as error:
        raise _refused("archive", path, error) from error
    for role, values in found.items():
        if not isinstance(values, np.ndarray):
            # NumPy hands over a member that is no array of its own as bytes.
            raise InputError(
                f"{wanted[role]}.npy is not a NumPy array", file=path, mend="save plain arrays with numpy.savez"
            )
    return found


def read_array(path: Path) -> NDArray[Any]:
    """The array of a .npy file.

    Raises:
        InputError: The file is damaged, or holds Python objects.
    """
    check_size(path, path.stat().st_size)
    try:
        array: NDArray[Any] = np.load(path, allow_pickle=False)
    except DAMAGE as error:
        raise _refused("file", path, error) from error
    return array


# MemoryError is of a header that claims more than there can be.
DAMAGE = (*ARCHIVE_DAMAGE, MemoryError)


def _refused(what: str, path: Path, error: BaseException) -> InputError:
    if "pickle" in str(error).lower():
        return InputError(
            f"the {what} holds Python objects, which are pickles, so it is refused",
            file=path,
            mend="save plain arrays of numbers or strings",
        )
    if isinstance(error, MemoryError):
        return InputError(f"the {what} unpacks to more than memory holds", file=path)
    return InputError(f"the {what} is damaged or cut short", file=path, mend="copy it again")


def _shapes(path: Path, wanted: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    """Arrays of the shapes that the headers of an archive's members name, which take no memory."""
    found = {}
    try:
        with zipfile.ZipFile(path) as packed:
            check_members(path, len(packed.infolist()))
            check_size(path, sum(member.file_size for member in packed.infolist()))
            for role, name in wanted.items():
                with packed.open(f"{name}.npy") as member:
                    version = np.lib.format.read_magic(member)
                    read = _READ_HEADER.get(version, np.lib.format.read_array_header_2_0)
                    shape, _, dtype = read(member)
                if dtype.hasobject:
                    # As NumPy says it.
                    raise ValueError("pickle")
                found[role] = np.broadcast_to(np.zeros((), bool), shape)
    except InputError:
        raise
    except DAMAGE as error:
        raise _refused("archive", path, error) from error
    return found


_READ_HEADER = {(1, 0): np.lib.format.read_array_header_1_0}


def _by_role(path: Path, members: Sequence[zipfile.ZipInfo], *, listed: bool) -> dict[str, NDArray[Any]]:
    names = {member.filename.removesuffix(".npy").lower(): member.filename.removesuffix(".npy") for member in members}
    wanted = {role: next((names[s] for s in options if s in names), None) for role, options in _SYNONYMS.items()}
    there = {role: name for role, name in wanted.items() if name is not None}
    if not listed:
        return read_members(path, there)
    # A list names seeds and checkpoints; of all else the shape will do.
    named = {role: name for role, name in there.items() if role in ("seeds", "checkpoints")}
    return {**_shapes(path, there), **(read_members(path, named) if named else {})}


def _with_axes(values: NDArray[Any], kind: str, path: Path) -> NDArray[Any]:
    """Bring an array to (R, T, N[, K])."""
    own = values.ndim - (1 if kind in ("logits", "features") else 0)
    if own == 1:
        return values[np.newaxis, np.newaxis]
    if own == 2:
        return values[:, np.newaxis]
    if own == 3:
        return values
    raise InputError(
        f"{kind} have {values.ndim} axes",
        file=path,
        mend="give (R, N) or (R, T, N), logits with K and features with D at the end",
    )


def _names(arrays: dict[str, NDArray[Any]], role: str, size: int, path: Path) -> list[Any]:
    if role not in arrays:
        return list(range(size))
    if arrays[role].shape != (size,):
        raise InputError(f"{role} have shape {arrays[role].shape}, but there are {size}", file=path)
    return [value if isinstance(value, int) else str(value) for value in arrays[role].tolist()]


def _load(arrays: dict[str, NDArray[Any]], run: int, step: int, request: Request, path: Path) -> Columns:
    names = request.label_names
    if names is None and "label_names" in arrays:
        names = tuple(str(name) for name in arrays["label_names"].tolist())
    logits = arrays["logits"][run, step] if "logits" in arrays else None
    n_examples = next(arrays[k] for k in ("logits", "predictions", "scores") if k in arrays).shape[2]
    ids = arrays.get("example_ids", np.arange(n_examples))
    for role, values in (("example_ids", ids), ("gold", arrays.get("gold", ids))):
        if values.shape != (n_examples,):
            raise InputError(f"{role} has shape {values.shape}, but there are {n_examples} examples", file=path)
    return Columns(
        example_ids=pl.Series([str(value) for value in ids.tolist()], dtype=pl.String),
        label=name_codes(arrays["gold"], names, path) if "gold" in arrays else None,
        prediction=name_codes(arrays["predictions"][run, step], names, path) if "predictions" in arrays else None,
        score=pl.Series(arrays["scores"][run, step]).cast(pl.Float64) if "scores" in arrays else None,
        logits=logits,
        features=arrays["features"][run, step] if "features" in arrays else None,
        label_names=names if logits is None else names_for(names, logits.shape[-1]),
    )
