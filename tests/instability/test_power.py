"""The power that is claimed is the power of `compare`: simulated, in worlds whose noise is known."""

from __future__ import annotations

import pytest

from benchmarks.verdicts.power import POWER_WORLDS, PowerWorld


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
