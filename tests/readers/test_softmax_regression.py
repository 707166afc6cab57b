"""The regression against scikit-learn's and against scipy on the objective that its docstring names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from goldassay.readers.softmax_regression import Problem, Weights, fit_penalties, fit_penalty
from tests.lab.models.made_features import features_of, made

PENALTIES = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.5, 0.2)
# Passes until nothing moves on problems of this size, and how far float32 may then be from float64.
MANY, NEAR = 200, 2e-3


def problem_of(features, labels, weights=None, n_classes=None, rows=None) -> Problem:
    rows = np.arange(labels.size) if rows is None else rows
    weights = np.ones(labels.size) if weights is None else weights
    k = n_classes or int(labels.max()) + 1
    return Problem(features, features.widths(), rows, labels, weights.astype(np.float32), k)


def matrix_of(problem: Problem):
    """The features as a dense matrix, and a constant."""
    whole = problem.features.matrix().toarray().astype(float)[problem.rows]
    return np.hstack([whole, np.ones((whole.shape[0], 1))])


def optimum(problem: Problem, penalty: float) -> np.ndarray:
    """W that minimizes the objective, (columns + 1, K), by scipy."""
    x, k = matrix_of(problem), problem.n_classes
    hot = np.eye(k)[problem.labels]

    def objective(flat):
        w = flat.reshape(x.shape[1], k)
        log_p = log_softmax(x @ w + problem.offsets, axis=1)
        loss = -(problem.weights * (log_p * hot).sum(axis=1)).sum() + penalty / 2 * (w**2).sum()
        return loss, (x.T @ (problem.weights[:, None] * (np.exp(log_p) - hot)) + penalty * w).ravel()

    start = np.zeros(x.shape[1] * k)
    options = {"maxiter": 5000, "gtol": 1e-9, "ftol": 1e-15}
    return minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x.reshape(-1, k)


def of_classes(values: np.ndarray, n_classes: int) -> np.ndarray:
    """W of each class, (columns + 1, P): of two classes the second's alone is kept."""
    return np.stack([-values, values], axis=1) if n_classes == 2 else values.reshape(-1, -(-n_classes // 8) * 8)


def both_ways(problem: Problem, at: int, n_passes: int = MANY) -> list[Weights]:
    path = fit_penalties(problem, PENALTIES, n_passes, np.random.default_rng(0))
    return [path.weights(at), fit_penalty(problem, PENALTIES[at], n_passes, np.random.default_rng(0))]


@pytest.mark.parametrize("n_classes", [2, 3, 5, 9])
@pytest.mark.parametrize("at", [1, 4, 7])
def test_finds_the_optimum_that_scipy_finds(n_classes, at):
    features, labels = made(n_classes, 200)
    weights = np.random.default_rng(1).integers(1, 4, labels.size).astype(float)
    problem = problem_of(features, labels, weights)
    expected = optimum(problem, PENALTIES[at])
    for found in both_ways(problem, at):
        table = of_classes(found.table, n_classes)
        assert table[:, :n_classes] == pytest.approx(expected, abs=NEAR)
        assert not table[:, n_classes:].any()
        margins = matrix_of(problem) @ expected + problem.offsets
        assert found.margins(features, problem.rows) == pytest.approx(margins, abs=5 * NEAR)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_scikit_learns_where_labels_are_balanced(n_classes):
    features, labels = made(n_classes, 300)
    rows = np.concatenate([np.flatnonzero(labels == label)[:80] for label in range(n_classes)])
    problem = problem_of(features, labels[rows], rows=rows)
    penalty = PENALTIES[4]
    # Of two classes scikit-learn has one vector of weights, the difference of the two, so half the penalty.
    peer = LogisticRegression(C=(2 if n_classes == 2 else 1) / penalty, fit_intercept=False, tol=1e-8, max_iter=5000)
    expected = peer.fit(matrix_of(problem), labels[rows]).predict_log_proba(matrix_of(problem))
    for found in both_ways(problem, 4):
        assert log_softmax(found.margins(features, rows), axis=1) == pytest.approx(expected, abs=5 * NEAR)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_weight_is_so_many_equal_rows(n_classes):
    features, labels = made(n_classes, 80)
    counts = np.random.default_rng(3).integers(0, 4, labels.size)
    rows = np.flatnonzero(counts)
    weighted = problem_of(features, labels[rows], counts[rows], n_classes, rows)
    again = np.repeat(np.arange(labels.size), counts)
    repeated = problem_of(features, labels[again], None, n_classes, again)
    assert weighted.offsets == pytest.approx(repeated.offsets, abs=1e-6)
    for one, other in zip(both_ways(weighted, 4), both_ways(repeated, 4), strict=True):
        assert one.table == pytest.approx(other.table, abs=NEAR)


@pytest.mark.parametrize("n_classes", [2, 3, 20])
def test_both_kernels_take_the_same_steps(n_classes):
    features, labels = made(n_classes, 400)
    one, other = both_ways(problem_of(features, labels, n_classes=n_classes), 5, n_passes=2)
    assert one.table == pytest.approx(other.table, abs=1e-4)


def test_a_penalty_is_fitted_as_if_it_were_alone():
    features, labels = made(3, 300)
    problem = problem_of(features, labels)
    mixed = fit_penalties(problem, PENALTIES, 3, np.random.default_rng(0))
    alone = fit_penalties(problem, (PENALTIES[6],) * 8, 3, np.random.default_rng(0))
    assert np.array_equal(mixed.weights(6).table, alone.weights(2).table)


@pytest.mark.parametrize("n_classes", [2, 3, 12])
def test_a_fit_that_starts_from_some_rows_ends_where_all_end(n_classes):
    """What is known of some rows is a point on the way to the one optimum."""
    features, labels = made(n_classes, 300)
    problem = problem_of(features, labels, n_classes=n_classes)
    places = np.sort(np.random.default_rng(5).choice(300, 150, replace=False))
    path = fit_penalties(problem.part(places), PENALTIES, 40, np.random.default_rng(0))
    start = path.start(3, places)
    begun = fit_penalty(problem, PENALTIES[3], 0, np.random.default_rng(1), start=start)
    assert np.array_equal(begun.table, path.weights(3).table)
    # W is the sum over the rows of weight times (label - q) times features, over the penalty.
    duals = np.stack([1 - start.duals, start.duals], axis=1) if n_classes == 2 else start.duals.reshape(150, -1)
    duals = duals[:, :n_classes]
    columns = matrix_of(problem)[places].T @ (np.eye(n_classes)[labels[places]] - duals) / PENALTIES[3]
    assert of_classes(begun.table, n_classes)[:, :n_classes] == pytest.approx(columns, abs=NEAR)
    one = fit_penalty(problem, PENALTIES[3], 60, np.random.default_rng(1), start=start)
    other = fit_penalty(problem, PENALTIES[3], 60, np.random.default_rng(1))
    assert one.table == pytest.approx(other.table, abs=NEAR)


@settings(max_examples=30, deadline=None)
@given(
    n_classes=st.integers(2, 5),
    widths=st.lists(st.integers(1, 7), min_size=1, max_size=3),
    n=st.integers(2, 40),
    seed=st.integers(0, 1000),
    penalty=st.floats(0.01, 1000),
)
def test_any_problem_has_finite_weights_that_the_constant_sums_to_zero_over(n_classes, widths, n, seed, penalty):
    rng = np.random.default_rng(seed)
    features = features_of([rng.random((n, width)) < 0.4 for width in widths])
    labels = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n)])[:n]
    problem = problem_of(features, labels, rng.uniform(0.1, 5, n), n_classes)
    path = fit_penalties(problem, (penalty,) * 8, 4, rng)
    found = path.weights(3)
    assert np.isfinite(found.table).all()
    margins = found.margins(features, problem.rows)
    assert np.isfinite(margins).all()
    assert np.allclose(path.margins(problem.rows)[3], margins, rtol=0, atol=1e-3 * (1 + np.abs(margins).max()))
    # Moving all margins of a row by the same amount changes nothing, and the least weights do not do it.
    sums = of_classes(found.table, n_classes).sum(axis=1)
    assert np.abs(sums).max() < 1e-3 * (1 + np.abs(found.table).max())


