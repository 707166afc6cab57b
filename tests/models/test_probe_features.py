from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.models import probe_features
from goldassay.models.probe_features import TokenizedTexts, build_features, tokenize_roles

PREMISES = ["A man sleeps .", "a man eats an apple", "two dogs run", "A man sleeps ."] * 3
HYPOTHESES = ["A man is eating", "the man eats", "dogs are running", "nobody sleeps"] * 3


def words(text: str) -> list[str]:
    vocabulary: dict[str, int] = {}
    tokens = probe_features._find_tokens([text], vocabulary)
    names = list(vocabulary)
    return [names[i] for i in tokens.ids]


def blocks(texts: TokenizedTexts, roles, n: int):
    caps = {pair: probe_features._crossing_cap(texts, *pair) for pair in probe_features._pairs(roles)}
    return dict(probe_features._blocks(texts, roles, caps, 0, n))


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
    ],
)
def test_tokens(text, expected):
    assert words(text) == expected


def test_shapes_presence_and_row_lengths():
    texts = tokenize_roles({"premise": PREMISES, "hypothesis": HYPOTHESES})
    features = build_features(texts, ("premise", "hypothesis"), 8)
    assert features.shape[0] == 12
    assert features.dtype == np.float32
    assert (features.data > 0).all()
    n_blocks = len(blocks(texts, ("premise", "hypothesis"), 12))
    squared = np.asarray(features.multiply(features).sum(axis=1)).ravel()
    assert (squared <= n_blocks + 1e-4).all()
    assert squared == pytest.approx(np.round(squared), abs=1e-4)


def test_equal_rows_have_equal_features_and_order_of_rows_does_not_matter():
    texts = tokenize_roles({"premise": PREMISES, "hypothesis": HYPOTHESES})
    features = build_features(texts, ("premise", "hypothesis"), 12)
    assert abs(features[:4] - features[4:8]).nnz == 0
    backwards = tokenize_roles({"premise": PREMISES[::-1], "hypothesis": HYPOTHESES[::-1]})
    reverse = build_features(backwards, ("premise", "hypothesis"), 12)
    assert abs(features - reverse[::-1]).nnz == 0


def test_chunks_make_no_difference(monkeypatch):
    texts = tokenize_roles({"premise": PREMISES, "hypothesis": HYPOTHESES})
    whole = build_features(texts, ("premise", "hypothesis"), 8)
    monkeypatch.setattr(probe_features, "ROWS_AT_ONCE", 5)
    assert abs(build_features(texts, ("premise", "hypothesis"), 8) - whole).nnz == 0


def test_only_what_two_training_rows_have_is_kept():
    texts = tokenize_roles({"text": ["apple", "apple", "pear", "plum", "plum", "plum"]})
    # apple, and the length 1 that all have; plum is seen in test rows only, pear in one training row.
    assert build_features(texts, ("text",), 3).shape == (6, 2)


def test_a_condition_sees_nothing_of_the_other_text():
    one = tokenize_roles({"premise": PREMISES, "hypothesis": HYPOTHESES})
    other = tokenize_roles({"premise": ["something else"] * 12, "hypothesis": HYPOTHESES})
    for roles, same in ((("hypothesis",), True), (("premise",), False)):
        difference = build_features(one, roles, 12).shape == build_features(other, roles, 12).shape
        assert difference == same
    assert abs(build_features(one, ("hypothesis",), 12) - build_features(other, ("hypothesis",), 12)).nnz == 0


def test_overlap_blocks_against_sets():
    texts = tokenize_roles({"premise": PREMISES, "hypothesis": HYPOTHESES})
    found = blocks(texts, ("premise", "hypothesis"), 12)
    pairs = [(set(words(p)), set(words(h))) for p, h in zip(PREMISES, HYPOTHESES, strict=True)]
    assert found["premise hypothesis word new"].counts.tolist() == [len(h - p) for p, h in pairs]
    assert found["premise hypothesis word shared"].counts.tolist() == [len(h & p) for p, h in pairs]
    stems = [({w[:4] for w in p}, {w[:4] for w in h}) for p, h in pairs]
    assert found["premise hypothesis stem shared"].counts.tolist() == [len(h & p) for p, h in stems]
    assert found["premise hypothesis stem crossed"].counts.tolist() == [len(p) * len(h - p) for p, h in stems]


def test_crossing_is_capped_where_texts_are_long(monkeypatch):
    texts = tokenize_roles({"premise": ["a b c d e f g h"] * 4, "hypothesis": ["i j k l m n o p"] * 4})
    monkeypatch.setattr(probe_features, "CROSSED_BUDGET", 4 * 16)
    assert probe_features._crossing_cap(texts, "premise", "hypothesis") == 4
    found = blocks(texts, ("premise", "hypothesis"), 4)
    assert (found["premise hypothesis stem crossed"].counts == 16).all()


def test_three_texts_are_compared_two_by_two():
    texts = tokenize_roles({"question": PREMISES, "choice": HYPOTHESES, "answer": PREMISES})
    names = blocks(texts, ("question", "choice", "answer"), 12)
    assert {"question choice word new", "question answer word new", "choice answer word new"} <= set(names)


def test_hashes_are_the_same_in_every_process():
    code = (
        "from goldassay.models.probe_features import tokenize_roles;"
        "print(tokenize_roles({'text': ['one two', 'three']}).word_hashes.tolist())"
    )
    here = tokenize_roles({"text": ["one two", "three"]}).word_hashes.tolist()
    for salt in ("1", "2"):
        there = subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": salt}, capture_output=True, text=True, check=True
        )
        assert there.stdout.strip() == str(here)


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), min_size=1, max_size=12))
def test_any_text_has_features(pairs):
    texts = tokenize_roles({"premise": [p for p, _ in pairs], "hypothesis": [h for _, h in pairs]})
    features = build_features(texts, ("premise", "hypothesis"), len(pairs))
    assert features.shape[0] == len(pairs)
    assert np.isfinite(features.data).all()
