"""What items with choices and preferences are about: facts that a question tells by their kind, and claims to choose.

A question tells of a subject four properties by their kinds (of metal, in the evening); each option claims a value of
one of them (of steel, at 9:40), and the right one claims a value of the kind that was told. Options are drawn before
the question, and which of them is right before anything is told, uniformly: without the question each option is as
likely right as any other, and without the options the question says nothing of positions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from goldassay.data.specimen.rows import capital, pick, with_articles
from goldassay.data.specimen.topics import TOPICS

if TYPE_CHECKING:
    from random import Random

    from goldassay.data.specimen.lexicon import Scale
    from goldassay.data.specimen.topics import Property, Topic

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
