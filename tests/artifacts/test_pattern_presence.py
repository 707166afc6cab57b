import numpy as np
from hypothesis import given

from goldassay.artifacts import mine_patterns, pattern_features
from goldassay.questions.artifacts.measures import presence
from goldassay.questions.artifacts.measures.presence import strongest_probability
from tests.artifacts.conftest import LABELS, SENTENCES
from tests.artifacts.test_mining import corpora, mine_quietly


def holds(sentence, tokens, gaps):
    words = sentence.split()
    places = np.cumsum([0, *(gap + 1 for gap in gaps)])
    return any(
        all(
            start + place < len(words) and words[start + place] == token
            for place, token in zip(places, tokens, strict=True)
        )
        for start in range(len(words))
    )


class TestAgainstTheDefinition:
    @given(corpora())
    def test_features(self, corpus):
        patterns = mine_quietly(*corpus, 3, 2, 2)
        found = pattern_features(corpus[0], patterns).toarray()
        rows = list(patterns.to_frame().select("tokens", "gaps").iter_rows())
        assert found.shape == (len(corpus[0]), len(patterns))
        assert found.tolist() == [[float(holds(s, *row)) for row in rows] for s in corpus[0]]
        assert found.sum(axis=0).tolist() == patterns.to_frame()["support"].to_list()

    @given(corpora())
    def test_strongest(self, corpus):
        patterns = mine_quietly(*corpus, 2, 2, 2)
        probability = patterns.to_frame()["probability"].to_numpy()
        found = pattern_features(corpus[0], patterns).toarray()
        expected = (found * probability).max(axis=1) if len(patterns) else np.zeros(len(corpus[0]))
        np.testing.assert_allclose(strongest_probability(corpus[0], patterns), expected)


def test_blocks_change_nothing(monkeypatch):
    patterns = mine_patterns(SENTENCES, LABELS, min_count=1, tokenizer="whitespace")
    whole = pattern_features(SENTENCES, patterns).toarray()
    monkeypatch.setattr(presence, "_BLOCK", 2)
    assert (pattern_features(SENTENCES, patterns).toarray() == whole).all()


def test_no_sentence():
    patterns = mine_patterns(SENTENCES, LABELS, min_count=1, tokenizer="whitespace")
    assert pattern_features([], patterns).shape == (0, len(patterns))