def test_the_dual_bound_closes():
    """W is made of the dual distributions, and the objective comes down to the optimum's."""
    features, labels = made(3, 200)
    problem = problem_of(features, labels)
    x, hot = matrix_of(problem), np.eye(3)[labels]

    def objective(w: np.ndarray) -> float:
        log_p = log_softmax(x @ w + problem.offsets, axis=1)
        return float(-(log_p * hot).sum() + PENALTIES[5] / 2 * (w**2).sum())

    least = objective(optimum(problem, PENALTIES[5]))
    gaps = []
    for n_passes in (1, 4, 16, 64):
        found = both_ways(problem, 5, n_passes)[0].table.reshape(x.shape[1], -1)[:, :3]
        gaps.append(objective(found.astype(float)) - least)
    assert gaps[0] > gaps[1] > gaps[2] > -1e-3
    assert gaps[3] < 1e-3


def test_rows_without_features_have_the_label_shares():
    features = features_of([np.zeros((90, 4), bool)])
    labels = np.repeat([0, 1, 2], [60, 20, 10])
    for found in both_ways(problem_of(features, labels), 4):
        assert log_softmax(found.margins(features, np.arange(1)), axis=1)[0] == pytest.approx(
            np.log([6 / 9, 2 / 9, 1 / 9]), abs=1e-3
        )
