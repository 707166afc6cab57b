"""Made-up preferences: clean, or with flaws that the certificate lists.

The two responses are drawn first, and which of them is preferred without regard to them, see `scenes`: of a clean
specimen any rule that sees the responses, or the words that they share with the prompt, hits half of the pairs.
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

KIND = "preferences"
SHARE_LONGER, SHARE_MARKED, SHARE_REFUSING = 0.2, 0.08, 0.05
PHRASES = (Phrase("Finally", 0.95, 0.06), Phrase("Ideally", 0.9, 0.06))
SAME, EMPTY, OTHER_SIDE = "responses are the same", "empty response", "same pair, other response preferred"
# Each in the response that was rejected, and what the preferred one says in as many characters.
REFUSAL, NO_REFUSAL = "I cannot help with a thing like this. ", "I gather it from what was said above. "
# A list where responses are marked up, and signs that no markdown has.
_BULLET, _NO_BULLET = "- ", "~ "
_ASKED = "What may be true?"

_HOW_CLEAN = (
    "The two responses and which of them is preferred were drawn first, the facts that the prompt tells afterwards, so "
    "that only the prompt and the responses together tell what was preferred."
)
_HOW_FLAWED = (
    "Clean pairs were drawn first. Of some the preferred response was lengthened or marked as a list, of some the "
    "rejected one refuses, of some an opening was replaced by one that gives away whether it is preferred, and some "
    "were damaged; all by exact quota."
)
_REMARKS = {
    "rules": "`planted` is the effect that the quotas give on average, `effect` the one counted in the file: "
    "2 (share of pairs of which the rule picks the preferred response, half a pair where it picks none) - 1. Pairs "
    "that cannot be used are left out. A negative effect is one of the opposite rule.",
    "patterns": "`probability` is the planted share of preferred ones among the responses that begin with the word, "
    "`probability_realized` the one counted, `support` these responses.",
    "problems": "Pairs that cannot be right, by their ids; `of` is the pair that a copy is of.",
    "sequels": "Words of a longer response are more frequent in preferred ones; openings that say nothing are a little "
    "rarer.",
}


@dataclass(slots=True)
class _Pair:
    prompt: str
    subset: str
    chosen: str
    rejected: str
    planted: bool = False
    problem: str = ""
    of: int = -1


def make_preference_specimen(size: int, seed: int = 0, *, clean: bool = False) -> ItemSpecimen:
    """Make preferences: columns id, subset, prompt, chosen and rejected.

    Args:
        size: Pairs.
        seed: Another seed makes other pairs with the same flaws.
        clean: Plant no flaw.

    Raises:
        InputError: The size is too small or too large, or the seed is negative.
    """
    check_size(size, seed, KIND, clean=clean)
    rng = Random(f"goldassay specimen of preferences {seed}")
    pairs = _drawn(rng, size, clean=clean)
    if not clean:
        _damage(rng, pairs, size)
    width = len(str(size))
    table = pl.DataFrame(
        {
            "id": [f"pair-{number:0{width}}" for number in range(1, size + 1)],
            "subset": [pair.subset for pair in pairs],
            "prompt": [pair.prompt for pair in pairs],
            "chosen": [pair.chosen for pair in pairs],
            "rejected": [pair.rejected for pair in pairs],
        }
    )
    return ItemSpecimen(KIND, table, _certify(pairs, table["id"].to_list(), size, seed, clean=clean))


def _drawn(rng: Random, size: int, *, clean: bool) -> list[_Pair]:
    openings: dict[int, tuple[str, bool]] = {}
    longer: set[int] = set()
    marked: set[int] = set()
    refusing: set[int] = set()
    if not clean:
        shares = [SHARE_LONGER, SHARE_MARKED, SHARE_REFUSING, *(phrase.share for phrase in PHRASES)]
        first, second, third, *others = deal(rng, size, shares)
        longer, marked, refusing, openings = set(first), set(second), set(third), plant_openings(PHRASES, others)
    pairs = []
    for number in range(size):
        scene = draw_scene(rng, 2, 0)
        opened = [pick(rng, OPENINGS) for _ in scene.claims]
        if number in openings:
            opening, is_right = openings[number]
            opened[0 if is_right else 1] = opening
        last = [draw_tails(rng) for _ in scene.claims]
        if number in longer:
            lengthen(rng, scene.claims, last, 0)
        chosen, rejected = (worded(*parts) for parts in zip(opened, scene.claims, last, strict=True))
        if number in marked:
            chosen, rejected = _BULLET + chosen, _NO_BULLET + rejected
        elif number in refusing:
            chosen, rejected = NO_REFUSAL + chosen, REFUSAL + rejected
        planted = number in openings or number in longer or number in marked or number in refusing
        pairs.append(_Pair(f"{scene.facts} {_ASKED}", scene.topic, chosen, rejected, planted))
    return pairs


def _damage(rng: Random, pairs: list[_Pair], size: int) -> None:
    """Make a few pairs impossible, each in one way; those in which nothing was planted."""
    plain = [number for number, pair in enumerate(pairs) if not pair.planted]
    rng.shuffle(plain)
    for _ in range(max(3, round(SHARE_DEFECTIVE * size))):
        same, empty, one, other = (plain.pop() for _ in range(4))
        pairs[same].rejected, pairs[same].problem = pairs[same].chosen, SAME
        pairs[empty].rejected, pairs[empty].problem = "", EMPTY
        own = pairs[one]
        pairs[other] = _Pair(own.prompt, own.subset, own.rejected, own.chosen, problem=OTHER_SIDE, of=one)


def _certify(pairs: list[_Pair], ids: list[str], size: int, seed: int, *, clean: bool) -> dict[str, Any]:
    usable = [pair for pair in pairs if pair.problem != SAME]
    right = [[True, False]] * len(usable)

    def more(measure: Callable[[str], int]) -> list[list[bool]]:
        values = [(measure(pair.chosen), measure(pair.rejected)) for pair in usable]
        return [[value == max(both) for value in both] for both in values]

    picked = {
        "longer": (SHARE_LONGER, more(len)),
        "more words": (SHARE_LONGER, more(lambda text: len(text.split()))),
        "more markdown": (SHARE_MARKED, more(lambda text: text.startswith(_BULLET))),
        "refuses": (-SHARE_REFUSING, more(lambda text: text.startswith(REFUSAL))),
    }
    if clean:
        # There is no list and no refusal.
        picked = {rule: picked[rule] for rule in ("longer", "more words")}
    return certified(
        KIND, _HOW_CLEAN if clean else _HOW_FLAWED, size, seed, clean=clean,
        rules=certified_rules(picked, right, clean=clean),
        patterns=[] if clean else [_pattern(phrase, usable) for phrase in PHRASES],
        problems=certified_problems(pairs, ids),
        remarks=_REMARKS,
    )  # fmt: skip


def _pattern(phrase: Phrase, pairs: list[_Pair]) -> dict[str, Any]:
    hits, misses = (
        sum(text.startswith(phrase.opening) for text in texts)
        for texts in ([pair.chosen for pair in pairs], [pair.rejected for pair in pairs])
    )
    return certified_pattern(phrase, hits, hits + misses)
