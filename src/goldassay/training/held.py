"""Datasets as jobs find them: roles and labels are decided once, in the process that plans."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from goldassay.data import Dataset
from goldassay.training.held_table import HeldTable, description_of, place_of, read_held, write_held

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


# What is learnt, and of questions what may be answered.
_ANSWERS = ("label", "answers", "answer_starts", "candidate_starts", "candidate_ends")


@dataclass(frozen=True)
class Held(HeldTable):
    """A dataset in the folder of the runs; its digest is of its ids, texts, labels, groups and weights."""

    def load(self) -> Dataset:
        """The dataset.

        Raises:
            InputError: The file is missing or damaged.
        """
        return _load(self.path)


# Stands for data that are not written yet, where it only matters that there are some.
UNHELD = Held("", "", "")


def hold(dataset: Dataset, folder: Path, columns: Sequence[str] = ()) -> Held:
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
    write_held(path, lambda: examples, about)
    return Held(dataset.name, digest, str(path))


@lru_cache(maxsize=16)
def _load(path: str) -> Dataset:
    about, examples = read_held(path, "the copy of the data is damaged")
    return Dataset(
        examples, tuple(about["text_columns"]), tuple(about["label_names"]), about["name"], tuple(about["groups"])
    )
