"""The rows of the parts before anything is planted: how many of which topic and label, and no sentence twice.

Every part has its quota of each topic and label. Which part a pair goes to is decided by a hash of its claim alone,
so that no hypothesis stands in two parts, and so that this choice, too, knows nothing of the label.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import accumulate, permutations
from typing import TYPE_CHECKING, Literal, TypeVar

from goldassay.data.specimen.topics import TOPICS, Property, Topic

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from goldassay.data.specimen.lexicon import Scale


_T = TypeVar("_T")
Label = Literal["entailment", "neutral", "contradiction"]
LABELS: tuple[Label, ...] = ("entailment", "neutral", "contradiction")

# How often a form is chosen. None of these may depend on the label.
SHARE_DENIED = 0.25
SHARE_BROAD = 0.4
SHARE_HYPERNYM = 0.25
SHARE_ADJECTIVE = 0.5
SHARE_THIRD_FACT = 0.3

_A_BEFORE_VOWEL = re.compile(r"\ba (?=[aeiou])")

_DENIED: dict[Label, Label] = {
    "entailment": "contradiction",
    "neutral": "neutral",
    "contradiction": "entailment",
}

_FRAMES_OF_TWO = (
    "{s} {a} and {b}.",
    "{s}, {which} {a}, {b}.",
    "{s} {that} {a} {b}.",
    "{s} {a}. {again} {b}.",
    "{s} {a}, and {again} {b}.",
    "{s} not only {a} but also {b}.",
)
_FRAMES_OF_THREE = (
    "{s} {a}, {b} and {c}.",
    "{s}, {which} {a} and {b}, {c}.",
    "{s} {a}. {again} {b} and {c}.",
    "{s} {that} {a} {b} and {c}.",
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A premise, a claim, and how the claim relates to the premise.

    The claim is a clause, not yet a sentence, so that something can be put before or after it. Its form is `plain`,
    `broad` (it names only a kind) or `denied`.
    """

    premise: str
    claim: str
    label: Label
    form: str


def draw_pair(rng: Random, topic: Topic, label: Label) -> Pair:
    """Draw a pair about `topic` that has this label."""
    denied = rng.random() < SHARE_DENIED
    broad = rng.random() < SHARE_BROAD
    relation = _DENIED[label] if denied else label

    # The first property is given by its value, the second by its value or only its kind; the last is left open.
    order = pick(rng, _orders(len(topic.properties)))
    named, loose, further, *_, silent = (topic.properties[i] for i in order)
    facts = [(named, _draw_value(rng, named.scale))]
    facts.append((loose, (_draw_kind if rng.random() < SHARE_BROAD else _draw_value)(rng, loose.scale)))
    if rng.random() < SHARE_THIRD_FACT:
        facts.append((further, _draw_value(rng, further.scale)))

    target, value = _draw_claim(rng, facts[:2], silent, relation, broad)
    noun = pick(rng, topic.nouns)
    claim = _claim(rng, topic, noun, target, value, denied)
    premise = _premise(rng, topic, noun, facts)
    return Pair(premise, claim, label, "denied" if denied else "broad" if broad else "plain")


def pick(rng: Random, values: Sequence[_T]) -> _T:
    """One of the values; three times as fast as `Random.choice`, which a specimen would wait for."""
    return values[int(rng.random() * len(values))]


@cache
def _orders(n: int) -> tuple[tuple[int, ...], ...]:
    return tuple(permutations(range(n)))


def sentence(clause: str) -> str:
    """A clause as a sentence of its own."""
    return f"{capital(clause)}."


def with_articles(text: str) -> str:
    """Mend `a` before a vowel; no word of the lexicon is an exception."""
    return _A_BEFORE_VOWEL.sub("an ", text)


def capital(text: str) -> str:
    """The text with a capital letter."""
    return text[0].upper() + text[1:]


def _draw_kind(rng: Random, scale: Scale) -> str:
    return pick(rng, tuple(scale.kinds))


def _draw_value(rng: Random, scale: Scale) -> str:
    # The kind first: kinds of unequal size must be equally frequent, or an excluded kind would be a rarer one.
    return pick(rng, scale.kinds[_draw_kind(rng, scale)])


def _draw_claim(
    rng: Random, facts: list[tuple[Property, str]], silent: Property, relation: Label, broad: bool
) -> tuple[Property, str]:
    """Draw what the hypothesis speaks of, such that the affirmed value has this relation to the facts."""
    draw = _draw_kind if broad else _draw_value
    loose, given = facts[1]
    is_kind = given in loose.scale.kinds
    if relation == "neutral":
        if is_kind and not broad and rng.random() < 0.5:
            return loose, pick(rng, loose.scale.kinds[given])
        return silent, draw(rng, silent.scale)
    if relation == "entailment":
        # A kind does not entail a value, so that a value is claimed of the property that has one.
        target, given = facts[0] if is_kind and not broad else pick(rng, facts)
        return target, target.scale.kind_of(given) if broad else given
    target, given = pick(rng, facts)
    return target, _draw_excluded(rng, target.scale, given, broad)


