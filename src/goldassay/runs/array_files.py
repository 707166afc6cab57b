"""Arrays made elsewhere: embeddings and probabilities in .npy and .npz files and tables, one row per example."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import polars as pl

from goldassay.core.bounds import check_parquet
from goldassay.core.errors import InputError, no_such_file, option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_IDS = ("example_id", "id", "row", "guid", "uid", "pairID")
_PROBABILITIES = ("probabilities", "probability", "logits", "p")
# How far probabilities of a row may be from 1 together: files round them.
_SUMS_TO = 1e-3


def read_vectors(place: str | Path, ids: NDArray[Any], role: str) -> NDArray[np.floating[Any]]:
    """Embeddings of one role's sentences in the order of the examples, (N, D).

    Args:
        place: A .npy file with a row an example in their order, an .npz file with such an array (named after the role,
            "embedding", the only one, or as ":NAME") and perhaps example ids, or a Parquet, CSV or TSV file with
            example ids and the embedding in one column of lists (named likewise) or in columns of numbers.
        ids: Of the examples, (N,).
        role: Of the sentences.

    Raises:
        InputError: The file cannot be read, or is of another dataset: other ids, or another number of rows.
    """
    path, wanted = _parted(place)
    if path.suffix in (".npy", ".npz"):
        values, names = _array(path, (wanted,) if wanted else (role, "embedding", "embeddings"))
        if values.ndim != 2 or (names is None and len(values) != ids.size):
            raise InputError(
                f"the array has shape {values.shape}, and there are {ids.size:,} examples",
                file=path,
                mend="give the embeddings of this dataset, a row an example, in its order",
            )
        return _finite(values if names is None else _placed(values, names, ids, "embeddings", path), ids, path)
    frame = _table(path)
    names, kept = _split_ids(frame)
    lists = [name for name, kind in kept.schema.items() if isinstance(kind, (pl.List, pl.Array))]
    named = [name for name in (role, "embedding", "embeddings") if name in lists] or lists
    if len(named) > 1 and role not in named and not {"embedding", "embeddings"} & set(named):
        raise InputError(
            f"several columns could be the embeddings: {', '.join(named)}", file=path, mend=f"name one {role}"
        )
    try:
        if named:
            values = np.array(kept[named[0]].to_list(), dtype=np.float64)
        else:
            values = kept.select(pl.selectors.numeric()).to_numpy().astype(np.float64)
    except (ValueError, TypeError) as error:
        raise InputError(
            "the embeddings are not of one length", file=path, mend="give as many numbers a row"
        ) from error
    return _finite(_placed(values, names, ids, "embeddings", path), ids, path)


def read_probabilities(place: str, ids: NDArray[Any], *, bits: bool) -> NDArray[np.float64]:
    """The gold label's probability in the order of the examples, (1, N) or a row a run, (R, N).

    Args:
        place: A file, with ":COLUMN" where it is a table of several; a .npy file holds (N,) or (R, N).
        ids: Of the examples, (N,).
        bits: The file holds -log2 of the probability.

    Raises:
        InputError: The file cannot be read, is of another dataset, or holds no probabilities.
    """
    path, wanted = _parted(place)
    if path.suffix in (".npy", ".npz"):
        array, names = _array(path, (wanted,) if wanted else _PROBABILITIES)
        values = np.atleast_2d(array.astype(np.float64))
        if names is not None and values.shape[-1] == len(names):
            values = np.stack([_placed(each, names, ids, "probabilities", path) for each in values])
        if values.ndim != 2 or values.shape[-1] != ids.size:
            raise InputError(
                f"the array has shape {array.shape}, and there are {ids.size:,} examples",
                file=path,
                mend="give those of this dataset, in its order",
            )
    else:
        frame = _table(path)
        names, kept = _split_ids(frame)
        numbers = kept.select(pl.selectors.numeric())
        chosen = wanted or ("probability" if "probability" in numbers.columns else "")
        if not chosen and len(numbers.columns) == 1:
            chosen = numbers.columns[0]
        if chosen not in numbers.columns:
            some = ", ".join(numbers.columns[:6]) + (", ..." if len(numbers.columns) > 6 else "")
            raise InputError(
                f"there is no column of numbers {chosen!r}"
                if chosen
                else "several columns hold numbers"
                if some
                else "no column holds numbers",
                file=path,
                mend=f"name one as FILE:COLUMN; there are {some or 'none'}",
            )
        values = _placed(numbers[chosen].to_numpy().astype(np.float64), names, ids, "probabilities", path)[np.newaxis]
    if bits:
        values = np.exp2(-values)
    if not np.all((values >= 0) & (values <= 1)):
        raise InputError(
            "there are values that are no probabilities",
            file=path,
            mend=f"give values from 0 to 1; of -log2 of them say so with {option('bits')}",
        )
    return values


def read_distribution(
    place: str, ids: NDArray[Any], label_names: Sequence[str], *, ordered: bool
) -> NDArray[np.float64] | None:
    """Logarithms of the probabilities of all labels in the order of the examples, (N, K); None where one has them.

    Args:
        place: A .npy or .npz file with (N, K) numbers in the order of the labels, or a table with a column of each
            label's name; logits of .npz files are named "logits".
        ids: Of the examples, (N,).
        label_names: K names.
        ordered: Whether somebody said that this is their order in arrays.

    Raises:
        InputError: The file cannot be read, is of another dataset, or holds no probabilities.
    """
    path, wanted = _parted(place)
    are_logits = False
    if path.suffix in (".npy", ".npz"):
        values, names = _array(path, (wanted,) if wanted else _PROBABILITIES)
        if values.ndim != 2 or values.shape[1] != len(label_names) or values.shape[1] == ids.size:
            return None
        if not ordered:
            raise InputError(
                f"nothing says which of the labels {', '.join(label_names)} the {len(label_names)} columns stand for",
                file=path, mend=f"give them in order with {option('label_names', 'A,B,...')}",
            )  # fmt: skip
        are_logits = wanted == "logits" or (path.suffix == ".npz" and not wanted and _is_of_logits(path))
    else:
        frame = _table(path)
        names, kept = _split_ids(frame)
        if wanted in label_names:
            raise InputError(
                f"the column {wanted!r} is called like a label, and one of the right label's probability is wanted",
                file=path, mend="give FILE without a column where each label has one, or rename the column",
            )  # fmt: skip
        if wanted or not set(label_names) <= set(kept.columns):
            return None
        texts = [name for name in label_names if not kept.schema[name].is_numeric()]
        if texts:
            raise InputError("the column holds no numbers", file=path, column=texts[0], mend="write probabilities")
        values = kept.select(list(label_names)).to_numpy()
    placed = _placed(np.asarray(values, dtype=np.float64), names, ids, "probabilities", path)
    if are_logits:
        # Minus infinity is a probability of 0, which not all labels of a row can have.
        bad = ~((placed < np.inf).all(axis=1) & np.isfinite(placed).any(axis=1))
        if bad.any():
            raise InputError(
                f"the logits of {int(bad.sum()):,} of the {ids.size:,} examples are not numbers, first of "
                f"{str(ids[bad.argmax()])!r}",
                file=path, mend="give finite ones",
            )  # fmt: skip
        return placed
    bad = ~(np.all((placed >= 0) & (placed <= 1), axis=1) & np.isclose(placed.sum(axis=1), 1, atol=_SUMS_TO))
    if bad.any():
        raise InputError(
            f"{int(bad.sum()):,} of the {ids.size:,} rows are no probabilities of all labels, first that of "
            f"{str(ids[bad.argmax()])!r}", file=path,
            mend="give values from 0 to 1 that add up to 1 in each row; logits as the array logits of an .npz file",
        )  # fmt: skip
    return np.log(np.maximum(placed, np.finfo(np.float64).tiny))


def aligned(values: NDArray[Any], ids: NDArray[Any], wanted: NDArray[Any], what: str, file: str | None) -> NDArray[Any]:
    """Rows of values in the order of the wanted examples.

    Raises:
        InputError: Some wanted example has no row, or the ids have nothing to do with each other.
    """
    place = {str(name): row for row, name in enumerate(ids)}
    rows = np.array([place.get(str(name), -1) for name in wanted])
    missing = int((rows < 0).sum())
    if missing:
        first = wanted[int((rows < 0).argmax())]
        raise InputError(
            f"{what} are of other examples: {missing:,} of the {wanted.size:,} are missing, first {first}",
            file=file,
            mend="give those of this dataset",
        )
    return values[rows]


def _finite(vectors: NDArray[Any], ids: NDArray[Any], path: Path) -> NDArray[Any]:
    """Embeddings of one number or more, all of them finite."""
    if not vectors.shape[1]:
        raise InputError("no column holds numbers", file=path, mend="give the embedding of each example in a row")
    bad = ~np.isfinite(vectors).all(axis=1)
    if bad.any():
        raise InputError(
            f"{int(bad.sum()):,} of the {ids.size:,} embeddings hold NaN or infinity, first that of "
            f"{str(ids[bad.argmax()])!r}", file=path, mend="leave these examples out, or give their embeddings",
        )  # fmt: skip
    return vectors


def _parted(given: str | Path) -> tuple[Path, str]:
    """FILE and NAME of FILE:NAME; of an existing file its whole name."""
    place = str(given)
    name, sign, wanted = place.rpartition(":")
    if not sign or Path(place).exists():
        return Path(place), ""
    return Path(name), wanted


def _array(path: Path, wanted: Sequence[str]) -> tuple[NDArray[Any], list[str] | None]:
    """An array of numbers, and the example ids beside it, if any."""
    if path.suffix == ".npy":
        return _numpy(path), None
    arrays = _arrays(path)
    ids = next((arrays.pop(name) for name in _IDS if name in arrays), None)
    name = next((each for each in wanted if each in arrays), None)
    if name is None and len(arrays) == 1 and len(wanted) > 1:
        (name,) = arrays
    if name is None:
        raise InputError(
            f"there is no array {wanted[0]!r}" if len(wanted) == 1 else "several arrays could be meant", file=path,
            mend=f"name one as FILE:NAME; there are {', '.join(arrays) or 'none'}",
        )  # fmt: skip
    return _checked(arrays[name], path), None if ids is None else [str(each) for each in ids.tolist()]


def _is_of_logits(path: Path) -> bool:
    names = [name for name in _arrays(path) if name not in _IDS]
    return "logits" in names and not set(_PROBABILITIES) - {"logits"} & set(names)


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as found:
            return {name: found[name] for name in found.files}
    except FileNotFoundError as error:
        raise no_such_file(path, "file") from error
    except (OSError, ValueError, AttributeError, TypeError, EOFError, BadZipFile) as error:
        raise InputError("the file holds no arrays of numbers", file=path, mend="write it with numpy.savez") from error


def _placed(values: NDArray[Any], names: list[str] | None, ids: NDArray[Any], what: str, path: Path) -> NDArray[Any]:
    if names is not None and set(names) & set(ids.astype(np.str_).tolist()):
        if len(set(names)) < len(names):
            raise InputError("an example id occurs twice", file=path, mend="give each example once")
        return aligned(values, np.array(names), ids, what, str(path))
    if len(values) != ids.size:
        raise InputError(
            f"there are {len(values):,} rows of {what} and {ids.size:,} examples", file=path,
            mend="give those of this dataset",
        )  # fmt: skip
    if names is not None:
        raise InputError(
            f"the {what} are of other examples, first {names[0]!r} where the runs have {str(ids[0])!r}",
            file=path,
            mend="give those of this dataset",
        )
    return values


def _split_ids(frame: pl.DataFrame) -> tuple[list[str] | None, pl.DataFrame]:
    for name in _IDS:
        if name in frame.columns:
            return frame[name].cast(pl.String).to_list(), frame.drop(name)
    return None, frame


def _numpy(path: Path) -> NDArray[Any]:
    try:
        found: NDArray[Any] = np.load(path, allow_pickle=False)
    except FileNotFoundError as error:
        raise no_such_file(path, "file") from error
    except (OSError, ValueError, EOFError) as error:
        raise InputError("the file is no array of numbers", file=path, mend="write it with numpy.save") from error
    return _checked(found, path)


def _checked(found: NDArray[Any], path: Path) -> NDArray[Any]:
    if not np.issubdtype(found.dtype, np.number) or np.iscomplexobj(found):
        raise InputError(f"the array holds {found.dtype}, no real numbers", file=path, mend="write numbers")
    return found


def _table(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise no_such_file(path, "file")
    suffix = [part for part in path.suffixes if part not in (".gz", ".zst")]
    try:
        if suffix and suffix[-1] in (".parquet", ".pq"):
            check_parquet(path, path)
            return pl.read_parquet(path)
        return pl.read_csv(path, separator="," if suffix and suffix[-1] == ".csv" else "\t", infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            "the table cannot be read", file=path, mend="give Parquet, CSV or TSV with a row an example"
        ) from error
