"""Judgments of pairs: who judged which item, what was shown first, and which side won."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.numbers import count
from goldassay.data.column_names import normalized
from goldassay.data.fields import cell_texts, name_fields, normalized_texts, winner_said
from goldassay.data.kinds.judged_scores import SCORE_ROLES, ScoreShape, find_judged_scores, read_probabilities
from goldassay.data.kinds.judgment_shapes import JUDGMENT_ROLES, WORDS_OF_AN_ITEM, JudgmentShape, find_judgments
from goldassay.data.kinds.kind import Match, Strength, aside, joined
from goldassay.data.kinds.predictive_columns import named_unread
from goldassay.data.kinds.preference_shapes import parsed, zero_is_tie
from goldassay.data.kinds.sides import FIRST, TIE, say_sides, side_reader, with_ties
from goldassay.data.near_copies import join_near_copies
from goldassay.data.unread import find_unread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.table import InputFile, Table

NO_VERDICT = "there is no verdict"
NEITHER_SIDE = "the verdict names neither side"
NO_ORDER = "nothing says which side was shown first"
SAME_SIDE = "both sides have the same name"
_SWAPPED = ("swapped", "reversed", "flipped", "ba", "b_first", "b,a", "b-a", "b a", "true", "yes", "swap", "b",
            "second", "model_b", "backward")  # fmt: skip
_AS_GIVEN = ("original", "unswapped", "normal", "ab", "a_first", "a,b", "a-b", "a b", "false", "no", "a", "first",
             "model_a", "forward", "not swapped")  # fmt: skip
_ONE = "judge"
# Kinds that lengths of texts tell apart, of both sides together and by which is longer; no column of a file begins with
# a space by chance.
LENGTH, LONGER = " length", " longer"
_SHORT, _LONG = "the shorter half of the texts", "the longer half of the texts"
_MOST_KINDS = 50
# Of the rows of pairs judged in both orders so many must be in one kind in both: else a verdict makes the kind.
_IN_BOTH = 0.99
# Columns of what a judge said: a kind that a verdict makes would follow the verdict's seat.
_SAID = re.compile(
    r"verdict|winn|decision|judg|vote|prefer|better|score|rating|raw|output|response|answer|reason|explan|confiden|prob"
    r"|correct|consist|agree|chang|flip|label|gold|human|swap|order|chosen|rejected"
)


@dataclass(frozen=True)
class Judgments:
    """n judgments of pairs of sides a and b.

    Attributes:
        name: Of the set.
        rows: Columns row (of the file, from 1), item, judge, a, b (names, or null), a_first (whether side a was shown
            first), win (of side a: 1, 0, or .5 for a tie),
            otherwise (what it would get if verdicts named seats in place of sides, or sides in place of seats),
            length (log length of a over that of b, or null), people
            (which side they prefer, as `win`, or null), agreed (whether all people said so, or null), group (of the
            item, or null); and probability, with which the item was drawn for people, where a column says so.
        problems: Columns row, id, reason, used: verdicts that cannot be used.
        n_read: Verdicts in the file.
        names_seats: Whether verdicts name seats, and not sides.
        named: Whether a user said so, or the verdicts are names of the sides.
        knows_order: Whether something says what was shown first.
        verdicts: The columns of the verdicts, joined by "+".
        kinds: A column for each column of the file that may say of what kind an item is, for the length of its two
            texts together (`LENGTH`), and for which is longer (`LONGER`), as text, by row of `rows`.
        decisions: What was decided without being asked, in sentences.
        unread: Columns without a role that hold lists, objects or free text.
        source: The file.
        files: As they were read; none for data handed over in memory.
        written: Columns system, item, text and prompt (null where it is not known): what each system wrote, once.
    """

    name: str
    rows: pl.DataFrame
    problems: pl.DataFrame
    n_read: int
    names_seats: bool
    named: bool
    knows_order: bool
    verdicts: str = ""
    kinds: pl.DataFrame = field(default_factory=pl.DataFrame)
    decisions: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    source: str = ""
    files: tuple[InputFile, ...] = ()
    written: pl.DataFrame = field(default_factory=pl.DataFrame)

    def __len__(self) -> int:
        return self.rows.height

    @property
    def judges(self) -> list[str]:
        """Their names, in the order of the file."""
        return self.rows["judge"].unique(maintain_order=True).to_list()

    @property
    def n_unused(self) -> int:
        """Verdicts that cannot be used."""
        return self.n_read - len(self)


class JudgedPairs:
    """See `Kind`; `read_judgments` reads them."""

    name: ClassVar[str] = "judgments"
    rows: ClassVar[str] = "judgments"
    wants: ClassVar[str] = "winner and order or judge, or score and people"
    roles: ClassVar[tuple[str, ...]] = (*dict.fromkeys((*JUDGMENT_ROLES, *SCORE_ROLES)), "ignore")
    aliases: ClassVar[Mapping[str, str]] = {}
    rank: ClassVar[int] = 3

    def recognize(self, table: Table, columns: Mapping[str, str]) -> Match | None:
        """As `Kind.recognize`, by the shapes of `judgment_shapes`; else scores by a judge and by people."""
        is_of_pairs = not columns.keys() - {*JUDGMENT_ROLES, "ignore"}
        shape = find_judgments(table.frame, columns) if is_of_pairs else None
        if shape is None:
            scored = find_judged_scores(table.frame, columns)
            return None if scored is None else self._of_scores(table, columns, scored)
        sides = shape.names or shape.texts or (None, None)
        covered = {*shape.covered, *aside(columns)}
        return Match(
            kind=self,
            strength=Strength.SHAPE,
            roles=joined(
                {
                    "seat" if shape.names_seats else "winner": shape.verdicts,
                    "order": shape.order,
                    "item": shape.item,
                    "judge": shape.judges,
                    "a": sides[0],
                    "b": sides[1],
                    "people": shape.people,
                    "group": shape.group,
                    "prompt": shape.prompt,
                    "probability": shape.probability,
                }
            ),
            core=frozenset(shape.verdicts),
            covered=frozenset(covered),
            unread=find_unread(table.frame, covered).columns,
            against=() if shape.unclear is None else (shape.unclear.problem,),
            found=shape,
        )

    def _of_scores(self, table: Table, columns: Mapping[str, str], shape: ScoreShape) -> Match:
        covered = {*shape.covered, *aside(columns)}
        return Match(
            kind=self,
            strength=Strength.SHAPE,
            roles=joined(
                {
                    "score": shape.scores,
                    "people": shape.people,
                    "item": shape.item,
                    "judge": shape.judge,
                    "system": shape.system,
                    "probability": shape.probability,
                }
            ),
            core=frozenset(shape.scores),
            covered=frozenset(covered),
            unread=find_unread(table.frame, covered).columns,
            found=shape,
        )


def read_judgments(
    table: Table, name: str, *, roles: Mapping[str, str] | None = None, source: str = ""
) -> Judgments | None:
    """The judgments of a table; None where its columns are of no shape that is known.

    Args:
        table: As it was read.
        name: What to call them.
        roles: The columns of `JUDGMENT_ROLES` whose names do not tell, and those to `ignore`.
        source: The file, for messages.

    Raises:
        InputError: A column that was named is not there, an order has three values, or no verdict can be used.
    """
    frame, named = name_fields(table.frame, roles)
    if named.keys() - {*JUDGMENT_ROLES, "ignore"}:
        return None
    for column in (each for value in named.values() for each in value.split("+")):
        if column not in frame.columns:
            listed = ", ".join(map(repr, frame.columns[:20]))
            raise InputError(f"there is no column {column!r}", file=source, mend=f"the columns are {listed}")
    ignored = aside(named)
    shape = find_judgments(frame, named)
    if shape is None:
        return None
    if shape.unclear is not None:
        raise InputError(shape.unclear.problem, file=source, mend=shape.unclear.mend)
    frame = with_ties(frame, named.get("tie"), shape.verdicts)
    read = _Reader(frame, shape, table, source)
    rows = read.rows()
    if not rows:
        if not shape.named and not read.found:
            return None
        why = max(read.found, key=lambda each: each[2] == NEITHER_SIDE)[2] if read.found else "there are no rows"
        raise InputError(
            f"no verdict can be used: {why}", file=source, column="+".join(shape.verdicts),
            mend=say_sides("+".join(shape.verdicts), read.values),
        )  # fmt: skip
    schema = {"row": pl.Int64, "item": pl.String, "judge": pl.String, "a": pl.String, "b": pl.String,
              "a_first": pl.Boolean, "win": pl.Float64, "otherwise": pl.Float64, "length": pl.Float64,
              "people": pl.Float64, "agreed": pl.Boolean, "group": pl.String}  # fmt: skip
    found = pl.DataFrame(rows, schema=schema, orient="row")
    if shape.probability is not None:
        lines = np.array([table.line_of(at) for at in range(frame.height)], dtype=np.int64)
        given = read_probabilities(frame, shape.probability, lines, source)
        found = found.with_columns(probability=pl.Series(given[read.used_rows]))
    problems = pl.DataFrame(
        [(row, item, reason, False) for row, item, reason in read.found],
        schema={"row": pl.Int64, "id": pl.String, "reason": pl.String, "used": pl.Boolean}, orient="row",
    )  # fmt: skip
    return Judgments(
        name=name,
        rows=found,
        kinds=_kinds(found, frame[read.used_rows], shape, read.sizes),
        problems=problems,
        n_read=frame.height * len(shape.verdicts),
        names_seats=shape.names_seats,
        named=shape.named or read.by_name,
        verdicts="+".join(shape.verdicts),
        knows_order=len(shape.verdicts) == 2 or shape.order is not None or bool(shape.names) or shape.shown,
        decisions=(*winner_said(table.frame, frame), *read.describe()),
        unread=named_unread(find_unread(frame, {*shape.covered, *ignored}), ()),
        source=source,
        files=table.files,
        written=_written(frame, shape),
    )


def _written(frame: pl.DataFrame, shape: JudgmentShape) -> pl.DataFrame:
    """What each system wrote; where nothing names systems, each column of texts is one."""
    if not shape.texts:
        return pl.DataFrame()
    names = shape.names if len(shape.names) == len(shape.texts) and not shape.seated else ()
    asked = shape.prompt or shape.item
    item = pl.Series(range(frame.height)) if asked is None else frame[asked]
    return pl.concat(
        pl.DataFrame(
            {
                "system": pl.Series([text] * frame.height) if not names else cell_texts(frame[names[at]]),
                "item": cell_texts(item),
                "text": cell_texts(frame[text]),
                "prompt": pl.Series([None] * frame.height, dtype=pl.String) if asked is None else cell_texts(item),
            }
        )
        for at, text in enumerate(shape.texts)
    ).unique(["system", "item"], keep="first", maintain_order=True)


def _kinds(
    rows: pl.DataFrame, given: pl.DataFrame, shape: JudgmentShape, sizes: Sequence[float | None]
) -> pl.DataFrame:
    """Columns of few values that may tell kinds of items apart, the halves of short and long texts, and who is longer.

    Args:
        rows: The verdicts that can be used.
        given: The file's row of each.
        shape: Which columns have a role.
        sizes: Length of the two texts of each together.
    """
    used = {*shape.covered} - {shape.group}
    found: dict[str, pl.Series] = {}
    for column in given.columns:
        values = given[column]
        if column in used or values.dtype.is_nested() or (column != shape.group and _SAID.search(normalized(column))):
            continue
        if column != shape.group and _follows_one(values, given, shape.verdicts):
            continue
        if 2 <= values.drop_nulls().n_unique() <= (values.len() if column == shape.group else _MOST_KINDS):
            found[column] = cell_texts(values)
    length = pl.Series(sizes, dtype=pl.Float64)
    middle = length.median()
    if middle is not None:
        # One half for all verdicts on a pair, whose texts may differ by a space.
        item = rows.select(length.alias("n")).with_columns(rows["item"]).select(pl.col("n").mean().over("item"))
        above = item.to_series() > middle
        if 0 < int(above.sum()) < above.len() - above.null_count():
            found[LENGTH] = pl.select(
                pl.when(above.is_null()).then(None).when(above).then(pl.lit(_LONG)).otherwise(pl.lit(_SHORT))
            ).to_series()
    pair = ["item", "judge", "a", "b"]
    apart = rows.select(pl.col("length").cast(pl.Float64).mean().over(pair)).to_series()
    if (apart > 0).any() and (apart < 0).any():
        names = rows.select(one=pl.col("a").fill_null("the first response"), other=pl.col("b").fill_null("the second"))
        longer = pl.when(apart > 0).then(pl.lit("first")).when(apart < 0).then(pl.lit("second"))
        named = pl.when(apart > 0).then(names["one"]).when(apart < 0).then(names["other"])
        # Of several pairs of systems all count together: the first is then that by name.
        found[LONGER] = pl.select(
            pl.format("pairs in which {} is longer", named)
            if names.n_unique() == 1
            else pl.format("pairs in which the {} system by name is longer", longer)
        ).to_series()
    in_both = rows.select(pl.col("a_first").n_unique().over(pair) > 1).to_series()
    kept = {
        name: values for name, values in found.items()
        if name == shape.group or _is_kept_in_both(rows.with_columns(kind=values).filter(in_both), pair)
    }  # fmt: skip
    return pl.DataFrame(kept)


def _is_kept_in_both(rows: pl.DataFrame, pair: Sequence[str]) -> bool:
    """Whether pairs that were judged in both orders are of one kind in both: else a verdict makes the kind."""
    alike = rows.select(pl.col("a_first").n_unique().over([*pair, "kind"]) > 1).to_series()
    return int(alike.sum()) >= _IN_BOTH * len(alike)


def _follows_one(values: pl.Series, given: pl.DataFrame, verdicts: Sequence[str]) -> bool:
    """Whether a column is the verdict in one order in other words, and not in the other order."""
    told = [
        given.select(verdict, kind=values).unique().height == values.n_unique() and given[verdict].n_unique() > 1
        for verdict in verdicts
    ]
    return sum(told) == 1 and len(told) == 2


class _Reader:
    """Reads a table row by row."""

    def __init__(self, frame: pl.DataFrame, shape: JudgmentShape, table: Table, source: str) -> None:
        self.frame, self.shape, self.table, self.source = frame, shape, table, source
        self.found: list[tuple[int, str, str]] = []
        self.copies: set[str] = set()
        self.guessed = ""
        self.used_rows: list[int] = []
        self.sizes: list[float | None] = []
        self.values = [value for column in shape.verdicts for value in frame[column].to_list()]
        self.read, _ = side_reader(self.values, shape.verdicts, source)
        self.by_name = self._are_names(self.values)
        # People write alike, whoever of them used which values.
        people = [value for column in shape.people for value in frame[column].to_list()]
        self.person, _ = side_reader(people, shape.people, source, zero_is_tie=zero_is_tie(frame.columns, shape.people))
        self.names_first = shape.order is not None and self._are_names(frame[shape.order].to_list())
        self.a_first = self._order()
        self.lengths = self._lengths()

    def _are_names(self, values: list[Any]) -> bool:
        """Whether verdicts are the sides' own names."""
        if not self.shape.names:
            return False
        known = {value for column in self.shape.names for value in self.frame[column].drop_nulls().to_list()}
        filled = [value for value in values if value is not None]
        return 2 * sum(value in known for value in filled) > len(filled)

    def _order(self) -> Callable[[Any], bool | None]:
        """How a value of the order column says whether side a was shown first.

        Raises:
            InputError: There are more than two values.
        """
        column = self.shape.order
        if column is None or self.names_first:
            return lambda _: True
        if self.frame[column].dtype.is_nested():
            raise InputError(
                "an order has two values, and this column holds lists or objects", file=self.source, column=column,
                mend="write original and swapped",
            )  # fmt: skip
        values = self.frame[column].drop_nulls().unique().sort().to_list()
        if len(values) > 2:
            shown = ", ".join(repr(value) for value in values[:3])
            raise InputError(
                f"an order has two values, and this column has {len(values)}: {shown}", file=self.source, column=column,
                mend="write original and swapped, or leave the rows of other orders out",
            )  # fmt: skip
        # A number or a word that nobody knows: the first in order is taken for as given.
        at = {value: place == 0 for place, value in enumerate(values)}
        told = [str(value).strip().casefold() for value in values]
        named = {"swapped", "reversed", "flipped", "swap"}
        turned = len(values) == 1 and (told[0] in _SWAPPED or (told[0] == "1" and any(
            part in named for part in column.casefold().split("_"))))  # fmt: skip
        if turned:
            at = {values[0]: False}
        if len(values) == 2 and told[0] in _SWAPPED and told[1] in _AS_GIVEN:
            at = {values[0]: False, values[1]: True}
        elif len(values) == 2 and not {*told} & {*_SWAPPED, *_AS_GIVEN, "0", "1", "2"}:
            self.guessed = (
                f"In {column!r} {values[0]!r} is taken for the order as given, and {values[1]!r} for swapped."
            )
        return at.get

    def rows(self) -> list[tuple[Any, ...]]:
        """One tuple a verdict that can be used."""
        shape, found = self.shape, []
        items = self._first_alike([self._item(at, row) for at, row in enumerate(self.frame.iter_rows(named=True))])
        for at, row in enumerate(self.frame.iter_rows(named=True)):
            line, item = self.table.line_of(at), items[at]
            group = None if shape.group is None else str(row[shape.group])
            judge = " / ".join(_named(row[each]) for each in shape.judges) or _ONE
            a, b = (row[each] for each in shape.names) if shape.names else (None, None)
            ends = tuple(_as_text(row[each]) for each in shape.texts) if shape.shown else (a, b)
            (length, size), (people, agreed) = self._length(at, row), self._people(row)
            for place, column in enumerate(shape.verdicts):
                a_first = place == 0 if len(shape.verdicts) == 2 else None
                if a_first is None:
                    shown = None if shape.order is None else row[shape.order]
                    a_first = (
                        None if shape.order and shown is None
                        else {a: True, b: False}.get(shown) if self.names_first
                        else self.a_first(shown)
                    )  # fmt: skip
                win = self._win(row[column], a, b, a_first=a_first)
                if isinstance(win, str) or a_first is None:
                    self.found.append((line, item, win if isinstance(win, str) else NO_ORDER))
                    continue
                if a is not None and a == b:
                    self.found.append((line, item, SAME_SIDE))
                    continue
                other = (
                    win
                    if self.by_name or (self.shape.order is None and len(shape.verdicts) == 1) or a_first
                    else 1 - win
                )
                self.used_rows.append(at)
                self.sizes.append(size)
                turned = None not in ends and str(ends[1]) < str(ends[0])
                # Of a pair of names the sides are always the same, whichever stands in the first column.
                found.append((
                    line, item, judge, *((b, a) if turned else (a, b)), a_first != turned, 1 - win if turned else win,
                    1 - other if turned else other,
                    None if length is None else -length if turned else length,
                    None if people is None else 1 - people if turned else people, agreed, group,
                ))  # fmt: skip
        return found

    def _item(self, at: int, row: dict[str, Any]) -> str:
        """What the row calls its item; items of two groups are two, whatever their ids."""
        shape = self.shape
        item = str(at) if shape.item is None or row[shape.item] is None else str(row[shape.item])
        return item if shape.group is None or row[shape.group] is None else f"{row[shape.group]}/{item}"

    def _first_alike(self, items: Sequence[str]) -> list[str]:
        """The first item of each row's two texts, as answers to its prompt: a copy under another id is no other item.

        Texts and prompts that are nearly the same count as the same, as those of items with choices do.
        """
        columns = self.shape.texts
        if not columns:
            return list(items)
        sides = [
            normalized_texts(pl.Series([None if each is None else _as_text(each) for each in self.frame[column]]))
            for column in columns
        ]
        prompt = self.shape.prompt
        asked = normalized_texts(
            pl.Series(["" if prompt is None or each is None else _as_text(each) for each in self.frame[prompt]])
            if prompt is not None else pl.Series([""] * len(items))
        )  # fmt: skip
        # Of short prompts a number is much: those that differ in numbers alone are told apart by their answers.
        codes = [_near(each) for each in (asked.str.replace_all(r"\d+", "0"), pl.concat(sides))]
        both = codes[1].reshape(2, -1)
        words = sum((each.str.count_matches(r"\S+") for each in sides), pl.Series([0] * len(items)))
        known: dict[tuple[int, int, int], str] = {}
        found = []
        for at, (item, n) in enumerate(zip(items, words.to_list(), strict=True)):
            if n is None or n < WORDS_OF_AN_ITEM:
                found.append(item)
                continue
            one, other = sorted((int(both[0, at]), int(both[1, at])))
            found.append(known.setdefault((int(codes[0][at]), one, other), item))
            if found[-1] != item:
                self.copies.add(item)
        return found

    def _win(self, value: Any, a: Any, b: Any, *, a_first: bool | None) -> float | str:
        """What side a gets of a verdict; why nothing, where it cannot be used."""
        if value is None or (isinstance(value, str) and not value.strip()) or value != value:
            return NO_VERDICT
        if self.by_name and value in (a, b):
            return float(value == a)
        side = self.read(value)
        if side is None:
            return NEITHER_SIDE
        if side == TIE:
            return 0.5
        won = side == FIRST
        if self.shape.names_seats and not self.by_name:
            won = won == bool(a_first)
        return float(won)

    def _lengths(self) -> list[list[float | None]]:
        """The columns of lengths; in files of text alone numbers are texts.

        Raises:
            InputError: A value is no number.
        """
        found = []
        for column in self.shape.lengths:
            values = self.frame[column].to_list()
            given = pl.Series(
                [str(each).strip() if each not in (None, "") else None for each in values], dtype=pl.String
            )
            numbers = given.cast(pl.Float64, strict=False)
            if (wrong := (given.is_not_null() & numbers.is_null()).arg_true()).len():
                raise InputError(
                    f"a length is a number, and {given[int(wrong[0])]!r} is none", file=self.source, column=column,
                    row=self.table.line_of(int(wrong[0])), mend="correct it, or give the column another name",
                )  # fmt: skip
            found.append(numbers.to_list())
        return found

    def _length(self, at: int, row: dict[str, Any]) -> tuple[float | None, float | None]:
        """log(length of a / length of b), in characters, and both lengths together."""
        if self.shape.lengths:
            one, other = (lengths[at] for lengths in self.lengths)
        elif self.shape.texts:
            one, other = (None if row[each] is None else len(_as_text(row[each])) for each in self.shape.texts)
        else:
            return None, None
        if one is None or other is None or not (0 < one < math.inf and 0 < other < math.inf):
            return None, None
        # Nobody knows which text is whose where names are those of the seats.
        return None if self.shape.seated else float(np.log(one) - np.log(other)), float(one + other)

    def _people(self, row: dict[str, Any]) -> tuple[float | None, bool | None]:
        """Which side most people prefer, as what side a gets, and whether all do."""
        sides = [self.person(row[each]) for each in self.shape.people]
        known = [side for side in sides if side is not None]
        if not known:
            return None, None
        most = max(known.count(side) for side in known)
        best = [side for side in dict.fromkeys(known) if known.count(side) == most]
        won = 0.5 if len(best) > 1 or best[0] == TIE else float(best[0] == FIRST)
        return won, most == len(known)

    def describe(self) -> list[str]:
        """What was decided, in sentences."""
        shape = self.shape
        columns = " and ".join(map(repr, shape.verdicts))
        what = "name sides by their names" if self.by_name else (
            "name seats: the first or the second that was shown" if shape.names_seats
            else "name sides, whichever was shown first"
        )  # fmt: skip
        found = [f"The verdicts in {columns} {what}."]
        if len(shape.verdicts) == 2:
            found.append(f"In {shape.verdicts[1]!r} the order is swapped.")
        if self.guessed:
            found.append(self.guessed)
        if shape.shown:
            found.append(f"The texts in {' and '.join(map(repr, shape.texts))} are taken to stand in the order shown.")
        if self.names_first:
            found.append(f"{shape.order!r} names the side that was shown first.")
        if self.copies:
            one = len(self.copies) == 1
            found.append(
                f"{count(len(self.copies))} item{'' if one else 's'} with the two texts of another one, or nearly, "
                f"count{'s' if one else ''} as that one."
            )
        if shape.judges:
            found.append(f"A judge is named by {' and '.join(map(repr, shape.judges))}.")
        return found


def _near(texts: pl.Series) -> NDArray[np.int64]:
    """A code for each text, the same for texts that are nearly the same; -1 where there is none."""
    distinct = texts.drop_nulls().unique(maintain_order=True)
    codes = texts.to_frame("text").join(
        distinct.to_frame("text").with_row_index("code"), on="text", how="left", maintain_order="left"
    )["code"].cast(pl.Int64).fill_null(-1).to_numpy()  # fmt: skip
    counts = np.bincount(codes[codes >= 0], minlength=len(distinct))
    nearest = join_near_copies(distinct.to_list(), counts)
    return np.where(codes >= 0, nearest[codes], -1) if len(distinct) else codes


def _named(value: Any) -> str:
    """A judge's name, which may be a list of its parts."""
    return " / ".join(map(str, value)) if isinstance(value, list) else str(value)


def _as_text(value: Any) -> str:
    value = parsed(value)
    if isinstance(value, list):
        return "\n".join(str(each.get("content", each)) if isinstance(each, dict) else str(each) for each in value)
    return str(value)
