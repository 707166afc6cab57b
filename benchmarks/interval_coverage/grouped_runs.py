"""Runs on examples in groups that a seed learns as a whole, such as templates, with known shares of the variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from benchmarks.interval_coverage.simulated_runs import NODES, WEIGHTS, expected_covariance


class GroupTruth(NamedTuple):
    """Means, deviations and shares of the groups, and the parts within and between them (ddof 1)."""

    means: np.ndarray
    sds: np.ndarray
    shares: np.ndarray
    within: float
    between: float


@dataclass(frozen=True)
class GroupedDesign:
    """G groups of n examples, scored right where ease_g + run_r + own_rg + example + noise is above 0.

    Attributes:
        run: Standard deviation of the runs' effects.
        own: Of the runs' own effects on each group.
        example: Of the examples'.
        size: n.
        eases: One a group.
    """

    run: float = 0.1
    own: float = 0.3
    example: float = 2.0
    size: int = 100
    eases: tuple[float, ...] = (0.6, 1.2, 1.8, 2.4, 3.0)

    @property
    def groups(self) -> np.ndarray:
        """Group of each example, (N,)."""
        return np.repeat(np.arange(len(self.eases)), self.size)

    def draw_runs(self, n_runs: int, rng: np.random.Generator) -> np.ndarray:
        """Effects of runs on the groups, (R, G)."""
        return rng.normal(0, self.run, (n_runs, 1)) + rng.normal(0, self.own, (n_runs, len(self.eases)))

    def draw_examples(self, rng: np.random.Generator) -> np.ndarray:
        """Effects of examples, (N,)."""
        return np.repeat(self.eases, self.size) + rng.normal(0, self.example, self.groups.size)

    def score(self, runs: np.ndarray, examples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Correctness, (R, N)."""
        noise = rng.standard_normal((len(runs), len(examples)))
        return (runs.repeat(self.size, axis=1) + examples + noise > 0).astype(np.float64)

    def truth_of_examples(self, examples: np.ndarray, n_runs: int = 40_000) -> GroupTruth:
        """Over all runs, on the given examples: from many runs."""
        rng = np.random.default_rng(0)
        parts, right = [], np.zeros(len(examples))
        for _ in range(n_runs // 1000):
            scores = self.score(self.draw_runs(1000, rng), examples, rng)
            parts.append(scores.reshape(1000, -1, self.size).mean(axis=2))
            right += scores.sum(axis=0)
        of_groups = np.concatenate(parts)
        p = right / n_runs
        own = (p * (1 - p)).reshape(-1, self.size).sum(axis=1) / len(p) ** 2
        return self._truth(of_groups.mean(axis=0), np.cov(of_groups.T) / len(self.eases) ** 2, own)

    def truth_of_runs(self, runs: np.ndarray) -> GroupTruth:
        """Over all examples of the groups, for the given runs: from normal integrals."""
        level = runs + np.array(self.eases)
        means = ndtr(level / (1 + self.example**2) ** 0.5)
        matrix, own = np.cov(means.T) / len(self.eases) ** 2, np.empty(len(self.eases))
        for group in range(len(self.eases)):
            p = ndtr(level[:, [group]] + self.example * NODES)
            own[group] = expected_covariance(means[:, group], (p * WEIGHTS) @ p.T) * self.size / self.groups.size**2
            matrix[group, group] *= (self.size - 1) / self.size
            matrix[group, group] += own[group]
        return self._truth(means.mean(axis=0), matrix, own)

    def _truth(self, means: np.ndarray, matrix: np.ndarray, own: np.ndarray) -> GroupTruth:
        """From the covariance matrix of the groups' parts, and what of it single examples are."""
        apart = float(np.trace(matrix))
        sds = np.sqrt(np.diagonal(matrix)) * len(self.eases)
        return GroupTruth(means, sds, matrix.sum(axis=1) / matrix.sum(), apart - own.sum(), float(matrix.sum()) - apart)
