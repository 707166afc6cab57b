"""Runs of a made-up model whose true scores are known: what the coverage of intervals is measured on.

Run r scores example i right where a sum of normal effects is above zero:

    ease + run_r + cluster_k(i) + example_i + run_by_cluster_r,k(i) + noise_ri > 0        (noise: standard normal)

Clusters stand for examples that share a premise. All true values follow from normal integrals, but for those of one
given set of examples, which are taken from forty thousand runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


class Truth(NamedTuple):
    """What is estimated: the mean score, and the parts of its variance over runs (ddof 1)."""

    mean: float
    total: float
    independent: float

    @property
    def sd(self) -> float:
        """Root of the total."""
        return float(np.sqrt(self.total))

    @property
    def covariance(self) -> float:
        """Total less the independent part."""
        return self.total - self.independent

    @property
    def design_effect(self) -> float:
        """Total over the independent part."""
        return self.total / self.independent


@dataclass(frozen=True)
class Design:
    """How runs and examples vary.

    Attributes:
        name: For the table.
        run: Standard deviation of the runs' effects.
        cluster: Of the clusters' effects.
        example: Of the examples'.
        run_by_cluster: Of the interaction: one seed learns a premise that another does not.
        cluster_size: Examples in a cluster.
        n_examples: N.
        ease: Mean of all.
        run_shape: "normal"; or "failures", some runs being far below the others, with the same variance.
        failing: Share of the runs that fail.
    """

    name: str
    run: float = 0.2
    cluster: float = 0.0
    example: float = 2.0
    run_by_cluster: float = 0.0
    cluster_size: int = 1
    n_examples: int = 500
    ease: float = 1.8
    run_shape: str = "normal"
    failing: float = 0.2

    @property
    def clusters(self) -> np.ndarray:
        """Cluster of each example, (N,)."""
        return np.arange(self.n_examples) // self.cluster_size

    def draw_runs(self, n_runs: int, rng: np.random.Generator) -> np.ndarray:
        """Effects of runs, (R,)."""
        if self.run_shape == "failures":
            fails = rng.random(n_runs) < self.failing
            return self.run * (np.where(fails, *self._places) + rng.normal(0, 1e-3, n_runs))
        return rng.normal(0, self.run, n_runs)

    def draw_examples(self, rng: np.random.Generator, n_examples: int | None = None) -> np.ndarray:
        """Effects of examples and their clusters together, (N,)."""
        n = n_examples or self.n_examples
        shared = rng.normal(0, self.cluster, -(-n // self.cluster_size)).repeat(self.cluster_size)[:n]
        return self.ease + shared + rng.normal(0, self.example, n)

    def score(self, runs: np.ndarray, examples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Correctness, (R, N)."""
        n = len(examples)
        sums = runs[:, np.newaxis] + examples + rng.standard_normal((len(runs), n))
        if self.run_by_cluster:
            own = rng.normal(0, self.run_by_cluster, (len(runs), -(-n // self.cluster_size)))
            sums += own.repeat(self.cluster_size, axis=1)[:, :n]
        return (sums > 0).astype(np.float64)

    def draw(self, n_runs: int, rng: np.random.Generator) -> np.ndarray:
        """New runs on new examples, (R, N)."""
        return self.score(self.draw_runs(n_runs, rng), self.draw_examples(rng), rng)

    @property
    def _places(self) -> tuple[float, float]:
        """Where failing runs and others lie, so that the mean is 0 and the variance 1."""
        odds = self.failing / (1 - self.failing)
        return -(odds**-0.5), odds**0.5

    @cached_property
    def mean(self) -> float:
        """Mean score of all runs on all examples."""
        spread = 1 + self.cluster**2 + self.example**2 + self.run_by_cluster**2
        if self.run_shape == "failures":
            return float(
                self.failing * ndtr((self.ease + self._places[0] * self.run) / spread**0.5)
                + (1 - self.failing) * ndtr((self.ease + self._places[1] * self.run) / spread**0.5)
            )
        return float(ndtr(self.ease / (spread + self.run**2) ** 0.5))

    def truth_of_examples(self, examples: np.ndarray, seed: int = 0, n_runs: int = 40_000) -> Truth:
        """True values over all runs on the given examples, from many runs."""
        rng = np.random.default_rng(seed)
        means, right = [], np.zeros(len(examples))
        for _ in range(n_runs // 1000):
            scores = self.score(self.draw_runs(1000, rng), examples, rng)
            means.append(scores.mean(axis=1))
            right += scores.sum(axis=0)
        p = right / n_runs
        of_runs = np.concatenate(means)
        return Truth(float(p.mean()), float(of_runs.var()), float((p * (1 - p)).sum() / len(p) ** 2))

    def truth_of_runs(self, runs: np.ndarray) -> Truth:
        """True values over all sets of N examples of the given runs, whose effects are known.

        Covariances over runs (ddof 1) are expected for an example with itself, for two of a cluster, and for two of
        different ones.
        """
        noise, both = 1 + self.run_by_cluster**2, (self.cluster**2 + self.example**2) ** 0.5
        level = self.ease + runs[:, np.newaxis]
        means = ndtr(level[:, 0] / (noise + both**2) ** 0.5)
        alone = ndtr((level + both * NODES) / noise**0.5)
        own = expected_covariance(means, (alone * WEIGHTS) @ alone.T)
        total = own / self.n_examples + (self.n_examples - self.cluster_size) / self.n_examples * float(
            means.var(ddof=1)
        )
        if self.cluster_size > 1:
            rest = (1 + self.example**2) ** 0.5
            of_cluster = ndtr((level + self.cluster * NODES) / (rest**2 + self.run_by_cluster**2) ** 0.5)
            joint = (of_cluster * WEIGHTS) @ of_cluster.T
            shared = (self.cluster**2 + self.run_by_cluster**2) ** 0.5
            same_run = (ndtr((level + shared * NODES) / rest) ** 2) @ WEIGHTS
            total += (self.cluster_size - 1) / self.n_examples * expected_covariance(same_run, joint)
        return Truth(float(means.mean()), total, own / self.n_examples)


def expected_covariance(same_run: np.ndarray, joint: np.ndarray) -> float:
    """Expected covariance over R runs of two scores: E(C_ri C_rj), (R,), less E(C_ri C_sj), (R, R), r != s."""
    n_runs = len(same_run)
    apart = (joint.sum() - np.trace(joint)) / (n_runs * (n_runs - 1))
    return float(same_run.mean() - apart)


INDEPENDENT = Design("ind.")
CORRELATED = Design("corr.", cluster=1.4, example=2**0.5, run_by_cluster=0.7, cluster_size=5)
FAILURES = Design("failing", run_shape="failures")
RARE_FAILURES = Design("1 in 10", run_shape="failures", failing=0.1)
