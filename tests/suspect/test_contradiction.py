"""Contradiction of gold against a plain loop, with planted errors, and on clean labels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.questions.suspect.measures import contradict_gold, corrected_scores, rank_suspects

FAMILIES = ("a", "b", "b", "c", "d", "e")


def slow(predictions: np.ndarray, gold: np.ndarray, k: int, families: tuple[str, ...]) -> list[tuple[float, int]]:
    n, found = gold.size, []
    shares = [math.log(((gold == t).sum() + 1) / (n + k)) for t in range(k)]
    for i in range(n):
        scores = []
        for t in range(k):
            total = shares[t]
            for family in dict.fromkeys(families):
                own = []
                for s, name in enumerate(families):
                    if name != family:
                        continue
                    if predictions[s, i] < 0:
                        own.append(0.0)
                        continue
                    rows = [j for j in range(n) if j != i and gold[j] == t and predictions[s, j] >= 0]
                    hits = sum(predictions[s, j] == predictions[s, i] for j in rows)
                    own.append(math.log((hits + 1) / (len(rows) + k)))
                total += sum(own) / len(own)
            scores.append(total)
        others = [(scores[t], t) for t in range(k) if t != gold[i]]
        best = max(others, key=lambda each: each[0])
        found.append((best[0] - scores[gold[i]], best[1]))
    return found


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000), k=st.integers(2, 4), n=st.integers(3, 25))
def test_log_odds_are_those_of_a_loop(seed: int, k: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    gold, predictions = rng.integers(0, k, n), rng.integers(-1, k, (6, n))
    found = contradict_gold(predictions, gold, k, FAMILIES)
    assert found is not None
    wanted = slow(predictions, gold, k, FAMILIES)
    assert found.log_odds == pytest.approx([value for value, _ in wanted])


def answers(rng: np.random.Generator, truth: np.ndarray, accuracies: list[float], k: int = 3) -> np.ndarray:
    right = rng.random((len(accuracies), truth.size)) < np.array(accuracies)[:, np.newaxis]
    return np.where(right, truth, (truth + rng.integers(1, k, right.shape)) % k)


def test_planted_errors_come_first() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 4000)
    wrong = rng.random(4000) < 0.065
    gold = np.where(wrong, (truth + rng.integers(1, 3, 4000)) % 3, truth)
    predictions = answers(rng, truth, [0.9, 0.85, 0.8, 0.75, 0.7])
    found = contradict_gold(predictions, gold, 3, list("abcde"))
    assert found is not None
    order = np.argsort(-found.log_odds)
    assert wrong[order[: wrong.sum()]].mean() > 0.9
    assert (found.alternative[wrong] == truth[wrong]).mean() > 0.9
    assert found.unison.sum() > 10 * found.n_expected


def test_clean_labels_have_no_more_in_unison_than_chance() -> None:
    """Over many clean sets, items in unison come as often as expected, and not more often."""
    observed, expected = 0, 0.0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 3, 1000)
        found = contradict_gold(answers(rng, truth, [0.75, 0.75, 0.7, 0.6, 0.6]), truth, 3, list("abcde"))
        assert found is not None
        observed, expected = observed + int(found.unison.sum()), expected + found.n_expected
    assert abs(observed - expected) < 3 * math.sqrt(expected)


def test_systems_that_know_nothing_say_nothing() -> None:
    rng = np.random.default_rng(1)
    gold, predictions = rng.integers(0, 3, 3000), rng.integers(0, 3, (6, 3000))
    found = contradict_gold(predictions, gold, 3, list("abcdef"))
    assert found is not None
    assert np.abs(found.log_odds).max() < 1.5
    assert found.strong == () or found.unison.sum() < 100


def test_a_copy_of_a_system_in_its_family_changes_nothing() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 300)
    predictions = answers(rng, truth, [0.8, 0.7, 0.9, 0.8, 0.6])
    one = contradict_gold(predictions, truth, 3, list("abcde"))
    two = contradict_gold(np.vstack([predictions, predictions[:1]]), truth, 3, list("abcdea"))
    assert one is not None
    assert two is not None
    assert two.log_odds == pytest.approx(one.log_odds)
    assert (two.unison == one.unison).all()


def test_four_families_are_too_few() -> None:
    gold = np.array([0, 1])
    assert contradict_gold(np.zeros((8, 2), int), gold, 2, list("abcdabcd")) is None


def test_sizes_and_codes_are_checked() -> None:
    with pytest.raises(ValueError, match="row"):
        contradict_gold(np.zeros((2, 3), int), np.zeros(3, int), 2, ["a"])
    with pytest.raises(ValueError, match="no label"):
        contradict_gold(np.full((1, 3), 2), np.zeros(3, int), 2, ["a"])


@given(st.lists(st.tuples(st.booleans(), st.floats(-5, 5), st.floats(0, 1)), min_size=1, max_size=30))
def test_one_list(rows: list[tuple[bool, float, float]]) -> None:
    defects, odds, sure = (np.array(column) for column in zip(*rows, strict=True))
    found = rank_suspects(defects, odds, sure)
    assert ((found > 0) & (found <= 1)).all()
    if defects.any() and not defects.all():
        assert found[defects].min() > found[~defects].max()
    # More odds and less confidence is never less suspect.
    for i in range(len(rows)):
        for j in range(len(rows)):
            if defects[i] == defects[j] and odds[i] >= odds[j] and sure[i] <= sure[j]:
                assert found[i] >= found[j]


def test_scores_without_and_with_corrected_labels() -> None:
    gold, predictions = np.array([0, 0, 1, 1]), np.array([[0, 1, 1, 0], [0, 0, 1, 1]])
    as_is, without, corrected = corrected_scores(predictions, gold, 1 - gold, np.array([0.1, 0.9, 0.2, 0.8]), 2)
    assert as_is.tolist() == [0.5, 1.0]
    assert without.tolist() == [1.0, 1.0]
    assert corrected.tolist() == [1.0, 0.5]
    with pytest.raises(ValueError):
        corrected_scores(predictions, gold, gold, np.zeros(4), 4)
