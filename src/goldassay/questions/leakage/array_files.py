"""Arrays made elsewhere: embeddings and gold probabilities in .npy files and tables, a row an example."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.questions.leakage.condition_evidence import aligned

if TYPE_CHECKING:
    from numpy.typing import NDArray

_IDS = ("example_id", "id", "row", "guid", "uid", "pairID")


def read_vectors(path: Path, ids: NDArray[Any], role: str) -> NDArray[np.floating[Any]]:
    """Embeddings of one role's sentences in the order of the examples, (N, D).

    Args:
        path: A .npy file with a row an example in their order, or a Parquet file with example ids and the embedding in
            one column of lists (named after the role, "embedding", or the only one) or in columns of numbers.
        ids: Of the examples, (N,).
        role: Of the sentences.

    Raises:
        InputError: The file cannot be read, or is of another dataset: other ids, or another number of rows.
    """
    if path.suffix == ".npy":
        values = _numpy(path)
        if values.ndim != 2 or len(values) != ids.size:
            raise InputError(
                f"the array has shape {values.shape}, and there are {ids.size:,} examples",
                file=path,
                mend="give the embeddings of this dataset, a row an example, in its order",
            )
        return values
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
    return _placed(values, names, ids, "embeddings", path)


def read_probabilities(place: str, ids: NDArray[Any], *, bits: bool) -> NDArray[np.float64]:
    """The gold label's probability in the order of the examples, (1, N) or a row a run, (R, N).

    Args:
        place: A file, with ":COLUMN" where it is a table of several; a .npy file holds (N,) or (R, N).
        ids: Of the examples, (N,).
        bits: The file holds -log2 of the probability.

    Raises:
        InputError: The file cannot be read, is of another dataset, or holds no probabilities.
    """
    name, sign, column = place.rpartition(":")
    path = Path(name if sign and not Path(place).exists() else place)
    if path.suffix == ".npy":
        values = np.atleast_2d(_numpy(path).astype(np.float64))
        if values.shape[-1] != ids.size:
            raise InputError(
                f"the array has shape {values.shape}, and there are {ids.size:,} examples",
                file=path,
                mend="give those of this dataset, in its order",
            )
    else:
        frame = _table(path)
        names, kept = _split_ids(frame)
        numbers = kept.select(pl.selectors.numeric())
        wanted = column if sign and not Path(place).exists() else ""
        chosen = wanted or ("probability" if "probability" in numbers.columns else "")
        if not chosen and len(numbers.columns) == 1:
            chosen = numbers.columns[0]
        if chosen not in numbers.columns:
            some = ", ".join(numbers.columns[:6]) + (", ..." if len(numbers.columns) > 6 else "")
            raise InputError(
                f"there is no column of numbers {chosen!r}" if chosen else "several columns hold numbers",
                file=path,
                mend=f"name one as FILE:COLUMN; there are {some}",
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


def _placed(values: NDArray[Any], names: list[str] | None, ids: NDArray[Any], what: str, path: Path) -> NDArray[Any]:
    if names is not None and set(names) & set(ids.astype(np.str_).tolist()):
        if len(set(names)) < len(names):
            raise InputError("an example id stands twice", file=path, mend="give each example once")
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
        raise InputError("there is no such file", file=path, mend="check the path") from error
    except (OSError, ValueError) as error:
        raise InputError("the file is no array of numbers", file=path, mend="write it with numpy.save") from error
    if not np.issubdtype(found.dtype, np.number):
        raise InputError(f"the array holds {found.dtype}, no numbers", file=path, mend="write numbers")
    return found


def _table(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise InputError("there is no such file", file=path, mend="check the path")
    suffix = [part for part in path.suffixes if part not in (".gz", ".zst")]
    try:
        if suffix and suffix[-1] in (".parquet", ".pq"):
            return pl.read_parquet(path)
        return pl.read_csv(path, separator="," if suffix and suffix[-1] == ".csv" else "\t", infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            "the table cannot be read", file=path, mend="give Parquet, CSV or TSV with a row an example"
        ) from error
