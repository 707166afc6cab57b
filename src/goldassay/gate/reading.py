"""A report read back from disk: nothing that is no report of this schema, or was changed since, gets past.

Tables of a report read back from disk, with columns of the kinds that their writers give them.

A report's seal says that a table is the one that was written with it. Another version, or another program, may have
written both: a column of another kind is refused here by its name, so that nothing that is shown or computed later
meets it.

What changed from one report to another, typed: the plain form is diff.json.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import polars as pl
from pydantic import ValidationError

from goldassay.core.bounds import check_parquet, reading, reason
from goldassay.core.document import FILE_NAME, SCHEMA, SCHEMA_VERSION, TIMING_NAME, Document, Verdict
from goldassay.core.errors import InputError
from goldassay.core.figures import Figure, Unit, result
from goldassay.core.files import seekable
from goldassay.core.report_seal import INCOMPLETE, check_seal, digest_of
from goldassay.core.results import NOT_ASKED, Result, to_plain
from goldassay.core.settings import in_words
from goldassay.version import __version__

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping


_AGAIN = "run the command that made it again"


@dataclass(frozen=True)
class StoredReport:
    """A report as it lies on disk.

    Attributes:
        path: Its report.json.
        document: What that holds, as plain data.
        finished: When it was made, by the clock in timing.json; "" where that file is missing.
    """

    path: Path
    document: dict[str, Any]
    finished: str = ""

    @cached_property
    def parsed(self) -> Document:
        """The same, typed."""
        return Document.model_validate(self.document)

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """Its figures, in its order."""
        return tuple(Figure.from_dict(row) for row in self.document["figures"])

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict on each question that it answers."""
        return {question: each for question, each in self.stated.items() if each.verdict != NOT_ASKED}

    @property
    def stated(self) -> dict[str, Verdict]:
        """The same with the questions that were not asked."""
        return self.parsed.verdicts or {}

    @property
    def folder(self) -> Path:
        """Where its tables lie."""
        return self.path.parent

    @property
    def title(self) -> str:
        """What it is about."""
        return self.parsed.title

    def describe(self) -> Side:
        """Which report it is."""
        own = self.parsed
        return Side(str(self.path), own.title, own.goldassay_version, own.digest, self.finished)


def read_report(path: str | os.PathLike[str]) -> StoredReport:
    """Read a report.json, or that of a folder.

    Raises:
        InputError: It is not there, is no JSON, is no report, is of another schema version, breaks the schema, is not
            as goldassay wrote it, is incomplete, or lies among files of another report.
    """
    file = Path(path)
    if file.is_dir():
        file = file / FILE_NAME
        if not file.exists():
            raise InputError(
                f"the folder has no {FILE_NAME}", file=path, mend="name the folder that a command wrote its report into"
            )
    elif not file.exists():
        raise InputError("there is no such report", file=path, mend=f"name a {FILE_NAME} or its folder")
    document = _read_json(file)
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise InputError(
            "is no report", file=file, mend=f"name the {FILE_NAME} that a command wrote into its folder, or the folder"
        )
    if INCOMPLETE in document:
        raise InputError("the report is incomplete: its command was ended while it wrote", file=file, mend=_AGAIN)
    version = document.get("schema_version")
    if version != SCHEMA_VERSION:
        raise InputError(
            f"is a report of schema version {version!r}, and this goldassay reads {SCHEMA_VERSION}",
            file=file,
            mend=_AGAIN,
        )
    if "digest" not in document:
        raise InputError("has no digest, so it may have been edited", file=file, mend=_AGAIN)
    report = StoredReport(file, document, _finished(file.with_name(TIMING_NAME)))
    try:
        _ = report.parsed
    except ValidationError as invalid:
        first = invalid.errors()[0]
        raise InputError(
            f"does not fit the schema of a report at {'.'.join(map(str, first['loc']))}: {in_words(first)}",
            file=file,
            mend=_AGAIN,
        ) from invalid
    if digest_of(document) != document["digest"]:
        raise InputError("was edited after goldassay wrote it: its digest does not fit", file=file, mend=_AGAIN)
    check_seal(file, document)
    return report


def _finished(file: Path) -> str:
    """When the report was made; "" where nothing says so, since no figure depends on it."""
    try:
        timing = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return ""
    return str(timing.get("finished") or "") if isinstance(timing, dict) else ""


def _read_json(file: Path) -> Any:
    try:
        content = seekable(file).read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", file=file, mend=f"name a {FILE_NAME} or its folder"
        ) from error
    # A file that was named may be no report at all: to make it again would be the wrong advice.
    mend = _AGAIN if file.name == FILE_NAME else f"name a {FILE_NAME} or its folder"
    if not content.strip():
        raise InputError("is empty", file=file, mend=mend)
    try:
        return json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON: {reason(error)}", file=file, mend=mend) from error


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number that JSON knows")


_WRITE_AGAIN = "run the command that made the report again"


@dataclass(frozen=True)
class Kind:
    """What a column may hold: in words, and as a test of its type."""

    words: str
    fits: Callable[[pl.DataType], bool]


def _list_of(fits: Callable[[pl.DataType], bool]) -> Callable[[pl.DataType], bool]:
    return lambda kind: isinstance(kind, pl.List) and isinstance(kind.inner, pl.DataType) and fits(kind.inner)


def _is_text(kind: pl.DataType) -> bool:
    return kind in (pl.String, pl.Null)


