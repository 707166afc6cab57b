"""The power that is claimed is the power of `compare`: simulated, in worlds whose noise is known."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.verdicts.power import ANSWER_WORLDS, POWER_WORLDS, AnswerWorld, PowerWorld


def off(world: PowerWorld, n_runs: int, claimed: float, n_draws: int) -> float:
    """By how much the share of draws in which `compare` finds the difference misses the claimed power."""
    return abs(world.found(world.difference(n_runs, claimed), n_runs, n_draws) / n_draws - claimed)


@pytest.mark.parametrize(
    ("name", "n_runs"), [("runs differ in level", 2), ("runs and examples", 3), ("examples mostly", 5)]
)
def test_claimed_power_is_simulated_power(name: str, n_runs: int) -> None:
    # 400 draws: three standard errors are 6 points.
    assert off(POWER_WORLDS[name], n_runs, 0.8, 400) <= 0.06


@pytest.mark.parametrize("name", ["runs and examples", "examples flip singly"])
def test_three_runs_find_nothing_where_there_is_nothing(name: str) -> None:
    assert POWER_WORLDS[name].found(0.0, 3, 400) <= 34


@pytest.mark.slow
@pytest.mark.parametrize("n_runs", [2, 3, 5, 10])
@pytest.mark.parametrize("name", POWER_WORLDS)
def test_claimed_power_is_simulated_power_in_all_worlds(name: str, n_runs: int) -> None:
    world = POWER_WORLDS[name]
    # Of two runs the share of each source of noise is hardly known: high power is claimed a little too high.
    for claimed in (0.5, 0.8) if n_runs == 2 else (0.5, 0.8, 0.95):
        assert off(world, n_runs, claimed, 2000) <= 0.05
    # 5 % and three standard errors; of two runs again more.
    assert world.found(0.0, n_runs, 2000) <= (130 if n_runs > 2 else 170)


@pytest.mark.parametrize("name", ANSWER_WORLDS)
def test_answers_vary_as_much_as_their_world_says(name: str) -> None:
    world = AnswerWorld(n=500, **ANSWER_WORLDS[name])
    difference, sd, by_examples = world.truth(0.6)
    rng = np.random.default_rng(0)
    heights = world.heights(0.6, rng, world.n)
    runs = [world.answers(each, 4000, rng).mean(axis=1) for each in heights]
    assert np.sqrt(np.mean([np.var(each, ddof=1) for each in runs])) == pytest.approx(sd, rel=0.12)
    apart = []
    for _ in range(300):
        means = [world.answers(each, 40, rng).mean() for each in world.heights(0.6, rng, world.n)]
        apart.append(means[0] - means[1])
    assert np.mean(apart) == pytest.approx(difference, abs=0.005)
    assert np.var(apart, ddof=1) == pytest.approx(by_examples + 2 * sd**2 / 40, rel=0.35)


@pytest.mark.slow
@pytest.mark.parametrize("name", ANSWER_WORLDS)
@pytest.mark.parametrize("n", [500, 2000])
@pytest.mark.parametrize("n_runs", [2, 5])
def test_the_power_claimed_is_found_in_answers(name: str, n: int, n_runs: int) -> None:
    world = AnswerWorld(n=n, **ANSWER_WORLDS[name])
    assert world.found(world.shift(n_runs, 0.8), n_runs, 600) / 600 == pytest.approx(0.8, abs=0.06)
