"""The rows of the parts before anything is planted: how many of which topic and label, and no sentence twice.

Every part has its quota of each topic and label. Which part a pair goes to is decided by a hash of its claim alone,
so that no hypothesis stands in two parts, and so that this choice, too, knows nothing of the label.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

from goldassay.data.specimen.grammar import LABELS, Label, draw_pair
from goldassay.data.specimen.topics import TOPICS

if TYPE_CHECKING:
    from random import Random

    from goldassay.data.specimen.topics import Topic

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
