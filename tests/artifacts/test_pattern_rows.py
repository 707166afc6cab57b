import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from goldassay.artifacts import mine_patterns
from goldassay.questions.artifacts.measures.statistics import QValues
from goldassay.stats.significance import benjamini_hochberg


@given(st.lists(st.sampled_from([0.0, 1e-9, 0.01, 0.02, 0.5, 1.0]), min_size=1, max_size=30))
def test_q_values_are_those_of_the_procedure(p):
    found = QValues(np.array(p))
    assert found.of(np.array(p)).tolist() == benjamini_hochberg(p).tolist()
    assert found.of(np.array([1.5])).tolist() == [1.0]
    between = np.array([0.015])
    larger = [q for q, value in zip(benjamini_hochberg(p), p, strict=True) if value >= 0.015]
    assert found.of(between).tolist() == [min(larger, default=1.0)]


def test_parts_make_the_same_table(monkeypatch):
    rng = np.random.default_rng(0)
    sentences = [" ".join(rng.choice(list("abcdef"), 8)) for _ in range(60)]
    labels = rng.choice(list("xyz"), 60).tolist()
    whole = mine_patterns(sentences, labels, min_count=3).to_frame()
    monkeypatch.setattr("goldassay.questions.artifacts.measures.statistics.PART", 7)
    assert mine_patterns(sentences, labels, min_count=3).to_frame().equals(whole)
