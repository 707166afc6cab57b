"""Intervals over examples of what is measured on one run, and on the scores of a detector."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from benchmarks.interval_coverage.estimates import Estimate, estimate
from benchmarks.interval_coverage.over_examples import share_varying
from benchmarks.interval_coverage.simulated_runs import NODES, WEIGHTS, Design
from goldassay.artifacts import giveaway
from goldassay.instability import compare
from goldassay.leakage import agreement_report, peco, usable_information
from goldassay.questions.artifacts.measures.difficulty import DifficultyAssignment
from goldassay.shift import generalization_gap, measure_calibration, measure_detection, risk_coverage
from goldassay.stats.intervals import Interval
from goldassay.stats.subsets import accuracy_by_subset

if TYPE_CHECKING:
    from collections.abc import Iterator


def accuracies(design: Design, _: int, rng: np.random.Generator) -> Iterator[Estimate]:
    """One run's accuracy, its gap to another set, the difference of two single runs, and how often they agree."""
    runs = design.draw_runs(2, rng)
    other = dataclasses.replace(design, ease=1.2)
    mean, elsewhere = (float(ndtr((each.ease + runs[0]) / _spread(design))) for each in (design, other))
    examples = design.draw_examples(rng)
    scores = design.score(runs, examples, rng)
    everything = np.ones(len(examples), dtype=bool)
    row = accuracy_by_subset(scores[0], {"easy": everything, "hard": ~everything}, n_draws=1)["easy"]
    yield estimate("accuracy of one run", Interval(row.low, row.high), mean, "Wilson")
    named = {"in": scores[:1], "out": other.score(runs[:1], other.draw_examples(rng), rng)}
    gap = generalization_gap(named, "in", seed=int(rng.integers(2**32)))["out"]
    yield estimate("gap of one run", Interval(gap.gap_low, gap.gap_high), mean - elsewhere, "Newcombe")
    relative = Interval(gap.relative_low, gap.relative_high)
    yield estimate("relative gap of one run", relative, (mean - elsewhere) / mean, "bootstrap")
    difference = mean - float(ndtr((design.ease + runs[1]) / _spread(design)))
    for clusters in (None, design.clusters):
        found = compare(scores[:1], scores[1:], clusters, n_draws=1)
        method = "Tango" if found.counts else "Student t, clusters given"
        yield estimate("difference of two single runs", found.interval, difference, method)
    alike = agreement_report(*scores.astype(np.int64), np.ones(len(examples), dtype=np.int64))
    same = 1 - share_varying(design, runs)
    yield estimate("agreement", Interval(alike.agreement_low, alike.agreement_high), same, "Wilson")


def _spread(design: Design) -> float:
    return (1 + design.cluster**2 + design.example**2 + design.run_by_cluster**2) ** 0.5


def confidences(design: Design, _: int, rng: np.random.Generator) -> Iterator[Estimate]:
    """What is measured on the probabilities of one model: information, Brier score, overconfidence, risk."""
    latent = design.draw_examples(rng) - design.ease
    p, right = ndtr(latent), ndtr(0.7 * latent)
    gold = (rng.random(p.size) < right).astype(np.int64)
    both, seed = np.stack([1 - p, p], axis=1), int(rng.integers(2**32))
    found = measure_calibration(both, gold, seed=seed, n_draws=500)
    brier, over, bits = _confidence_truth(design)
    yield estimate("Brier score", found.brier_interval, brier, "bootstrap")
    yield estimate("overconfidence", found.overconfidence_interval, over, "bootstrap")
    drawn = (rng.random(p.size) < p).astype(np.int64)
    calibrated = measure_calibration(both, drawn, seed=seed, n_draws=500)
    yield estimate("ECE if calibrated", calibrated.ece_if_calibrated, calibrated.ece, "labels drawn")
    of_gold = both[np.arange(p.size), gold]
    told = usable_information(of_gold, np.full(p.size, 0.5), seed=seed)
    yield estimate("usable information", Interval(told.information_low, told.information_high), bits, "bootstrap")
    curve = risk_coverage(-both.max(axis=1), both.argmax(axis=1) == gold, seed=seed, n_draws=300)
    yield estimate("AURC", curve.aurc_interval, _area_truth(design), "bootstrap")


def _confidence_truth(design: Design) -> tuple[float, float, float]:
    """Brier score, overconfidence, and bits beyond a coin, of all examples."""
    latent = (design.cluster**2 + design.example**2) ** 0.5 * NODES
    p, right = ndtr(latent), ndtr(0.7 * latent)
    brier = 2 * (right * (1 - p) ** 2 + (1 - right) * p**2)
    correct = np.where(p > 0.5, right, 1 - right)
    bits = right * np.log2(np.maximum(p, 1e-300)) + (1 - right) * np.log2(np.maximum(1 - p, 1e-300)) + 1
    return tuple(float(each @ WEIGHTS) for each in (brier, np.maximum(p, 1 - p) - correct, bits))


