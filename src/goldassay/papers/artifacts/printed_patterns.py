"""Patterns as the paper prints them, counted in any training set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.data.tokenization import TokenizedCorpus

SKIPPED = "#"


def parse_pattern(text: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Tokens of a displayed pattern, and where each stands, counted from the first.

    "A # human" is ("A", "human"), (0, 2).
    Only for patterns whose words are no "#" themselves.
    """
    places = [(at, token) for at, token in enumerate(text.split()) if token != SKIPPED]
    return tuple(token for _, token in places), tuple(at - places[0][0] for at, _ in places)


def count_pattern(text: str, corpus: TokenizedCorpus, codes: NDArray[np.int64], n_labels: int) -> NDArray[np.int64]:
    """Sentences of each label that hold a displayed pattern, (K,); one that holds it twice counts once.

    Args:
        text: The pattern, "#" for each token skipped.
        corpus: N tokenized sentences.
        codes: Their labels, (N,).
        n_labels: K.
    """
    tokens, places = parse_pattern(text)
    number = {word: at for at, word in enumerate(corpus.vocabulary)}
    if any(token not in number for token in tokens):
        return np.zeros(n_labels, np.int64)
    last = max(0, len(corpus.ids) - places[-1])
    held = np.ones(last, np.bool_)
    for token, place in zip(tokens, places, strict=True):
        held &= corpus.ids[place : place + last] == number[token]
    sentence = np.repeat(np.arange(len(corpus)), np.diff(corpus.offsets))
    held &= sentence[:last] == sentence[places[-1] : places[-1] + last]
    return np.bincount(codes[np.unique(sentence[:last][held])], minlength=n_labels)
