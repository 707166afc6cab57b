"""How sure runs are of each test example from checkpoint to checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.questions.answers_on_test import right_probabilities, runs_on_test

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from goldassay.questions.evidence import Evidence
    from goldassay.questions.run_sets import RunSet

# Checkpoints that a curve has, spread evenly from the first to the last, and runs that are read at each of them: what
# bounds the time and the memory of an audit whose runs were saved often.
MOST_CHECKPOINTS, MOST_RUNS = 8, 5
PROBABILITY, SCORE = "probability of the label", "score"


@dataclass(frozen=True)
class Curves:
    """Means over runs at checkpoints in common.

    Attributes:
        checkpoints: T names, in order.
        values: (T, N) means over runs of the right label's probability, or of the score.
        measure: Which of the two.
        spread: (N,) standard deviation of the probabilities over checkpoints and runs; None of scores.
        n_runs: How many runs.
        model: Whose they are.
    """

    checkpoints: tuple[str, ...]
    values: NDArray[np.float64]
    measure: str
    spread: NDArray[np.float64] | None
    n_runs: int
    model: str

    def to_frame(self) -> pl.DataFrame:
        """A row a checkpoint: what the lists of the table of examples are of."""
        return pl.DataFrame(
            {
                "checkpoint": pl.Series(list(self.checkpoints), dtype=pl.String),
                "model": [self.model] * len(self.checkpoints),
                "n_runs": [self.n_runs] * len(self.checkpoints),
                "measure": [self.measure] * len(self.checkpoints),
                "mean": self.values.mean(axis=1),
            }
        )


def curves_of_runs(evidence: Evidence) -> Curves | None:
    """Those of the first set of runs of the whole input with several checkpoints; None where there is none.

    One checkpoint is read after the other, so that no more is in memory than the audit has anyway.
    """
    for each in evidence.run_sets:
        if not each.is_comparable or len(steps := each.checkpoints_in_common()) < 2:
            continue
        places = np.unique(np.linspace(0, len(steps) - 1, MOST_CHECKPOINTS).round().astype(int))
        chosen = [steps[at] for at in places.tolist()]
        try:
            found = list(_read(evidence, each, chosen))
        except InputError:
            # What cannot be read at an earlier checkpoint was not asked for: the score is that of the last.
            continue
        if len(found) == len(chosen):
            return _joined(found, [str(step) for step in chosen], each.model)
    return None


def _read(
    evidence: Evidence, runs: RunSet, steps: list[int | str]
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64] | None]]:
    """(R, N) scores and probabilities of the right label at each of some checkpoints."""
    for step in steps:
        for loaded in runs_on_test(evidence, [runs.at(step, MOST_RUNS)]):
            yield loaded.final().scores, right_probabilities(loaded.final())


def _joined(
    found: list[tuple[NDArray[np.float64], NDArray[np.float64] | None]], steps: list[str], model: str
) -> Curves:
    likely = [each for _, each in found if each is not None]
    n_runs = found[0][0].shape[0]
    if len(likely) < len(found):
        return Curves(tuple(steps), np.stack([each.mean(axis=0) for each, _ in found]), SCORE, None, n_runs, model)
    values = np.stack([each.mean(axis=0) for each in likely])
    squares = np.stack([(each**2).mean(axis=0) for each in likely])
    spread = np.sqrt(np.maximum(squares.mean(axis=0) - values.mean(axis=0) ** 2, 0.0))
    return Curves(tuple(steps), values, PROBABILITY, spread, n_runs, model)
