"""The date by which examples are parted, as `--cutoff` names it, and the dates of examples."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from goldassay.core.errors import InputError, option

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
