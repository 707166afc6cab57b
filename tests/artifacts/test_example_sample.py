"""Examples behind patterns: an even draw among different sentences, however they pass by."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.artifacts import PatternTable, mine_patterns
from goldassay.data.tokenization import tokenize
from goldassay.questions.artifacts.measures.presence import ExampleSample

WORDS = ["a", "b", "c", "dé"]
sentence = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)


def drawn(
    patterns: PatternTable, sentences: list[str], codes: list[int], size: int, seed: int, cut: int
) -> list[list[int]]:
    sample = ExampleSample(patterns, size, seed)
    for part in (slice(0, cut), slice(cut, None)):
        sample.add(tokenize(sentences[part], "whitespace"), np.array(codes[part], np.int64))
    return sample.positions()


@given(st.lists(st.tuples(sentence, st.integers(-1, 1)), min_size=2, max_size=30), st.integers(1, 4), st.data())
@settings(max_examples=25)
def test_the_first_of_different_labelled_sentences_that_hold_it(
    rows: list[tuple[str, int]], size: int, data: st.DataObject
) -> None:
    sentences, codes = [text for text, _ in rows], [code for _, code in rows]
    patterns = mine_patterns(["a b c dé", "b a"], ["x", "y"], 2, 1, 1, "whitespace")
    cut = data.draw(st.integers(0, len(rows)))
    found = drawn(patterns, sentences, codes, size, 0, cut)
    assert found == drawn(patterns, sentences, codes, size, 0, 0)
    at, which = patterns.matches(sentences)
    for row, positions in enumerate(found):
        holding = [i for i in at[which == row].tolist() if codes[i] >= 0]
        first = {sentences[i].strip(): i for i in reversed(holding)}
        assert positions == sorted(positions)
        assert set(positions) <= set(first.values())
        assert len(positions) == min(size, len(first))


@pytest.mark.slow
def test_every_sentence_is_drawn_as_often() -> None:
    sentences = [f"a w{i}" for i in range(12)] + ["a w0"] * 20
    patterns = mine_patterns(["a", "b"], ["x", "y"], 1, 0, 1, "whitespace").top("x")
    counts = np.zeros(len(sentences))
    for seed in range(400):
        for position in drawn(patterns, sentences, [0] * len(sentences), 3, seed, 5)[0]:
            counts[position] += 1
    # Each of 12 different ones is expected in a quarter of the draws; repeated ones no more often.
    assert counts[12:].sum() == 0
    assert counts[:12] == pytest.approx(100, abs=5 * (400 * 0.25 * 0.75) ** 0.5)
