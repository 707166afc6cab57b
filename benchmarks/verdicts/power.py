"""Worlds in which the power of `compare` is known: two models of equal noise, whose scores are normal."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from goldassay.instability import compare, smallest_difference


@dataclass(frozen=True)
class PowerWorld:
    """Two models of equal noise on N examples.

    Attributes:
        run: Standard deviation of a run's level.
        flip: Of each run on each example.
        example: Of what a model does better on one example (or on all of a cluster) than on another.
        cluster_size: Examples in a cluster.
        n: N.
    """

    run: float
    flip: float
    example: float
    cluster_size: int = 1
    n: int = 200

    @property
    def sd(self) -> float:
        """Standard deviation of a model's score over runs."""
        return math.sqrt(self.run**2 + self.flip**2 / self.n)

    @property
    def example_variance(self) -> float:
        """Variance of the mean difference by the examples."""
        return self.example**2 / self.clusters

    @property
    def clusters(self) -> int:
        """Independent clusters of examples."""
        return self.n // self.cluster_size

    def difference(self, n_runs: int, power: float) -> float:
        """The true difference of which `power` is claimed."""
        return smallest_difference(self.sd, n_runs, power, 0.05, self.example_variance, self.clusters)

    def found(self, difference: float, n_runs: int, n_draws: int, seed: int = 0) -> int:
        """Draws in which `compare` finds the difference at 5 %."""
        rng, found = np.random.default_rng([seed, n_runs]), 0
        names = np.arange(self.n) // self.cluster_size if self.cluster_size > 1 else None
        for _ in range(n_draws):
            ease = rng.normal(0, 1, self.n)
            better = difference + rng.normal(0, self.example, self.clusters).repeat(self.cluster_size)
            scores = [
                ease + part * better + rng.normal(0, self.run, (n_runs, 1)) + rng.normal(0, self.flip, (n_runs, self.n))
                for part in (0.5, -0.5)
            ]
            found += compare(scores[0], scores[1], names, n_draws=1).p_value < 0.05
        return found


POWER_WORLDS = {
    "runs differ in level": PowerWorld(run=0.3, flip=0.3, example=0.0),
    "runs and examples": PowerWorld(run=0.1, flip=0.5, example=1.0),
    "examples flip singly": PowerWorld(run=0.0, flip=1.0, example=0.0),
    "flips and examples": PowerWorld(run=0.0, flip=1.0, example=0.5),
    "examples mostly": PowerWorld(run=0.02, flip=0.5, example=2.0),
    "clusters of 5": PowerWorld(run=0.1, flip=0.5, example=0.5, cluster_size=5),
}
