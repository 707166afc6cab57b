"""Runs that are copies of another one, but for an answer or two."""

from __future__ import annotations

import numpy as np
import pytest

from goldassay.instability import distinct_runs


def run(rng, n=1000, accuracy=0.9):
    return (rng.random(n) < accuracy).astype(float)


def changed(rng, scores, n_changed):
    copy = scores.copy()
    at = rng.choice(scores.size, n_changed, replace=False)
    copy[at] = 1 - copy[at]
    return copy


def by_definition(scores):
    kept = []
    for each in scores:

        def alike(other, each=each):
            wrong = np.mean([(1 - other).sum(), (1 - each).sum()])
            few = np.mean([min((1 - row).sum(), row.sum()) for row in (other, each)])
            assert few <= wrong
            return (other != each).sum() <= 0.05 * few

        if not any(alike(other) for other in kept):
            kept.append(each)
    return len(kept)


@pytest.mark.parametrize(("n_changed", "expected"), [(0, 1), (1, 1), (2, 1), (40, 6)])
def test_a_run_with_an_answer_or_two_changed_is_a_copy(n_changed: int, expected: int) -> None:
    rng = np.random.default_rng(0)
    first = run(rng)
    scores = np.array([first, *(changed(rng, first, n_changed) for _ in range(5))])
    assert distinct_runs(scores) == expected == by_definition(scores)


def test_seeds_of_one_model_are_no_copies() -> None:
    # Nine examples of ten that one run has wrong are wrong in the other, too: more alike than any seeds that were seen.
    rng = np.random.default_rng(1)
    hard = rng.random(2000) < 0.2
    scores = np.array([np.where(hard, rng.random(2000) < 0.06, rng.random(2000) > 0.01) for _ in range(10)]).astype(
        float
    )
    assert distinct_runs(scores) == 10 == by_definition(scores)


def test_copies_among_runs_that_differ() -> None:
    rng = np.random.default_rng(2)
    scores = np.array([run(rng) for _ in range(4)])
    scores = np.array([*scores, *(changed(rng, each, 1) for each in scores), scores[0]])
    assert distinct_runs(scores) == 4 == by_definition(scores)
    assert distinct_runs(scores[::-1]) == 4


def test_graded_scores_and_runs_that_are_all_right() -> None:
    rng = np.random.default_rng(3)
    graded = rng.random(500)
    other = graded.copy()
    other[:2] = 0.5
    assert distinct_runs(np.array([graded, graded, other])) == 1
    assert distinct_runs(np.array([graded, rng.random(500)])) == 2
    right = np.ones((3, 100))
    assert distinct_runs(right) == 1
    right[1, 0] = 0
    assert distinct_runs(right) == 2
