"""Which runs a command was asked for, and how it is to read them. Light, so that the command line may import it.

The date by which examples are parted, as `--cutoff` names it, and the dates of examples.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from goldassay.core.errors import InputError, option
from goldassay.core.naming import named_files
from goldassay.core.options import (
    Align,
    Checkpoint,
    Columns,
    ColumnsOf,
    Condition,
    Format,
    Grades,
    LabelNames,
    Labels,
    Missing,
    Model,
    PoolConfigurations,
    Split,
    Tests,
    TrainSet,
)
from goldassay.core.options import Dataset as DatasetName

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goldassay.data.dataset import Dataset
    from goldassay.runs.item_keys import ItemKeys
    from goldassay.runs.run_parts import Traits


class RunLabels(TypedDict, total=False):
    """Which runs, and what their predictions stand for; all mean what they mean for `read_runs`."""

    train_set: TrainSet
    labels: Labels
    label_names: LabelNames
    align: Align
    missing: Missing
    pool_configurations: PoolConfigurations


class RunFormat(RunLabels, total=False):
    """What every function that reads runs takes, as keywords: which runs, and how to read them."""

    format: Format
    condition: Condition
    split: Split
    checkpoint: Checkpoint
    columns: Columns
    columns_of: ColumnsOf
    grades: Grades


class RunReading(RunFormat, total=False):
    """The same for functions that take one model and one dataset at most.

    `test` is the dataset that was predicted, its right labels, texts and groups: a path, `Dataset` or frame, or
    {dataset: one of these}.
    """

    model: Model
    dataset: DatasetName
    test: Tests


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
        missing: What is done with answers without a score, and with examples that a run lacks.
        grades: The scale that scores are on, "LOW:HIGH".
        pool_configurations: Whether runs of different configurations are taken for repeats of one.
        gold: {dataset: its right labels, a path or the dataset itself}; "" stands for every dataset that is not named.
        cutoff: The date by which examples are parted, too.
        keys: The items that are answered, by whose keys the answers are scored.
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
    missing: Missing = "auto"
    grades: str | None = None
    pool_configurations: bool = False
    gold: Mapping[str, str | Dataset] = field(default_factory=dict)
    cutoff: Cutoff | None = None
    keys: ItemKeys | None = None

    @classmethod
    def of(cls, cutoff: str | None = None, **reading: Unpack[RunReading]) -> RunChoice:
        """The choice that keywords make, and the date by which examples are parted.

        Raises:
            InputError: The columns are not role=NAME, or right labels in memory cannot be used.
        """
        from goldassay.data.roles import parse_columns, with_own

        chosen: dict[str, Any] = dict(reading)
        columns, own = chosen.pop("columns", None), chosen.pop("columns_of", None)
        gold = _right_labels(chosen.pop("test", None))
        roles = with_own(None, own, ("test", *filter(None, gold)))
        gold = {name: _as_named(each, name, roles) if roles else each for name, each in gold.items()}
        named = parse_columns(columns) if isinstance(columns, str) else columns or {}
        return cls(columns=named, gold=gold, cutoff=Cutoff.parse(cutoff), **chosen)

    def gold_of(self, dataset: str) -> str | Dataset | None:
        """The right labels for a dataset, if any were given."""
        return self.gold.get(dataset, self.gold.get(""))

    @property
    def traits(self) -> Traits:
        """The columns of examples that are asked for."""
        from goldassay.runs.run_parts import Traits

        asked = Traits.of(self.columns)
        if self.cutoff is None:
            return asked
        return replace(asked, needed=(self.cutoff.column_of(self.columns),), known=DIFFICULTIES)

    @property
    def rule(self) -> Missing:
        """What is done with what is missing: examples in common, where these are asked for, leave it out."""
        return "leave-out" if self.missing == "auto" and self.align == "intersect" else self.missing

    @property
    def whole(self) -> RunChoice:
        """The same with all examples, for who leaves out those that lack a score, and says what that changes."""
        return replace(self, missing="wrong") if self.rule == "leave-out" else self

    def describe(self) -> dict[str, Any]:
        """What was asked for, for the report's settings; of files the names alone, as elsewhere in it."""
        said = {key: value for key, value in asdict(replace(self, gold={}, cutoff=None, keys=None)).items() if value}
        if self.cutoff is not None:
            said["cutoff"] = f"{self.cutoff.column_of(self.columns)}={self.cutoff.date}"
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


def _right_labels(given: Any) -> Mapping[str, str | Dataset]:
    """Right labels by dataset: of paths, each of which may be NAME=PATH, the paths, of all else a dataset."""
    if given is None:
        return {}
    if isinstance(given, (list, tuple)) and given and all(isinstance(each, str) for each in given):
        return named_files(given)
    named = given if isinstance(given, Mapping) else {"": given}
    return {name: _path_or_dataset(gold, name) for name, gold in named.items()}


