"""Displayed patterns, counted as mining counts them and as a plain loop does."""

from __future__ import annotations

import numpy as np
import pytest

from goldassay.artifacts import mine_patterns
from goldassay.data.tokenization import tokenize
from goldassay.lab.papers.artifacts.tables import count_pattern, parse_pattern

SENTENCES = [
    "A man is outdoors .", "A dog is outdoors .", "A girl was outdoors .", "Nobody is outdoors .",
    "Nobody is here .", "A man is tall .", "A A cat sleeps .", "",
]  # fmt: skip
CODES = np.array([0, 0, 0, 2, 2, 1, 2, 1])


def by_hand(pattern: str) -> list[int]:
    """Whether the pattern stands anywhere, sentence by sentence."""
    tokens, places = parse_pattern(pattern)
    counts = [0, 0, 0]
    for sentence, code in zip(SENTENCES, CODES, strict=True):
        words = sentence.split()
        starts = range(len(words) - places[-1])
        counts[code] += any(all(words[s + p] == t for t, p in zip(tokens, places, strict=True)) for s in starts)
    return counts


@pytest.mark.parametrize(
    ("text", "tokens", "places"),
    [
        ("Nobody", ("Nobody",), (0,)),
        ("There # a # # the", ("There", "a", "the"), (0, 2, 5)),
        (", said", (",", "said"), (0, 1)),
    ],
)
def test_what_is_displayed_is_understood(text: str, tokens: tuple[str, ...], places: tuple[int, ...]):
    assert parse_pattern(text) == (tokens, places)


@pytest.mark.parametrize("pattern", ["A", "A # # outdoors .", "A # # outdoors", "outdoors .", ". A", "unheard", "A A"])
def test_counts_are_those_of_a_plain_loop(pattern: str):
    corpus = tokenize(SENTENCES, "whitespace")
    assert count_pattern(pattern, corpus, CODES, 3).tolist() == by_hand(pattern)


def test_counts_are_those_of_mining():
    corpus = tokenize(SENTENCES, "whitespace")
    mined = mine_patterns(SENTENCES, CODES, min_count=1, tokenizer="whitespace").to_frame()
    assert mined.height > 50
    for pattern, counts in mined.select("pattern", "counts").iter_rows():
        assert count_pattern(pattern, corpus, CODES, 3).tolist() == counts, pattern
