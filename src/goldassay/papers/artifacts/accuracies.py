"""Accuracies of many models on parts of one test set, and any sum or difference of them, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from goldassay.core.resampling import percentile_interval, resample_examples, resample_runs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

N_DRAWS, LEVEL = 2000, 0.95
FULL, EASY, HARD = "full", "easy", "hard"
SUBSETS = (FULL, EASY, HARD)
# How the printed tables call the difference, and the hard subset of Gururangan et al. 2018.
GAP, OTHERS_HARD = "easy-hard", "uw_cmu_hard"
_TERMS = {GAP: {EASY: 1.0, HARD: -1.0}, **{name: {name: 1.0} for name in (*SUBSETS, OTHERS_HARD)}}


class Trained(NamedTuple):
    """A model and what it was trained on, as the printed tables tell them apart.

    Attributes:
        model: Its name.
        threshold: Of the patterns that its training set is without, as text; "1.0" for all rows.
        mode: "all", "debias" or "rand".
    """

    model: str
    threshold: str = "1.0"
    mode: str = "all"


@dataclass(frozen=True)
class Figure:
    """An estimate.

    Attributes:
        value: A fraction.
        low: Lower end of its 95 % interval.
        high: Upper end.
        sd: Of the runs (ddof 1), where it is of one model and there are several; else None.
        n_runs: The fewest of the models in it.
    """

    value: float
    low: float
    high: float
    sd: float | None
    n_runs: int

    def scaled(self, by: float = 100.0) -> dict[str, float | int | None]:
        """As a cell of a table that prints points."""
        return {"ours": by * self.value, "low": by * self.low, "high": by * self.high, "n_runs": self.n_runs}


class Accuracies:
    """Correctness of models on N examples, some of them easy and some hard.

    An interval is of the bootstrap over examples, the same draw for all models, so that what they find hard together
    leaves their difference; and over the runs of each model by itself (`resampling.resample_runs`).

    Args:
        correct: By model, (R, N) in [0, 1].
        masks: By subset, "full", "easy", "hard", and "uw_cmu_hard" where it is known: which examples are in it, (N,).
        seed: Of the bootstrap.
    """

    def __init__(
        self, correct: Mapping[Trained, NDArray[np.float64]], masks: Mapping[str, NDArray[np.bool_]], seed: int = 0
    ) -> None:
        self.correct, self.masks, self.seed = dict(correct), dict(masks), seed

    def __contains__(self, model: Trained) -> bool:
        return model in self.correct

    def sizes(self) -> dict[str, int]:
        """How many examples each subset has."""
        return {name: int(mask.sum()) for name, mask in self.masks.items()}

    def fewest(self, subset: str) -> int:
        """How many examples a subset has, or the smaller of the two that a gap lies between."""
        return min(int(self.masks[name].sum()) for name in _TERMS[subset])

    def of(self, model: Trained, subset: str) -> Figure | None:
        """Accuracy of a model on a subset, or its gap; None where the subset is empty or the model not there."""
        return self.sum({model: 1.0}, subset)

    def difference(self, one: Trained, other: Trained, subset: str) -> Figure | None:
        """That of one model minus that of another."""
        return self.sum({one: 1.0, other: -1.0}, subset)

    def mean_difference(self, pairs: list[tuple[Trained, Trained]], subset: str) -> Figure | None:
        """The mean of `difference` over pairs of models."""
        weights: dict[Trained, float] = {}
        for one, other in pairs:
            weights[one] = weights.get(one, 0.0) + 1 / len(pairs)
            weights[other] = weights.get(other, 0.0) - 1 / len(pairs)
        return self.sum(weights, subset)

    def sum(self, weights: Mapping[Trained, float], subset: str) -> Figure | None:
        """sum_m w_m a_m, a_m the accuracy of model m on the subset, or its accuracy on easy minus that on hard."""
        parts = _TERMS[subset]
        if not weights or any(model not in self for model in weights):
            return None
        if not all(self.masks[name].any() for name in parts):
            return None
        value, draws = 0.0, np.zeros(N_DRAWS)
        # As every accuracy is from 0 to 1, so is their sum from here to there.
        least = most = 0.0
        for model, weight in weights.items():
            for name, sign in parts.items():
                value += weight * sign * float(self._means[name][model].mean())
                draws += weight * sign * self._draws[name][model]
                least, most = least + min(weight * sign, 0.0), most + max(weight * sign, 0.0)
        bounds = percentile_interval(draws, LEVEL)
        sizes = [len(self.correct[model]) for model in weights]
        return Figure(value, max(bounds.low, least), min(bounds.high, most), self._spread(weights, parts), min(sizes))

    def _spread(self, weights: Mapping[Trained, float], parts: Mapping[str, float]) -> float | None:
        """SD over the runs of a single model."""
        if len(weights) > 1:
            return None
        model = next(iter(weights))
        runs = np.sum([sign * self._means[name][model] for name, sign in parts.items()], axis=0)
        return float(runs.std(ddof=1)) if runs.size > 1 else None

    @cached_property
    def _means(self) -> dict[str, dict[Trained, NDArray[np.float64]]]:
        """Accuracy of each run on each subset that has examples."""
        return {
            name: {model: rows[:, mask].mean(axis=1) for model, rows in self.correct.items()}
            for name, mask in self.masks.items()
            if mask.any()
        }

    @cached_property
    def _draws(self) -> dict[str, dict[Trained, NDArray[np.float64]]]:
        """Draws of each model's accuracy on each subset, (B,)."""
        rng = np.random.default_rng(self.seed)
        weights = {model: resample_runs(len(rows), rng, N_DRAWS) for model, rows in self.correct.items()}
        every = np.concatenate(list(self.correct.values()))
        ends = np.cumsum([len(rows) for rows in self.correct.values()])[:-1]
        drawn = {
            name: np.split(resample_examples(every[:, mask], rng, N_DRAWS), ends, axis=1)
            for name, mask in self.masks.items()
            if mask.any()
        }
        return {
            name: {model: (weights[model] * part).sum(axis=1) for model, part in zip(self.correct, parts, strict=True)}
            for name, parts in drawn.items()
        }
