"""How often closed-form intervals hold what they promise, by simulation with runs and examples that vary together."""

from __future__ import annotations

import numpy as np
import pytest

from goldassay.instability import compare, summarize_scores


def model(ease: np.ndarray, n_runs: int, rng: np.random.Generator) -> np.ndarray:
    """Runs that differ in level, of a model that finds examples easy or hard in a way of its own."""
    own = rng.normal(0, 0.3, ease.size)
    level = rng.normal(0, 0.1, (n_runs, 1))
    return (rng.random((n_runs, ease.size)) < 1 / (1 + np.exp(-(0.5 + ease + own + level)))).astype(float)


@pytest.mark.parametrize(
    ("n_runs", "least", "most"), [(1, 0.75, 0.9), (3, 0.93, 1.0), (5, 0.93, 1.0), (10, 0.91, 0.98), (30, 0.91, 0.98)]
)
def test_interval_of_a_difference(n_runs: int, least: float, most: float) -> None:
    rng = np.random.default_rng(0)
    held = []
    for _ in range(300):
        ease = rng.normal(0, 1, 400)
        found = compare(model(ease, n_runs, rng), model(ease, n_runs, rng), n_draws=9)
        held.append(0.0 in found.interval)
        assert bool(found.caveats) == (n_runs < 6)
    # With one run the interval leaves the runs out, and is too narrow.
    assert least <= np.mean(held) <= most


@pytest.mark.parametrize("n_runs", [3, 10])
def test_interval_of_a_deviation(n_runs: int) -> None:
    rng = np.random.default_rng(1)
    held = [0.1 in summarize_scores(rng.normal(0.5, 0.1, (n_runs, 1))).sd_interval for _ in range(1000)]
    assert np.mean(held) == pytest.approx(0.95, abs=0.02)
