"""Plant words that stand for a label in a share of the rows: the positive control of what readers can find.

One frequent word is found in a few rows. A flaw that many words share takes more of them, so that several are planted;
at the limit itself even sound readers find only a part of them, so that they are planted at twice the limit.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.results import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Of each label. A pattern takes many more rows than a word that naive Bayes adds up, which finds ten words from 300
# training rows and so passes where a flaw of twenty escapes it.
WORDS_FOR_PATTERNS, WORDS_FOR_READERS = 10, 50
# The planted share is so many times the limit for "unsound".
TIMES_LIMIT = 2
# What readers find in so many rows they find in more: the control of a larger set needs no more of it.
ROWS_FOR_CONTROL = 10_000
_LETTERS = 12
_TO_LETTERS = bytes(97 + byte % 26 for byte in range(256))


@dataclass(frozen=True)
class KindLimit(Result):
    """The limit of detection of one kind of cue.

    Attributes:
        kind: Of cue, in words, such as "ten words".
        limit: The smallest flaw of this kind from which on all are excluded, a share of the rows in [0, 1]; 1 where no
            planted dose is excluded.
        counts: Whether it enters the limit of the whole question: single words, ten words, fifty words and form do.
        recovered: How much of each dose the readers recover, in [0, 1].
        doses: Planted shares of the rows of each label, rising.
    """

    kind: str
    limit: float
    counts: bool
    recovered: tuple[float, ...]
    doses: tuple[float, ...]


def planted_share(limit: float) -> float:
    """The share of the rows of each label but the most frequent that get a word, given the limit for "unsound"."""
    return min(1.0, TIMES_LIMIT * limit)


def planted_rows(
    codes: NDArray[np.integer], n_classes: int, share: float, constant: int, n_words: int, seed: int
) -> NDArray[np.int64]:
    """Which word of its label each row gets, (N,), -1 for none: a random `share` of each label but the constant one.

    The words of a label are dealt out in turn, so that they are equally frequent. A reader that names the label of the
    word where there is one, and the constant label elsewhere, has an accuracy skill and a balanced skill of `share`,
    whatever the shares of the labels and however many there are.

    Args:
        codes: Labels of the rows, (N,).
        n_classes: K.
        share: Of the rows, from 0 to 1; of each label at least one.
        constant: The label that gets no word, the most frequent one.
        n_words: Words of each label; together they are in the share of its rows that is planted.
        seed: Of the draw.
    """
    rng = np.random.default_rng(seed)
    found = np.full(np.asarray(codes).size, -1, dtype=np.int64)
    for label in range(n_classes):
        rows = np.flatnonzero(codes == label)
        if label != constant and rows.size:
            n = max(1, round(share * rows.size))
            found[rng.choice(rows, n, replace=False)] = np.arange(n) % n_words
    return found


def control_parts(clusters: NDArray[np.integer], seed: int, most: int = ROWS_FOR_CONTROL) -> list[NDArray[np.int64]]:
    """Rows to plant words in, ascending: of many a random part, about `most`, and all, for what is not found there.

    Args:
        clusters: The cluster of each row, (N,); those that are drawn are taken whole.
        seed: Of the draw.
        most: Rows of the part.
    """
    every = np.arange(clusters.size)
    if clusters.size <= most:
        return [every]
    found, codes, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    drawn = np.random.default_rng(seed).permutation(found.size)
    n_drawn = int(np.searchsorted(np.cumsum(sizes[drawn]), most)) + 1
    inside = np.zeros(found.size, dtype=np.bool_)
    inside[drawn[:n_drawn]] = True
    return [np.flatnonzero(inside[codes]), every]


def planted_word(label: int, number: int) -> str:
    """A word that no text has and that shares no part with another one: the `number`th of a label's code."""
    return _letters("label", label, number)


def filling_word(row: int) -> str:
    """A word of one row alone, for rows without a planted one: their length then tells nothing either."""
    return _letters("row", row, 0)


def _letters(kind: str, *numbers: int) -> str:
    """Random letters: words with a beginning in common are alike to readers of stems."""
    digest = hashlib.blake2b(repr((kind, *numbers)).encode(), digest_size=_LETTERS).digest()
    return digest.translate(_TO_LETTERS).decode()