def _as_named(gold: str | Dataset, name: str, columns: str | Mapping[str, str]) -> str | Dataset:
    """Right labels by the columns that were named for them; by their own names where there are none."""
    from goldassay.data.reading import load_data
    from goldassay.data.roles import own_roles

    return load_data(gold, "test", columns, name or None) if own_roles(columns, name, "test") else gold


def _path_or_dataset(given: Any, name: str) -> str | Dataset:
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given)
    from goldassay.data.reading import open_source

    return open_source(given, "test", name=name or "gold").labelled()


# Columns of difficulties, the first that is there.
DIFFICULTIES = ("difficulty", "difficulty_level", "level")
_DATE = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2})(?:[T ].*)?)?)?")
_COMPACT = re.compile(r"((?:19|20)\d{2})(\d{2})(\d{2})")
# Seconds, or milliseconds, since 1970.
_STAMP = re.compile(r"(\d{9,10})(?:\.\d+)?|(\d{12,13})(?:\.0+)?")
_WRITTEN = ("year", "month", "day")


@dataclass(frozen=True)
class Cutoff:
    """A date that parts examples.

    Attributes:
        column: Of the examples' dates; "" for that of the role `date`.
        date: As it was given. A year or a month is meant to its end.
        parts: Year, month and day, as far as they were given.
    """

    column: str
    date: str
    parts: tuple[int, ...]

    @classmethod
    def parse(cls, text: str | None) -> Cutoff | None:
        """Take COLUMN=DATE, or DATE alone; None stays.

        Raises:
            InputError: It names no date.
        """
        if text is None:
            return None
        column, _, date = text.rpartition("=")
        parts = date_of(date.strip())
        if parts is None:
            example = option("cutoff", f"{column or 'date'}=2024-06")
            raise InputError(f"{option('cutoff', text)} names no date", mend=f"write it as {example} or 2024-06-30")
        return cls(column.strip(), date.strip(), parts)

    def column_of(self, columns: Mapping[str, str]) -> str:
        """The column of dates, given the columns of roles.

        Raises:
            InputError: None is named.
        """
        named = columns.get("date", "") if self.column in ("", "date") else ""
        if named or self.column:
            return named or self.column
        raise InputError(
            f"{option('cutoff', self.date)} names no column of dates",
            mend=f"write {option('cutoff', f'COLUMN={self.date}')} with the column that holds them",
        )

    def is_late(self, value: str, column: str) -> bool | None:
        """Whether a date lies after the cutoff; None for an empty one.

        Raises:
            InputError: It is no date, or less exact than the cutoff and not clearly on one side.
        """
        if not value.strip():
            return None
        parts = date_of(value.strip())
        if parts is None:
            raise InputError(
                f"{value!r} is no date", column=column, mend="write dates as 2024-06-30, 2024-06 or 2024, or leave "
                "them empty",
            )  # fmt: skip
        n = min(len(parts), len(self.parts))
        if parts[:n] == self.parts[:n] and n < len(self.parts):
            raise InputError(
                f"{value!r} has no {_WRITTEN[n]}, so that it lies on neither side of {self.date}", column=column,
                mend=f"give a cutoff to the {_WRITTEN[n - 1]}, such as "
                + option("cutoff", f"{column}={'-'.join(f'{part:02}' for part in self.parts[:n])}"),
            )  # fmt: skip
        return parts[:n] > self.parts[:n]


def date_of(text: str) -> tuple[int, ...] | None:
    """Year, month and day of a date in ISO form or a time stamp, as far as it has them; None where it is none."""
    if stamp := _STAMP.fullmatch(text):
        seconds = float(stamp[1] or 0) if stamp[1] else float(stamp[2]) / 1000
        found = datetime.fromtimestamp(seconds, UTC)
        return found.year, found.month, found.day
    matched = _DATE.fullmatch(text) or _COMPACT.fullmatch(text)
    if matched is None:
        return None
    parts = tuple(int(part) for part in matched.groups() if part is not None)
    year, month, day = (*parts, 1, 1)[:3]
    try:
        datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None
    return parts


def sides_of(values: Iterable[str], cutoff: Cutoff, column: str) -> list[bool | None]:
    """Whether each date lies after the cutoff; None for those without one.

    Raises:
        InputError: See `Cutoff.is_late`.
    """
    known: dict[str, bool | None] = {}
    return [known[each] if each in known else known.setdefault(each, cutoff.is_late(each, column)) for each in values]
