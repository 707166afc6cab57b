"""Intervals over examples: the runs stay, and the truth is what they would score on all examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from benchmarks.interval_coverage.estimates import Estimate, estimate
from benchmarks.interval_coverage.over_runs import GROUPED, SPREAD, of_groups
from benchmarks.interval_coverage.simulated_runs import NODES, WEIGHTS
from goldassay.instability import measure_stability, resample_groups, resample_scores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.interval_coverage.simulated_runs import Design


def spread(design: Design, n_runs: int, rng: np.random.Generator) -> Iterator[Estimate]:
    """Mean, spread and decomposition; with clusters where there are any."""
    runs = design.draw_runs(n_runs, rng)
    truth = design.truth_of_runs(runs)
    scores = design.score(runs, design.draw_examples(rng), rng)
    for clusters in (None, design.clusters):
        found = resample_scores(scores, "examples", clusters=clusters, n_draws=1000, seed=int(rng.integers(2**32)))
        method = "bootstrap" if clusters is None else "bootstrap of clusters"
        for name in SPREAD:
            yield estimate(name.replace("_", " "), getattr(found, name), getattr(truth, name), method)
    yield estimate("share varying", measure_stability(scores).share_varying_interval, share_varying(design, runs))


def share_varying(design: Design, runs: np.ndarray) -> float:
    """Chance that the given runs do not score an example alike."""
    spread_of_examples = (design.cluster**2 + design.example**2) ** 0.5
    level = design.ease + runs[:, np.newaxis] + spread_of_examples * NODES
    p = ndtr(level / (1 + design.run_by_cluster**2) ** 0.5)
    return float(1 - (p.prod(axis=0) + (1 - p).prod(axis=0)) @ WEIGHTS)


def groups(_: Design, n_runs: int, rng: np.random.Generator) -> Iterator[Estimate]:
    """Parts of five groups, one of them looked at."""
    runs = GROUPED.draw_runs(n_runs, rng)
    scores = GROUPED.score(runs, GROUPED.draw_examples(rng), rng)
    found = resample_groups(scores, GROUPED.groups, "examples", n_draws=400, seed=int(rng.integers(2**32)))
    for each in of_groups(found, GROUPED.truth_of_runs(runs)):
        yield each._replace(method="bootstrap")
