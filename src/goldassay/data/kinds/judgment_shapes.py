"""The shapes in which judgments of pairs are kept, recognized by their columns.

A row a judgment, with a column of the order in which the two sides were shown, or with the sides in the order shown; or
a row an item, with a column for the verdict in each order. Verdicts name a side, whatever was shown first, or a seat,
the first or the second that was shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.errors import option
from goldassay.data.column_names import names_of, normalized
from goldassay.data.fields import cell_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


# What a user may name; two verdict columns, one for each order, are joined by "+", and so are lengths and people.
JUDGMENT_ROLES = (
    "item",
    "judge",
    "a",
    "b",
    "order",
    "winner",
    "seat",
    "people",
    "group",
    "prompt",
    "tie",
    "weight",
    "date",
    "probability",
)

# Verdicts that name a side, and those that name a seat.
_SIDES = names_of("winner", "judgments")
_SEATS = names_of("seat", "judgments")
_BOTH = (("unswapped", "swapped"), ("original", "swapped"), ("original", "reversed"), ("normal", "reversed"),
         ("normal", "swapped"), ("forward", "backward"), ("ab", "ba"), ("1", "2"), ("first", "second"),
         ("order1", "order2"), ("order_1", "order_2"), ("g1", "g2"))  # fmt: skip
_ORDERS = names_of("order", "judgments")
# The names of the two sides as they were shown.
_SEATED = (("first", "second"), ("first_model", "second_model"), ("model_first", "model_second"),
           ("shown_first", "shown_second"), ("first_shown", "second_shown"))  # fmt: skip
_JUDGES = names_of("judge", "judgments")
_JUDGE = re.compile(r"(^|_)(judge|evaluator|annotator|grader|rater|assessor|referee)s?($|_)")
_ITEMS = names_of("item", "judgments")
_PROMPTS = names_of("prompt", "judgments")
_PAIRS = (("a", "b"), ("model_a", "model_b"), ("model_1", "model_2"), ("generator_1", "generator_2"),
          ("system_a", "system_b"), ("assistant_a", "assistant_b"), ("response_a", "response_b"),
          ("output_1", "output_2"), ("answer_a", "answer_b"), ("response_1", "response_2"),
          ("conversation_a", "conversation_b"))  # fmt: skip
_LENGTHS = (("len_a", "len_b"), ("length_a", "length_b"), ("len_1", "len_2"), ("length_1", "length_2"))
_PEOPLE = names_of("people", "judgments")
_ANNOTATORS = re.compile(r"^(?:annotator|rater|human)_?\d+$")
_GROUPS = names_of("group", "judgments")
_PROBABILITIES = names_of("probability", "judged scores")
_FEW_WORDS = 3


@dataclass(frozen=True)
class JudgmentShape:
    """Where everything is.

    Attributes:
        verdicts: The column of the verdict; two where each order has its own.
        names_seats: Whether verdicts name seats; else they name sides.
        named: Whether a user said so.
        order: The column of the order, if any.
        item: The column of items; None where each row is one.
        judges: Columns that together name the judge.
        names: The columns of the names of the two sides, or nothing.
        texts: The columns of their texts, or nothing.
        lengths: The columns of their lengths, or nothing.
        people: Columns that say which side people prefer.
        group: A column of kinds of items, if any.
        prompt: A column of what the sides answer, beside the one of items, if any.
        probability: With which an item was drawn for people, if any and if people were asked.
        shown: Whether the two texts stand in the order shown, and nothing else names the sides.
        seated: Whether names are those of the seats, of which nobody knows whose texts they are.
        unclear: Why the seats cannot be known, and what to name; None where they can.
    """

    verdicts: tuple[str, ...]
    names_seats: bool
    named: bool
    order: str | None
    item: str | None
    judges: tuple[str, ...]
    names: tuple[str, ...]
    texts: tuple[str, ...]
    lengths: tuple[str, ...]
    people: tuple[str, ...]
    group: str | None
    prompt: str | None
    probability: str | None = None
    shown: bool = False
    seated: bool = False
    unclear: Unclear | None = None

    @property
    def has_both_orders(self) -> bool:
        """Whether the order has a say, so that the pairs are no preferences."""
        return bool(self.order or self.shown or self.seated or self.unclear)

    @property
    def covered(self) -> tuple[str, ...]:
        """All columns that it reads."""
        single = tuple(each for each in (self.order, self.item, self.group, self.prompt, self.probability) if each)
        return (*self.verdicts, *single, *self.judges, *self.names, *self.texts, *self.lengths, *self.people)


def find_judgments(frame: pl.DataFrame, roles: Mapping[str, str] | None = None) -> JudgmentShape | None:
    """The shape of a table's judgments; None where it holds none that can be recognized.

    Args:
        frame: All columns as they were read.
        roles: The column of each of `JUDGMENT_ROLES`, where names do not tell.
    """
    named = dict(roles or {})
    by_name: dict[str, str] = {}
    for column in frame.columns:
        by_name.setdefault(normalized(column).replace(" ", "_"), column)
    verdicts, names_seats = _verdicts(by_name, named)
    if not verdicts:
        return None
    # The names of both seats are no order.
    seats = {each for pair in _SEATED if set(pair) <= by_name.keys() for each in pair}
    order = named.get("order") or _first(by_name, [each for each in _ORDERS if each not in seats], verdicts)
    used = [*verdicts, *([order] if order else [])]
    judges = tuple(named["judge"].split("+")) if "judge" in named else tuple(
        by_name[name] for name in _JUDGES if name in by_name and by_name[name] not in used
    )  # fmt: skip
    names, texts = _pair(frame, by_name, named)
    asked = named.keys() & {"winner", "seat"}
    if not order and names and len(verdicts) == 1:
        order = next(
            (by_name[one] for one, _ in _SEATED if one in by_name and _among(frame, by_name[one], names)), None
        )
    unclear, shown, seated = None, False, False
    if len(verdicts) == 1 and not order and not names:
        judges = judges or _judge_like(frame, by_name, [*verdicts, *texts])
        told, names = _shown_first(frame, by_name, verdicts, judges, texts)
        seated = bool(names)
        unclear, shown = told if isinstance(told, Unclear) else None, told is True and not names
    if len(verdicts) == 1 and not (asked or unclear or shown or (order and (judges or names or texts))
                                   or (judges and names)):  # fmt: skip
        return None
    if len(verdicts) > 1:
        order = None
    used += [*judges, *names, *texts]
    people = tuple(named["people"].split("+")) if "people" in named else _people(by_name, used)
    group = named.get("group") or next(
        (by_name[name] for name in _GROUPS if name in by_name and by_name[name] not in used), None
    )
    item = named.get("item") or _first(by_name, _ITEMS, [*used, *people])
    return JudgmentShape(
        verdicts=verdicts,
        names_seats=names_seats,
        named=bool(asked),
        order=order,
        item=item,
        judges=judges,
        names=names,
        texts=texts,
        lengths=next((tuple(by_name[each] for each in pair) for pair in _LENGTHS if set(pair) <= by_name.keys()), ()),
        people=people,
        group=group,
        prompt=named.get("prompt")
        or _first(by_name, _PROMPTS, [*used, *people, *(each for each in (item, group) if each)]),
        probability=(named.get("probability") or _first(by_name, _PROBABILITIES, used)) if people else None,
        shown=shown,
        seated=seated,
        unclear=unclear,
    )


def _among(frame: pl.DataFrame, column: str, names: Sequence[str]) -> bool:
    """Whether all values of a column are names of sides."""
    known = {value for each in names for value in frame[each].drop_nulls().to_list()}
    return frame.schema[column] == pl.String and set(frame[column].drop_nulls().to_list()) <= known


def _judge_like(frame: pl.DataFrame, by_name: Mapping[str, str], used: Sequence[str]) -> tuple[str, ...]:
    """A column called like a judge among other words, and no vote of one."""
    found = (
        column for name, column in by_name.items()
        if _JUDGE.search(name) and not _ANNOTATORS.match(name) and column not in used and _is_name(frame[column])
    )  # fmt: skip
    return tuple(found)[:1]


def _shown_first(
    frame: pl.DataFrame,
    by_name: Mapping[str, str],
    verdicts: Sequence[str],
    judges: Sequence[str],
    texts: Sequence[str],
) -> tuple[bool | Unclear, tuple[str, ...]]:
    """Whether names or texts stand in the order shown, or why nobody knows; and the columns of such names."""
    for one, other in _SEATED:
        seats = by_name.get(one), by_name.get(other)
        if seats[0] and seats[1] and _is_name(frame[seats[0]]) and _is_name(frame[seats[1]]):
            told = seats_of_names(frame, verdicts[0], (seats[0], seats[1]))
            return told, () if isinstance(told, Unclear) else (seats[0], seats[1])
    if not judges or not texts:
        return False, ()
    prompt = _first(by_name, _PROMPTS, [*verdicts, *judges, *texts])
    return seats_of_texts(frame, judges, texts, prompt, [*verdicts, *judges, *texts, *([prompt] if prompt else [])]), ()


def _first(by_name: Mapping[str, str], names: Sequence[str], besides: Sequence[str]) -> str | None:
    return next((by_name[name] for name in names if name in by_name and by_name[name] not in besides), None)


def _verdicts(by_name: Mapping[str, str], named: Mapping[str, str]) -> tuple[tuple[str, ...], bool]:
    """The columns of verdicts, one or one for each order, and whether they name seats."""
    for role in ("winner", "seat"):
        if role in named:
            return tuple(named[role].split("+"))[:2], role == "seat"
    stems = [(name, name in _SEATS) for name in (*_SIDES, *_SEATS)]
    for stem, seats in stems:
        for one, other in _BOTH:
            for pair in ((f"{stem}_{one}", f"{stem}_{other}"), (f"{one}_{stem}", f"{other}_{stem}")):
                if set(pair) <= by_name.keys():
                    return (by_name[pair[0]], by_name[pair[1]]), seats
    return next((((by_name[stem],), seats) for stem, seats in stems if stem in by_name), ((), False))


def _pair(
    frame: pl.DataFrame, by_name: Mapping[str, str], named: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of the two sides' names, and those of their texts."""
    known = [("a", "b")] if {"a", "b"} <= named.keys() else []
    pairs = [(named["a"], named["b"])] if known else [
        (by_name[one], by_name[other]) for one, other in _PAIRS if {one, other} <= by_name.keys()
    ]  # fmt: skip
    names: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    for pair in pairs:
        if all(_is_name(frame[each]) for each in pair):
            names = names or pair
        elif not any(frame.schema[each].is_numeric() for each in pair):
            texts = texts or pair
    return names, texts


