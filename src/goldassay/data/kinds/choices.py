"""Multiple-choice items: a question, its choices, and which of them are right."""

from __future__ import annotations

import re
import string
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.data.fields import cell_texts, name_fields, normalized_text, normalized_texts, with_keys
from goldassay.data.kinds.choice_answers import SEVERAL, UNLIKE_MARKS, right_places
from goldassay.data.kinds.choice_shapes import NESTED, ROLES, UNKEYED, Raw, Shape, find_shape, is_answer
from goldassay.data.kinds.kind import CHOICES, ItemKind, Match, Strength, aside, joined
from goldassay.data.kinds.predictive_columns import PredictiveColumns, find_predictive, named_unread
from goldassay.data.roles import naming
from goldassay.data.unread import find_unread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.table import InputFile, Table

NO_ANSWER = "there is no answer"
UNKNOWN_ANSWER = "the answer is not among the choices"
TOO_FEW = "there are fewer than two choices"
NO_LIST = "the choices are one text and no list"
ALL_RIGHT = "all choices are right"
EMPTY_ANSWER = "the right choice is empty"
EMPTY_CHOICE = "a choice is empty"
DUPLICATE = "two choices are the same"
RIGHT_TWICE = "the right choice's text is also a wrong choice"
OTHER_ANSWER = "the same question has another answer in another row"
# Items with these cannot be used; those with any other problem are kept, and listed.
UNUSABLE = (
    NO_ANSWER,
    UNKNOWN_ANSWER,
    TOO_FEW,
    NO_LIST,
    ALL_RIGHT,
    EMPTY_ANSWER,
    NESTED,
    UNKEYED,
    SEVERAL,
    UNLIKE_MARKS,
)
# Reasons why no item of a file can be used, and what to do about them.
_MENDS = {
    **dict.fromkeys((TOO_FEW, ALL_RIGHT, NESTED, UNKEYED), "give items of two choices or more, some of them wrong"),
    SEVERAL: "give several right choices as a list",
}

_PREFIX = re.compile(r"^\s*(?:\(([A-Za-z])\)|([A-Za-z])[.):、．])\s*")
# Answers of so many rows tell how answers are written.
_FEW_ROWS = 20
_SAMPLED = 100


