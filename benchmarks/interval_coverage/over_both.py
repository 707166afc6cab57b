"""Intervals over runs and examples: the truth is what all seeds would score on all examples."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.interval_coverage.estimates import Estimate, estimate
from goldassay.instability import compare
from goldassay.leakage import single_sentence_report
from goldassay.shift import generalization_gap
from goldassay.stats.intervals import Interval
from goldassay.stats.subsets import accuracy_by_subset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.interval_coverage.simulated_runs import Design

# What two models share makes most of an example's difficulty; this much is each one's own.
_OWN = 0.6
DRAWN = "bootstrap of examples, t of runs"
DRAWN_CLUSTERS = "bootstrap of clusters, t of runs"


def two_models(
    design: Design, n_runs: int, rng: np.random.Generator, ease: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, float]:
    """Scores of one model, of one with another ease, the second's with the first's seeds, and their true means."""
    clustered = design.cluster_size > 1
    level = "cluster" if clustered else "example"
    shared = dataclasses.replace(design, **{level: (getattr(design, level) ** 2 - _OWN**2) ** 0.5})
    examples = shared.draw_examples(rng)
    n_units = design.n_examples // design.cluster_size
    own = rng.normal(0, _OWN, (2, n_units)).repeat(design.cluster_size, axis=1)
    runs, others = design.draw_runs(n_runs, rng), design.draw_runs(n_runs, rng)
    moved = examples + own[1] + ease - design.ease
    a, b = design.score(runs, examples + own[0], rng), design.score(others, moved, rng)
    # A seed that is good for one model is half as good for the other.
    matched = design.score(runs / 2 + others * 0.75**0.5, moved, rng)
    return a, b, matched, design.mean, dataclasses.replace(design, ease=ease).mean


def comparison(design: Design, n_runs: int, rng: np.random.Generator) -> Iterator[Estimate]:
    """The difference of two models, by both methods, with and without clusters and matching."""
    a, b, matched, mean_a, mean_b = two_models(design, n_runs, rng, 1.5)
    truth = mean_a - mean_b
    for clusters in (None, design.clusters):
        of = "" if clusters is None else ", clusters given"
        yield estimate("difference of two models", compare(a, b, clusters, n_draws=1).interval, truth, f"Student t{of}")
        drawn = compare(a, b, clusters, method="bootstrap", n_draws=1000, seed=int(rng.integers(2**32)))
        yield estimate("difference of two models", drawn.interval, truth, f"bootstrap{of}")
        found = compare(a, matched, clusters, matched=True, n_draws=1)
        yield estimate("difference, runs matched", found.interval, truth, f"Student t{of}")


def subsets(design: Design, n_runs: int, rng: np.random.Generator) -> Iterator[Estimate]:
    """Accuracy on easy examples, and the gap between easy and hard ones."""
    half = design.n_examples // 2
    levels = [dataclasses.replace(design, ease=ease) for ease in (2.2, 1.2)]
    examples = np.concatenate([each.draw_examples(rng, half) for each in levels])
    scores = design.score(design.draw_runs(n_runs, rng), examples, rng)
    easy = np.arange(len(examples)) < half
    masks, seed = {"easy": easy, "hard": ~easy}, int(rng.integers(2**32))
    for clusters, method in ((None, DRAWN), (design.clusters, DRAWN_CLUSTERS)):
        found = accuracy_by_subset(scores, masks, clusters=clusters, seed=seed)
        rows = Interval(found["easy"].low, found["easy"].high)
        yield estimate("accuracy on a subset", rows, levels[0].mean, method)
        gap = Interval(found.delta_low, found.delta_high)
        yield estimate("gap of easy and hard", gap, levels[0].mean - levels[1].mean, method)


def leakage(design: Design, n_runs: int, rng: np.random.Generator) -> Iterator[Estimate]:
    """Accuracy of a part of the input, its improvement over the majority, and what it recovers of the whole."""
    whole, part, _, mean_whole, mean_part = two_models(design, n_runs, rng, 0.5)
    gold = rng.choice(3, design.n_examples, p=[0.4, 0.3, 0.3])
    seed = int(rng.integers(2**32))
    for clusters, method in ((None, DRAWN), (design.clusters, DRAWN_CLUSTERS)):
        row = single_sentence_report({"paired": whole, "part": part}, gold, clusters=clusters, seed=seed)["part"]
        yield estimate("accuracy of a part", Interval(row.accuracy_low, row.accuracy_high), mean_part, method)
        better = Interval(row.improvement_low, row.improvement_high)
        yield estimate("improvement over the majority", better, mean_part - 0.4, method)
        share = Interval(row.recovered_low, row.recovered_high)
        yield estimate("recovered", share, mean_part / mean_whole, method)


def generalization(design: Design, n_runs: int, rng: np.random.Generator) -> Iterator[Estimate]:
    """Score in distribution and out of it, their gap, and the gap's share."""
    other = dataclasses.replace(design, ease=1.2)
    runs = design.draw_runs(n_runs, rng)
    scores = {each.ease: each.score(runs, each.draw_examples(rng), rng) for each in (design, other)}
    named = {"in": scores[design.ease], "out": scores[other.ease]}
    gap, seed = design.mean - other.mean, int(rng.integers(2**32))
    for clusters, method in ((None, DRAWN), (dict.fromkeys(named, design.clusters), DRAWN_CLUSTERS)):
        row = generalization_gap(named, "in", clusters=clusters, seed=seed)["out"]
        yield estimate("score elsewhere", Interval(row.low, row.high), other.mean, method)
        yield estimate("generalization gap", Interval(row.gap_low, row.gap_high), gap, method)
        relative = Interval(row.relative_low, row.relative_high)
        yield estimate("relative gap", relative, gap / design.mean, method)