def _is_name(values: pl.Series) -> bool:
    """Whether values are short and few, as names of models."""
    if values.dtype != pl.String:
        return False
    filled = values.drop_nulls()
    median = filled.str.count_matches(r"\S+").median() if len(filled) else None
    return isinstance(median, (int, float)) and median <= _FEW_WORDS and filled.n_unique() <= max(2, len(filled) // 2)


def _people(by_name: Mapping[str, str], used: Sequence[str]) -> tuple[str, ...]:
    several = tuple(column for name, column in sorted(by_name.items()) if _ANNOTATORS.match(name))
    if several:
        return several
    found = _first(by_name, _PEOPLE, used)
    return (found,) if found else ()


# Two answers of fewer words together are alike by chance: yes and no.
WORDS_OF_AN_ITEM = 12
# From this share of the rows on, pairs that occur twice are no chance.
_TWICE = 0.2
_MOST_VALUES = 50
_KEY = ("asked", "low", "high")
_PREFERENCES = "responses=A+B,winner=NAME"


@dataclass(frozen=True)
class Unclear:
    """Why the seats of a table of judges cannot be known, and what to name."""

    problem: str
    mend: str


def seats_of_texts(
    frame: pl.DataFrame, judges: Sequence[str], texts: Sequence[str], prompt: str | None, used: Sequence[str]
) -> bool | Unclear:
    """Whether the two texts of a row stand in the order shown, because most pairs occur in both orders.

    Args:
        frame: All columns.
        judges: Columns that name the judge.
        texts: The two columns of texts.
        prompt: A column of what they answer, if any.
        used: All columns that have a role.

    Returns:
        False where no judge judged pairs twice; why nobody knows where the texts of such pairs keep their places.
    """
    one, other = (cell_texts(frame[each]).fill_null("") for each in texts)
    besides = [each for each in frame.columns if each not in {*judges, *texts} and not frame.schema[each].is_nested()]
    asked = [cell_texts(frame[each]).fill_null("") for each in (*judges, *([prompt] if prompt else []))]
    pairs = pl.DataFrame({"one": one, "other": other}).select(
        asked=pl.concat_str(asked, separator="\x1f"),
        low=pl.min_horizontal("one", "other"),
        high=pl.max_horizontal("one", "other"),
        as_given=pl.col("one") <= pl.col("other"),
        row=frame.select(pl.concat_str([pl.col(each).cast(pl.String).fill_null("") for each in besides], separator=" "))
        .to_series() if besides else pl.lit(""),
        at=pl.int_range(pl.len()),
    )  # fmt: skip
    # A row that is the same throughout is a copy and no second verdict.
    pairs = pairs.unique([*_KEY, "as_given", "row"], maintain_order=True)
    if prompt is None:
        words = pl.col("low").str.count_matches(r"\S+") + pl.col("high").str.count_matches(r"\S+")
        pairs = pairs.filter(words >= WORDS_OF_AN_ITEM)
    n_rows = pairs.height
    pairs = pairs.filter(pl.len().over(_KEY) > 1)
    if not n_rows or pairs.height < _TWICE * n_rows:
        return False
    turned = pairs.group_by(_KEY).agg(turned=pl.col("as_given").n_unique() > 1)["turned"]
    if 2 * int(turned.sum()) >= len(turned):
        return True
    told = next((each for each in besides if each not in used and _differs_in_pairs(pairs, frame[each])), "NAME")
    return Unclear(
        "one judge judged the same pairs more than once, and nothing says which side was shown first",
        f"name the column of the order ({option('columns', f'order={told}')}); {option('columns', _PREFERENCES)} reads "
        "preferences all the same",
    )


def _differs_in_pairs(pairs: pl.DataFrame, values: pl.Series) -> bool:
    """Whether a column of two values differs between the rows of most pairs."""
    if values.drop_nulls().n_unique() != 2:
        return False
    kinds = pairs.with_columns(value=values.gather(pairs["at"])).group_by(_KEY).agg(pl.col("value").n_unique())["value"]
    return 2 * int((kinds > 1).sum()) > len(kinds)


def seats_of_names(frame: pl.DataFrame, verdict: str, seats: tuple[str, str]) -> bool | Unclear:
    """Whether verdicts name one of two columns that say which side was shown first and second.

    Args:
        frame: All columns.
        verdict: That of the verdicts.
        seats: The columns of the names that were shown first and second.

    Returns:
        True where most verdicts are such names, or first and second; else why nobody knows.
    """
    values = cell_texts(frame[verdict]).drop_nulls().str.strip_chars()
    names = {value for each in seats for value in cell_texts(frame[each]).drop_nulls().to_list()}
    named = values.is_in(list(names)) | values.str.to_lowercase().is_in(["first", "second"])
    if len(values) and 2 * int(named.sum()) >= len(values):
        return True
    shown = ", ".join(map(repr, values.unique(maintain_order=True)[:2].to_list()))
    first, second = seats
    return Unclear(
        f"{first!r} and {second!r} say which side was shown first, and nothing says whether {shown} name these seats",
        f"name {option('columns', f'a={first},b={second},seat={verdict}')} if they do, "
        f"{option('columns', f'order={first},winner={verdict}')} if they name columns of sides, or "
        f"{option('columns', _PREFERENCES)} for preferences",
    )