@dataclass(frozen=True)
class ChoiceItems:
    """N items with M choices in all.

    Attributes:
        name: Of the dataset.
        ids: (N,), text.
        rows: Row of the source of each, from 1, (N,).
        questions: (N,), text.
        passages: What the question is about, (N,), text; "" where there is nothing.
        texts: The choices, item after item, (M,), text.
        offsets: Where the choices of each item begin, and where the last one's end, (N + 1,).
        right: Which choices are right, (M,).
        subjects: The group of each item, (N,), text; None where there is none.
        ordered: Whether positions are those of the publication; else they mean nothing.
        problems: Columns row, id, reason, used: items that cannot be right, and whether they are measured nevertheless.
        decisions: What was decided without being asked, in sentences.
        n_unused: Rows that cannot be used.
        dependent: Columns whose equal values make items depend on each other, where a user named some, (N,) each.
        unread: Columns without a role that hold lists, objects or free text.
        overlooked: Those of them that look like choices, responses or answers.
        telling: Columns without a role by which the right choice can be picked.
        doubtful: Why the right answers may be others than those read; "" where there is no doubt.
        first: From where answers that are positions count; None where they are none.
        source: The file.
        kind: What its parts are called.
        files: As they were read; none for data handed over in memory.
        padded: Which choices had white space at an end, which texts are without, (M,); None where none had.
    """

    name: str
    ids: pl.Series
    rows: NDArray[np.int64]
    questions: pl.Series
    passages: pl.Series
    texts: pl.Series
    offsets: NDArray[np.int64]
    right: NDArray[np.bool_]
    subjects: pl.Series | None
    ordered: bool
    problems: pl.DataFrame
    decisions: tuple[str, ...] = ()
    n_unused: int = 0
    dependent: tuple[pl.Series, ...] = ()
    unread: tuple[str, ...] = ()
    overlooked: tuple[str, ...] = ()
    telling: tuple[PredictiveColumns, ...] = ()
    doubtful: str = ""
    first: int | None = None
    source: str = ""
    kind: ItemKind = CHOICES
    files: tuple[InputFile, ...] = ()
    padded: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return self.offsets.size - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Choices of each item, (N,)."""
        return np.diff(self.offsets)

    @property
    def item_of(self) -> NDArray[np.int64]:
        """The item of each choice, (M,)."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @property
    def places(self) -> NDArray[np.int64]:
        """The position of each choice within its item, from 0, (M,)."""
        return np.asarray(np.arange(self.right.size) - self.offsets[self.item_of])

    @property
    def n_right(self) -> NDArray[np.int64]:
        """Right choices of each item, (N,)."""
        return np.add.reduceat(self.right.astype(np.int64), self.offsets[:-1])

    @property
    def first_right(self) -> NDArray[np.int64]:
        """The position of the first right choice of each item, from 0, (N,)."""
        at = np.flatnonzero(self.right)
        return self.places[at[np.unique(self.item_of[at], return_index=True)[1]]]

    def take(self, items: NDArray[np.integer]) -> ChoiceItems:
        """Some of the items, by number."""
        sizes = self.sizes[items]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        at = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][items] - offsets[:-1], sizes)
        return replace(
            self,
            ids=self.ids[items],
            rows=self.rows[items],
            questions=self.questions[items],
            passages=self.passages[items],
            texts=self.texts[at],
            offsets=offsets,
            right=self.right[at],
            padded=None if self.padded is None else self.padded[at],
            subjects=None if self.subjects is None else self.subjects[items],
            dependent=tuple(values[items] for values in self.dependent),
        )


class Choices:
    """See `Kind`; `read_choices` reads them."""

    name: ClassVar[str] = "choices"
    rows: ClassVar[str] = CHOICES.items
    wants: ClassVar[str] = "choices and answer"
    roles: ClassVar[tuple[str, ...]] = (*ROLES, "ignore")
    aliases: ClassVar[Mapping[str, str]] = {"label": "answer"}
    rank: ClassVar[int] = 1

    def recognize(self, table: Table, columns: Mapping[str, str]) -> Match | None:
        """As `Kind.recognize`, by the shapes of `choice_shapes`.

        Raises:
            InputError: A column that is named as the choices holds none, or one column is named as two parts.
        """
        shape = find_shape(table.frame, columns)
        if shape is None:
            if "choices" in columns:
                raise InputError(
                    f"the column {columns['choices']!r} holds neither lists nor objects of choices",
                    mend=f"name one that does, or a column for each choice: {option('columns', 'choices=A+B')}",
                )
            return None
        covered = _covered(table.frame, shape, aside(columns))
        roles = {"choices": shape.columns, "answer": shape.answer, "question": shape.question}
        # Objects of choices may say themselves which is right.
        first = table.frame.head(_SAMPLED).iter_rows(named=True)
        is_answered = shape.answer is not None or any(shape.read(row).answer for row in first)
        return Match(
            kind=self,
            strength=Strength.SHAPE,
            roles=joined({**roles, "passage": shape.passage, "group": shape.group, "id": shape.id}),
            core=frozenset(shape.columns),
            covered=frozenset(covered),
            unread=find_unread(table.frame, covered).columns,
            lacking=() if is_answered else ("answer",),
            found=shape,
        )


