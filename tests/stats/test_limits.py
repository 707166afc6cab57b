"""Limits of detection against counts by hand and searches of a fine grid."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.stats.detection import (
    DOSES,
    FIFTY_WORDS,
    KINDS,
    LARGE_DOSES,
    LEAST_WRONG,
    MANY_TOGETHER,
    N_COPIES,
    SMALL_DOSES,
    TEN_WORDS,
    Cell,
    CueKind,
    doses_for,
    draw_rows,
    limit_of_kind,
    plan_copies,
    plant_rows,
    recovered_share,
    skill_error,
)

SHARES = st.integers(0, 100).map(lambda percent: percent / 100)


def searched(value: float, z: float, doses: tuple[float, ...], recovered: list[float], errors: list[float]) -> float:
    """The least flaw of a fine grid from which on all are excluded."""
    grid = np.arange(1, 20_001) / 20_000
    at = np.searchsorted(doses, grid, side="right") - 1
    excluded = (at >= 0) & (grid * np.array(recovered)[at] - z * np.array(errors)[at] > value)
    if not excluded[-1]:
        return 1.0
    open_ = np.flatnonzero(~excluded)
    return float(grid[open_[-1] + 1]) if open_.size else float(grid[0])


@given(
    value=st.floats(0, 0.2),
    recovered=st.lists(SHARES, min_size=3, max_size=3).map(sorted),
    errors=st.lists(st.floats(0, 0.1), min_size=3, max_size=3),
    doses=st.sampled_from([DOSES, LARGE_DOSES]),
)
def test_a_limit_is_the_least_flaw_from_which_on_all_are_excluded(
    value: float, recovered: list[float], errors: list[float], doses: tuple[float, ...]
) -> None:
    found = limit_of_kind(value, 1.96, doses, np.array(recovered), np.array(errors))
    assert found == pytest.approx(searched(value, 1.96, doses, recovered, errors), abs=1.1e-4)


@pytest.mark.parametrize(
    ("recovered", "limit"),
    [
        ([1.0, 1.0, 1.0], 0.05),
        ([0.0, 1.0, 1.0], 0.07),
        ([0.5, 0.5, 0.5], 0.1),
        ([0.0, 0.0, 0.1], 0.5),
        ([0.0, 0.0, 0.0], 1.0),
        ([0.0, 0.0, 0.05], 1.0),
    ],
)
def test_what_is_not_recovered_is_not_excluded(recovered: list[float], limit: float) -> None:
    found = limit_of_kind(0.03, 2.0, DOSES, np.array(recovered), np.full(3, 0.01))
    assert found == pytest.approx(limit)


def test_no_limit_is_below_the_least_planted_share() -> None:
    assert limit_of_kind(0.0, 1.96, DOSES, np.ones(3), np.zeros(3)) == DOSES[0]


def test_recovery_is_what_is_gained_of_what_there_was_to_gain() -> None:
    here = np.array([1.0, 0.0, 0.0, 0.5, 0.0])
    copies = [
        (np.array([True, True, False, False, False]), np.array([1.0, 1.0, 0.0, 1.0, 1.0])),
        (np.array([False, False, True, True, False]), np.array([1.0, 1.0, 0.0, 0.75, 1.0])),
    ]
    every = np.zeros(5, np.int64)
    assert recovered_share(here, copies, every) == pytest.approx((1 + 0.25) / (0 + 1 + 1 + 0.5))
    # Of label 0 all that there was is gained, of label 1 a quarter of half a row and one row; the last is left out.
    labels = np.array([0, 0, 1, 1, -1])
    assert recovered_share(here, copies, labels) == pytest.approx((1 + 0.25 / 1.5) / 2)
    worse = [(np.array([True] * 5), np.zeros(5))]
    assert recovered_share(here, worse, every) == 0


@given(
    labels=st.lists(st.integers(0, 3), min_size=30, max_size=400),
    n_parts=st.integers(1, 2),
    doses=st.sampled_from([SMALL_DOSES + DOSES, DOSES, LARGE_DOSES]),
    seed=st.integers(0, 2),
)
def test_each_cell_gets_its_share_of_the_rows_of_each_label(
    labels: list[int], n_parts: int, doses: tuple[float, ...], seed: int
) -> None:
    codes = np.array(labels)
    parts = np.arange(codes.size) % n_parts
    for number, cells in enumerate(plan_copies(KINDS, doses, ["word", "form"])):
        planting = plant_rows(codes, 4, parts, KINDS, doses, cells, seed + number)
        for label, part in itertools.product(range(4), range(n_parts)):
            rows = (codes == label) & (parts == part)
            own = [cell for cell in cells if not KINDS[cell.kind].rarest]
            shares = [doses[cell.dose] for cell in own]
            sizes = [(planting.cells[rows] == cells.index(cell)).sum() for cell in own]
            np.testing.assert_allclose(sizes, np.array(shares) * rows.sum(), atol=1)
        forms = planting.forms > 0
        is_form = [KINDS[cell.kind].shape == "form" for cell in cells]
        assert (forms == np.array([*is_form, False])[planting.cells]).all()
        assert ((planting.words[:, 0] >= 0) == ((planting.cells >= 0) & ~forms)).all()


def test_copies_hold_each_kind_and_share_as_often_and_never_more_than_all_rows() -> None:
    for doses, of_form in ((SMALL_DOSES + DOSES, {1, 2}), (DOSES, {1}), (LARGE_DOSES, {4})):
        copies = plan_copies(KINDS, doses, ["word", "form"])
        times = Counter(cell for cells in copies for cell in cells)
        for at, kind in enumerate(KINDS):
            wanted = {"together": {0}, "form": of_form, "word": {N_COPIES}}[kind.shape]
            assert {times[Cell(at, dose)] for dose in range(len(doses))} == wanted
        assert all(sum(doses[cell.dose] for cell in cells) <= 1 for cells in copies)


@given(wrong=st.floats(0, 1e5))
def test_shares_are_planted_that_are_rows_enough(wrong: float) -> None:
    doses = doses_for(wrong)
    assert list(doses) == sorted(doses)
    assert (0.04 in doses) == (N_COPIES * 0.04 * wrong >= LEAST_WRONG)
    for small in SMALL_DOSES:
        assert (small in doses) == (small * wrong >= LEAST_WRONG)


@pytest.mark.parametrize("kind", [TEN_WORDS, FIFTY_WORDS])
def test_words_stand_for_one_label_and_are_equally_frequent(kind: CueKind) -> None:
    codes = np.repeat([0, 1], [4000, 1000])
    planting = plant_rows(codes, 2, np.zeros(5000, np.int64), [kind], (0.3,), [Cell(0, 0)], 0)
    planted = planting.words[:, 0] >= 0
    words, counts = np.unique(planting.words[planted, 0], return_counts=True)
    assert words.size == 2 * kind.n_words
    for word in words:
        assert np.unique(codes[planting.words[:, 0] == word]).size == 1
    assert counts.min() >= 0.3 * 1000 / kind.n_words - 1


@pytest.mark.parametrize("n_classes", [2, 3, 12])
def test_each_of_two_words_alone_tells_nothing_and_both_tell_all(n_classes: int) -> None:
    codes = np.arange(60_000) % n_classes
    planting = plant_rows(codes, n_classes, np.zeros(60_000, np.int64), [MANY_TOGETHER], (1.0,), [Cell(0, 0)], 1)
    n_words = max(10, n_classes)
    assert np.unique(planting.words).size == 2 * n_words
    for place in (0, 1):
        word = planting.words[:, place] - planting.words.min(axis=0)[place]
        table = np.bincount(word * n_classes + codes, minlength=n_words * n_classes).reshape(n_words, n_classes)
        expected = table.sum(axis=1, keepdims=True) / n_classes
        # A chi-square of (W - 1)(K - 1) degrees of freedom, at five standard deviations.
        freedom = (n_words - 1) * (n_classes - 1)
        assert ((table - expected) ** 2 / expected).sum() < freedom + 5 * np.sqrt(2 * freedom)
    pairs = planting.words[:, 0] * 1000 + planting.words[:, 1]
    assert np.unique(pairs * n_classes + codes).size == np.unique(pairs).size


@given(sizes=st.lists(st.integers(1, 9), min_size=5, max_size=60), folded=st.booleans(), most=st.integers(20, 60))
def test_rows_of_a_part_are_drawn_in_whole_clusters(sizes: list[int], folded: bool, most: int) -> None:
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    parts = np.zeros(clusters.size, np.int64) if folded else (clusters % 2).astype(np.int64)
    rows = draw_rows(clusters, parts, 0, most)
    assert rows.tolist() == sorted(set(rows.tolist()))
    # Of each part one cluster at least, however large.
    assert rows.size <= most + 9
    for cluster in np.unique(clusters[rows]):
        assert (clusters[rows] == cluster).sum() == sizes[cluster]
    if clusters.size <= most:
        assert rows.size == clusters.size


def test_the_error_of_a_skill_is_that_of_repeated_draws() -> None:
    rng = np.random.default_rng(0)
    labels, shares = np.repeat([0, 1, -1], [300, 100, 50]), np.array([0.7, 0.4])
    baseline = np.full(450, 0.5)
    found, values = [], []
    for _ in range(2000):
        right = (rng.random(450) < shares[labels]).astype(np.float64)
        values.append((np.mean([right[labels == label].mean() for label in (0, 1)]) - 0.5) / 0.5)
        found.append(skill_error(right, labels, baseline, None))
    assert np.mean(found) == pytest.approx(np.std(values), rel=0.05)


def test_the_error_of_a_skill_counts_clusters() -> None:
    right = np.repeat([1.0, 0.0, 1.0, 1.0], 25)
    alone = skill_error(right, np.zeros(100, np.int64), np.full(100, 0.5), None)
    together = skill_error(right, np.zeros(100, np.int64), np.full(100, 0.5), np.repeat(np.arange(4), 25))
    assert together == pytest.approx(np.std([1, 0, 1, 1], ddof=1) / np.sqrt(4) / 0.5)
    assert alone < together / 4
