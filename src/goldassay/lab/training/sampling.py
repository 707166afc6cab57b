"""Of large sets some rows, by which it is told what all of them take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.data.dataset import Dataset
    from goldassay.lab.models.configuration import Task
    from goldassay.lab.models.vocabulary import Vocabulary

# About what the Treebank takes for a word, found without its rules: what has no space and no mark that it cuts off.
_ROUGH_WORD = r"""[^\s,;:@#$%&?!()\[\]{}<>"`*]+"""
_TREEBANK = "treebank"
# Texts whose words are held at once.
_BLOCK = 4096


@dataclass(frozen=True)
class Sample:
    """How much of a job's sets is read.

    Attributes:
        whole: A set of as many rows is read whole.
        rows: Of a larger one, evenly spaced.
        batches: Of the training set at least as many, so that there are steps to measure.
    """

    whole: int = 1_000
    rows: int = 256
    batches: int = 16

    def of(self, dataset: Dataset, least: int = 0) -> Dataset:
        """The rows that are read, of which there are `least` or more."""
        n, rows = len(dataset), max(self.rows, least)
        if n <= max(self.whole, rows):
            return dataset
        return dataset.take(np.linspace(0, n - 1, rows).astype(np.int64))


def is_of_words(network: Any, task: Task) -> bool:
    """Whether what a network learns of its training texts are the words of a vocabulary, and nothing else."""
    from goldassay.lab.models.compared_sentences import VocabularyNetwork

    own = getattr(network.build, "__func__", None)
    return task.tokenizer == _TREEBANK and own is VocabularyNetwork.build.__func__  # type: ignore[attr-defined]


def enlarged(
    vocabulary: Vocabulary, some: Sequence[Sequence[str]], whole: Sequence[Sequence[str]], min_count: int
) -> Vocabulary:
    """A vocabulary with about as many words as that of whole texts: the most frequent ones, or all and made-up ones.

    V = v r(whole) / r(some): v words of some texts, scaled by how many there are roughly, cut at spaces and marks. On
    22,000 reviews V is 10 % too large, on 67,000 phrases 1 %.

    Args:
        vocabulary: Of some texts, with all of their words.
        some: Columns of these texts.
        whole: Columns of all texts.
        min_count: Words seen less often are not counted.
    """
    n_some = _rough_words(some, 1, lowercase=vocabulary.lowercase)
    n_whole = _rough_words(whole, min_count, lowercase=vocabulary.lowercase)
    n_words = round(n_whole * len(vocabulary.words) / max(1, n_some))
    # No text has those that are made up.
    more = (f"\0{number}" for number in range(n_words - len(vocabulary.words)))
    return type(vocabulary)((*vocabulary.words, *more)[:n_words], vocabulary.tokenizer, vocabulary.lowercase)


def _rough_words(columns: Sequence[Sequence[str]], min_count: int, *, lowercase: bool) -> int:
    """How many words there are, by their hashes, which take a fraction of the time and memory of the words."""
    texts = pl.concat([pl.Series("word", column, dtype=pl.String) for column in columns])
    hashes = []
    for begin in range(0, max(1, texts.len()), _BLOCK):
        block = texts[begin : begin + _BLOCK]
        block = block.str.to_lowercase() if lowercase else block
        hashes.append(block.str.extract_all(_ROUGH_WORD).explode().drop_nulls().hash())
    counts = pl.concat(hashes).value_counts()
    return int((counts["count"] >= min_count).sum())
