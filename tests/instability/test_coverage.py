"""How often intervals hold what they promise, by the simulation that docs/intervals.md sums up."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from benchmarks.interval_coverage import over_both, over_examples, over_runs
from benchmarks.interval_coverage.grouped_runs import GroupedDesign
from benchmarks.interval_coverage.simulated_runs import CORRELATED, INDEPENDENT, RARE_FAILURES, Design
from benchmarks.interval_coverage.simulation import ALL, Coverage, markdown, measure_cell
from goldassay.instability import compare, decompose_by_group, decompose_variance


@pytest.mark.parametrize("design", [INDEPENDENT, CORRELATED], ids=lambda design: design.name)
def test_the_simulations_truth_is_what_the_measures_give_on_average(design: Design) -> None:
    rng = np.random.default_rng(1)
    runs = design.draw_runs(4, rng)
    truth = design.truth_of_runs(runs)
    drawn = [design.score(runs, design.draw_examples(rng), rng) for _ in range(400)]
    parts = [decompose_variance(scores) for scores in drawn]
    assert np.mean(drawn) == pytest.approx(truth.mean, abs=0.003)
    assert np.mean([part.total for part in parts]) == pytest.approx(truth.total, rel=0.08)
    assert np.mean([part.independent for part in parts]) == pytest.approx(truth.independent, rel=0.03)
    assert np.mean([design.draw(1, rng).mean() for _ in range(600)]) == pytest.approx(design.mean, abs=0.006)


def test_so_it_is_with_groups() -> None:
    design, rng = GroupedDesign(), np.random.default_rng(2)
    runs = design.draw_runs(5, rng)
    truth = design.truth_of_runs(runs)
    drawn = [design.score(runs, design.draw_examples(rng), rng) for _ in range(300)]
    parts = [decompose_by_group(scores, design.groups) for scores in drawn]
    total = np.mean([part.total for part in parts])
    assert np.mean([part.means for part in parts], axis=0) == pytest.approx(truth.means, abs=0.01)
    assert np.mean([part.within for part in parts]) == pytest.approx(truth.within, abs=0.05 * total)
    assert np.mean([part.between for part in parts]) == pytest.approx(truth.between, abs=0.1 * total)


def covered(found: list[Coverage]) -> dict[tuple[str, str], float]:
    return {(each.figure, each.method): each.covered for each in found}


def test_three_runs_are_enough_for_an_interval_over_runs_and_too_few_for_a_bootstrap() -> None:
    found = covered(measure_cell(over_runs.spread, INDEPENDENT, 3, 200))
    for figure in ("mean", "sd", "covariance", "design effect"):
        method = {"mean": "Student t", "sd": "chi-square"}.get(figure, "chi-square and jackknife")
        assert found[figure, method] >= 0.9
        assert found[figure, "bootstrap"] <= 0.85


def test_runs_that_seldom_fail_are_missed() -> None:
    rng = np.random.default_rng(0)
    runs = RARE_FAILURES.draw_runs(200_000, rng)
    assert (runs.mean(), runs.std()) == pytest.approx((0, RARE_FAILURES.run), abs=0.002)
    assert (runs < 0).mean() == pytest.approx(0.1, abs=0.003)
    found = covered(measure_cell(over_runs.many_failures, RARE_FAILURES, 5, 100))
    # In .9^5 = 59 % of the draws no run fails, and then nothing of the spread is seen.
    assert found["sd", "chi-square"] <= 0.75


def test_examples_that_share_a_premise_need_their_clusters() -> None:
    found = covered(measure_cell(over_examples.spread, CORRELATED, 5, 50))
    assert found["mean", "bootstrap"] <= 0.87
    assert found["mean", "bootstrap of clusters"] >= 0.87
    found = covered(measure_cell(over_both.subsets, CORRELATED, 10, 20))
    assert found["gap of easy and hard", over_both.DRAWN] < found["gap of easy and hard", over_both.DRAWN_CLUSTERS]


@pytest.mark.parametrize("n_runs", [3, 10])
def test_interval_of_a_difference(n_runs: int) -> None:
    rng, held = np.random.default_rng(0), []
    for _ in range(200):
        a, b, _, mean_a, mean_b = over_both.two_models(CORRELATED, n_runs, rng, 1.5)
        found = compare(a, b, CORRELATED.clusters, n_draws=1)
        held.append(mean_a - mean_b in found.interval)
        assert bool(found.caveats) == (n_runs < 6)
    assert np.mean(held) >= 0.9


def test_with_one_run_of_each_the_interval_leaves_the_runs_out() -> None:
    rng, held = np.random.default_rng(0), []
    noisy = dataclasses.replace(INDEPENDENT, run=0.4)
    for _ in range(100):
        a, b, _, mean_a, mean_b = over_both.two_models(noisy, 1, rng, 1.5)
        held.append(mean_a - mean_b in compare(a, b, n_draws=1).interval)
    assert np.mean(held) <= 0.8


def test_the_table() -> None:
    table = markdown(measure_cell(over_runs.better, INDEPENDENT, 5, 20)).splitlines()
    assert table[0] == "| interval of | method | ind. 5 |"
    assert table[2].startswith("| P(A > B) | pairs of runs | ")


def trusted(name: str, found: Coverage) -> bool:
    """All but what docs/intervals.md says not to trust.

    These are bootstraps of runs, runs that are far from normal, correlated examples taken for independent ones, and the
    gain of a selection that gains nothing in most runs.
    """
    if found.figure == "gain of selecting there":
        return found.n_runs >= 30
    if name.startswith("runs"):
        return found.method != "bootstrap" and not name.endswith("failures")
    return found.design == "ind." or "cluster" in found.method


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_all_intervals_cover(name: str) -> None:
    setting = ALL[name]
    for design in setting.designs:
        for n_runs in setting.n_runs:
            for found in measure_cell(setting.case, design, n_runs, 200):
                if trusted(name, found):
                    assert found.covered + 2 * found.error >= 0.9, found
