"""Tokens and hashed features against regular expressions and sets of Python."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import astuple
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goldassay.readers import probe_features
from goldassay.readers.probe_features import ProbeFeatures, TokenizedTexts, build_features, tokenize_roles

PREMISES = ["A man sleeps .", "a man eats an apple", "two dogs run", "A man sleeps ."] * 3
HYPOTHESES = ["A man is eating", "the man eats", "dogs are running", "nobody sleeps"] * 3
SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff"
TOKEN = re.compile(rf"[{SPACELESS}]|(?:(?![{SPACELESS}])[\w{MARKS}])+|[^\w\s]")


def reference_tokens(text: str) -> list[str]:
    return TOKEN.findall(text.lower())


def words(text: str) -> list[str]:
    """The tokens found in a text, by the one-word texts of the same vocabulary that have the same numbers."""
    known = list(dict.fromkeys(reference_tokens(text)))
    found = tokenize_roles({"known": known, "text": [text] * len(known)})
    numbers = {int(found.ids[found.offsets[0, i]]): name for i, name in enumerate(known)}
    start, end = found.offsets[1, :2] if known else (0, 0)
    return [numbers[int(i)] for i in found.ids[start:end]]


def made(premises=PREMISES, hypotheses=HYPOTHESES, n_train=12) -> ProbeFeatures:
    return build_features(tokenize_roles({"premise": premises, "hypothesis": hypotheses}), n_train)


def all_sizes(features: ProbeFeatures) -> dict[str, list[int]]:
    return {block.name: features.sizes[:, b].tolist() for b, block in enumerate(features.blocks)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The man, don't!", ["the", "man", ",", "don", "'", "t", "!"]),
        ("你好 world", ["你", "好", "world"]),
        ("ภาษา", ["ภ", "า", "ษ", "า"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("Cafe\u0301 4x4", ["cafe\u0301", "4x4"]),
        ("", []),
        (" \t\n", []),
        ("\ud800 broken", ["\ud800", "broken"]),
        ("İstanbul", ["i\u0307stanbul"]),
    ],
)
def test_tokens(text, expected):
    assert words(text) == expected


@given(st.lists(st.text(max_size=30), min_size=1, max_size=6))
def test_tokens_of_any_text_are_those_of_the_regular_expression(texts):
    found = tokenize_roles({"text": texts})
    expected = [reference_tokens(text) for text in texts]
    assert np.diff(found.offsets[0]).tolist() == [len(tokens) for tokens in expected]
    numbers: dict[str, int] = {}
    assert found.ids.tolist() == [numbers.setdefault(token, len(numbers)) for tokens in expected for token in tokens]
    assert np.unique(found.hashes).size == len(numbers)
    stems: dict[str, int] = {}
    of_words = [stems.setdefault(word[:4], len(stems)) for word in numbers]
    pairs = set(zip(found.stems.tolist(), of_words, strict=True))
    assert len(pairs) == len(stems) == found.stem_hashes.size


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=30), min_size=1, max_size=6))
@example(["ONE two", "Three, FOUR"])
@example(["ΑΣ", "ΣΑΣ Α", "İstanbul"])
def test_a_column_has_the_tokens_of_its_texts(texts):
    found, expected = tokenize_roles({"text": pl.Series(texts, dtype=pl.String)}), tokenize_roles({"text": texts})
    for own, other in zip(astuple(found), astuple(expected), strict=True):
        np.testing.assert_array_equal(own, other)


def test_many_words_are_told_apart():
    texts = [f"word{i}" for i in range(20_000)]
    found = tokenize_roles({"text": texts, "again": texts[::-1]})
    assert found.ids[:20_000].tolist() == list(range(20_000))
    assert found.ids[20_000:].tolist() == list(range(20_000))[::-1]


def test_shapes_presence_and_row_lengths():
    features = made(n_train=8)
    matrix = features.matrix()
    assert matrix.shape[0] == 12
    assert matrix.dtype == np.float32
    assert (matrix.data > 0).all()
    squared = np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()
    assert squared == pytest.approx((features.sizes > 0).sum(axis=1), abs=1e-4)


def test_equal_rows_have_equal_features_and_order_of_rows_does_not_matter():
    matrix = made().matrix()
    assert abs(matrix[:4] - matrix[4:8]).nnz == 0
    backwards = made(PREMISES[::-1], HYPOTHESES[::-1]).matrix()
    assert abs(matrix - backwards[::-1]).nnz == 0


def test_chunks_make_no_difference(monkeypatch):
    whole = made(n_train=8).matrix()
    monkeypatch.setattr(probe_features, "ROWS_AT_ONCE", 3)
    monkeypatch.setattr(probe_features, "TEXTS_AT_ONCE", 5)
    assert abs(made(n_train=8).matrix() - whole).nnz == 0


@pytest.mark.parametrize("n_cores", [1, 2])
def test_cores_make_no_difference(monkeypatch, n_cores):
    whole = made(PREMISES * 20, HYPOTHESES * 20, 200)
    monkeypatch.setattr(probe_features, "ROWS_AT_ONCE", 16)
    monkeypatch.setattr(probe_features, "cores", lambda: n_cores)
    found = made(PREMISES * 20, HYPOTHESES * 20, 200)
    assert np.array_equal(found.columns, whole.columns)
    assert np.array_equal(found.sizes, whole.sizes)


def test_only_what_two_training_rows_have_is_kept():
    features = build_features(tokenize_roles({"text": ["apple", "apple", "pear", "plum", "plum", "plum"]}), 3)
    # apple, and the length 1 that all have; plum is seen in test rows only, pear in one training row.
    assert features.matrix().shape == (6, 2)
    assert [block.column_rows.tolist() for block in features.blocks] == [[2], [], [3]]


def test_a_condition_sees_nothing_of_the_other_text():
    one = made()
    other = made(["something else"] * 12)
    for roles, same in ((("hypothesis",), True), (("premise",), False)):
        assert (one.matrix(roles).shape == other.matrix(roles).shape) == same
    assert abs(one.matrix(("hypothesis",)) - other.matrix(("hypothesis",))).nnz == 0
    alone = build_features(tokenize_roles({"hypothesis": HYPOTHESES}), 12)
    assert one.matrix(("hypothesis",)).shape == alone.matrix().shape
    assert {block.name for block in one.blocks if set(block.roles) <= {"hypothesis"}} == {
        block.name for block in alone.blocks
    }


def test_rows_to_predict_have_no_say():
    few, more = made(n_train=12), made(PREMISES + ["a b c"] * 30, HYPOTHESES + ["d e f"] * 30)
    assert [block.column_rows.tolist() for block in few.blocks] == [block.column_rows.tolist() for block in more.blocks]
    assert abs(few.matrix() - more.matrix()[:12]).nnz == 0


def test_sizes_against_sets():
    found = all_sizes(build_features(tokenize_roles({"premise": PREMISES, "hypothesis": HYPOTHESES}), 12))
    pairs = [(set(reference_tokens(p)), set(reference_tokens(h))) for p, h in zip(PREMISES, HYPOTHESES, strict=True)]
    assert found["premise words"] == [len(p) for p, _ in pairs]
    assert found["hypothesis word pairs"] == [
        len(set(zip(reference_tokens(h), reference_tokens(h)[1:], strict=False))) for h in HYPOTHESES
    ]
    assert found["premise hypothesis new words"] == [len(h - p) for p, h in pairs]
    assert found["premise hypothesis shared words"] == [len(h & p) for p, h in pairs]
    stems = [({w[:4] for w in p}, {w[:4] for w in h}) for p, h in pairs]
    assert found["premise hypothesis new stems"] == [len(h - p) for p, h in stems]
    assert found["premise hypothesis shared stems"] == [len(h & p) for p, h in stems]
    assert found["premise hypothesis crossed stems"] == [len(p) * len(h - p) for p, h in stems]


def columns_of(features: ProbeFeatures, name: str) -> list[frozenset[int]]:
    b = [block.name for block in features.blocks].index(name)
    ends = features.starts[:-1] + np.cumsum(features.sizes, axis=1)[:, b]
    return [
        frozenset(features.columns[end - size : end].tolist())
        for end, size in zip(ends, features.sizes[:, b], strict=True)
    ]


def test_counts_against_sets():
    premises = ["a b c d", "a b", "a b c d e f", "x y z"] * 2
    hypotheses = ["a b x", "a b x", "a b c d", "a b c d e f g h"] * 2
    found = columns_of(made(premises, hypotheses, 8), "premise hypothesis counts")

    def counts(premise: str, hypothesis: str) -> tuple[int, ...]:
        p, h = premise.split(), hypothesis.split()
        pairs_p, pairs_h = (set(pairwise(each)) for each in (p, h))
        new, shared = len(set(h) - set(p)), len(set(h) & set(p))
        known = len(pairs_h & pairs_p)
        longer = min(max(len(set(p)) - len(set(h)), -10), 25)
        of_words = (min(new, 12), 10 * shared // len(set(h)), longer)
        # Words of one letter are their own stems.
        return *of_words, *of_words, min(len(pairs_h) - known, 12), 10 * known // len(pairs_h)

    expected = [counts(p, h) for p, h in zip(premises, hypotheses, strict=True)]
    for i in range(8):
        for j in range(8):
            shared = sum(a == b for a, b in zip(expected[i], expected[j], strict=True))
            assert len(found[i] & found[j]) == shared


def test_crossing_is_capped_where_texts_are_long(monkeypatch):
    texts = tokenize_roles({"premise": ["a b c d e f g h"] * 4, "hypothesis": ["i j k l m n o p"] * 4})
    monkeypatch.setattr(probe_features, "CROSSED_BUDGET", 4 * 16)
    assert all_sizes(build_features(texts, 4))["premise hypothesis crossed stems"] == [16] * 4


def test_three_texts_are_compared_two_by_two():
    texts = tokenize_roles({"question": PREMISES, "choice": HYPOTHESES, "answer": PREMISES})
    features = build_features(texts, 12)
    names = {block.name for block in features.blocks}
    assert {"question choice new words", "question answer new words", "choice answer new words"} <= names
    assert {block.roles for block in features.blocks} == {
        ("question",), ("choice",), ("answer",), ("question", "choice"), ("question", "answer"), ("choice", "answer")
    }  # fmt: skip
    pair = build_features(tokenize_roles({"question": PREMISES, "answer": PREMISES}), 12)
    assert features.matrix(("question", "answer")).shape == pair.matrix().shape


def test_of_too_many_columns_those_of_most_rows_are_kept():
    features = made()
    every = features.widths()
    assert features.widths(most=int(every.sum())).tolist() == every.tolist()
    some = features.widths(most=20)
    assert 0 < some.sum() <= 20
    kept = np.concatenate([b.column_rows[:w] for b, w in zip(features.blocks, some, strict=True)])
    left = np.concatenate([b.column_rows[w:] for b, w in zip(features.blocks, some, strict=True)])
    assert kept.min() > left.max()
    assert features.widths(("premise",), most=3)[3:].sum() == 0


def test_hashes_are_the_same_in_every_process():
    code = (
        "from goldassay.readers.probe_features import tokenize_roles;"
        "print(tokenize_roles({'text': ['one two', 'three']}).hashes.tolist())"
    )
    here = tokenize_roles({"text": ["one two", "three"]}).hashes.tolist()
    for salt in ("1", "2"):
        salted = {**os.environ, "PYTHONHASHSEED": salt}
        there = subprocess.run([sys.executable, "-c", code], env=salted, capture_output=True, text=True, check=True)
        assert there.stdout.strip() == str(here)


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), min_size=1, max_size=12))
def test_any_text_has_features(pairs):
    texts: TokenizedTexts = tokenize_roles({"premise": [p for p, _ in pairs], "hypothesis": [h for _, h in pairs]})
    features = build_features(texts, len(pairs))
    assert features.sizes.sum() == features.columns.size == features.starts[-1]
    for b, block in enumerate(features.blocks):
        own = columns_of(features, block.name)
        assert [len(each) for each in own] == features.sizes[:, b].tolist()
        rows = np.zeros(block.column_rows.size, int)
        for each in own:
            rows[list(each)] += 1
        assert rows.tolist() == block.column_rows.tolist()
