from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from goldassay.lab.models.vocabulary import Grams, Ragged, Vocabulary

TEXTS = ["A dog is here .", "a cat is there .", "A dog and a cat", ""]
words = st.lists(st.lists(st.sampled_from("abcd"), max_size=6).map(" ".join), min_size=1, max_size=8)
rows = st.lists(st.lists(st.integers(0, 9), max_size=5), min_size=1, max_size=7)


def test_frequent_words_come_first_and_rare_ones_are_unknown():
    vocabulary = Vocabulary.learn([TEXTS], min_count=2)
    assert vocabulary.words == ("a", ".", "cat", "dog", "is")
    assert len(vocabulary) == 7
    encoded = vocabulary.encode(["The dog"])
    assert encoded.flat.tolist() == [1, 5]
    assert [vocabulary.word(number) for number in encoded.flat] == ["<unknown>", "dog"]
    assert Vocabulary.from_dict(vocabulary.to_dict()) == vocabulary


@given(words)
def test_grams_are_those_of_a_plain_loop(texts):
    vocabulary = Vocabulary.learn([texts], min_count=1)
    encoded = vocabulary.encode(texts)
    grams = Grams.learn([encoded], len(vocabulary), 3, min_count=2)
    plain = [
        [tuple(encoded.row(i)[at : at + n]) for n in (2, 3) for at in range(len(encoded.row(i)) - n + 1)]
        for i in range(len(texts))
    ]
    counts = Counter(gram for row in plain for gram in row)
    known = {gram for gram, count in counts.items() if count >= 2}
    assert len(grams) == len(known)
    numbers = grams.encode(encoded)
    assert [len(numbers.row(i)) for i in range(len(texts))] == [sum(g in known for g in row) for row in plain]
    seen: dict[int, tuple[int, ...]] = {}
    for i, row in enumerate(plain):
        for number, gram in zip(numbers.row(i), (gram for gram in row if gram in known), strict=True):
            assert seen.setdefault(int(number), gram) == gram


@given(rows, st.data())
def test_ragged_rows_are_taken_padded_and_cut_like_lists(values, data):
    ragged = Ragged.of(values)
    order = data.draw(st.lists(st.integers(0, len(values) - 1), min_size=1, max_size=9))
    taken = ragged.take(np.array(order))
    assert [taken.row(i).tolist() for i in range(len(taken))] == [values[place] for place in order]
    table, real = taken.padded(-1)
    assert [row[mask].tolist() for row, mask in zip(table, real, strict=True)] == [values[place] for place in order]
    assert (table[~real] == -1).all()
    cut, longer = ragged.cut(2)
    assert [cut.row(i).tolist() for i in range(len(cut))] == [row[:2] for row in values]
    assert longer.tolist() == [len(row) > 2 for row in values]


def test_rows_beside_rows():
    left, right = Ragged.of([[1, 2], [], [3]]), Ragged.of([[9], [8, 7], []])
    both = left.beside(right)
    assert [both.row(i).tolist() for i in range(3)] == [[1, 2, 9], [8, 7], [3]]
    assert left.beside(Ragged.empty(3)) is left
