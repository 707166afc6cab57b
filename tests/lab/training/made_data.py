"""Small datasets whose label can be learnt."""

from __future__ import annotations

import numpy as np
import polars as pl

from goldassay.data.dataset import Dataset

LABELS = ("entailment", "neutral", "contradiction")
_CUES = {"entailment": "some", "neutral": "maybe", "contradiction": "never"}


def made_pairs(n: int = 64, seed: int = 0, name: str = "made") -> Dataset:
    """Pairs of different lengths whose label is a word of the hypothesis, two times in three."""
    rng = np.random.default_rng(seed)
    nouns = [f"{chr(97 + i)}{chr(97 + j)}{chr(98 + i)}" for i in range(6) for j in range(5)]
    rows = []
    for i in range(n):
        label = LABELS[int(rng.integers(3))]
        thing, other = rng.choice(nouns, 2, replace=False)
        cue = _CUES[label] if rng.random() < 2 / 3 else rng.choice(list(_CUES.values()))
        more = " ".join(rng.choice(nouns, int(rng.integers(0, 5))))
        rows.append(
            {
                "example_id": f"{name}-{i}",
                "premise": f"there is a {thing} {more}".strip(),
                "hypothesis": f"{cue} a {thing if label == 'entailment' else other}",
                "label": label,
                "topic": f"topic {i % 3}",
                "weight": 1.0 + i % 2,
            }
        )
    return Dataset(pl.DataFrame(rows), ("premise", "hypothesis"), LABELS, name, ("topic",))


def made_singles(n: int = 60, seed: int = 0, name: str = "films") -> Dataset:
    """Single texts of two classes."""
    rng = np.random.default_rng(seed)
    labels = [("bad", "good")[int(rng.integers(2))] for _ in range(n)]
    texts = [f"a {label if rng.random() < 0.8 else 'plain'} film" for label in labels]
    frame = pl.DataFrame({"example_id": [f"{name}-{i}" for i in range(n)], "text": texts, "label": labels})
    return Dataset(frame, ("text",), ("bad", "good"), name)
