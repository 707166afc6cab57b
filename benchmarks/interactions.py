"""The reader of interactions beside scikit-learn's network of 64 units on words: accuracy and processor seconds.

    python benchmarks/interactions.py [--train 6000] [--test 4000]

Makes sets in which two cues tell the label only together, reads new rows, and prints both accuracies and the ratio of
processor seconds. Ends with an error where the reader is below what it must reach.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.readers.interactions import read_interactions
from goldassay.stats.clusters import Folds

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_WORDS = 3000
GOOD, BAD = ([f"{kind}{at}" for at in range(20)] for kind in ("good", "bad"))
NEGATIONS = ["not", "never", "no", "nothing"]


def made(kind: str, share: float, n: int, seed: int) -> tuple[list[str], NDArray[np.int64]]:
    """Texts of usual words, in a share of which two cues tell the label together."""
    rng = np.random.default_rng(seed)
    usual = 1 / np.arange(1, N_WORDS + 1)
    label, texts = rng.integers(0, 2, n), []
    for code in label.tolist():
        words = [f"w{at}" for at in rng.choice(N_WORDS, rng.integers(6, 14), p=usual / usual.sum())]
        one = int(rng.integers(0, 2))
        two = one ^ code if rng.random() < share else int(rng.integers(0, 2))
        middle = len(words) // 2
        if kind == "xor":
            words = [("red", "blue")[one], *words, ("two", "three")[two]]
        elif kind == "polarity":
            words = [str(rng.choice((GOOD, BAD)[one])), *words, str(rng.choice((GOOD, BAD)[two]))]
        elif kind == "negation":
            first, last = ([str(rng.choice(NEGATIONS))] if each else [] for each in (one, two))
            words = [*first, *words[:middle], *last, *words[middle:]]
        elif kind == "form":
            words = (" ".join(words).capitalize() if one else " ".join(words)).split()
            words[-1] += "." if two else ""
        elif kind == "order":
            pair = ("cat", "dog") if two == one else ("dog", "cat")
            words = [words[0], pair[0], *words[1:-1], pair[1], words[-1]]
        texts.append(" ".join(words))
    return texts, label


def by_network(texts: list[str], codes: NDArray[np.int64], asked: list[str]) -> NDArray[np.int64]:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.neural_network import MLPClassifier

    vectors = CountVectorizer(binary=True, min_df=3, token_pattern=r"\S+")
    model = MLPClassifier((64,), early_stopping=True, n_iter_no_change=5, random_state=0)
    model.fit(vectors.fit_transform(texts), codes)
    return np.asarray(model.predict(vectors.transform(asked)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=int, default=6000)
    parser.add_argument("--test", type=int, default=4000)
    given = parser.parse_args()
    folds = Folds.of_parts(given.train, given.test)
    failed = []
    # The first call compiles.
    read_interactions(pl.Series(["a b"] * 40), np.arange(40) % 2, 2, Folds.of_parts(20, 20), 0)
    print(f"{'cues':10} {'share':>5} {'reader':>7} {'network':>8} {'seconds':>8} {'network':>8} {'ratio':>6}")
    for kind, share, least in (
        ("xor", 1.0, 0.99),
        ("xor", 0.6, 0.77),
        ("polarity", 1.0, 0.97),
        ("polarity", 0.6, 0.62),
        ("negation", 1.0, 0.8),
        ("form", 1.0, 0.99),
        ("order", 1.0, 0.8),
        ("none", 0.0, 0.47),
    ):
        (texts, codes), (asked, gold) = made(kind, share, given.train, 0), made(kind, share, given.test, 1)
        begun = time.process_time()
        logs = read_interactions(pl.Series([*texts, *asked]), np.concatenate([codes, gold]), 2, folds, 0)
        own = time.process_time() - begun
        found = float((logs.argmax(axis=1) == gold).mean())
        begun = time.process_time()
        other = float((by_network(texts, codes, asked) == gold).mean())
        theirs = time.process_time() - begun
        print(
            f"{kind:10} {share:5.1f} {found:7.3f} {other:8.3f} {own:8.2f} {theirs:8.2f} {theirs / own:6.1f}", flush=True
        )
        if found < least:
            failed.append(f"{kind} at {share}: {found:.3f}, must be {least}")
    if failed:
        sys.exit("; ".join(failed))


if __name__ == "__main__":
    main()
