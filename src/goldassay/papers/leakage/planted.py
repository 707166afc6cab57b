"""Made-up sets of which it is known how often the hypothesis gives the label away, and how hard they are.

Premise and hypothesis hold a word each that decide the label together, as two numbers that are added modulo 3: neither
says anything alone. In a share of the rows that differs from set to set, the hypothesis also holds a word of the label:
most often in SNLI, less often in the sets that were made later. A share of the labels is drawn anew whatever the texts
say, so that the accuracy that can be had is the one that is printed for the best models.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from goldassay.data import Dataset
from goldassay.papers.leakage.sets import TRAIN

LABELS = ("entailment", "neutral", "contradiction")
# So many different ones that none is seen often enough to be learnt by heart.
_FILLER = 5_000
_WORDS_OF_LABEL = 3


@dataclass(frozen=True)
class Planted:
    """A made-up set.

    Attributes:
        leak: Share of the hypotheses with a word of the label.
        accuracy: The most that can be had.
        clean_accuracy: The same where nothing is planted. Sets must differ there too: of equally hard ones, agreement
            with a model that is mostly right and the share that is recovered are one figure, with the same noise. None
            is below .7: where two words decide little, both models learn the same noise of their training set and
            decide alike, the more the harder the set is, as the share recovered is larger, too.
        premises: Share of the premises with a word of the label.
    """

    leak: float
    accuracy: float
    clean_accuracy: float
    premises: float = 0.0


SETS = {
    "SNLI": Planted(0.95, 0.93, 0.81),
    "MNLI-b": Planted(0.85, 0.92, 0.88),
    "SICK": Planted(0.75, 0.90, 0.74),
    "XNLI": Planted(0.65, 0.84, 0.91),
    # Hard sets need more leaks for the same points above the majority.
    "SNLI-debiased": Planted(0.4, 0.96, 0.95, premises=0.4),
    "MNLI-debiased": Planted(0.4, 0.97, 0.70, premises=0.4),
    "CAugNLI": Planted(0.45, 0.85, 0.84, premises=0.45),
    "OCNLI": Planted(0.55, 0.78, 0.77),
}


def planted_sets(n_train: int, n_test: int, seed: int, *, clean: bool = False) -> dict[str, Dataset]:
    """Training and test sets, by name.

    Args:
        n_train: Rows of a training set.
        n_test: Rows of a test set.
        seed: Decides every draw.
        clean: Whether nothing is planted: no word of a single text tells the label, and how hard sets are has nothing
            to do with what is printed.
    """
    rng = np.random.default_rng(seed)
    return {
        f"{name}{part}": _drawn(f"{name}{part}", n, each, rng, clean=clean)
        for name, each in SETS.items()
        for part, n in ((TRAIN, n_train), ("", n_test))
    }


def _drawn(name: str, n: int, planted: Planted, rng: np.random.Generator, *, clean: bool) -> Dataset:
    leaks = (0.0, 0.0) if clean else (planted.premises, planted.leak)
    accuracy = planted.clean_accuracy if clean else planted.accuracy
    # Of the labels that are drawn anew a third are right.
    noise = (1 - accuracy) * len(LABELS) / (len(LABELS) - 1)
    rows = []
    for at in range(n):
        # Each of the nine pairs of words equally often.
        first, second = at % len(LABELS), at // len(LABELS) % len(LABELS)
        label = (first + second) % len(LABELS)
        drawn = int(rng.integers(len(LABELS))) if rng.random() < noise else label
        rows.append(
            {
                "example_id": f"{name} {at}",
                "premise": _sentence(f"first{first}", label, leaks[0], rng),
                "hypothesis": _sentence(f"second{second}", label, leaks[1], rng),
                "label": LABELS[drawn],
            }
        )
    return Dataset.from_frame(pl.DataFrame(rows), name=name)


def _sentence(word: str, label: int, leak: float, rng: np.random.Generator) -> str:
    leaks = rng.random() < leak
    words = [word, f"tell{label}n{rng.integers(_WORDS_OF_LABEL)}" if leaks else f"w{rng.integers(_FILLER)}"]
    rng.shuffle(words)
    return " ".join(words)
