"""Small runs and files for the commands of shift."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.special import softmax

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("negative", "positive")


def answers(
    dataset: str,
    n: int = 80,
    accuracy: float = 0.9,
    sureness: float = 3.0,
    seeds: tuple[int, ...] = (1, 2),
    label: bool = True,
    model: str | None = "toy",
    first: int = 0,
) -> pl.DataFrame:
    """A row a prediction with logits of two classes."""
    rng = np.random.default_rng([n, len(dataset)])
    gold = rng.integers(0, 2, n)
    rows: list[dict[str, Any]] = []
    for seed in seeds:
        right = rng.random(n) < accuracy
        margin = np.abs(rng.normal(sureness, 1.0, n)) + 0.01
        predicted = np.where(right, gold, 1 - gold)
        for i in range(n):
            sign = 2 * int(predicted[i]) - 1
            row: dict[str, Any] = {"seed": seed, "dataset": dataset, "example_id": f"{dataset}-{first + i}"}
            if model is not None:
                row["model"] = model
            if label:
                row["label"] = NAMES[gold[i]]
            row["prediction"] = NAMES[predicted[i]]
            row["logits"] = [-sign * margin[i] / 2, sign * margin[i] / 2]
            rows.append(row)
    return pl.DataFrame(rows)


def as_probabilities(frame: pl.DataFrame) -> pl.DataFrame:
    """What a softmax makes of the logits, under their name, as many tools store it."""
    logits = np.array(frame["logits"].to_list())
    return frame.with_columns(pl.Series("logits", softmax(logits, axis=1).round(12).tolist()))


def numbers(dataset: str, n: int = 60, noise: float = 0.5, constant: bool = False) -> pl.DataFrame:
    """A row a prediction of a regression."""
    rng = np.random.default_rng([n, len(dataset)])
    gold = rng.uniform(0, 5, n).round(2)
    predicted = np.full(n, 2.5) if constant else gold + rng.normal(0, noise, n)
    ids = [f"{dataset}-{i}" for i in range(n)]
    return pl.DataFrame({"dataset": dataset, "example_id": ids, "label": gold, "prediction": predicted, "seed": 1})


def texts(path: Path, frame: pl.DataFrame, words: str) -> Path:
    """The dataset that was predicted: its texts, made of some words."""
    rng = np.random.default_rng(1)
    pool = words.split()
    distinct = frame.unique("example_id", maintain_order=True)
    with path.open("w", encoding="utf-8") as file:
        for row in distinct.iter_rows(named=True):
            text = " ".join(rng.choice(pool, 6)) + f" {row['example_id']}"
            file.write(json.dumps({"example_id": row["example_id"], "text": text, "label": row["label"]}) + "\n")
    return path
