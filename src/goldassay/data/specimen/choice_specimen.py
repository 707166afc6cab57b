"""A made-up multiple-choice benchmark: clean, or with flaws that its certificate lists.

Choices are drawn first, and the position of the right one without regard to them, see `scenes`: so that of a clean
specimen any rule that sees the choices alone, or the words that they share with the question, hits chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.data.specimen.item_specimen import (
    OPENINGS,
    SHARE_DEFECTIVE,
    ItemSpecimen,
    Phrase,
    certified,
    certified_pattern,
    certified_problems,
    certified_rules,
    check_size,
    deal,
    draw_scene,
    draw_tails,
    lengthen,
    plant_openings,
    worded,
)
from goldassay.data.specimen.rows import pick

if TYPE_CHECKING:
    from collections.abc import Callable

KIND = "choices"
N_CHOICES = 4
# In so many items the right choice is made the longest one, in characters and in words.
SHARE_LONGEST = 0.2
# The right choice stands in this place in more items than in any other.
FAVORED_PLACE, SHARE_FAVORED = 2, 0.325
# The first is a hedge: a rule without training sees it, too.
PHRASES = (Phrase("Usually", 0.92, 0.08), Phrase("Finally", 0.85, 0.06), Phrase("Ideally", 0.8, 0.06))
PHRASES_OF_RULES = {"hedge": PHRASES[0]}
DUPLICATE, RIGHT_TWICE, EMPTY, UNKNOWN_ANSWER, OTHER_ANSWER = (
    "duplicate choice", "right choice twice", "empty choice", "answer out of range", "same question, other answer",
)  # fmt: skip
# A position that no item has.
_BEYOND = 9
_ASKED = "Which of these may be true?"

_HOW_CLEAN = (
    "The choices of each item and the place of the right one were drawn first, the facts that the question tells "
    "afterwards, so that only the question and the choices together tell the answer."
)
_HOW_FLAWED = (
    "Clean items were drawn first. Of some the right choice was lengthened, of some an opening of a choice was "
    "replaced by one that gives away whether it is right, one place was favored, and some were damaged; all by exact "
    "quota."
)
_REMARKS = {
    "rules": "`planted` is the effect that the quotas give on average, `effect` the one counted in the file: "
    "sum(h - p) / sum(1 - p), h the share of the picked choices that is right, p one in the number of choices; an item "
    "of which all or no choices are picked counts as p. Items whose answer is out of range are left out.",
    "patterns": "`probability` is the planted share of right ones among the choices that begin with the word, "
    "`probability_realized` the one counted, `support` these choices.",
    "problems": "Items that cannot be right, by their ids; `of` is the item that a copy with another answer is of.",
    "sequels": "Words of a longer choice are more frequent in right ones; openings that say nothing are a bit rarer.",
}


@dataclass(slots=True)
class _Item:
    question: str
    subject: str
    choices: list[str]
    answer: int
    problem: str = ""
    of: int = -1


def make_choice_specimen(size: int, seed: int = 0, *, clean: bool = False) -> ItemSpecimen:
    """Make items of four choices: columns id, subject, question, choices and answer, a position from 0.

    Args:
        size: Items.
        seed: Another seed makes other items with the same flaws.
        clean: Plant no flaw.

    Raises:
        InputError: The size is too small or too large, or the seed is negative.
    """
    check_size(size, seed, KIND, clean=clean)
    rng = Random(f"goldassay specimen of choices {seed}")
    items = _drawn(rng, size, clean=clean)
    if not clean:
        _damage(rng, items, size)
    width = len(str(size))
    table = pl.DataFrame(
        {
            "id": [f"item-{number:0{width}}" for number in range(1, size + 1)],
            "subject": [item.subject for item in items],
            "question": [item.question for item in items],
            "choices": [item.choices for item in items],
            "answer": [item.answer for item in items],
        }
    )
    return ItemSpecimen(KIND, table, _certify(items, table["id"].to_list(), size, seed, clean=clean))


def _drawn(rng: Random, size: int, *, clean: bool) -> list[_Item]:
    """Items with their planted openings and lengths; places of the right choice by quota."""
    favored = 1 / N_CHOICES if clean else SHARE_FAVORED
    places = [FAVORED_PLACE] * round(favored * size)
    rest = [place for place in range(N_CHOICES) if place != FAVORED_PLACE]
    places += [rest[at % len(rest)] for at in range(size - len(places))]
    rng.shuffle(places)
    openings: dict[int, tuple[str, bool]] = {}
    longest: set[int] = set()
    if not clean:
        longest_ones, *others = deal(rng, size, [SHARE_LONGEST, *(phrase.share for phrase in PHRASES)])
        longest, openings = set(longest_ones), plant_openings(PHRASES, others)
    items = []
    for number, place in enumerate(places):
        scene = draw_scene(rng, N_CHOICES, place)
        opened = [pick(rng, OPENINGS) for _ in scene.claims]
        if number in openings:
            opening, is_right = openings[number]
            opened[place if is_right else (place + 1 + int(rng.random() * (N_CHOICES - 1))) % N_CHOICES] = opening
        last = [draw_tails(rng) for _ in scene.claims]
        if number in longest:
            lengthen(rng, scene.claims, last, place)
        choices = [worded(*parts) for parts in zip(opened, scene.claims, last, strict=True)]
        items.append(_Item(f"{scene.facts} {_ASKED}", scene.topic, choices, place))
    return items


def _damage(rng: Random, items: list[_Item], size: int) -> None:
    """Make a few items impossible, each in one way; those in which nothing was planted."""
    plain = [
        number
        for number, item in enumerate(items)
        if all(text.split(",")[0] in OPENINGS for text in item.choices)
        and max(map(len, item.choices)) != len(item.choices[item.answer])
    ]
    rng.shuffle(plain)
    for _ in range(max(3, round(SHARE_DEFECTIVE * size))):
        numbers = [plain.pop() for _ in range(6)]
        for number, problem in zip(numbers, (DUPLICATE, RIGHT_TWICE, EMPTY, UNKNOWN_ANSWER), strict=False):
            item = items[number]
            item.problem = problem
            wrong = [place for place in range(N_CHOICES) if place != item.answer]
            if problem == UNKNOWN_ANSWER:
                item.answer = _BEYOND
            else:
                item.choices[wrong[0]] = {
                    DUPLICATE: item.choices[wrong[1]], RIGHT_TWICE: item.choices[item.answer], EMPTY: "",
                }[problem]  # fmt: skip
        original, copy = numbers[4:]
        answer = (items[original].answer + 1) % N_CHOICES
        own = items[original]
        items[copy] = _Item(own.question, own.subject, list(own.choices), answer, OTHER_ANSWER, original)


def _certify(items: list[_Item], ids: list[str], size: int, seed: int, *, clean: bool) -> dict[str, Any]:
    usable = [item for item in items if item.answer < N_CHOICES]
    right = [[place == item.answer for place in range(N_CHOICES)] for item in usable]

    def most(measure: Callable[[str], int]) -> list[list[bool]]:
        return [[measure(text) == max(map(measure, item.choices)) for text in item.choices] for item in usable]

    hedge = PHRASES_OF_RULES["hedge"]
    chance = 1 / N_CHOICES
    picked = {
        "longest": (SHARE_LONGEST, most(len)),
        "most words": (SHARE_LONGEST, most(lambda text: len(text.split()))),
        f"position {FAVORED_PLACE + 1}": (
            (SHARE_FAVORED - chance) / (1 - chance),
            [[place == FAVORED_PLACE for place in range(N_CHOICES)] for _ in usable],
        ),
        "hedge": (
            hedge.share * (hedge.probability - chance) / (1 - chance),
            [[text.startswith(hedge.opening) for text in item.choices] for item in usable],
        ),
    }
    if clean:
        # Nothing hedges, and no rule gains anything but by chance.
        picked.pop("hedge")
    return certified(
        KIND, _HOW_CLEAN if clean else _HOW_FLAWED, size, seed, clean=clean,
        n_choices=N_CHOICES,
        answers=[sum(item.answer == place for item in items) for place in range(N_CHOICES)],
        rules=certified_rules(picked, right, clean=clean),
        patterns=[] if clean else [_pattern(phrase, usable) for phrase in PHRASES],
        problems=certified_problems(items, ids),
        remarks=_REMARKS,
    )  # fmt: skip


def _pattern(phrase: Phrase, items: list[_Item]) -> dict[str, Any]:
    found = [
        place == item.answer
        for item in items
        for place, text in enumerate(item.choices)
        if text.startswith(phrase.opening)
    ]
    return certified_pattern(phrase, sum(found), len(found))
