from __future__ import annotations

import re
from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize import TreebankWordTokenizer
from scipy.stats import binom, chi2_contingency

from goldassay.data.specimen.rows import LABELS, draw_pair, sentence
from goldassay.data.specimen.topics import TOPICS
from goldassay.stats.significance import benjamini_hochberg
from tests.data.specimen.surface_checker import decide, facts_of

if TYPE_CHECKING:
    from goldassay.data.specimen import Specimen


@given(st.integers(0, 2**32), st.sampled_from(TOPICS), st.sampled_from(LABELS))
def test_every_pair_has_the_label_it_was_drawn_for(seed: int, topic, label) -> None:
    pair = draw_pair(Random(seed), topic, label)
    assert decide(pair.premise, sentence(pair.claim), topic.name) == label


@given(st.integers(0, 2**32), st.sampled_from(TOPICS))
def test_a_premise_gives_two_or_three_facts_and_is_silent_on_the_rest(seed: int, topic) -> None:
    assert len(facts_of(draw_pair(Random(seed), topic, "neutral").premise, topic.name)) in (2, 3)


@pytest.mark.parametrize("n", [2000, pytest.param(8000, marks=pytest.mark.slow)])
def test_all_labels_of_a_clean_specimen_can_be_decided(clean_ones: list[Specimen], n: int) -> None:
    for premise, hypothesis, label, topic in clean_ones[0].train[:n, 1:5].iter_rows():
        assert decide(premise, hypothesis, topic) == label, (premise, hypothesis)


def test_sentences_are_well_formed(clean_ones: list[Specimen]) -> None:
    for text in [*clean_ones[0].train["premise"], *clean_ones[0].train["hypothesis"]]:
        assert text[0].isupper()
        assert text.endswith(".")
        assert not re.search(r"[{}]|  | [.,]|\.\.|\ba [aeiou]|\ban [^aeiouAh\W]|\b(\w+) \1\b", text), text
        assert all(part[0].isupper() for part in text.split(". "))


def label_table(values: pl.Series, labels: pl.Series) -> np.ndarray:
    counts = Counter(zip(values, labels, strict=True))
    return np.array([[counts[value, label] for label in LABELS] for value in sorted(set(values))])


@pytest.mark.parametrize("column", ["premise", "hypothesis"])
@pytest.mark.parametrize("measure", [len, lambda text: text.count(" "), lambda text: text.split()[0]])
def test_lengths_and_openings_do_not_depend_on_the_label(clean_ones: list[Specimen], column: str, measure) -> None:
    train = pl.concat([one.train for one in clean_ones])
    values = train[column].map_elements(measure, return_dtype=None)
    table = label_table(values, train["label"])
    assert chi2_contingency(table[table.sum(1) >= 30]).pvalue > 1e-3


@pytest.mark.parametrize("column", ["topic", "group"])
def test_topic_and_form_do_not_depend_on_the_label(clean_ones: list[Specimen], column: str) -> None:
    train = pl.concat([one.train for one in clean_ones])
    assert chi2_contingency(label_table(train[column], train["label"])).pvalue > 1e-3


def patterns_of(tokens: list[str | None]) -> set[tuple[str | int, ...]]:
    """All gapped patterns of a sentence: up to three tokens, up to three skipped between each two."""
    found: set[tuple[str | int, ...]] = set()
    for i, first in enumerate(tokens):
        if first is None:
            continue
        found.add((first,))
        for j in range(i + 1, min(i + 5, len(tokens))):
            if (second := tokens[j]) is None:
                continue
            found.add((first, j - i - 1, second))
            for k in range(j + 1, min(j + 5, len(tokens))):
                if (third := tokens[k]) is not None:
                    found.add((first, j - i - 1, second, k - j - 1, third))
    return found


def significant_patterns(sentences: list[str], labels: list[str], min_count: int) -> list[tuple[float, float]]:
    """Share of the best label and q of all patterns with q at most .01: one-sided exact binomial, BH over all."""
    cut = TreebankWordTokenizer().tokenize
    texts = [cut(text) for text in sentences]
    single = Counter(token for tokens in texts for token in set(tokens))
    counts: dict[tuple[str | int, ...], Counter[str]] = {}
    for tokens, label in zip(texts, labels, strict=True):
        for pattern in patterns_of([token if single[token] >= min_count else None for token in tokens]):
            counts.setdefault(pattern, Counter())[label] += 1
    kept = [count for count in counts.values() if count.total() >= min_count]
    shares = Counter(labels)
    best = [count.most_common(1)[0] for count in kept]
    n = np.array([count.total() for count in kept])
    k = np.array([hits for _, hits in best])
    prior = np.array([shares[label] / len(labels) for label, _ in best])
    q = benjamini_hochberg(binom.sf(k - 1, n, prior))
    return list(zip((k / n)[q <= 0.01], q[q <= 0.01], strict=True))


@pytest.mark.slow
def test_no_pattern_of_a_clean_hypothesis_tells_the_label(clean_ones: list[Specimen]) -> None:
    for one in clean_ones:
        rows = one.train[:3000]
        assert significant_patterns(list(rows["hypothesis"]), list(rows["label"]), 8) == []


def test_no_pattern_of_a_clean_premise_tells_the_label(clean_ones: list[Specimen]) -> None:
    rows = clean_ones[0].train[:2000]
    assert significant_patterns(list(rows["premise"]), list(rows["label"]), 8) == []


def test_the_search_for_patterns_would_find_some(planted: Specimen) -> None:
    rows = planted.train[:3000]
    found = significant_patterns(list(rows["hypothesis"]), list(rows["label"]), 8)
    assert sum(share > 0.7 for share, _ in found) > 100


@pytest.mark.parametrize("column", ["premise", "hypothesis"])
def test_a_linear_probe_of_one_clean_sentence_is_at_chance(clean_ones: list[Specimen], column: str) -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import SGDClassifier

    right = []
    for one in clean_ones:
        words = CountVectorizer(ngram_range=(1, 2), binary=True, lowercase=False, min_df=3)
        seen = words.fit_transform(one.train[column])
        model = SGDClassifier(loss="log_loss", alpha=1e-3, average=True, max_iter=8, tol=None, random_state=0)
        model.fit(seen, one.train["label"])
        right.append(model.predict(words.transform(one.test[column])) == one.test["label"].to_numpy())
    hits = np.concatenate(right)
    # Neither above chance, which would be a leak, nor below, which would be a trace of labels dealt out in turn.
    assert abs(hits.mean() - 1 / 3) < 3 * np.sqrt(2 / 9 / hits.size)