def read_choices(
    table: Table,
    name: str,
    *,
    roles: Mapping[str, str] | None = None,
    dependent: Sequence[str] = (),
    source: str = "",
    first: int | None = None,
) -> ChoiceItems | None:
    """The items of a table; None where its columns are of no shape that is known.

    Answers may be the choice's own label, its letter, its position from 0 or from 1, or its text: whichever fits most
    rows. Letters before the choices ("(A)", "B.", "C)") are removed where all choices of an item have theirs.

    Args:
        table: As it was read.
        name: What to call the items.
        roles: The columns of `ROLES` whose names do not tell, and those to `ignore`; several are joined by "+".
        dependent: Columns whose equal values make items depend on each other.
        source: The file, for messages.
        first: From where positions count, where another part of the data says so.

    Raises:
        InputError: A column that was named is not there, there is no column of answers, no item can be used, or other
            choices are right by positions from 0 and from 1, and nothing says which.
    """
    frame, named = name_fields(table.frame, roles)
    frame = with_keys(frame, dependent)
    check_columns(frame, [*named.values(), *dependent], source)
    ignored = aside(named)
    shape = find_shape(frame, named)
    if shape is None:
        return None
    raw = [shape.read(row) for row in frame.iter_rows(named=True)]
    if shape.answer is None and not any(each.answer for each in raw):
        raise InputError(
            "there are choices, and no column says which of them is right", file=source,
            mend=naming(frame, "answer", besides=[*shape.columns, *shape.question, str(shape.passage), str(shape.id)]),
        )  # fmt: skip
    texts = [without_letters(each.choices) for each in raw]
    # Who names the column of answers has decided.
    taken = {*shape.columns, *shape.question, shape.answer, shape.passage, *ignored}
    others = [] if "answer" in named else [each for each in frame.columns if is_answer(each) and each not in taken]
    found_right = right_places(raw, texts, shape, frame, others, first)
    if found_right.mend:
        raise InputError(
            "the answers may be positions from 0 or from 1: both fit all items", file=source or None,
            column=shape.answer, mend=found_right.mend,
        )  # fmt: skip
    right = found_right.places
    compared = _compared(texts)
    flaws = {at: each.flaw for at, each in enumerate(raw) if each.flaw}
    found = _Problems(dict.fromkeys(_unlisted(frame, shape, texts), NO_LIST) | flaws, found_right.reasons)
    kept = [at for at, (own, places) in enumerate(zip(compared, right, strict=True)) if found.check(at, own, places)]
    if not kept:
        reasons = dict.fromkeys(why for _, why in found.found)
        if reasons and reasons.keys() <= _MENDS.keys():
            mends = dict.fromkeys(_MENDS[each] for each in reasons)
            raise InputError(f"no item can be used: {', or '.join(reasons)}", file=source, mend="; ".join(mends))
        raise InputError(
            "no item has an answer among its choices", file=source, column=shape.answer,
            mend="give the right choice's position from 0, its letter, its label or its text",
        )  # fmt: skip
    questions = _questions(raw, frame, shape)
    passages = cell_texts(frame[shape.passage]).fill_null("") if shape.passage else None
    aspects = cell_texts(frame[shape.aspect]).fill_null("") if shape.aspect else None
    _check_answers(found, kept, questions, (passages, aspects), compared, right)
    sizes = np.array([len(texts[at]) for at in kept], np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    marks = np.zeros(offsets[-1], np.bool_)
    starts = zip(offsets.tolist(), kept, strict=False)
    marks[[start + place for start, at in starts for place in right[at] or ()]] = True
    padded = np.array([text != text.strip() for at in kept for text in raw[at].choices], np.bool_)
    rows = np.array([table.line_of(at) for at in kept], np.int64)
    ids = cell_texts(frame[shape.id]) if shape.id else pl.Series([str(at) for at in range(frame.height)])
    # Where a column says which choice is right, the first one being right throughout is a flaw and no custom.
    first = shape.answer is None and len(kept) >= _FEW_ROWS and bool(marks[offsets[:-1]].all())
    ordered = not shape.right_first and not first
    decisions = list(found_right.decisions)
    if shape.aspect is not None and shape.question:
        columns = " + ".join(map(repr, shape.question))
        decisions.append(f"The column {columns} is taken for the question; {shape.aspect!r} says what is wanted of it.")
    if n_blank := sum(raw[at].n_blank > 0 for at in kept):
        decisions.append(f"Empty choices at the end count as none, in {n_blank:,} of {len(kept):,} items.")
    if not ordered:
        why = "has a column of its own" if shape.right_first else "comes first in all items"
        decisions.append(f"The right choice {why}: positions are drawn at random and not read.")
    if found.n_unused:
        decisions.append(f"Items left out since they cannot be used: {found.n_unused:,}; see the list of problems.")
    covered = _covered(frame, shape, [*ignored, *dependent])
    unread = find_unread(frame, covered)
    telling = find_predictive(
        frame[kept], covered, [texts[at] for at in kept], [right[at] or () for at in kept], ordered=ordered
    )
    found_items = ChoiceItems(
        name=name,
        ids=ids[kept].fill_null("").alias("id"),
        rows=rows,
        questions=pl.Series("question", [questions[at] for at in kept], dtype=pl.String),
        passages=(pl.Series([""] * len(kept)) if passages is None else passages[kept]).alias("passage"),
        texts=pl.Series("choice", [text for at in kept for text in texts[at]], dtype=pl.String),
        offsets=offsets,
        right=marks,
        subjects=cell_texts(frame[shape.group][kept]).fill_null("").alias("subject") if shape.group else None,
        ordered=ordered,
        problems=found.frame(table, ids),
        dependent=tuple(frame[column][kept] for column in dependent),
        unread=named_unread(unread, telling),
        overlooked=unread.choices,
        telling=telling,
        decisions=tuple(decisions),
        n_unused=found.n_unused,
        doubtful=found_right.doubtful,
        first=found_right.first,
        source=source,
        files=table.files,
        padded=padded if padded.any() else None,
    )
    return found_items if ordered else reordered(found_items)


def check_columns(frame: pl.DataFrame, named: Sequence[str], source: str) -> None:
    """Refuse columns that are not there; several are joined by "+"."""
    for column in (each for value in named for each in value.split("+")):
        if column not in frame.columns:
            raise InputError(f"there is no column {column!r}", file=source, mend=f"the columns are {_listed(frame)}")


def reordered(items: ChoiceItems) -> ChoiceItems:
    """The same items with their choices in random order."""
    order = np.lexsort((np.random.default_rng(0).random(items.right.size), items.item_of))
    padded = None if items.padded is None else items.padded[order]
    return replace(items, texts=items.texts[order], right=items.right[order], padded=padded)


def _unlisted(frame: pl.DataFrame, shape: Shape, texts: Sequence[tuple[str, ...]]) -> set[int]:
    """Rows with a text in place of a list of choices."""
    if len(shape.columns) != 1 or frame.schema[shape.columns[0]] != pl.String:
        return set()
    given = frame[shape.columns[0]].fill_null("").str.strip_chars().to_list()
    return {
        at
        for at, (value, own) in enumerate(zip(given, texts, strict=True))
        if value[:1] not in ("", "[", "{") and not own
    }


def _covered(frame: pl.DataFrame, shape: Shape, others: Sequence[str]) -> set[str]:
    """Columns that have a role; other ways to write the answer have one."""
    covered = {
        *shape.columns, *shape.question, shape.answer, shape.passage, shape.group, shape.id, shape.aspect, *others,
    }  # fmt: skip
    known = {column for column in frame.columns if is_answer(column)}
    return {*known, *(column for column in covered if column)}


def _listed(frame: pl.DataFrame) -> str:
    return ", ".join(map(repr, frame.columns[:20]))


def _questions(raw: Sequence[Raw], frame: pl.DataFrame, shape: Shape) -> list[str]:
    """The question of each row, of columns that are joined where there are several."""
    # Lists stay columns, as which they are shown.
    cells = (frame[column] for column in shape.question)
    columns = [list(each) if each.dtype.is_nested() else each.to_list() for each in cells]
    rows = zip(*columns, strict=True) if columns else [()] * len(raw)
    return [
        each.question if each.question is not None else " ".join(str(cell) for cell in row if cell is not None)
        for each, row in zip(raw, rows, strict=True)
    ]


def _compared(texts: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The choices of each row as they are compared."""
    whole = iter(normalized_texts(pl.Series([text for own in texts for text in own], dtype=pl.String)).to_list())
    return [tuple(islice(whole, len(own))) for own in texts]


def without_letters(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Without the letters before the choices, where each has the one of its place."""
    matches = [_PREFIX.match(text) for text in texts]
    for at, match in enumerate(matches):
        if match is None or (match[1] or match[2]).upper() != string.ascii_uppercase[at % 26]:
            return tuple(text.strip() for text in texts)
    return tuple(text[match.end() :].strip() for text, match in zip(texts, matches, strict=True) if match)


class _Problems:
    def __init__(self, no_choices: Mapping[int, str], no_answer: Mapping[int, str]) -> None:
        self.found: list[tuple[int, str]] = []
        self.n_unused = 0
        self.no_choices = no_choices
        """Reasons why rows have no choices, and why answers do not fit, for the rows where a reason is known."""
        self.no_answer = no_answer

    def add(self, row: int, reason: str) -> None:
        self.found.append((row, reason))

    def check(self, row: int, whole: tuple[str, ...], right: tuple[int, ...] | None) -> bool:
        """List what is wrong with an item, by its choices as they are compared; whether it can be used."""
        reason = (
            self.no_choices[row] if row in self.no_choices
            else TOO_FEW if len(whole) < 2
            else NO_ANSWER if right is None
            else self.no_answer.get(row, UNKNOWN_ANSWER) if not right
            else ALL_RIGHT if len(right) == len(whole)
            else EMPTY_ANSWER if not all(whole[at] for at in right)
            else None
        )  # fmt: skip
        if reason is not None:
            self.add(row, reason)
            self.n_unused += 1
            return False
        assert right is not None
        if not all(whole):
            self.add(row, EMPTY_CHOICE)
        if len(set(whole)) < len(whole):
            self.add(row, DUPLICATE)
            gold = {whole[at] for at in right}
            if any(text in gold for at, text in enumerate(whole) if at not in right):
                self.add(row, RIGHT_TWICE)
        return True

    def frame(self, table: Table, ids: pl.Series) -> pl.DataFrame:
        schema = {"row": pl.Int64, "id": pl.String, "reason": pl.String, "used": pl.Boolean}
        rows = [(table.line_of(at), ids[at], reason, reason not in UNUSABLE) for at, reason in sorted(self.found)]
        return pl.DataFrame(rows, schema=schema, orient="row")


def _check_answers(
    found: _Problems,
    kept: Sequence[int],
    questions: Sequence[str],
    others: Sequence[pl.Series | None],
    compared: Sequence[tuple[str, ...]],
    right: Sequence[tuple[int, ...] | None],
) -> None:
    """List items of which the same question, with the same choices, has another answer in another row."""
    asked = normalized_texts(pl.Series([questions[at] for at in kept], dtype=pl.String)).to_list()
    times = Counter(asked)
    keys = {}
    for at, question in zip(kept, asked, strict=True):
        if times[question] > 1:
            parts = ("" if each is None else normalized_text(str(each[at])) for each in others)
            keys[at] = (question, *parts, *sorted(compared[at]))
    for one, other in pairwise(sorted(keys, key=lambda at: (keys[at], at))):
        if keys[one] == keys[other] and _gold(compared[one], right[one]) != _gold(compared[other], right[other]):
            found.add(other, OTHER_ANSWER)


def _gold(compared: tuple[str, ...], right: tuple[int, ...] | None) -> set[str]:
    return {compared[at] for at in right or ()}
