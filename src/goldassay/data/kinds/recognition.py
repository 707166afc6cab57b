"""What a table holds: every kind is asked once, and the best match is taken by what speaks for it."""

from __future__ import annotations

import re
import shlex
import string
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.errors import SHELL, InputError, entry_point, option
from goldassay.core.numbers import count
from goldassay.data.column_names import names_of, normalized
from goldassay.data.fields import fields_of, name_fields
from goldassay.data.kinds.kind import Kind, Match, Strength
from goldassay.data.roles import (
    fields_within,
    guess_roles,
    holds_lists,
    holds_sentences,
    is_free_answer,
    likely_label,
    no_such_column,
    searching,
    without_classes,
)
from goldassay.data.source import file_within
from goldassay.data.unread import is_called_choices

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from goldassay.data.table import Table

_MOST_COLUMNS = 5
_LONGEST = 60
_TAGS = re.compile(r"(tag|label)s?$", re.IGNORECASE)
# Columns of the place of what is right or preferred in a list.
_PLACES = {*names_of("winner", "preferences"), *names_of("answer", "choices")}
# Of a file without a header.
_NAMELESS = re.compile(r"column_\d+")
_TOKENS = re.compile(r"tokens|words", re.IGNORECASE)


@dataclass(frozen=True)
class Recognition:
    """What every kind said of a table.

    Attributes:
        table: As it was read.
        columns: The column of each role, as a user named them.
        source: The file, for messages.
        matches: What each kind found, by the name of the kind; None where nothing speaks for it.
        kinds: The kinds by name.
        mixed: The error of a folder whose files are of two kinds.
    """

    table: Table
    columns: Mapping[str, str]
    source: str
    matches: Mapping[str, Match | None]
    kinds: Mapping[str, Kind]
    mixed: InputError | None = None

    def best(self, names: Collection[str] = ()) -> Match:
        """The match that most speaks for, among the kinds of these names; by default among all.

        A match goes before one whose rows it explains whole, then before a weaker one; of two that read the same
        columns the one counts that says more about them.

        Raises:
            InputError: Nothing speaks for any kind, as much speaks for one kind as for another, or the rows or
                the files of a folder are of two kinds.
        """
        known = [match for name, match in self.matches.items() if match and (not names or name in names)]
        full = [match for match in known if match.strength > Strength.PARTLY]
        left = [match for match in full if not any(other.explains(match) for other in full)] or full or known
        if not left:
            raise self._none(names)
        if self.mixed:
            raise self.mixed
        most = max(match.strength for match in left)
        left = [match for match in left if match.strength == most]
        rank = max(match.kind.rank for match in left)
        found = next(match for match in left if match.kind.rank == rank)
        self.check_one_kind()
        other = next((match for match in left if match is not found and not found.shares_columns(match)), None)
        if other is not None:
            raise self._two(found, other)
        return found

    def check_one_kind(self) -> None:
        """Refuse a table of which some rows are of one kind alone, and others of another: the others would be dropped.

        A row is of a kind where all columns that make it one are filled.

        Raises:
            InputError: The rows are of two kinds.
        """
        if self.columns:
            return
        made = [
            match for match in self.matches.values() if match and match.kind.rank and match.strength == Strength.SHAPE
        ]
        filled = [(match.kind.rows, _filled(self.table.frame, sorted(match.core))) for match in made]
        for at, (one, own) in enumerate(filled):
            for other, others in filled[at + 1 :]:
                first, second = (own & ~others).sum(), (others & ~own).sum()
                if first and second:
                    raise InputError(
                        f"rows of two kinds: {one} in {count(first)}, {other} in {count(second)}", file=self.source,
                        mend="give the rows of each kind in a file of their own",
                    )  # fmt: skip

    def _two(self, one: Match, other: Match) -> InputError:
        found = [
            f"{match.kind.rows} in {_listed(sorted(match.core))}"
            + (f", without {_listed(match.unread)}" if match.unread else "")
            for match in (one, other)
        ]
        guessed = guess_roles(self.table.frame)
        named = option("columns", ",".join(f"{role}={column}" for role, column in guessed.items()))
        one_kind = f"name the columns of one kind, as in {named}" if guessed else "name the columns of one kind"
        board = next((match for match in (one, other) if match.kind.name == "board" and match.found), None)
        if guessed and board is not None and "item" not in board.roles and len(guessed) == 2:
            # Labels of 0 and 1 that a row may have several of; or scores of systems beside the text of the item.
            item = option("columns", f"item={guessed['text']}")
            return InputError(
                f"it fits two kinds equally: {'; '.join(found)}", file=self.source,
                mend=f"{named} audits one label, {item} ranks the columns as systems; {look_at(self.source)}",
            )  # fmt: skip
        return InputError(
            f"it fits two kinds equally: {'; '.join(found)}", file=self.source,
            mend=f"{one_kind}, or leave out those of the other; {look_at(self.source)}",
        )  # fmt: skip

    def _none(self, names: Collection[str]) -> InputError:
        tagged = [name for name in self.table.frame.columns if _TAGS.search(name) and self._is_list(name)]
        tokens = [name for name in self.table.frame.columns if _TOKENS.fullmatch(name)]
        if tagged and tokens:
            given = f" {option('columns', f'text={tokens[0]}')}"
            return InputError(
                "each token has a label, and no text has one; labels of tokens are not supported",
                file=self.source, column=tagged[0], mend=searching(self.source, given),
            )  # fmt: skip
        nameless = all(_NAMELESS.fullmatch(name) for name in self.table.frame.columns)
        headless = "the first line looks like a row, and " if nameless else ""
        asked = any(holds_sentences(values) for values in self.table.frame)
        lettered = {} if self.columns else guess_choices(self.table.frame)
        guessed = {} if self.columns else lettered or guess_roles(self.table.frame)
        within = [(name, found) for name, values in zip(self.table.frame.columns, self.table.frame, strict=True)
                  if (values.dtype == pl.List or holds_lists(values)) and (found := fields_of(values))]  # fmt: skip
        if within and not asked and not self.columns:
            name, found = within[0]
            turns = next((field for field in found if field in (f"{name}.content", f"{name}.value")), None)
            if turns and (label := likely_label(self.table.frame, [name])):
                given = option("columns", f"text={turns},label={label}")
                return InputError(
                    f"each row holds a conversation ({_listed(found)})", file=self.source, column=name,
                    mend=f"{given} joins the texts of its turns",
                )  # fmt: skip
            return InputError(
                f"each row holds a list of objects ({_listed(found)})", file=self.source, column=name,
                mend="write one JSON object per item of the list, with the fields around it",
            )  # fmt: skip
        if not lettered and not self.columns and asked and (not guessed or any(map(is_free_answer, self.table.frame))):
            unlabelled = without_classes(self.table.frame, self.source)
            return InputError(
                f"{headless}{unlabelled.problem}", file=unlabelled.file, column=unlabelled.column, mend=unlabelled.mend
            )
        said = []
        for kind in (kind for name, kind in self.kinds.items() if not names or name in names):
            foreign = self.foreign(kind)
            said.append(f"{kind.rows} have no role {foreign[0]!r}" if foreign else f"{kind.rows} lack {kind.wants}")
        if not self.table.frame.width:
            mend = (
                f"give {file_within(Path(self.source))}, a folder with train, dev or test files, or logs of evaluations"
            )
            return InputError("there are no rows of data and no runs of a known format", file=self.source, mend=mend)
        # What may be cut of a long line stands last.
        columns = f"{_listed(self.table.frame.columns)}{fields_within(self.table.frame)}"
        what = f"{headless}the columns {columns} are of no kind"
        if guessed:
            named = option("columns", ",".join(f"{role}={column}" for role, column in guessed.items()))
            write = f"goldassay audit {shlex.quote(self.source)} {named}" if entry_point() == SHELL else named
            return InputError(what, file=self.source, mend=f"perhaps {write}")
        return InputError(what, file=self.source, mend=f"{look_at(self.source)}; {'; '.join(said)}")

    def _is_list(self, name: str) -> bool:
        values = self.table.frame[name]
        return values.dtype.is_nested() or holds_lists(values)

    def foreign(self, kind: Kind) -> list[str]:
        """Roles that a user named and that a kind does not have."""
        return [role for role in self.columns if kind.aliases.get(role, role) not in kind.roles]


