"""Patterns as features of sentences: which a sentence holds, and how telling the strongest is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.data.tokenization import TokenizedCorpus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from scipy import sparse

    from goldassay.artifacts.pattern_table import PatternTable
    from goldassay.data.tokenization import Tokenizer

# Sentences matched at once: bounds the memory for the matches.
_BLOCK = 1 << 16


def pattern_features(
    sentences: Sequence[str], patterns: PatternTable, tokenizer: Tokenizer | None = None
) -> sparse.csr_matrix:
    """The binary matrix (N, V): 1 where sentence n holds the pattern of row v.

    Args:
        sentences: N strings.
        patterns: V rows, usually cut by `select`.
        tokenizer: The function that the patterns were mined with, if it was one and the table comes from a file.

    Raises:
        InputError: The tokenizer is not the one that the patterns were mined with.

    Source: Liu et al. 2020, the features of their pattern classifiers.
    """
    from scipy.sparse import csr_matrix

    corpus = patterns.tokenized(sentences, tokenizer)
    found = [(begin + at, rows) for begin, at, rows in _matches_by_block(corpus, patterns)]
    at = np.concatenate([part for part, _ in found]) if found else np.empty(0, np.int64)
    rows = np.concatenate([part for _, part in found]) if found else np.empty(0, np.int64)
    starts = np.searchsorted(at, np.arange(len(corpus) + 1))
    return csr_matrix((np.ones(rows.size, np.float32), rows, starts), shape=(len(corpus), len(patterns)))


def strongest_probability(
    sentences: Sequence[str], patterns: PatternTable, tokenizer: Tokenizer | None = None
) -> NDArray[np.float64]:
    """Largest p(label|pattern) of the patterns that each sentence holds, (N,); 0 where it holds none.

    Args:
        sentences: N strings.
        patterns: What to look for.
        tokenizer: The function that the patterns were mined with, if it was one and the table comes from a file.

    Raises:
        InputError: The tokenizer is not the one that the patterns were mined with.
    """
    corpus = patterns.tokenized(sentences, tokenizer)
    probability = patterns.to_frame()["probability"].to_numpy()
    strongest = np.zeros(len(corpus))
    for begin, at, rows in _matches_by_block(corpus, patterns):
        np.maximum.at(strongest, begin + at, probability[rows])
    return strongest


def _matches_by_block(
    corpus: TokenizedCorpus, patterns: PatternTable
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
    """The first sentence of each block, and its matches as `PatternTable.matches` gives them."""
    for begin in range(0, len(corpus), _BLOCK):
        offsets = corpus.offsets[begin : begin + _BLOCK + 1]
        ids = corpus.ids[offsets[0] : offsets[-1]]
        part = TokenizedCorpus(ids, offsets - offsets[0], corpus.vocabulary, corpus.tokenizer)
        yield begin, *patterns.matches(part)