def _is_number(kind: pl.DataType) -> bool:
    return kind.is_float() or kind.is_integer() or kind == pl.Null


TEXT = Kind("text", _is_text)
NAME = Kind("text or whole numbers", lambda kind: kind == pl.String or kind.is_integer())
NUMBER = Kind("numbers", _is_number)
WHOLE = Kind("whole numbers", lambda kind: kind.is_integer())
FLAG = Kind("true or false", lambda kind: kind == pl.Boolean)
TEXTS = Kind("lists of texts", _list_of(_is_text))
NUMBERS = Kind("lists of numbers", _list_of(_is_number))
WHOLES = Kind("lists of whole numbers", _list_of(lambda kind: kind.is_integer() or kind == pl.Null))


def table_schema(file: Path, kinds: Mapping[str, Kind]) -> Mapping[str, pl.DataType]:
    """The columns of a table of a report.

    Args:
        file: The Parquet file.
        kinds: {column: its kind}; a name may end in `*`. Columns that the table lacks, and those that it has besides,
            are not looked at.

    Raises:
        InputError: The file cannot be read, or a column is of another kind.
    """
    with reading(file):
        check_parquet(file, file)
        schema = pl.read_parquet_schema(file)
    for name, kind in schema.items():
        wanted = next((each for pattern, each in kinds.items() if fnmatchcase(name, pattern)), None)
        if wanted is not None and not wanted.fits(kind):
            raise InputError(f"the column {name!r} holds {kind}, not {wanted.words}", file=file, mend=_WRITE_AGAIN)
    return schema


def read_table(file: Path, kinds: Mapping[str, Kind]) -> pl.DataFrame:
    """A table of a report, whole.

    Raises:
        InputError: As `table_schema`.
    """
    table_schema(file, kinds)
    with reading(file):
        return pl.read_parquet(file)


_SCHEMA, _SCHEMA_VERSION = "goldassay.diff", 1


@dataclass(frozen=True)
class ListChange:
    """What became of the things that two reports list, such as the patterns that give a label away.

    Attributes:
        source: What was compared, as a sentence.
        n_before: How many the first report has.
        n_after: How many the second has.
        gone: Only in the first: the listing's columns; what is worth most first.
        new: Only in the second.
        turned: In both, with another label: as in the second, with the earlier label.
        stayed: In both, with the same label: as in the second, with the earlier numbers.
    """

    source: str
    n_before: int
    n_after: int
    gone: pl.DataFrame
    new: pl.DataFrame
    turned: pl.DataFrame
    stayed: pl.DataFrame


@dataclass(frozen=True)
class Side(Result):
    """One of the two reports: where it lies, its title and version, its digest, and when it was made."""

    path: str
    title: str
    goldassay_version: str
    digest: str
    finished: str


@dataclass(frozen=True)
class VerdictMove(Result):
    """The verdict on one question then and now.

    Attributes:
        question: Its key.
        before: The verdict of the first report.
        after: That of the second.
        moved: Which way the word moved.
        what: What differs: see `comparing.WHAT_CHANGED`.
    """

    question: str
    before: Verdict
    after: Verdict
    moved: str
    what: str

    def to_dict(self) -> dict[str, Any]:
        """The verdicts as the reports have them."""
        before, after = (each.model_dump(exclude_unset=True) for each in (self.before, self.after))
        return {"question": self.question, "before": before, "after": after, "moved": self.moved, "what": self.what}


@result
class Change(Result):
    """One measure in both reports.

    Attributes:
        id: Of the measure.
        question: That it belongs to.
        measure: What it is, in words.
        of: What its figures belong to.
        unit: Of all numbers.
        describes_data: Whether it answers no question.
        before: Its value then.
        before_low: Lower end.
        before_high: Upper end.
        after: Its value now.
        after_low: Lower end.
        after_high: Upper end.
        difference: Now less then.
        low: Lower end of the difference's interval.
        high: Upper end.
        method: Of that interval.
        change: A word that it supports.
    """

    id: str
    question: str
    measure: str
    of: str
    unit: Unit
    describes_data: bool
    before: float
    before_low: float
    before_high: float
    after: float
    after_low: float
    after_high: float
    difference: float
    low: float
    high: float
    method: str
    change: str


@result
class Alone(Result):
    """One measure that only one of the reports has."""

    id: str
    question: str
    measure: str
    of: str
    unit: Unit
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class DiffResult(Result):
    """What changed.

    Attributes:
        title: Of the comparison.
        before: The first report.
        after: The second one.
        warnings: What makes a change mean less than it seems.
        notes: How intervals were made.
        verdicts: Of questions that both answer.
        measures: Figures that both have.
        only_before: Figures that only the first has.
        only_after: Figures that only the second has.
        lists: What both list, by name, such as "patterns"; None where one lists nothing.
    """

    title: str
    before: Side
    after: Side
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    verdicts: tuple[VerdictMove, ...]
    measures: tuple[Change, ...]
    only_before: tuple[Alone, ...]
    only_after: tuple[Alone, ...]
    lists: Mapping[str, ListChange | None]

    def to_dict(self) -> dict[str, Any]:
        """The document of diff.json, each list under its own name."""
        plain = super().to_dict()
        lists = plain.pop("lists")
        head = {"schema": _SCHEMA, "schema_version": _SCHEMA_VERSION, "goldassay_version": __version__}
        return {**head, **plain, **to_plain(lists)}
