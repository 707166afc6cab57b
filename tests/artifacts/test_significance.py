import numpy as np
import pytest
from scipy.stats import binomtest

from goldassay.questions.artifacts.measures.statistics import (
    binomial_tail,
    competency_z,
)


def test_golden_z():
    assert competency_z([60, 80], [100, 100], [1 / 3, 1 / 2]) == pytest.approx([5.656854, 6], abs=5e-7)


def test_z_at_the_edges():
    assert np.isnan(competency_z(0, 0, 0.5))
    assert competency_z(5, 5, 1.0) == 0


def test_tail_equals_the_exact_test():
    rng = np.random.default_rng(0)
    n = rng.integers(1, 400, 200)
    k = rng.integers(0, n + 1)
    p0 = rng.uniform(0.01, 0.99, 200)
    expected = [
        binomtest(int(a), int(b), float(p), alternative="greater").pvalue for a, b, p in zip(k, n, p0, strict=True)
    ]
    assert binomial_tail(k, n, p0) == pytest.approx(expected, rel=1e-9, abs=1e-300)
