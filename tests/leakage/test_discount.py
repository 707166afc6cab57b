"""Discounted scores: on made systems whose knowledge is known, and against plain formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.questions.discount.measures import MOST_WEIGHT, discount_scores, shortcut_weights

K = 3


def made(seed: int, n: int = 6000, strength: float = 1.5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gold labels, the exact probabilities of labels given a part (N, K), and the part's own choice."""
    rng = np.random.default_rng(seed)
    raw = np.exp(strength * rng.normal(size=(n, K)))
    likely = raw / raw.sum(axis=1, keepdims=True)
    gold = (likely.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    return gold, likely, likely.argmax(axis=1)


def bits_of(gold: np.ndarray, likely: np.ndarray) -> np.ndarray:
    return np.log2(likely[np.arange(gold.size), gold])[np.newaxis] - np.log2(1 / K)


def knows(rng: np.random.Generator, gold: np.ndarray, share: float) -> np.ndarray:
    known = rng.random(gold.size) < share
    return np.where(known, gold, rng.integers(0, K, gold.size))


def test_a_follower_falls_to_chance_and_one_that_knows_keeps_its_score() -> None:
    """A system that only follows the shortcut falls to chance; one that knows 60 % keeps what it has."""
    gold, likely, follower = made(0, strength=1.0)
    rng = np.random.default_rng(1)
    knower = knows(rng, gold, 0.6)
    both = np.where(rng.random(gold.size) < 0.6, gold, follower)
    scores = [np.atleast_2d((each == gold).astype(float)) for each in (follower, knower, both)]
    found = discount_scores(scores, bits_of(gold, likely), n_draws=300)
    assert found.reason == ""
    assert found.mean_weight == pytest.approx(0.97, abs=0.04)
    assert found.scores[0] > 0.5
    assert found.discounted[0] == pytest.approx(1 / K, abs=0.04)
    assert found.discounted_within[0, 0] < 1 / K + 0.04
    assert found.discounted[1] == pytest.approx(found.scores[1], abs=0.02)
    assert found.discounted_within[1, 0] < found.scores[1] < found.discounted_within[1, 1]
    # What is known apart from the shortcut stays: .6 + .4 / 3.
    assert found.discounted[2] == pytest.approx(0.6 + 0.4 / K, abs=0.03)
    assert found.slopes[0] > 0.1
    assert abs(found.slopes[1]) < 0.02


def test_without_a_shortcut_every_score_is_kept() -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(0, K, 2000)
    scores = [(knows(rng, gold, share) == gold).astype(float)[np.newaxis] for share in (0.2, 0.5)]
    found = discount_scores(scores, np.zeros((3, 2000)), n_draws=200)
    assert found.discounted == pytest.approx(found.scores)
    assert found.n_effective == pytest.approx(2000)
    assert found.slopes == pytest.approx([0, 0])


def test_readers_that_learned_from_the_items_are_noticed() -> None:
    """A reader fitted to the very items is sure of every gold label: its weights no longer have the mean 1."""
    rng = np.random.default_rng(0)
    gold = rng.integers(0, K, 2000)
    scores = [(knows(rng, gold, 0.5) == gold).astype(float)[np.newaxis]]
    likely = np.full((2000, K), 0.1)
    likely[np.arange(2000), gold] = 0.8
    assert "do not fit" in discount_scores(scores, bits_of(gold, likely), n_draws=50).reason


def test_a_lead_earned_by_the_shortcut_goes() -> None:
    gold, likely, follower = made(3)
    rng = np.random.default_rng(4)
    honest = knows(rng, gold, 0.55)
    # The other knows less, and follows the shortcut where it does not know.
    shifty = np.where(rng.random(gold.size) < 0.4, gold, follower)
    scores = [np.atleast_2d((each == gold).astype(float)) for each in (honest, shifty)]
    found = discount_scores(scores, bits_of(gold, likely), n_draws=300)
    assert found.pairs.tolist() == [[1, 0]]
    assert found.leads_within[0, 0] > 0
    assert found.discounted_leads_within[0, 1] < 0
    assert found.earned_upper[0] > 0.8


def test_where_the_shortcut_settles_everything_nothing_is_told() -> None:
    bits = np.concatenate([np.full(20, -5.0), np.full(980, 12.0)])[np.newaxis]
    found = discount_scores([np.ones((1, 1000))], bits, n_draws=20)
    assert "settles" in found.reason
    assert np.isnan(found.ungiven[0])


@given(st.integers(0, 1000), st.integers(1, 4))
def test_points_are_the_plain_formulas(seed: int, readers: int) -> None:
    rng = np.random.default_rng(seed)
    bits, scores = rng.normal(size=(readers, 80)), rng.random((2, 3, 80))
    found = discount_scores(list(scores), bits, n_draws=2)
    mean_bits, means = bits.mean(axis=0), scores.mean(axis=1)
    weights = np.minimum(2.0**-mean_bits, 5)
    assert found.discounted == pytest.approx(np.average(means, axis=1, weights=weights))
    assert found.scores == pytest.approx(means.mean(axis=1))
    assert found.slopes == pytest.approx([np.polyfit(mean_bits, each, 1)[0] for each in means])
    first, second = found.pairs[0]
    upper = mean_bits >= np.quantile(mean_bits, 2 / 3)
    apart = means[first] - means[second]
    assert found.earned_upper[0] == pytest.approx(apart[upper].sum() / apart.sum())
    if (mean_bits <= 0).sum() >= 30:
        assert found.ungiven == pytest.approx(means[:, mean_bits <= 0].mean(axis=1))


def test_readers_errors_widen_the_interval() -> None:
    gold, likely, follower = made(5, n=1500)
    rng = np.random.default_rng(0)
    scores = [(follower == gold).astype(float)[np.newaxis]]
    exact = bits_of(gold, likely)
    noisy = exact + 0.8 * rng.normal(size=(5, 1)) * (exact > 0)
    widths = [np.ptp(discount_scores(scores, each, n_draws=300).discounted_within[0]) for each in (exact, noisy)]
    assert widths[1] > 1.2 * widths[0]


def test_intervals_cover() -> None:
    """Of 60 sets of items, the interval of a follower's discounted score holds what an endless set gives it."""
    gold, likely, follower = made(100, n=200_000)
    weights = shortcut_weights(bits_of(gold, likely)[0])
    truth = float(np.average(follower == gold, weights=weights))
    held = 0
    for seed in range(60):
        gold, likely, follower = made(seed, n=600)
        hits = (follower == gold).astype(float)[np.newaxis]
        low, high = discount_scores([hits], bits_of(gold, likely), n_draws=200, seed=seed).discounted_within[0]
        held += low <= truth <= high
    assert held >= 51


def test_a_weight_is_at_most_five() -> None:
    assert shortcut_weights(np.array([-10.0, 0.0, 3.0])).tolist() == [MOST_WEIGHT, 1.0, 0.125]


def test_sizes_are_checked() -> None:
    with pytest.raises(ValueError):
        discount_scores([np.ones((1, 3))], np.zeros((1, 4)))
    with pytest.raises(ValueError):
        discount_scores([np.ones((1, 3))], np.array([[0.0, np.nan, 0.0]]))
