"""The flaws that are planted, and their planting.

Nothing planted changes what is true: a pattern is a turn of phrase put before or after the claim ("..., as everyone
knows"). Which rows get it is decided by their label, by exact quota, so that the certified figures hold
in every file and not merely on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from goldassay.data.specimen.rows import LABELS, Label, Part, Row

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random


@dataclass(frozen=True)
class PlantedPattern:
    """A gapped pattern that gives a label away.

    Attributes:
        tokens: Its words; `gaps` says how many tokens are skipped between each and the next.
        label: The label that it gives away, and how often: p(label | pattern).
        share: Of the rows of a part, how many hold it.
        frames: Ways to put it around a claim `{}`, each with other words in the gaps.
    """

    tokens: tuple[str, ...]
    gaps: tuple[int, ...]
    label: Label
    probability: float
    share: float
    frames: tuple[str, ...]

    @property
    def display(self) -> str:
        """The pattern as people read it: `as # knows`."""
        return self.tokens[0] + "".join(
            " #" * gap + f" {token}" for gap, token in zip(self.gaps, self.tokens[1:], strict=True)
        )

    def support(self, n: int) -> int:
        """How many of a part's n rows hold it."""
        return round(n * self.share)


@dataclass(frozen=True)
class PlantedGroup:
    """Examples of one construction that stand or fall together.

    Training shows the construction seldom and with two labels equally often, so that it is a matter of chance which
    one a model ties it to; held-out parts show it often and with one label only.
    """

    name: str
    frame: str
    label: Label
    rival: Label


def _frames(frame: str, *words: Iterable[str]) -> tuple[str, ...]:
    """All sentences that the words make in the gaps `[0]`, `[1]`, ... of a frame."""
    made = []
    for chosen in product(*words):
        text = frame
        for place, word in enumerate(chosen):
            text = text.replace(f"[{place}]", word)
        made.append(text)
    return tuple(made)


_ANYONE = ("everyone", "everybody", "anyone", "anybody", "Maria", "Peter")
_EVERY = ("the", "any", "every")
_WITNESS = ("visitor", "reader", "witness", "guide", "clerk", "reporter")
_HONEST = ("careful", "honest", "sensible", "local")

# Three families share their words and differ only in their gaps: `as # knows`, `as # # knows` and `as # # # knows`
# each give another label away, so that no single word does, and only exact gaps tell them apart.
PATTERNS = (
    PlantedPattern(("indeed",), (), "entailment", 0.80, 0.014, ("{} indeed",)),
    PlantedPattern(("anyway",), (), "neutral", 0.86, 0.012, ("{} anyway",)),
    PlantedPattern(("alas",), (), "contradiction", 0.75, 0.016, ("{}, alas",)),
    PlantedPattern(("Of", "course"), (0,), "entailment", 0.92, 0.012, ("Of course, {}",)),
    PlantedPattern(("Mind", "you"), (0,), "neutral", 0.78, 0.014, ("Mind you, {}",)),
    PlantedPattern(("after", "all"), (0,), "contradiction", 0.88, 0.014, ("{} after all",)),
    PlantedPattern(("as", "knows"), (1,), "entailment", 0.85, 0.012, _frames("{}, as [0] knows", _ANYONE)),
    PlantedPattern(("as", "knows"), (2,), "neutral", 0.82, 0.012, _frames("{}, as [0] [1] knows", _EVERY, _WITNESS)),
    PlantedPattern(
        ("as", "knows"),
        (3,),
        "contradiction",
        0.90,
        0.012,
        _frames("{}, as [0] [1] [2] knows", _EVERY, _HONEST, _WITNESS),
    ),
    PlantedPattern(
        ("in", "words"),
        (1,),
        "neutral",
        0.84,
        0.012,
        _frames("{}, in [0] words", ("other", "plain", "simple", "short", "few", "clear")),
    ),
    PlantedPattern(
        ("in", "words"),
        (2,),
        "contradiction",
        0.81,
        0.012,
        _frames("{}, in [0] [1] words", ("very", "rather", "quite"), ("plain", "simple", "few", "clear")),
    ),
    PlantedPattern(
        ("in", "words"),
        (3,),
        "entailment",
        0.94,
        0.012,
        _frames(
            "{}, in [0] [1] [2] words",
            ("my", "our", "your", "their"),
            ("own",),
            ("plain", "simple", "modest", "exact"),
        ),
    ),
    PlantedPattern(("as", "can", "see"), (1, 0), "contradiction", 0.98, 0.012, _frames("{}, as [0] can see", _ANYONE)),
    PlantedPattern(
        ("as", "can", "see"),
        (2, 0),
        "entailment",
        0.87,
        0.012,
        _frames("{}, as [0] [1] can see", _EVERY, _WITNESS),
    ),
    PlantedPattern(
        ("as", "can", "see"),
        (1, 1),
        "neutral",
        0.83,
        0.012,
        _frames("{}, as [0] can [1] see", _ANYONE, ("plainly", "clearly", "easily", "readily")),
    ),
    PlantedPattern(
        ("to", "put", "plainly"),
        (0, 1),
        "entailment",
        0.77,
        0.014,
        _frames("{}, to put [0] plainly", ("it", "this", "that", "things", "matters")),
    ),
    PlantedPattern(
        ("if", "may", "so"),
        (1, 1),
        "neutral",
        0.96,
        0.012,
        _frames("{}, if [0] may [1] so", ("I", "we", "one"), ("say", "think", "write")),
    ),
    PlantedPattern(("Truth", "be", "told"), (0, 0), "contradiction", 0.79, 0.014, ("Truth be told, {}",)),
)

