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

from goldassay.data.column_names import normalized

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# What a user may name; two verdict columns, one for each order, are joined by "+", and so are lengths and people.
JUDGMENT_ROLES = ("item", "judge", "a", "b", "order", "winner", "seat", "people", "group")

# Verdicts that name a side, and those that name a seat.
_SIDES = ("winner", "preferred", "preference", "better")
_SEATS = ("verdict", "decision", "judgment", "judgement", "vote", "choice", "seat")
_BOTH = (("unswapped", "swapped"), ("original", "swapped"), ("original", "reversed"), ("normal", "reversed"),
         ("normal", "swapped"), ("forward", "backward"), ("ab", "ba"), ("1", "2"), ("first", "second"),
         ("order1", "order2"), ("order_1", "order_2"))  # fmt: skip
_ORDERS = ("order", "swapped", "is_swapped", "swap", "flipped", "reversed", "presentation_order", "position",
           "shown_first", "first_shown")  # fmt: skip
_JUDGES = ("judge", "judge_name", "judge_model", "evaluator", "annotator", "grader", "rater", "strategy")
_ITEMS = ("item", "item_id", "question_id", "pair_id", "prompt_id", "instance_id", "instance", "question", "prompt",
          "instruction", "id", "idx")  # fmt: skip
_PROMPTS = ("question", "prompt", "instruction", "input", "query")
_PAIRS = (("a", "b"), ("model_a", "model_b"), ("model_1", "model_2"), ("generator_1", "generator_2"),
          ("system_a", "system_b"), ("assistant_a", "assistant_b"), ("response_a", "response_b"),
          ("output_1", "output_2"), ("answer_a", "answer_b"), ("response_1", "response_2"),
          ("conversation_a", "conversation_b"))  # fmt: skip
_LENGTHS = (("len_a", "len_b"), ("length_a", "length_b"), ("len_1", "len_2"), ("length_1", "length_2"))
_PEOPLE = ("human", "human_label", "human_winner", "human_verdict", "human_preference", "gold", "gold_label", "label")
_ANNOTATORS = re.compile(r"^(?:annotator|rater|human)_?\d+$")
_GROUPS = ("subset", "category", "source", "section", "domain", "task", "dataset")
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

    @property
    def covered(self) -> tuple[str, ...]:
        """All columns that it reads."""
        single = tuple(each for each in (self.order, self.item, self.group, self.prompt) if each)
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
    order = named.get("order") or _first(by_name, _ORDERS, verdicts)
    used = [*verdicts, *([order] if order else [])]
    judges = tuple(named["judge"].split("+")) if "judge" in named else tuple(
        by_name[name] for name in _JUDGES if name in by_name and by_name[name] not in used
    )  # fmt: skip
    names, texts = _pair(frame, by_name, named)
    asked = named.keys() & {"winner", "seat"}
    if len(verdicts) == 1 and not asked and not (order and (judges or names or texts)) and not (judges and names):
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
        prompt=_first(by_name, _PROMPTS, [*used, *people, *(each for each in (item, group) if each)]),
    )


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
