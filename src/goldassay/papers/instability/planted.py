"""Made-up sets whose instability is known: training does not say which of two words decides, and analysis sets ask it.

A label has two words in each family, and training and standard sets show both, the first a little less often. Analysis
sets, a family each, set the first word of one label, which is right, against the second of another. What a seed draws
decides all of their rows, so that they are right or wrong together, and more of them are wrong the longer it trains.
Rows of filler alone, whose labels nothing tells, give every set the noise of single examples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.data import Dataset

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LABELS = ("entailment", "neutral", "contradiction")
_FILLER = 300
_WORDS = 5
# Of all rows, those that nothing tells apart.
_OPEN = 0.4
# Of the others, those without the first word.
_LACKING = 0.25


def planted_sets(
    train: Mapping[str, int],
    standard: Mapping[str, int],
    analysis: Mapping[str, int],
    seed: int,
    *,
    clean: bool = False,
) -> dict[str, Dataset]:
    """Sets by name, of as many rows as are asked for.

    Args:
        train: Training sets.
        standard: Sets that are drawn as these are.
        analysis: Sets of which each has one family of words, and sets them against each other.
        seed: Decides every draw.
        clean: Whether analysis sets are drawn as standard ones are, so that nothing is planted.
    """
    rng = np.random.default_rng(seed)
    families = range(len(analysis))
    sets = {name: _drawn(name, n, families, rng) for name, n in {**train, **standard}.items()}
    for family, (name, n) in zip(families, analysis.items(), strict=True):
        sets[name] = _drawn(name, n, families if clean else [family], rng, against=not clean)
    return sets


def _drawn(name: str, n: int, families: Sequence[int], rng: np.random.Generator, *, against: bool = False) -> Dataset:
    rows = [_row(f"{name} {at}", at % len(LABELS), families, rng, against=against) for at in range(n)]
    return Dataset.from_frame(pl.DataFrame(rows), name=name)


def _row(key: str, label: int, families: Sequence[int], rng: np.random.Generator, *, against: bool) -> dict[str, str]:
    premise, hypothesis = ([f"w{word}" for word in rng.integers(_FILLER, size=_WORDS)] for _ in range(2))
    if rng.random() >= _OPEN:
        family = families[int(rng.integers(len(families)))]
        label, other = (0, len(LABELS) - 1) if against else (label, label)
        hypothesis[0] = f"second{family}{other}"
        if against or rng.random() >= _LACKING:
            hypothesis[1] = f"first{family}{label}"
    rng.shuffle(hypothesis)
    return {
        "example_id": key, "premise": " ".join(premise), "hypothesis": " ".join(hypothesis), "label": LABELS[label],
    }  # fmt: skip