def recognize(table: Table, columns: Mapping[str, str], kinds: Sequence[Kind], source: str = "") -> Recognition:
    """Ask every kind once what speaks for it.

    Args:
        table: As it was read.
        columns: The column of each role, as a user named them; a kind without such a role is not asked.
        kinds: All kinds.
        source: The file, for messages.

    Raises:
        InputError: A column that was named is not there, or a kind cannot be recognized for an error: no other kind is
            taken then.
    """
    matches: dict[str, Match | None] = {}
    try:
        frame, columns = name_fields(table.frame, columns)
        table = replace(table, frame=frame)
        found = Recognition(table, columns, source, {}, {kind.name: kind for kind in kinds})
        for column in columns.values():
            parts = [column] if column in table.frame.columns else column.split("+")
            if missing := [part for part in parts if part not in table.frame.columns]:
                raise no_such_column(missing[0], table.frame)
        for kind in kinds:
            named = {kind.aliases.get(role, role): column for role, column in columns.items()}
            matches[kind.name] = None if found.foreign(kind) else kind.recognize(table, named)
    except InputError as error:
        if error.file is not None or not source:
            raise
        raise InputError(error.problem, file=source, row=error.row, column=error.column, mend=error.mend) from error
    return Recognition(table, columns, source, matches, found.kinds)


