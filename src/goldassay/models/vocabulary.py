"""A vocabulary of words, and of runs of words, learnt from the training texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.data.tokenization import tokenize
from goldassay.models.ragged import Ragged

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

PADDING, UNKNOWN = 0, 1
_FIRST_WORD = 2


@dataclass(frozen=True)
class Vocabulary:
    """Numbers of words; 0 is padding and 1 every word that is not known.

    Words seen less than `min_count` times in training are not known, so that the number for the unknown is trained
    on something.

    Attributes:
        words: In the order of their numbers, from 2 on.
        tokenizer: Of `goldassay.data.tokenization`.
        lowercase: Whether case is ignored.
    """

    words: tuple[str, ...]
    tokenizer: str = "treebank"
    lowercase: bool = True
    _numbers: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_numbers", {word: number for number, word in enumerate(self.words, _FIRST_WORD)})

    @classmethod
    def learn(
        cls,
        columns: Iterable[Sequence[str]],
        tokenizer: str = "treebank",
        *,
        lowercase: bool = True,
        min_count: int = 2,
    ) -> Vocabulary:
        """Number the words of some columns of texts, the frequent ones first; of equals in alphabetical order."""
        counts: dict[str, int] = {}
        for texts in columns:
            corpus = tokenize(texts, tokenizer)
            found = np.bincount(corpus.ids, minlength=len(corpus.vocabulary))
            for word, count in zip(corpus.vocabulary, found.tolist(), strict=True):
                word = word.lower() if lowercase else word
                counts[word] = counts.get(word, 0) + count
        kept = sorted((word for word, count in counts.items() if count >= min_count), key=lambda w: (-counts[w], w))
        return cls(tuple(kept), tokenizer, lowercase)

    def __len__(self) -> int:
        return len(self.words) + _FIRST_WORD

    def encode(self, texts: Sequence[str]) -> Ragged:
        """Numbers of the words of each text."""
        corpus = tokenize(texts, self.tokenizer)
        known = self._numbers
        words = (word.lower() for word in corpus.vocabulary) if self.lowercase else corpus.vocabulary
        numbers = np.fromiter((known.get(word, UNKNOWN) for word in words), np.int64, len(corpus.vocabulary))
        return Ragged(numbers[corpus.ids] if corpus.ids.size else np.zeros(0, np.int64), corpus.offsets)

    @property
    def numbers(self) -> Mapping[str, int]:
        """The number of each known word."""
        return self._numbers

    def word(self, number: int) -> str:
        """The word of a number."""
        return self.words[number - _FIRST_WORD] if number >= _FIRST_WORD else ("", "<unknown>")[number]

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {"words": list(self.words), "tokenizer": self.tokenizer, "lowercase": self.lowercase}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Vocabulary:
        """From what `to_dict` gave."""
        return cls(tuple(content["words"]), content["tokenizer"], content["lowercase"])


@dataclass(frozen=True)
class Grams:
    """Numbers of runs of n neighboring words, n from 2 up; a run that is not known has none.

    Attributes:
        keys: For each n from 2, the known runs as one number each, ascending.
        n_words: Of the vocabulary: the base in which words are digits of a key.
    """

    keys: tuple[NDArray[np.int64], ...]
    n_words: int

    @classmethod
    def learn(cls, columns: Iterable[Ragged], n_words: int, longest: int, min_count: int = 2) -> Grams:
        """The runs that occur `min_count` times or more in some columns of encoded texts."""
        found: list[list[NDArray[np.int64]]] = [[] for _ in range(2, longest + 1)]
        for texts in columns:
            for n in range(2, longest + 1):
                found[n - 2].append(_keys(texts, n, n_words)[0])
        kept = []
        for parts in found:
            keys, counts = np.unique(np.concatenate(parts), return_counts=True)
            kept.append(keys[counts >= min_count])
        return cls(tuple(kept), n_words)

    def __len__(self) -> int:
        return sum(keys.size for keys in self.keys)

    def encode(self, texts: Ragged) -> Ragged:
        """Numbers from 0 of the known runs of each text, the shorter ones first."""
        numbers, rows, first = [], [], 0
        for n, known in enumerate(self.keys, start=2):
            keys, row = _keys(texts, n, self.n_words)
            at = np.minimum(np.searchsorted(known, keys), max(known.size - 1, 0))
            is_known = known[at] == keys if known.size else np.zeros(keys.size, np.bool_)
            numbers.append(at[is_known] + first)
            rows.append(row[is_known])
            first += known.size
        if not numbers:
            return Ragged.empty(len(texts))
        row = np.concatenate(rows)
        flat = np.concatenate(numbers)[np.argsort(row, kind="stable")]
        counts = np.bincount(row, minlength=len(texts))
        return Ragged(flat, np.concatenate(([0], np.cumsum(counts))))


def _keys(texts: Ragged, n: int, n_words: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every run of n words as one number, and the text it stands in."""
    row = np.repeat(np.arange(len(texts)), texts.lengths)
    n_runs = max(texts.flat.size - n + 1, 0)
    inside = row[:n_runs] == row[n - 1 : n - 1 + n_runs]
    keys = np.zeros(n_runs, np.int64)
    for position in range(n):
        keys = keys * n_words + texts.flat[position : position + n_runs]
    return keys[inside], row[:n_runs][inside]
