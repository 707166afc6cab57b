"""Corpora and test sets that are made up for the tests of the scanner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.kernels.ngram_search import N_STATES, RING
from goldassay.kernels.words import words_of
from goldassay.questions.overlap.search.sought import Sought, SoughtText

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from numpy.typing import NDArray

WORDS = [f"{first}{second}{third}" for first in "bdfgklmnprst" for second in "aeiou" for third in ("n", "rt", "ck", "")]


def sentence(rng: random.Random, n: int) -> str:
    return " ".join(rng.choices(WORDS, k=n))


def sought(texts: Sequence[str], answers: Sequence[str] = (), n: int = 13, **options: object) -> Sought:
    """What is sought of texts, each of which is all of an item, with its answer behind it."""
    found, replies = [], []
    for number, text in enumerate(texts):
        words, answer = words_of(text), words_of(answers[number]) if answers else []
        span = (len(words), len(words) + len(answer)) if answer else (0, 0)
        found.append(SoughtText((*words, *answer), number, (0, len(words)), span))
        if answer:
            found.append(SoughtText(tuple(words), number, (0, len(words)), is_whole=False, part="question"))
            found.append(SoughtText(tuple(answer), number, (0, 0), (0, len(answer)), is_whole=False, part="answer"))
        replies.append(tuple(answer))
    clusters = options.pop("clusters", None)
    codes = np.arange(len(texts)) if clusters is None else np.asarray(clusters)
    return Sought(found, replies, codes, n, **options)  # type: ignore[arg-type]


def no_rows(n: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]:
    """That nothing came before, and where n rows are noted."""
    return np.zeros(RING, np.uint64), np.zeros(N_STATES, np.uint64), np.empty((n, 2), np.int64)
