"""Datasets as jobs find them: one Parquet file each, named by its content, in the folder of the runs.

Whatever a dataset was read from, jobs read this: roles and labels are decided once, in the process that plans, and a
file that changes under a long sweep changes nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import polars as pl

from goldassay.data import Dataset
from goldassay.errors import InputError
from goldassay.files import write_parquet, written_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FOLDER = "_data"
_KEY = "goldassay_dataset"


@dataclass(frozen=True)
class Held:
    """A dataset in the folder of the runs.

    Attributes:
        name: What the dataset is called.
        sha256: Of its ids, texts, labels, groups and weights.
        path: Of its file.
    """

    name: str
    sha256: str
    path: str

    def load(self) -> Dataset:
        """The dataset.

        Raises:
            InputError: The file is missing or damaged.
        """
        return _load(self.path)


def hold(dataset: Dataset, folder: Path, columns: Sequence[str] = ()) -> Held:
    """Write a dataset for jobs to read, unless it is there.

    Args:
        dataset: With labels or, of questions on a context, answers.
        folder: Of the runs.
        columns: Further columns that are needed, such as weights.

    Raises:
        OutputError: The folder cannot be written to, or the disk is full.
    """
    answers = [name for name in ("label", "answers", "answer_starts") if name in dataset.examples.columns]
    kept = ["example_id", *dataset.text_columns, *answers, *dataset.groups, *columns]
    examples = dataset.examples.select(list(dict.fromkeys(kept)))
    about = {
        "text_columns": dataset.text_columns,
        "label_names": dataset.label_names,
        "name": dataset.name,
        "groups": dataset.groups,
    }
    description = json.dumps(about, ensure_ascii=False, sort_keys=True)
    digest = hashlib.sha256(description.encode() + examples.write_ndjson().encode()).hexdigest()
    readable = re.sub(r"[^\w.-]+", "-", dataset.name).strip("-.") or "data"
    path = folder / FOLDER / f"{readable[:60]}-{digest[:12]}.parquet"
    if not path.exists():
        with written_whole(path) as aside:
            write_parquet(examples, aside, compression="zstd", metadata={_KEY: description})
    return Held(dataset.name, digest, str(path))


@lru_cache(maxsize=16)
def _load(path: str) -> Dataset:
    try:
        about = json.loads(pl.read_parquet_metadata(path)[_KEY])
        examples = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError, KeyError) as error:
        raise InputError("the copy of the data is damaged", file=path, mend="start the command again") from error
    return Dataset(
        examples, tuple(about["text_columns"]), tuple(about["label_names"]), about["name"], tuple(about["groups"])
    )