def guess_choices(frame: pl.DataFrame) -> dict[str, str]:
    """The roles of items by what columns hold: choices in those that end in A, B and so on, answers that name these.

    Or choices in lists, and places in them in a column that is called an answer or a winner.
    """
    asked = (name for name in frame.columns if frame.schema[name] == pl.String and holds_sentences(frame[name]))
    question = next(asked, None)
    lists = [name for name in frame.columns if frame.schema[name] == pl.List(pl.String) and is_called_choices(name)]
    if question and len(lists) == 1:
        most = frame[lists[0]].list.len().max()
        places = [
            name for name in frame.columns
            if normalized(name).replace(" ", "_") in _PLACES and frame.schema[name].is_integer()
            and bool(frame[name].drop_nulls().is_between(0, most).all())
        ]  # fmt: skip
        if len(places) == 1:
            return {"question": question, "choices": lists[0], "answer": places[0]}
    stems: dict[str, list[str]] = {}
    for name in frame.columns:
        stems.setdefault(name[:-1], []).append(name)
    for names in stems.values():
        letters = {name[-1:] for name in names}
        if len(names) < 2 or letters != set(string.ascii_uppercase[: len(names)]):
            continue
        texts = [name for name in frame.columns if name not in names and frame.schema[name] == pl.String]
        answer = next((name for name in texts if set(frame[name].drop_nulls().unique().to_list()) <= letters), None)
        question = next((name for name in texts if holds_sentences(frame[name])), None)
        if answer and question:
            return {"question": question, "choices": "+".join(names), "answer": answer}
    return {}


def other_kind(found: Recognition, wanted: Collection[str], shown: str = "") -> tuple[str, str]:
    """What rows are that a command does not read, and what to write; two empty texts where it may read them.

    Args:
        found: What every kind said of the rows.
        wanted: Names of the kinds that the command reads.
        shown: In Python, what the caller calls rows in memory.

    Raises:
        InputError: As much speaks for one kind as for another, or the rows are of two kinds.
    """
    if not any(match is not None and match.strength > Strength.PARTLY for match in found.matches.values()):
        return "", ""
    match = found.best()
    if match.kind.name in wanted:
        return "", ""
    given = {"columns": ",".join(f"{role}={column}" for role, column in found.columns.items())}
    if match.kind.name == "grades":
        given["grades"] = scale_of(match, found.table.frame)
    name = "audit"
    if match.kind.name == "extractive answers":
        name, given["corpus"] = "overlap", str(Path(found.source).parent)
    kept = {key: value for key, value in given.items() if value}
    if entry_point() == SHELL:
        options = "".join(f" --{key} {shlex.quote(value)}" for key, value in kept.items())
        return match.kind.rows, f"goldassay {name} {shlex.quote(found.source)}{options}"
    named = "".join(f", {key}={value!r}" for key, value in kept.items())
    function = name if name == "audit" else f"measure_{name}"
    return match.kind.rows, f"goldassay.{function}({shown or repr(found.source)}{named})"


def scale_of(match: Match, frame: pl.DataFrame) -> str:
    """The lowest and the highest grade, as the option `grades` takes them."""
    columns = [match.roles["score"]] if "score" in match.roles else list(match.found)
    values = frame.select(pl.col(columns).cast(pl.Float64, strict=False)).unpivot()["value"].drop_nulls()
    return f"{min(values):g}:{max(values):g}"


def look_at(source: str) -> str:
    """What shows how a file was taken: the command, or the function."""
    if entry_point() == SHELL:
        return f"goldassay look {shlex.quote(source)} shows how it was taken"
    return f"goldassay.look({source!r}) shows how it was taken"


def _filled(frame: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """Rows of which none of these columns is empty."""
    wanted = [
        pl.col(column).is_not_null()
        & (pl.col(column) != "" if frame.schema[column] == pl.String else pl.lit(value=True))
        for column in columns
    ]
    return frame.select(pl.all_horizontal(wanted)).to_series()


def _listed(columns: Sequence[str]) -> str:
    more = f" and {len(columns) - _MOST_COLUMNS} more" if len(columns) > _MOST_COLUMNS else ""
    return ", ".join(repr(column[:_LONGEST]) for column in columns[:_MOST_COLUMNS]) + more
