"""Patterns of the same sentences, however the sentences pass by."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.artifacts import mine_patterns
from goldassay.data.tokenization import tokenize
from goldassay.questions.artifacts.measures.presence import RowSignatures

sentence = st.lists(st.sampled_from(["a", "b", "c"]), max_size=4).map(" ".join)


@given(st.lists(st.tuples(sentence, st.integers(-1, 1)), min_size=2, max_size=30), st.data())
@settings(max_examples=25)
def test_equal_where_the_labelled_sentences_are(rows: list[tuple[str, int]], data: st.DataObject) -> None:
    sentences, codes = [text for text, _ in rows], np.array([code for _, code in rows])
    patterns = mine_patterns(["a b c", "b a", "c"], ["x", "y", "y"], 2, 1, 1, "whitespace")
    cut = data.draw(st.integers(0, len(rows)))
    signatures = RowSignatures(patterns)
    for part in (slice(0, cut), slice(cut, None)):
        signatures.add(tokenize(sentences[part], "whitespace"), codes[part])
    at, which = patterns.matches(sentences)
    held = [frozenset(i for i in at[which == row].tolist() if codes[i] >= 0) for row in range(len(patterns))]
    for i, one in enumerate(held):
        for j, other in enumerate(held):
            assert (signatures.values[i] == signatures.values[j]) == (one == other)