@cache
def _area_truth(design: Design) -> float:
    rng = np.random.default_rng(4)
    latent = design.draw_examples(rng, 400_000) - design.ease
    correct = (rng.random(latent.size) < ndtr(0.7 * latent)) == (latent > 0)
    return risk_coverage(-np.abs(latent), correct, n_draws=1).aurc


def patterns(design: Design, _: int, rng: np.random.Generator) -> Iterator[Estimate]:
    """What patterns give away on a test set, and how often they are right."""
    n = design.n_examples
    shared = 0.5 if design.cluster_size > 1 else 0.0
    z = rng.normal(0, shared**0.5, n // design.cluster_size).repeat(design.cluster_size)
    right = z + rng.normal(0, (1 - shared) ** 0.5, n) < ndtri(0.7)
    gold = rng.choice(3, n, p=[0.4, 0.3, 0.3])
    named = np.where(right, gold, (gold + rng.integers(1, 3, n)) % 3)
    found = giveaway(_assignment(named, rng.random(n) < 0.3), gold, *_training())
    worth = found.giveaway
    yield estimate("giveaway", Interval(worth.low, worth.high), 0.3 * (0.7 - 0.4), "normal")
    yield estimate("precision of patterns", Interval(found.precision.low, found.precision.high), 0.7, "Wilson")


def _assignment(named: np.ndarray, decided: np.ndarray) -> DifficultyAssignment:
    sets = np.eye(3, dtype=bool)[named] & decided[:, np.newaxis]
    n, empty = len(named), np.zeros(0, dtype=np.int64)
    classes = np.where(decided, "easy", "uncovered")
    return DifficultyAssignment(classes, sets, empty, np.zeros(n + 1, dtype=np.int64), np.arange(n), tuple("012"), None)


@cache
def _training() -> tuple[DifficultyAssignment, np.ndarray]:
    gold = np.array([0] * 4000 + [1] * 3000 + [2] * 3000)
    return _assignment(gold, np.arange(gold.size) % 10 < 3), gold


def detection(design: Design, n_runs: int, rng: np.random.Generator) -> Iterator[Estimate]:
    """Scores of a detector on 200 examples of either side, of one run or several."""
    runs = rng.normal(0, 0.3, (n_runs, 1))
    inside, outside = _anomalies(design, n_runs, rng), 1.5 + runs + _anomalies(design, n_runs, rng)
    found = measure_detection(inside, outside, n_draws=200, seed=int(rng.integers(2**32)))
    steady = n_runs == 1
    truths = _detection_truth(float(runs[0, 0]) if steady else None)
    names = {"auroc": "AUROC", "aupr_out": "AUPR", "false_alarm_rate": "false alarm rate at 95 % recall"}
    for name, truth in zip(names, truths, strict=True):
        method = "bootstrap" if steady else "bootstrap of examples, t of runs"
        yield estimate(names[name] + (" of one run" if steady else ""), found.intervals[name], truth, method)


def _anomalies(design: Design, n_runs: int, rng: np.random.Generator) -> np.ndarray:
    """Normal scores with variance 1.25, of which runs share 1, and clusters half of that."""
    shared = 0.5 if design.cluster_size > 1 else 0.0
    common = rng.normal(0, shared**0.5, 200 // design.cluster_size).repeat(design.cluster_size)
    return common + rng.normal(0, (1 - shared) ** 0.5, 200) + rng.normal(0, 0.5, (n_runs, 200))


def _detection_truth(run: float | None) -> tuple[float, float, float]:
    """Of a run with a known effect, or the mean over runs."""
    effects = 0.3 * NODES if run is None else np.array([run])
    weights = WEIGHTS if run is None else np.ones(1)
    scale = 1.25**0.5
    area = ndtr((1.5 + effects) / (2**0.5 * scale))
    alarms = ndtr(-(1.5 + effects) / scale - ndtri(0.05))
    return (
        float(area @ weights),
        float(np.array([_average_precision(e) for e in effects.round(2)]) @ weights),
        float(alarms @ weights),
    )


@cache
def _average_precision(effect: float) -> float:
    """Integral of precision over recall, for sides of the same size."""
    recall = (np.arange(4000) + 0.5) / 4000
    threshold = 1.5 + effect - 1.25**0.5 * ndtri(recall)
    return float((recall / (recall + ndtr(-threshold / 1.25**0.5))).mean())


def clusterings(_: Design, __: int, rng: np.random.Generator) -> Iterator[Estimate]:
    """The score over clusterings of one set of embeddings: the noise of k-means alone."""
    points, labels, truth = _embedded()
    found = peco(points, labels, 8, 5, n_repetitions=10, n_permutations=1, seed=int(rng.integers(2**32)))
    yield estimate("PECO over clusterings", Interval(found.score_low, found.score_high), truth, "Student t")


@cache
def _embedded() -> tuple[np.ndarray, np.ndarray, float]:
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 3, 300)
    points = rng.normal(size=(300, 5)) + np.eye(3, 5)[labels]
    return points, labels, peco(points, labels, 8, 5, n_repetitions=400, n_permutations=1).score