def _draw_excluded(rng: Random, scale: Scale, given: str, broad: bool) -> str:
    kind = scale.kind_of(given)
    if not broad and scale.exact and given != kind and rng.random() < 0.5:
        return pick(rng, [value for value in scale.kinds[kind] if value != given])
    other = pick(rng, [name for name in scale.kinds if name != kind])
    return other if broad else pick(rng, scale.kinds[other])


def _claim(rng: Random, topic: Topic, noun: str, target: Property, value: str, denied: bool) -> str:
    name = topic.hypernym if rng.random() < SHARE_HYPERNYM else noun
    return with_articles(pick(rng, target.claims)[denied].format(s=f"the {name}", x=value))


def _premise(rng: Random, topic: Topic, noun: str, facts: list[tuple[Property, str]]) -> str:
    facts = [facts[i] for i in pick(rng, _orders(len(facts)))]
    phrases = [pick(rng, target.statements).format(x=value) for target, value in facts]
    frame = pick(rng, _FRAMES_OF_TWO if len(facts) == 2 else _FRAMES_OF_THREE)
    described = f"{pick(rng, topic.adjectives)} {noun}" if rng.random() < SHARE_ADJECTIVE else noun
    subject = _introduce(rng, topic, described)
    again = capital(topic.again) if ". {again}" in frame else topic.again
    given = dict(zip("abc", phrases, strict=False))
    text = frame.format(s=subject, which=topic.relative, that=topic.restrictive, again=again, **given)
    return capital(with_articles(text))


def _introduce(rng: Random, topic: Topic, described: str) -> str:
    determiners = ("the", "some", "these") if topic.plural else ("the", "a", "this")
    return f"{pick(rng, determiners)} {described}"


Part = Literal["train", "dev", "test", "elsewhere"]
PARTS: tuple[Part, ...] = ("train", "dev", "test", "elsewhere")

# How much more than its share of the claims a held-out part gets, so that train is not what fills up last.
_SPARE = 1.05


@dataclass(slots=True, eq=False)
class Row:
    """One example on its way into a part; `hint` is the label that a planted pattern in it suggests."""

    premise: str
    claim: str
    label: Label
    topic: str
    group: str
    frame: str = "{}"
    hint: Label | None = None
    id: str = ""

    @property
    def is_plain(self) -> bool:
        """Nothing has been planted in it."""
        return self.frame == "{}"


def draw_rows(rng: Random, sizes: dict[Part, int], leaning: dict[str, tuple[Label, float]]) -> dict[Part, list[Row]]:
    """Draw the rows of each part, in random order.

    Args:
        rng: Decides everything.
        sizes: Rows of each part.
        leaning: The label and its share for those topics whose labels are not balanced; elsewhere all are.
    """
    quotas = {part: _quotas(size, {} if part == "elsewhere" else leaning) for part, size in sizes.items()}
    ends = _ends(sizes)
    rows: dict[Part, list[Row]] = {part: [] for part in sizes}
    premises: set[str] = set()
    for topic in TOPICS:
        for label in LABELS:
            wanted = {part: quotas[part][topic.name, label] for part in sizes}
            _fill(rng, topic, label, wanted, ends, rows, premises)
    for drawn in rows.values():
        rng.shuffle(drawn)
    return rows


def _fill(
    rng: Random,
    topic: Topic,
    label: Label,
    wanted: dict[Part, int],
    ends: dict[Part, float],
    rows: dict[Part, list[Row]],
    premises: set[str],
) -> None:
    while any(wanted.values()):
        pair = draw_pair(rng, topic, label)
        part = _part_of(pair.claim, ends)
        if wanted[part] and pair.premise not in premises:
            wanted[part] -= 1
            premises.add(pair.premise)
            rows[part].append(Row(pair.premise, pair.claim, label, topic.name, pair.form))


def _ends(sizes: dict[Part, int]) -> dict[Part, float]:
    """Where in [0, 1] the claims of each part end."""
    weights = {part: size if part == "train" else _SPARE * size for part, size in sizes.items()}
    ends = accumulate(weight / sum(weights.values()) for weight in weights.values())
    return {**dict(zip(weights, ends, strict=True)), tuple(weights)[-1]: 1.0}


def _part_of(claim: str, ends: dict[Part, float]) -> Part:
    position = int.from_bytes(blake2b(claim.encode(), digest_size=8).digest()) / 2**64
    return next(part for part, end in ends.items() if position <= end)


def _quotas(size: int, leaning: dict[str, tuple[Label, float]]) -> dict[tuple[str, Label], int]:
    """Split a size over topics, and each topic over labels; what does not divide goes to each in turn."""
    quotas: dict[tuple[str, Label], int] = {}
    turn = 0
    for position, topic in enumerate(TOPICS):
        n = size // len(TOPICS) + (position < size % len(TOPICS))
        if topic.name in leaning:
            favored, share = leaning[topic.name]
            n_favored = round(n * share)
            others = [label for label in LABELS if label != favored]
            quotas[topic.name, favored] = n_favored
            quotas[topic.name, others[0]] = (n - n_favored) // 2
            quotas[topic.name, others[1]] = n - n_favored - (n - n_favored) // 2
            continue
        for label in LABELS:
            quotas[topic.name, label] = n // len(LABELS)
        for _ in range(n % len(LABELS)):
            quotas[topic.name, LABELS[turn % len(LABELS)]] += 1
            turn += 1
    return quotas
