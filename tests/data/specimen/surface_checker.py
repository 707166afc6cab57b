"""Reads the facts off the surface of a pair and decides its label anew, without the generator's help.

It knows the phrases of the lexicon and topics, and has its own reasoning about kinds and values.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from goldassay.data.specimen.certificate import GROUPS, PATTERNS
from goldassay.data.specimen.topics import TOPICS, Property, Topic

if TYPE_CHECKING:
    from goldassay.data.specimen.lexicon import Scale

TOPIC_BY_NAME = {topic.name: topic for topic in TOPICS}
FRAMES = [frame for pattern in PATTERNS for frame in pattern.frames] + [group.frame for group in GROUPS]


def words_of(scale: Scale) -> list[str]:
    return [*scale.kinds, *(value for values in scale.kinds.values() for value in values)]


def with_article(text: str) -> str:
    return re.sub(r"\ba (azure|emerald|olive)\b", r"an \1", text)


@cache
def statements(name: str) -> list[tuple[re.Pattern[str], int, str]]:
    """Every verb phrase a premise of the topic may hold, with the property's number and the value."""
    return [
        (re.compile(rf"(?<!\w){re.escape(with_article(phrase.format(x=value)))}(?!\w)"), number, value)
        for number, entry in enumerate(TOPIC_BY_NAME[name].properties)
        for phrase in entry.statements
        for value in words_of(entry.scale)
    ]


@cache
def claims(name: str) -> dict[str, list[tuple[int, str, bool]]]:
    """Every clause a hypothesis of the topic may be, with all its readings."""
    topic = TOPIC_BY_NAME[name]
    found: dict[str, list[tuple[int, str, bool]]] = {}
    for number, entry in enumerate(topic.properties):
        for subject in (*topic.nouns, topic.hypernym):
            for value in words_of(entry.scale):
                for forms in entry.claims:
                    for denied, form in enumerate(forms):
                        clause = with_article(form.format(s=f"the {subject}", x=value))
                        found.setdefault(clause, []).append((number, value, bool(denied)))
    return found


def facts_of(premise: str, name: str) -> dict[int, str]:
    """The value of each property that the premise mentions."""
    facts: dict[int, set[str]] = {}
    for pattern, number, value in statements(name):
        if pattern.search(premise):
            facts.setdefault(number, set()).add(value)
    # "has six cousins" is a part of "has six cousins in all", but two values of one property are a contradiction.
    assert all(len(values) == 1 for values in facts.values()), (premise, facts)
    return {number: values.pop() for number, values in facts.items()}


def clause_of(hypothesis: str) -> str:
    """The claim itself: without what was put around it."""
    text = hypothesis.removesuffix(".")
    for frame in FRAMES:
        before, after = frame.split("{}")
        if text.startswith(before) and text.endswith(after) and (before or after):
            text = text[len(before) : len(text) - len(after)]
            break
    return text[0].lower() + text[1:]


def relation(scale: Scale, given: str | None, claimed: str) -> str:
    if given is None:
        return "neutral"
    kind = {value: kind for kind, values in scale.kinds.items() for value in (*values, kind)}
    if kind[given] != kind[claimed]:
        return "contradiction"
    if given == claimed or claimed == kind[given]:
        return "entailment"
    if given == kind[given]:
        return "neutral"
    assert scale.exact, f"{given} and {claimed} may both be true"
    return "contradiction"


def decide(premise: str, hypothesis: str, name: str) -> str:
    """The label that the two sentences have by themselves."""
    topic: Topic = TOPIC_BY_NAME[name]
    readings = claims(name)[clause_of(hypothesis)]
    assert len(readings) == 1, (hypothesis, readings)
    number, value, denied = readings[0]
    target: Property = topic.properties[number]
    label = relation(target.scale, facts_of(premise, name).get(number), value)
    if denied and label != "neutral":
        label = "entailment" if label == "contradiction" else "contradiction"
    return label
