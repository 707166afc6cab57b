"""Operating characteristics of the verdicts: the rule for a cell, and how the verdicts on instability keep it."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from benchmarks.verdicts.cells import Cell, at_least, at_most, bounds, failures, markdown, pool_kept, pooled
from benchmarks.verdicts.commands import WORLDS as MADE
from benchmarks.verdicts.commands import cells_of as audited
from benchmarks.verdicts.commands import words_of
from benchmarks.verdicts.coverage import cells_of as covered
from benchmarks.verdicts.coverage import of_rules
from benchmarks.verdicts.instability import LIMIT, QUESTIONS, QUIET, TWICE, SpreadWorld, measure
from goldassay.instability import decompose_variance
from tests.stated import says


@pytest.mark.parametrize(("count", "n"), [(0, 50), (3, 50), (50, 50), (1999, 2000)])
def test_the_bounds_are_those_of_clopper_and_pearson(count: int, n: int) -> None:
    assert bounds(count, n) == pytest.approx(proportion_confint(count, n, 0.02, "beta"))


def test_a_target_is_missed_only_beyond_the_noise_of_the_simulation() -> None:
    # Of 2,000 draws 2.5 % are 50; 67 have a lower 99 % bound of 2.5 %.
    assert Cell("w", "sound", 66, 2000, at_most(0.025)).kept
    assert not Cell("w", "sound", 69, 2000, at_most(0.025)).kept
    assert Cell("w", "sound", 1565, 2000, at_least(0.8)).kept
    assert not Cell("w", "sound", 1555, 2000, at_least(0.8)).kept
    assert Cell("w", "sound", 2000, 2000).kept


def test_coverage_counts_what_intervals_hold() -> None:
    """Of a truth that no interval holds in none of the draws, and only where nothing is gained are cautions counted."""
    found = covered("rules", of_rules(0.415), 4)
    assert {cell.event.rpartition(": ")[2] for cell in found} == {"the ordinary interval covers", "all lower ends hold"}
    wrong = covered("rules", lambda seed: (of_rules(0.25)(seed)[0], [-0.9] * 22), 2)
    assert [cell.count for cell in wrong] == [0, 0, 0]


def test_pooled_cells_have_less_room() -> None:
    high = [Cell(f"w{i}", "sound", 64, 2000, at_most(0.025)) for i in range(4)]
    (pool,) = pooled(high)
    assert (pool.count, pool.n, pool_kept(pool)) == (256, 8000, False)
    assert failures(high) == ["all 4: sound in 3.2 %, at most 2.5 %"]
    low = [Cell(f"w{i}", "sound", 1570, 2000, at_least(0.8)) for i in range(4)]
    assert failures(low) == []
    assert failures([*low, Cell("x", "sound", 1500, 2000, at_least(0.8))]) == [
        "x: sound in 75.0 %, at least 80 %", "all 5: sound in 77.8 %, at least 80 %",
    ]  # fmt: skip
    table = markdown([*high[:1], Cell("y", "caution", 0, 100)]).splitlines()
    assert table[2] == says("w0", "sound", "3.2", "2.4", "4.2", "2.5 %", "yes")
    assert table[3].endswith("|  |  |")


@pytest.mark.parametrize("world", [QUIET, LIMIT, TWICE, SpreadWorld(0.003, n=2000)])
def test_the_worlds_are_what_they_are_said_to_be(world: SpreadWorld) -> None:
    rng = np.random.default_rng(0)
    runs = world.draw(4000, rng)
    assert runs.scores.mean() == pytest.approx(0.8, abs=0.002)
    parts = decompose_variance(runs.scores)
    assert parts.total**0.5 == pytest.approx(world.sd, rel=0.05)
    assert parts.design_effect == pytest.approx(world.design_effect, rel=0.1)


def test_worlds_of_failing_runs_and_of_guesses() -> None:
    rng = np.random.default_rng(0)
    means = SpreadWorld(0.0015, failing=0.1).draw(2000, rng).scores.mean(axis=1)
    assert (means < 0.75).mean() == pytest.approx(0.1, abs=0.02)
    guesses = [SpreadWorld(0.0015, knows=False).draw(2, rng).scores.mean() for _ in range(50)]
    assert np.mean(guesses) == pytest.approx(1 / 3, abs=0.005)


# Few draws: what is wrong by half is seen, what is wrong by a little is for the slow test.
QUICK = ("no flaw, SD 0.15", "at the limit, SD 1", "twice the limit, SD 2", "knows nothing, steady")


def test_the_verdicts_keep_their_targets_in_a_few_draws() -> None:
    cells = measure([question for question in QUESTIONS if question.name in QUICK], 60)
    assert [cell for cell in cells if not cell.kept] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [question.name for question in QUESTIONS])
def test_the_verdicts_keep_their_targets(name: str) -> None:
    assert failures(measure([question for question in QUESTIONS if question.name == name], 2000)) == []


@pytest.mark.slow
def test_whole_audits_of_a_made_set_say_what_is_true_of_it() -> None:
    """One draw of the world of many balanced rows, through the whole audit."""
    cells = audited(MADE[0], [words_of(MADE[0], 0)])
    found = {(cell.world.split(", ")[0], cell.world.split(", ")[-1], cell.event): cell.count for cell in cells}
    for question in ("artifacts", "leakage"):
        assert found[question, "no flaw", "sound"] == 1
        assert found[question, "at the limit", "sound"] == 0
        assert found[question, "twice the limit", "unsound"] == 1
