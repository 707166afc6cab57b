"""Coverage counted block by block is that of the assignment at each threshold."""

from __future__ import annotations

import numpy as np
import pytest

from goldassay.artifacts import assign_difficulty, mine_patterns
from goldassay.artifacts.coverage import CoverageCount
from goldassay.data.tokenization import tokenize

THRESHOLDS = (0.5, 0.6, 0.75, 1.5)


@pytest.mark.parametrize("cut", [0, 7, 150])
def test_as_assigned(cut: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldassay.artifacts.matching._BLOCK", 11)
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
