from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from goldassay.questions.shift.measures.set_metrics import EvaluationSet, correlations


@given(st.integers(0, 10_000), st.booleans(), st.booleans())
def test_counts_are_repeated_examples(seed, ranked, tied) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 30))
    predictions, gold = rng.normal(size=(2, n)), rng.normal(size=n)
    if tied:
        predictions, gold = predictions.round(), gold.round()
    counts = rng.multinomial(n, np.full(n, 1 / n), 3).astype(float)
    found = correlations(predictions, gold, counts, ranked=ranked)
    for draw, count in enumerate(counts):
        for run, values in enumerate(predictions):
            x, y = np.repeat(values, count.astype(int)), np.repeat(gold, count.astype(int))
            if np.ptp(x) == 0 or np.ptp(y) == 0:
                assert np.isnan(found[draw, run])
            else:
                plain = (stats.spearmanr if ranked else stats.pearsonr)(x, y).statistic
                assert found[draw, run] == pytest.approx(plain, abs=1e-9)


def test_large_means_and_units() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=200), rng.normal(size=200)
    plain = stats.pearsonr(x, y).statistic
    for scale, shift in ((1e-9, 0), (1e9, 1e12), (1, 1e6)):
        found = correlations((x * scale + shift)[np.newaxis], y, np.ones((1, 200)), ranked=False)
        assert found[0, 0] == pytest.approx(plain, abs=1e-6)
    assert np.isnan(correlations(np.full((1, 200), 0.1), y, np.ones((1, 200)), ranked=False)[0, 0])


def test_draws_of_a_mean_are_those_of_its_examples() -> None:
    values = np.random.default_rng(0).random((2, 50))
    one = EvaluationSet("a", values, None, "f1")
    draws = one.draws(np.random.default_rng(3), 400)
    assert draws.shape == (400, 2)
    assert draws.mean(axis=0) == pytest.approx(values.mean(axis=1), abs=0.02)
    assert draws.std(axis=0) == pytest.approx(values.std(axis=1) / np.sqrt(50), rel=0.15)
