"""The first and the last word of a text as a reader: each word may be rare, the place decides."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from goldassay.questions.artifacts.readings import read_places
from tests.questions.artifacts.form import read_form_by_lift

WORDS = np.array([f"w{number}" for number in range(400)])


def made(seed, n=5000, shares=(0.5, 0.5), told=0.35, at=0):
    """Texts of nine words; a share of them has a word of its label at one place, and such words stand anywhere."""
    rng = np.random.default_rng(seed)
    n_labels = len(shares)
    codes = rng.choice(n_labels, n, p=shares)
    words = rng.integers(0, 400, (n, 9))
    known = rng.random(n) < told
    size = 400 // n_labels
    words[known, at] = (codes * size + rng.integers(0, size, n))[known]
    return pl.Series([" ".join(row) for row in WORDS[words]]), codes


@pytest.mark.parametrize("at", [0, -1])
def test_a_label_behind_many_words_of_one_place_is_found(at):
    texts, codes = made(1, at=at)
    asked, gold = made(2, at=at)
    found = read_places(texts, codes, asked, 2)
    right = (found.labels == gold)[found.labels >= 0]
    # Naming the label by the list that a word is in is right in 67.5 %.
    assert 0.6 < right.mean() < 0.7
    assert (found.labels >= 0).mean() > 0.9
    # No single word is frequent or sure enough for a pattern: the form by lift named one label before.
    named = read_form_by_lift(texts, codes, asked, ("a", "b"), min_count=8, q=0.01)
    assert (named == gold).mean() > 0.6


def test_words_of_another_place_tell_nothing():
    texts, codes = made(1, at=4)
    assert (read_places(texts, codes, made(2, at=4)[0], 2).labels == -1).all()


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.9, 0.1), (0.34, 0.33, 0.33)])
def test_labels_that_know_nothing_of_places_are_named_as_one(shares):
    # Two of 720 made sets are read all the same; these are none of them.
    opened = 0
    for seed in range(3):
        texts, codes = made(seed, n=2000, shares=shares, told=0)
        opened += bool((read_places(texts, codes, texts, len(shares)).lifts > 0).any())
    assert opened == 0


def test_equal_texts_do_not_prove_a_place():
    # Of 200 texts in 20 copies each, all of one label that knows nothing of them, copies are never tried on each other.
    texts, codes = made(3, n=200, told=0)
    rows = np.repeat(np.arange(200), 20)
    assert (read_places(texts[rows], codes[rows], texts, 2).labels == -1).all()


def test_lifts_are_shares_over_shares():
    texts = pl.Series([f"{'yes' if row % 4 else 'no'} text {row}" for row in range(400)])
    codes = np.array([int(row % 4 > 0) for row in range(400)])
    found = read_places(texts, codes, pl.Series(["Yes, indeed 1", "NO 7", "other x", "", "(no) y"]), 2)
    assert found.labels.tolist() == [1, 0, -1, -1, 0]
    prior = codes.mean()
    assert found.lifts[0] == pytest.approx((300 + 10 * prior) / 310 / prior)
    assert found.lifts[1] == pytest.approx((100 + 10 * (1 - prior)) / 110 / (1 - prior))


def test_one_label_or_no_text():
    nothing = read_places(pl.Series(["a", "b"]), np.zeros(2, np.int64), pl.Series(["a"]), 1)
    assert nothing.labels.tolist() == [-1]
    assert read_places(pl.Series(["a", "b"]), np.array([0, 1]), pl.Series([], dtype=pl.String), 2).labels.size == 0
