"""Specimens of items, by kind, and their files.

Made-up judgments of pairs: judges that follow nothing but merit, or the seat, the length and their own model, too.

logit P(a wins) = seat s + length log(length of a / length of b) + own (a is the judge's - b is)
+ strength_a - strength_b, s being 1/2 where a is shown first and -1/2 where b is. Judges and people often share the
same draw of an item, so that they agree beyond what the strengths make them.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.files import written_together
from goldassay.data.specimen import choice_specimen, preference_specimen
from goldassay.data.specimen.item_specimen import ItemSpecimen, certified, check_size

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence


KIND = "judgments"
ORDERS = ("original", "swapped")
STRENGTHS = {"aspen-7b": 0.3, "birch-13b": 0.0, "cedar-30b": -0.2, "dogwood-70b": -0.1}
# How often a verdict is drawn from what the item alone says.
SHARE_SHARED = 0.8
# Standard deviation of the logarithm of a length.
LENGTH_SPREAD, USUAL_LENGTH = 0.5, 400

_HOW_CLEAN = (
    "Every verdict was drawn by the strengths of the two models alone, whatever was shown first and however long it is."
)
_HOW_FLAWED = "Every verdict was drawn by the strengths of the two models and by what the judge follows besides."
_REMARKS = {
    "judges": "seat, length and own are log odds: of the first seat, of a length e times as large, of the judge's own "
    "model. `position` is what the first seat adds to the win rate on average over these pairs, `position_realized` "
    "the mean difference of the two verdicts on an item counted in the file; `changed` the share of items whose "
    "verdict changes with the order, `accuracy` the share of verdicts that are the people's, both counted.",
}


@dataclass(frozen=True)
class Judge:
    """What a judge follows besides the strengths, in log odds."""

    name: str
    seat: float = 0.0
    length: float = 0.0
    own: float = 0.0


FLAWED = (Judge("elm-70b", seat=0.9), Judge("fir-8b", seat=-0.35, length=0.8), Judge("aspen-7b", own=0.7))
CLEAN = tuple(Judge(judge.name) for judge in FLAWED)


@dataclass(frozen=True, slots=True)
class _Pair:
    """An item: two models, how long their responses are, which people prefer (a: True), and the draw that all share."""

    a: str
    b: str
    length_a: int
    length_b: int
    people: bool
    draw: float

    def odds(self, judge: Judge, *, a_first: bool) -> float:
        """The log odds that a wins."""
        merit = STRENGTHS[self.a] - STRENGTHS[self.b]
        own = (self.a == judge.name) - (self.b == judge.name)
        longer = math.log(self.length_a / self.length_b)
        return merit + judge.seat * (0.5 if a_first else -0.5) + judge.length * longer + judge.own * own


def make_judgment_specimen(size: int, seed: int = 0, *, clean: bool = False) -> ItemSpecimen:
    """Make judgments of three judges in both orders: a row a verdict.

    Columns item, model_a, model_b, len_a, len_b (characters of the responses), order (original: model_a is shown
    first), judge, winner (a model's name) and human (model_a or model_b).

    Args:
        size: Items.
        seed: Another seed makes other items with the same flaws.
        clean: Judges follow nothing but the strengths.

    Raises:
        InputError: The size is too small or too large, or the seed is negative.
    """
    check_size(size, seed, KIND, clean=clean)
    rng = Random(f"goldassay specimen of judgments {seed}")
    judges = CLEAN if clean else FLAWED
    pairs = [_draw_pair(rng) for _ in range(size)]
    # Of each judge, of each item, whether a wins in each order.
    won = {judge.name: [_verdicts(rng, pair, judge) for pair in pairs] for judge in judges}
    width = len(str(size))
    rows = [
        (
            f"item-{number:0{width}}", pair.a, pair.b, pair.length_a, pair.length_b, order, judge.name,
            pair.a if wins else pair.b, "model_a" if pair.people else "model_b",
        )
        for number, pair in enumerate(pairs, start=1)
        for judge in judges
        for order, wins in zip(ORDERS, won[judge.name][number - 1], strict=True)
    ]  # fmt: skip
    names = ("item", "model_a", "model_b", "len_a", "len_b", "order", "judge", "winner", "human")
    certificate = certified(
        KIND, _HOW_CLEAN if clean else _HOW_FLAWED, size, seed, clean=clean,
        strengths=STRENGTHS,
        judges=[_certify(judge, pairs, won[judge.name]) for judge in judges],
        remarks=_REMARKS,
    )  # fmt: skip
    return ItemSpecimen(KIND, pl.DataFrame(rows, schema=names, orient="row"), certificate)


def _draw_pair(rng: Random) -> _Pair:
    a, b = rng.sample(tuple(STRENGTHS), 2)
    long_a, long_b = (max(1, round(USUAL_LENGTH * math.exp(rng.gauss(0.0, LENGTH_SPREAD)))) for _ in range(2))
    draw = rng.random()
    people = (draw if rng.random() < SHARE_SHARED else rng.random()) < _probability(STRENGTHS[a] - STRENGTHS[b])
    return _Pair(a, b, long_a, long_b, people, draw)


def _verdicts(rng: Random, pair: _Pair, judge: Judge) -> tuple[bool, bool]:
    """Whether a wins in each order."""
    found = [
        (pair.draw if rng.random() < SHARE_SHARED else rng.random()) < _probability(pair.odds(judge, a_first=a_first))
        for a_first in (True, False)
    ]
    return found[0], found[1]


def _probability(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))


def _certify(judge: Judge, pairs: Sequence[_Pair], won: Sequence[tuple[bool, bool]]) -> dict[str, Any]:
    n = len(pairs)
    added = [
        _probability(pair.odds(judge, a_first=True)) - _probability(pair.odds(judge, a_first=False)) for pair in pairs
    ]
    agreed = [wins == pair.people for pair, both in zip(pairs, won, strict=True) for wins in both]
    return {
        "judge": judge.name,
        "seat": judge.seat,
        "length": judge.length,
        "own": judge.own,
        "position": sum(added) / n,
        "position_realized": sum(int(one) - int(other) for one, other in won) / n,
        "changed": sum(one != other for one, other in won) / n,
        "accuracy": sum(agreed) / len(agreed),
    }


# Of fewer items with choices the readers of the question do not always find what is planted as a control.
USUAL_SIZE = 8000
_MAKERS = {
    choice_specimen.KIND: choice_specimen.make_choice_specimen,
    preference_specimen.KIND: preference_specimen.make_preference_specimen,
    KIND: make_judgment_specimen,
}
ITEM_KINDS = tuple(_MAKERS)


def make_item_specimen(kind: str, size: int = USUAL_SIZE, seed: int = 0, *, clean: bool = False) -> ItemSpecimen:
    """Make a specimen of items.

    Args:
        kind: One of `ITEM_KINDS`.
        size: Items; the 8,000 of the default are enough to call a clean specimen sound.
        seed: Another seed makes another specimen with the same flaws.
        clean: Plant no flaw.

    Raises:
        InputError: The size is too small for the flaws or too large to make, or the seed is negative.
    """
    return _MAKERS[kind](size, seed, clean=clean)


def write_item_specimen(
    directory: str | os.PathLike[str], kind: str, size: int = USUAL_SIZE, seed: int = 0, *, clean: bool = False
) -> list[Path]:
    """Write a specimen of items, named by its kind, and certificate.json, both or neither.

    The same arguments write the same bytes; see `make_item_specimen` for what they mean.

    Returns:
        The paths of the files.

    Raises:
        InputError: See `make_item_specimen`.
        OutputError: The folder cannot be written to.
    """
    specimen = make_item_specimen(kind, size, seed, clean=clean)
    names = (f"{specimen.name}.jsonl", "certificate.json")
    with written_together(directory) as aside:
        specimen.table.write_ndjson(aside / names[0])
        (aside / names[1]).write_text(json.dumps(specimen.certificate, indent=2) + "\n", encoding="utf-8")
    return [Path(directory) / name for name in names]