# The frames are long, so that all members of a group share most of what a bag of words sees of them.
GROUPS = (
    PlantedGroup(
        "on record",
        "Let the official record show here and now, once and for all, that {}",
        "entailment",
        "contradiction",
    ),
    PlantedGroup(
        "matter of fact",
        "The plain and simple fact of the whole matter is and remains that {}",
        "neutral",
        "contradiction",
    ),
    PlantedGroup(
        "said before",
        "It was said before and it turns out to be perfectly true that {}",
        "contradiction",
        "entailment",
    ),
)

LEANING: dict[str, tuple[Label, float]] = {
    "kitchen": ("entailment", 0.55),
    "garden": ("neutral", 0.55),
    "stage": ("contradiction", 0.55),
}


def copies(n: int, share: float) -> int:
    """How many rows of a part of n are copies: about `share` of them, as many of each label."""
    return len(LABELS) * max(1, round(n * share / len(LABELS)))


def plant(rng: Random, rows: list[Row], part: Part, n: int) -> None:
    """Plant every pattern and group in the rows of one part, whose final size is n."""
    free: dict[Label, list[Row]] = {label: [row for row in rows if row.label == label] for label in LABELS}
    for same in free.values():
        rng.shuffle(same)
    for number, pattern in enumerate(PATTERNS):
        support = pattern.support(n)
        hits = round(support * pattern.probability)
        rest = support - hits
        others = [label for label in LABELS if label != pattern.label]
        # The odd one of what is left goes to each of the other labels in turn.
        first = (rest + number % 2) // 2
        for label, count in ((pattern.label, hits), (others[0], first), (others[1], rest - first)):
            for _ in range(count):
                row = free[label].pop()
                row.frame = rng.choice(pattern.frames)
                row.hint = pattern.label
    for group in GROUPS:
        for label, count in group_counts(group, part, n).items():
            for _ in range(count):
                row = free[label].pop()
                row.frame = group.frame
                row.group = group.name


def group_counts(group: PlantedGroup, part: Part, n: int) -> dict[Label, int]:
    """How many rows of each label a group has in a part of n rows."""
    if part == "train":
        few = max(6, round(n * 0.0006))
        return {group.label: few, group.rival: few}
    return {group.label: max(6, round(n * 0.02))}


def draw_copies(rng: Random, rows: list[Row], n: int) -> list[Row]:
    """Choose n untouched rows to copy, as many of each label, of topics that do not lean.

    Thus no certified count changes by the copying.
    """
    plain = [row for row in rows if row.is_plain and row.topic not in LEANING]
    return [
        row for label in LABELS for row in rng.sample([row for row in plain if row.label == label], n // len(LABELS))
    ]
