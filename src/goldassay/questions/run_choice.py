"""Which runs a command was asked for, and how it is to read them. Light, so that the command line may import it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from goldassay.core.doors import option, right_labels
from goldassay.core.errors import InputError
from goldassay.core.naming import split_named_path
from goldassay.core.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.data import Dataset
    from goldassay.runs.assembly import Align


class RunFormat(TypedDict, total=False):
    """What every function that reads runs takes, as keywords: which runs, and how to read them.

    They mean what they mean for `read_runs`. `gold` is the dataset that was predicted, its right labels, texts and
    groups: a path, `Dataset` or frame, or {dataset: one of these}.
    """

    format: str
    condition: str | None
    split: str | None
    train_set: str | None
    checkpoint: int | str | None
    columns: Mapping[str, str] | str | None
    labels: Mapping[str, str] | None
    label_names: Sequence[str] | None
    align: Align
    grades: str | None
    pool_configurations: bool
    gold: Any


class RunReading(RunFormat, total=False):
    """The same for functions that name neither the model nor the dataset otherwise."""

    model: str | None
    dataset: str | None


@dataclass(frozen=True)
class RunChoice:
    """Which runs to take, and how to read them; the fields mean what they mean for `read_runs`.

    Attributes:
        format: Name of an adapter, or "auto".
        model: Take this model only; with * or ?, all that match, as runs of one.
        dataset: Take this dataset only.
        condition: Take this condition only.
        split: Take this part only.
        train_set: Take runs trained on this only.
        checkpoint: One checkpoint of each run, or "last"; None takes all.
        columns: {role: column name}.
        labels: {name in the files: label}.
        label_names: All labels in order.
        align: "exact", "intersect" or "position".
        grades: The scale that scores are on, "LOW:HIGH".
        pool_configurations: Whether runs of different configurations are taken for repeats of one.
        gold: {dataset: its right labels, a path or the dataset itself}; "" stands for every dataset that is not named.
    """

    format: str = "auto"
    model: str | None = None
    dataset: str | None = None
    condition: str | None = None
    split: str | None = None
    train_set: str | None = None
    checkpoint: int | str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] | None = None
    label_names: Sequence[str] | None = None
    align: Align = "exact"
    grades: str | None = None
    pool_configurations: bool = False
    gold: Mapping[str, str | Dataset] = field(default_factory=dict)

    @classmethod
    def of(cls, **reading: Unpack[RunReading]) -> RunChoice:
        """The choice that keywords make.

        Raises:
            TypeError: There is no such keyword.
            InputError: The columns are not {role: name}, or right labels in memory cannot be used.
        """
        from goldassay.data import parse_columns

        chosen: dict[str, Any] = dict(reading)
        known = list(cls.__dataclass_fields__)
        if unknown := [name for name in chosen if name not in known]:
            raise TypeError(f"there is no argument {unknown[0]!r}; {did_you_mean(unknown[0], known)}")
        columns = reading.get("columns")
        if not isinstance(columns, (str, Mapping, type(None))):
            raise InputError("the columns are no roles", mend=f"give {option('columns', 'prediction=NAME')}")
        chosen["columns"] = parse_columns(columns) if isinstance(columns, str) else columns or {}
        chosen["gold"] = _right_labels(reading.get("gold"))
        return cls(**chosen)

    def reading(self) -> RunFormat:
        """The keywords that make this choice, but for the model and the dataset."""
        own = {name: value for name, value in vars(self).items() if name not in ("model", "dataset")}
        return cast("RunFormat", own)

    def gold_of(self, dataset: str) -> str | Dataset | None:
        """The right labels for a dataset, if any were given."""
        return self.gold.get(dataset, self.gold.get(""))

    def said(self) -> dict[str, Any]:
        """What was asked for, for the report's settings; of files the names alone, as elsewhere in it."""
        said = {key: value for key, value in asdict(replace(self, gold={})).items() if value}
        if self.gold:
            said["gold"] = {
                name or "all": Path(gold).name if isinstance(gold, str) else gold.name
                for name, gold in self.gold.items()
            }
        return said


def by_ids(align: Align) -> Align:
    """How runs are aligned where their example ids tell what they answer.

    Raises:
        InputError: They are to be aligned by position.
    """
    if align == "position":
        raise InputError(
            f"{option('align', 'position')}: example ids tell here which rows are answered",
            mend="give the runs the ids of the rows",
        )
    return align


def _right_labels(given: Any) -> dict[str, str | Dataset]:
    """Right labels by dataset: of paths the paths, of all else a dataset."""
    if given is None:
        return {}
    named = given if isinstance(given, Mapping) else {"": given}
    return {name: _path_or_dataset(gold, name) for name, gold in named.items()}


def _path_or_dataset(given: Any, name: str) -> str | Dataset:
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given)
    from goldassay.data import Dataset
    from goldassay.data.memory import dataset_in_memory

    return given if isinstance(given, Dataset) else dataset_in_memory(given, "gold", name=name or "gold")


def parse_gold(values: Sequence[str]) -> dict[str, str]:
    """Take `FILE` or `DATASET=FILE`, each any number of times, apart.

    Raises:
        InputError: A dataset is given two files.
    """
    gold: dict[str, str] = {}
    for value in values:
        name, path = split_named_path(value)
        if name in gold:
            raise InputError(
                f"two files of right labels are given for {f'the dataset {name}' if name else 'all datasets'}",
                mend=f"name the dataset of each: {right_labels('DATASET=FILE')}",
            )
        gold[name] = path
    return gold
