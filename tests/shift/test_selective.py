from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.errors import InputError
from goldassay.shift import risk_coverage, selective_accuracy


def by_loop(scores, correct) -> list[float]:
    errors, risks = 0.0, []
    for n, i in enumerate(np.argsort(scores, kind="stable"), 1):
        errors += 1 - correct[i]
        risks.append(errors / n)
    return risks


@given(st.integers(0, 1000), st.integers(1, 30))
def test_equals_a_plain_loop(seed, n) -> None:
    rng = np.random.default_rng(seed)
    scores, correct = rng.permutation(n).astype(float), rng.integers(0, 2, n)
    found = risk_coverage(scores, correct, n_draws=5)
    expected = by_loop(scores, correct)
    assert found.risks == pytest.approx(expected)
    assert found.aurc == pytest.approx(np.mean(expected))
    assert found.coverages == pytest.approx(np.arange(1, n + 1) / n)
    assert found.aurc_best == pytest.approx(np.mean(by_loop(-correct, correct)))
    assert found.aurc_best - 1e-12 <= found.aurc
    assert found.excess_aurc == pytest.approx(found.aurc - found.aurc_best)
    assert found.risk == found.aurc_random == pytest.approx(1 - correct.mean())
    for coverage, accuracy in found.selective_accuracy.items():
        assert accuracy == selective_accuracy(scores, correct, coverage)
        answered = np.argsort(scores)[: int(np.ceil(coverage * n - 1e-9))]
        assert accuracy == pytest.approx(correct[answered].mean())


def test_ties_are_the_mean_over_all_orders() -> None:
    scores, correct = np.array([0.0, 1, 1, 1, 2]), np.array([1.0, 0, 1, 1, 0])
    orders = [[0, *middle, 4] for middle in permutations([1, 2, 3])]
    expected = np.mean([by_loop(np.arange(5), correct[order]) for order in orders], axis=0)
    found = risk_coverage(scores, correct, n_draws=5)
    assert found.risks == pytest.approx(expected)
    assert risk_coverage(scores[::-1], correct[::-1], n_draws=5).risks == pytest.approx(expected)
    constant = risk_coverage(np.zeros(5), correct, n_draws=5)
    assert constant.aurc == pytest.approx(constant.aurc_random)


def test_interval_and_thinning() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(2000)
    correct = rng.random(2000) > 0.5 * scores
    found = risk_coverage(scores, correct, n_points=100, n_draws=200)
    assert len(found.to_frame()) == 100
    assert found.coverages[-1] == 1
    assert found.aurc_interval.low < found.aurc < found.aurc_interval.high
    assert found.aurc_interval.high < found.aurc_random
    assert found.n_errors == 2000 - correct.sum()
    plain = []
    for rows in rng.integers(0, 2000, (100, 2000)):
        ordered = np.sort(scores[rows].round(9)), correct[rows][np.argsort(scores[rows], kind="stable")]
        plain.append(np.mean(by_loop(ordered[0], ordered[1])))
    assert (found.aurc_interval.low, found.aurc_interval.high) == pytest.approx(
        np.quantile(plain, [0.025, 0.975]), abs=0.01
    )


def test_leaving_the_anomalous_out_helps_a_good_score() -> None:
    scores, correct = [1, 2, 3, 4], [1, 1, 1, 0]
    assert selective_accuracy(scores, correct, 0.75) == 1
    assert selective_accuracy(scores, correct, 1.0) == 0.75
    assert selective_accuracy([-s for s in scores], correct, 0.25) == 0


@pytest.mark.parametrize(
    ("arguments", "settings", "problem"),
    [
        (([1, 2], [1]), {}, "2 scores have 1"),
        (([], []), {}, "no scores"),
        (([np.nan], [1]), {}, "not finite"),
        (([1], [2]), {}, "outside"),
        (([1], [1]), {"coverages": (0.0,)}, "coverage is 0.0"),
        (([1], [1]), {"n_points": 1}, "points is 1"),
        (([1], [1]), {"level": 2}, "level is 2"),
    ],
)
def test_bad_input(arguments, settings, problem) -> None:
    with pytest.raises(InputError, match=problem):
        risk_coverage(*arguments, **settings)
