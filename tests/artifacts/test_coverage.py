"""Coverage counted block by block is that of the assignment at each threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.artifacts import assign_difficulty, mine_patterns
from goldassay.core.errors import InputError
from goldassay.data.tokenization import tokenize
from goldassay.questions.artifacts.measures.presence import CoverageCount
from tests.artifacts.test_mining import corpora, mine_quietly

THRESHOLDS = (0.5, 0.6, 0.75, 1.5)


@pytest.mark.parametrize("cut", [0, 7, 150])
def test_as_assigned(cut: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldassay.questions.artifacts.measures.matching._BLOCK", 11)
    rng = np.random.default_rng(3)
    labels = rng.choice(["x", "y", "z"], 300)
    words = np.array(["a", "b", "c", "d", "e", "f"])
    sentences = [" ".join([*rng.choice(words, 3), label * int(rng.random() < 0.3)]) for label in labels]
    labels = np.where(rng.random(300) < 0.1, "-", labels)
    patterns = mine_patterns(sentences, labels, 2, 1, 3, "whitespace")
    codes = np.array([patterns.label_names.index(each) if each != "-" else -1 for each in labels])
    counted = CoverageCount(patterns.select(0.5), THRESHOLDS)
    for part in (slice(0, cut), slice(cut, None)):
        counted.add(tokenize(sentences[part], "whitespace"), codes[part])
    assert counted.label_counts.sum() == (codes >= 0).sum()
    for t, threshold in enumerate(THRESHOLDS[:-1]):
        assigned = assign_difficulty(sentences, labels, patterns.select(threshold), missing="drop")
        single = assigned.label_sets.sum(axis=1) == 1
        assert counted.covered[t] == len(assigned) - assigned.summary["uncovered"]
        assert counted.decided[t] == single.sum()
        assert counted.easy[t] == assigned.summary["easy"]
        own = codes[assigned.rows]
        assert counted.left_open[t].tolist() == np.bincount(own[~single], minlength=3).tolist()
    assert counted.covered[-1] == 0


@given(corpora(), st.integers(1, 4), st.integers(0, 3), st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=60)
def test_any_corpus(corpus, max_tokens, max_gap, min_count, n_cores) -> None:
    sentences, labels = corpus
    patterns = mine_quietly(sentences[::2], labels[::2], max_tokens, max_gap, min_count)
    names = patterns.label_names
    codes = np.array([names.index(label) if label in names else -1 for label in labels])
    thresholds = (-1.0, 0.34, 0.6, 0.99)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("goldassay.questions.artifacts.measures.presence.cores", lambda: n_cores)
        counted = CoverageCount(patterns, thresholds)
        counted.add(tokenize(sentences, "whitespace"), codes)
    frame = patterns.to_frame()
    at, rows = patterns.matches(sentences)
    for t, threshold in enumerate(thresholds):
        sets = [set() for _ in sentences]
        for sentence, row in zip(at, rows, strict=True):
            if frame["probability"][int(row)] > threshold:
                sets[sentence].add(names.index(frame["label"][int(row)]))
        known = [(code, found) for code, found in zip(codes, sets, strict=True) if code >= 0]
        assert counted.covered[t] == sum(bool(found) for _, found in known)
        assert counted.decided[t] == sum(len(found) == 1 for _, found in known)
        assert counted.easy[t] == sum(found == {code} for code, found in known)
        open_codes = [code for code, found in known if len(found) != 1]
        assert counted.left_open[t].tolist() == [open_codes.count(k) for k in range(len(names))]


def test_another_tokenizer_is_refused() -> None:
    counted = CoverageCount(mine_quietly(["a b"] * 3, "xyx", 1, 0, 1), (0.5,))
    with pytest.raises(InputError, match="tokenizer"):
        counted.add(tokenize(["a"], "characters"), np.zeros(1, np.int64))
