"""Intervals over runs: the examples stay, and the truth is what all seeds would give on them."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from benchmarks.interval_coverage.estimates import Estimate, estimate, given_examples
from benchmarks.interval_coverage.grouped_runs import GroupedDesign, GroupTruth
from goldassay.instability import (
    compare,
    correlate_datasets,
    correlate_final_scores,
    normalized_deviation_interval,
    plan_seeds,
    resample_groups,
    resample_scores,
    seeds_needed,
    select_checkpoints,
    smallest_difference,
    trajectories,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.interval_coverage.simulated_runs import Design

SPREAD = ("mean", "sd", "total", "independent", "covariance", "design_effect")
GROUPED = GroupedDesign()


def spread(design: Design, n_runs: int, rng: np.random.Generator) -> Iterator[Estimate]:
    """Mean, spread and decomposition, by the recommended method and by the bootstrap."""
    examples, truth = given_examples(design)
    scores = design.score(design.draw_runs(n_runs, rng), examples, rng)
    for method in ("recommended", "bootstrap"):
        found = resample_scores(scores, "runs", method=method, seed=int(rng.integers(2**32)))
        for name in SPREAD:
            yield estimate(name.replace("_", " "), getattr(found, name), getattr(truth, name))
        yield estimate("effective size", found.effective_size, len(examples) / truth.design_effect)


def from_the_spread(design: Design, n_runs: int, rng: np.random.Generator) -> Iterator[Estimate]:
    """What follows from the mean and the spread: trajectories, seeds needed, deviation against a reference."""
    examples, truth = given_examples(design)
    others, reference = given_examples(dataclasses.replace(design, ease=2.6), 8)
    runs = design.draw_runs(n_runs, rng)
    scores, on_others = design.score(runs, examples, rng), design.score(runs, others, rng)
    curve = trajectories(scores.mean(axis=1, keepdims=True))
    yield Estimate("mean of a checkpoint", "Student t", curve.mean_low[0], curve.mean_high[0], truth.mean)
    plan = plan_seeds(scores, 0.01)
    yield Estimate("seeds needed", "chi-square", plan.n_seeds_low, plan.n_seeds_high, seeds_needed(truth.sd, 0.01))
    yield Estimate(
        "smallest difference", "chi-square", plan.smallest_difference_low, plan.smallest_difference_high,
        smallest_difference(truth.sd, n_runs),
    )  # fmt: skip
    deviation = truth.sd / reference.sd * (len(examples) / len(others)) ** 0.5
    yield estimate("normalized deviation, same runs", normalized_deviation_interval(scores, on_others), deviation)
    apart = normalized_deviation_interval(
        scores, design.score(design.draw_runs(n_runs, rng), others, rng), matched=False
    )
    yield estimate("normalized deviation, other runs", apart, deviation)
    found = correlate_final_scores({"a": scores.mean(axis=1), "b": on_others.mean(axis=1)})
    yield Estimate("correlation of final scores", "Fisher z", found.low[0, 1], found.high[0, 1], _rank_truth(design))


@cache
def _rank_truth(design: Design) -> float:
    rng = np.random.default_rng(1)
    examples, others = given_examples(design)[0], given_examples(dataclasses.replace(design, ease=2.6), 8)[0]
    means = []
    for _ in range(30):
        runs = design.draw_runs(1000, rng)
        means.append([design.score(runs, each, rng).mean(axis=1) for each in (examples, others)])
    one, other = np.concatenate(means, axis=1)
    return float(stats.spearmanr(one, other).statistic)


def in_training(design: Design, n_runs: int, rng: np.random.Generator) -> Iterator[Estimate]:
    """Correlation of two datasets over checkpoints, and selection of a checkpoint."""
    one, other = _curves(n_runs, rng)
    found = correlate_datasets({"a": one, "b": other})
    yield Estimate("correlation over checkpoints", "Student t", found.low[0, 1], found.high[0, 1], _curve_truth())
    selected, truth = select_checkpoints(*_checkpoints(design, n_runs, rng)), _selection_truth(design)
    yield estimate("selected on the standard set", selected.standard_interval, truth[0])
    yield estimate("selected on the analysis set", selected.analysis_interval, truth[1])
    yield estimate("gain of selecting there", selected.gain_interval, truth[1] - truth[0])


def _curves(n_runs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Scores on two datasets over 20 checkpoints, which go together more in some runs than in others."""
    common = rng.normal(0, 1, (n_runs, 20)).cumsum(axis=1)
    noise = rng.gamma(4, 0.5, (n_runs, 1))
    return common + rng.normal(0, 1, (n_runs, 20)), common + noise * rng.normal(0, 1, (n_runs, 20))


@cache
def _curve_truth() -> float:
    one, other = _curves(40_000, np.random.default_rng(2))
    return float(correlate_datasets({"a": one, "b": other}).values[0, 1])


def _checkpoints(design: Design, n_runs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Scores of runs at 4 checkpoints, on 200 examples of a standard and of an analysis set; (R, T, N) each."""
    sets = []
    levels = design.draw_runs(n_runs, rng)[:, np.newaxis] + rng.normal(0, 0.3, (n_runs, 4))
    for seed, ease in ((7, 1.8), (8, 1.0)):
        examples = given_examples(dataclasses.replace(design, ease=ease, n_examples=200), seed)[0]
        own = levels + rng.normal(0, 0.3, levels.shape)
        sets.append(design.score(own.ravel(), examples, rng).reshape(n_runs, 4, 200))
    return sets[0], sets[1]


@cache
def _selection_truth(design: Design) -> tuple[float, float]:
    rng = np.random.default_rng(3)
    found = [select_checkpoints(*_checkpoints(design, 2000, rng)) for _ in range(10)]
    return float(np.mean([f.standard_mean for f in found])), float(np.mean([f.analysis_mean for f in found]))


def groups(_: Design, n_runs: int, rng: np.random.Generator) -> Iterator[Estimate]:
    """Parts of five groups, one of them looked at, with interactions of runs and groups."""
    examples, truth = _grouped()
    scores = GROUPED.score(GROUPED.draw_runs(n_runs, rng), examples, rng)
    yield from of_groups(resample_groups(scores, GROUPED.groups), truth)


def of_groups(found, truth: GroupTruth) -> Iterator[Estimate]:
    yield estimate("mean of a group", found.means[1], truth.means[1])
    yield estimate("sd of a group", found.sds[1], truth.sds[1])
    yield estimate("a group's share of the variance", found.shares_of_variance[1], truth.shares[1])
    yield estimate("within groups", found.within, truth.within)
    yield estimate("between groups", found.between, truth.between)


@cache
def _grouped() -> tuple[np.ndarray, GroupTruth]:
    examples = GROUPED.draw_examples(np.random.default_rng(5))
    return examples, GROUPED.truth_of_examples(examples)


def better(_: Design, n_runs: int, rng: np.random.Generator) -> Iterator[Estimate]:
    """Chance that a run of one model beats a run of another, which is 0.8 where both are equally noisy."""
    shift = 2**0.5 * stats.norm.ppf(0.8)
    means = [rng.normal(0.7 + at * 0.01, 0.01, n_runs) for at in (shift, 0)]
    found = compare(*(np.repeat(each[:, np.newaxis], 2, axis=1) for each in means), n_draws=1)
    yield estimate("P(A > B)", found.probability_interval, 0.8)


def many_failures(design: Design, n_runs: int, rng: np.random.Generator) -> Iterator[Estimate]:
    """The same spread where runs are not normal: some of them fail."""
    for each in spread(design, n_runs, rng):
        if each.figure in ("mean", "sd", "design effect"):
            yield each
