"""Families of rows against a plain search, and what probes make of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.readers import probe_features
from goldassay.readers.probe_features import build_features, find_families, tokenize_roles
from goldassay.readers.quick_probe import QuickProbe

TEXT = st.lists(st.sampled_from("abc"), max_size=5).map(" ".join)


def contains(longer: str, text: str) -> bool:
    words, own = longer.split(), text.split()
    return any(words[at : at + len(own)] == own for at in range(len(words) - len(own) + 1))


def reference(rows: list[tuple[str, ...]]) -> list[int]:
    """The row that stands for each row's family: the longest that contains it, of equals the first."""
    lengths = [sum(len(text.split()) for text in row) for row in rows]
    order = sorted(range(len(rows)), key=lambda row: (-lengths[row], row))
    within = list(range(len(rows)))
    for place, row in enumerate(order):
        if lengths[row]:
            found = (other for other in order[:place] if all(map(contains, rows[other], rows[row])))
            within[row] = within[next(found, row)]
    return within


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=12))
def test_families_are_those_of_a_plain_search(rows):
    tokens = tokenize_roles({"premise": [one for one, _ in rows], "hypothesis": [two for _, two in rows]})
    within = reference(rows)
    families = find_families(tokens, len(rows))
    lengths = np.array([len(" ".join(row).split()) for row in rows])
    if np.mean(lengths[within] > lengths) < 0.5:
        assert families is None
    else:
        assert families is not None
        assert families.tolist() == np.unique(within, return_inverse=True)[1].tolist()


def test_rows_to_predict_are_in_no_family():
    tokens = tokenize_roles({"text": ["a b c", "a b", "b c", "a b c d e"]})
    assert find_families(tokens, 3).tolist() == [0, 0, 0]


def test_a_sample_decides_whether_all_rows_are_compared(monkeypatch):
    monkeypatch.setattr(probe_features, "SAMPLED_ROWS", 50)
    alone = [f"w{i} v{i}" for i in range(400)]
    assert find_families(tokenize_roles({"text": alone}), 400) is None
    stretches = [" ".join([f"w{i // 4}", f"v{i // 4}", f"u{i // 4}"][: 3 - i % 4 // 2]) for i in range(400)]
    assert find_families(tokenize_roles({"text": stretches}), 400).tolist() == [i // 4 for i in range(400)]
    copies = [f"w{i // 4} v{i // 4}" for i in range(400)]
    assert find_families(tokenize_roles({"text": copies}), 400) is None


def phrases(n_sentences: int, seed: int) -> tuple[list[str], list[int], list[bool]]:
    """Sentences with a word that tells three labels of four, and stretches of them; their labels; which are whole."""
    rng = np.random.default_rng(seed)
    texts, labels, whole = [], [], []
    for _ in range(n_sentences):
        label = int(rng.integers(2))
        told = label if rng.random() < 0.75 else 1 - label
        words = [f"w{word}" for word in rng.zipf(1.3, 12) % 3_000]
        words[int(rng.integers(12))] = ("bad", "good")[told]
        for length in (12, 10, 10, 8, 8, 6, 6, 5):
            start = int(rng.integers(13 - length))
            texts.append(" ".join(words[start : start + length]))
            labels.append(label)
            whole.append(length == 12)
    return texts, labels, whole


def test_a_probe_of_phrases_is_as_sure_of_new_sentences_as_it_may_be():
    train, labels, _ = phrases(500, 0)
    test, gold, whole = phrases(4_000, 1)
    features = build_features(tokenize_roles({"text": [*train, *np.array(test)[whole]]}), len(train))
    assert features.families is not None
    assert features.families.max() == pytest.approx(499, abs=2)
    tested = np.arange(len(train), len(features.sizes))
    right = np.array(gold)[whole]

    def excess(given: object) -> float:
        """By how many points mean confidence is above accuracy."""
        fitted = QuickProbe().fit(features, np.array(labels), 2, 0, clusters=given)
        logits = fitted.logits(features, tested)
        return 100 * float(np.exp(logits.max(axis=1)).mean() - np.mean(logits.argmax(axis=1) == right))

    assert excess(None) == pytest.approx(0, abs=5)
    # As if each phrase were new: sure of what it has seen.
    assert excess(np.arange(len(train))) > 10


def test_cross_fitting_keeps_families_together():
    train, labels, _ = phrases(100, 0)
    features = build_features(tokenize_roles({"text": train}), len(train))
    assert features.families is not None
    folds = QuickProbe().cross_fit(features, np.array(labels), 2, 0).folds
    for family in range(features.families.max() + 1):
        assert np.unique(folds[features.families == family]).size == 1
