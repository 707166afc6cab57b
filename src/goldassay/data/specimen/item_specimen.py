"""What specimens of items have in common: a table, a certificate, and how rules are counted for it.

What items with choices and preferences are about: facts that a question tells by their kind, and claims to choose.

A question tells of a subject four properties by their kinds (of metal, in the evening); each option claims a value of
one of them (of steel, at 9:40), and the right one claims a value of the kind that was told. Options are drawn before
the question, and which of them is right before anything is told, uniformly: without the question each option is as
likely right as any other, and without the options the question says nothing of positions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from goldassay.core.errors import InputError
from goldassay.data.specimen import MOST_SIZE
from goldassay.data.specimen.certificate import SCHEMA, VERSION
from goldassay.data.specimen.rows import capital, pick, with_articles
from goldassay.data.specimen.topics import TOPICS, Property, Topic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from random import Random

    import polars as pl

    from goldassay.data.specimen.lexicon import Scale


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


class Damaged(Protocol):
    """An item: what makes it impossible, and the number of the item that it is a copy of, -1 for none."""

    problem: str
    of: int


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


def certified_rules(
    picked: Mapping[str, tuple[float, Sequence[Sequence[bool]]]], right: Sequence[Sequence[bool]], *, clean: bool
) -> list[dict[str, Any]]:
    """Of each rule what was planted for it and what it gains; `picked` and `right` as for `rule_effect`."""
    return [
        {"rule": rule, "planted": 0.0 if clean else planted, **rule_effect(wanted, right)}
        for rule, (planted, wanted) in picked.items()
    ]


def certified_pattern(phrase: Phrase, n_right: int, n: int) -> dict[str, Any]:
    """How often an opening stands in options, and in right ones."""
    return {
        "pattern": phrase.opening, "probability": phrase.probability, "probability_realized": n_right / n, "support": n,
    }  # fmt: skip


def certified_problems(items: Iterable[Damaged], ids: Sequence[str]) -> list[dict[str, str]]:
    """The items that are impossible, why, and of which item they are a copy."""
    return [
        {"id": own, "problem": item.problem, **({} if item.of < 0 else {"of": ids[item.of]})}
        for own, item in zip(ids, items, strict=True)
        if item.problem
    ]


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


N_FACTS = 4
SHARE_ADJECTIVE = 0.5

# Rules without training pick what hedges.
_HEDGE = re.compile(r"\bcan\b")

_FRAMES = (
    "{s} {a} and {b}. {again} {c} and {d}.",
    "{s}, {which} {a} and {b}, {c} and {d}.",
    "{s} {a}, {b} and {c}. {again} {d}.",
    "{s} {that} {a} {b}. {again} {c} and {d}.",
    "{s} {a}. {again} {b}, {c} and {d}.",
)


@dataclass(frozen=True, slots=True)
class Scene:
    """What a question tells, and the claims to choose from.

    Attributes:
        facts: The facts, as sentences.
        claims: A clause each; all but one are false.
        right: The place of the true one.
        topic: Its name.
    """

    facts: str
    claims: tuple[str, ...]
    right: int
    topic: str


def draw_scene(rng: Random, n_claims: int, right: int) -> Scene:
    """Draw claims, and then what is told, such that the claim at this place alone is true.

    Args:
        rng: Decides the rest.
        n_claims: At most `N_FACTS`.
        right: Drawn without regard to anything else.
    """
    topic, properties = pick(rng, _usable_topics())
    facts = rng.sample(properties, N_FACTS)
    noun = pick(rng, topic.nouns)
    claims, kinds = [], []
    for place, of in enumerate(facts[:n_claims]):
        kind = pick(rng, tuple(of.scale.kinds))
        value = pick(rng, of.scale.kinds[kind])
        said = pick(rng, [affirmed for affirmed, _ in of.claims if not _HEDGE.search(affirmed)])
        claims.append(with_articles(said.format(s=f"the {noun}", x=value)))
        kinds.append(kind if place == right else pick(rng, [other for other in of.scale.kinds if other != kind]))
    kinds += [pick(rng, tuple(of.scale.kinds)) for of in facts[n_claims:]]
    return Scene(_describe(rng, topic, noun, list(zip(facts, kinds, strict=True))), tuple(claims), right, topic.name)


def _describe(rng: Random, topic: Topic, noun: str, facts: list[tuple[Property, str]]) -> str:
    rng.shuffle(facts)
    phrases = [pick(rng, of.statements).format(x=kind) for of, kind in facts]
    described = f"{pick(rng, topic.adjectives)} {noun}" if rng.random() < SHARE_ADJECTIVE else noun
    subject = f"{pick(rng, ('the', 'some', 'these') if topic.plural else ('the', 'a', 'this'))} {described}"
    slots = dict(zip("abcd", phrases, strict=True))
    text = pick(rng, _FRAMES).format(
        s=subject, which=topic.relative, that=topic.restrictive, again=capital(topic.again), **slots
    )
    return capital(with_articles(text))


@cache
def _usable_topics() -> tuple[tuple[Topic, tuple[Property, ...]], ...]:
    """Topics with enough properties of which no kind shares more words with its own values than with others.

    Then the overlap of a claim with what is told says nothing of it.
    """
    usable = [(topic, tuple(each for each in topic.properties if not _overlaps(each.scale))) for topic in TOPICS]
    return tuple((topic, properties) for topic, properties in usable if len(properties) >= N_FACTS)


def _overlaps(scale: Scale) -> bool:
    for kind in scale.kinds:
        own = {len(_words(kind) & _words(value)) / len(_words(value)) for value in scale.kinds[kind]}
        others = {
            len(_words(kind) & _words(value)) / len(_words(value))
            for other, values in scale.kinds.items()
            if other != kind
            for value in values
        }
        if len(own | others) > 1:
            return True
    return False


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
