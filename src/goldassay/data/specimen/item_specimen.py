"""What specimens of items have in common: a table, a certificate, and how rules are counted for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError
from goldassay.data.specimen.certificate import SCHEMA, VERSION
from goldassay.data.specimen.rows import pick
from goldassay.data.specimen.specimen import MOST_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

    import polars as pl

LEAST_ITEMS, LEAST_ITEMS_CLEAN = 1000, 200
SHARE_DEFECTIVE = 0.0006


@dataclass(frozen=True)
class ItemSpecimen:
    """Made-up items with known flaws.

    Attributes:
        name: Of the file, without its ending.
        table: A row an item, or a row a verdict.
        certificate: What was planted, with its figures, counted in the rows that were written.
    """

    name: str
    table: pl.DataFrame
    certificate: dict[str, Any]


@dataclass(frozen=True)
class Phrase:
    """An opening that gives away whether an option is right; as long as those that do not.

    Attributes:
        opening: The word.
        probability: How often the option that it opens is right.
        share: Of the items, in how many one option has it.
    """

    opening: str
    probability: float
    share: float


# Words of one length, so that they tell nothing by it; none of them hedges, and none is absolute.
OPENINGS = (
    "Clearly", "Plainly", "Briefly", "Frankly", "Happily", "Luckily", "Notably", "Overall", "Quietly", "Rightly",
)  # fmt: skip
# What makes a text longer and says nothing.
TAILS = (
    "as far as the account goes",
    "for whoever asks",
    "as the account has it",
    "to put it briefly",
    "when one reads it",
    "as it stands written",
    "in this account",
    "by this account",
)


def check_size(size: int, seed: int, kind: str, *, clean: bool) -> None:
    """Refuse sizes that cannot hold the flaws.

    Raises:
        InputError: The size is too small or too large, or the seed is negative.
    """
    least = LEAST_ITEMS_CLEAN if clean else LEAST_ITEMS
    if size < least:
        what = "a clean specimen" if clean else "a specimen with its flaws"
        raise InputError(
            f"{size:,} items are too few for {what} of {kind}", mend=f"ask for a size of at least {least:,}"
        )
    if size > MOST_SIZE:
        raise InputError(f"{size:,} items are more than a specimen holds", mend=f"ask for at most {MOST_SIZE:,}")
    if seed < 0:
        raise InputError(f"the seed {seed} is negative", mend="choose one from 0 upwards")


def certified(kind: str, how: str, size: int, seed: int, *, clean: bool, **found: Any) -> dict[str, Any]:
    """A certificate of items: what every one of them has, and what this one lists."""
    head = {"schema": SCHEMA, "version": VERSION, "kind": kind, "how": how, "seed": seed, "size": size, "clean": clean}
    return {**head, **found}


def deal(rng: Random, size: int, shares: Iterable[float]) -> list[list[int]]:
    """Disjoint sets of items, by number, one a share of all, in random order."""
    numbers = list(range(size))
    rng.shuffle(numbers)
    return [[numbers.pop() for _ in range(round(share * size))] for share in shares]


def plant_openings(phrases: Sequence[Phrase], dealt: Sequence[list[int]]) -> dict[int, tuple[str, bool]]:
    """By item the opening that is planted, and whether in the right option."""
    found: dict[int, tuple[str, bool]] = {}
    for phrase, numbers in zip(phrases, dealt, strict=True):
        hits = round(phrase.probability * len(numbers))
        found |= {number: (phrase.opening, at < hits) for at, number in enumerate(numbers)}
    return found


def draw_tails(rng: Random) -> list[str]:
    """None, one or two of them."""
    return rng.sample(TAILS, pick(rng, (0, 0, 1, 1, 2)))


def worded(opening: str, claim: str, tails: Sequence[str]) -> str:
    """An option as a sentence."""
    return ", ".join([opening, claim, *tails]) + "."


def lengthen(rng: Random, claims: Sequence[str], tails: list[list[str]], place: int) -> None:
    """Add tails to one option until it is the longest, in characters and in words."""
    while True:
        texts = [worded("", claim, own) for claim, own in zip(claims, tails, strict=True)]
        others = [text for at, text in enumerate(texts) if at != place]
        if len(texts[place]) > max(map(len, others)) and len(texts[place].split()) > max(
            len(text.split()) for text in others
        ):
            return
        tails[place].append(pick(rng, [tail for tail in TAILS if tail not in tails[place]]))


def rule_effect(picked: Sequence[Sequence[bool]], right: Sequence[Sequence[bool]]) -> dict[str, float | int]:
    """What picking some options of each item gains: sum(h - p)/sum(1 - p), and the items of which it picks some.

    h is the share of the picked options that is right, p that of all options; all or none picked counts as p.

    Args:
        picked: Of each item, of each option, whether the rule picks it.
        right: Likewise, whether it is right.
    """
    gained, left, n = 0.0, 0.0, 0
    for wanted, gold in zip(picked, right, strict=True):
        chance = sum(gold) / len(gold)
        left += 1 - chance
        if 0 < sum(wanted) < len(wanted):
            n += 1
            gained += sum(1 for one, other in zip(wanted, gold, strict=True) if one and other) / sum(wanted) - chance
    return {"effect": gained / left, "n_items": n}
