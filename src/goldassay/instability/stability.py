"""Which examples make the score swing: how often each is right, and how often it flips."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.intervals import Interval, few_runs_caveat, wilson_interval
from goldassay.core.results import Result
from goldassay.instability.scores import as_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class ExampleStability(Result):
    """How stable each example's score is.

    Attributes:
        example_ids: (N,).
        mean: Over the runs' last checkpoints, (N,).
        disagreement: Chance that two different runs score it differently, (N,).
        flips: Mean over runs of the number of changes from checkpoint to checkpoint, (N,); None without checkpoints.
        n_always_right: Examples with score 1 in all runs.
        n_always_wrong: Examples with score 0 in all runs.
        n_constant: Examples with the same score in all runs.
        share_varying: Of all examples, those that are not constant; more runs find more of them.
        share_varying_interval: 95 % interval (Wilson) of that share among other examples, for these runs.
        n_runs: R.
        n_checkpoints: T, or 1.
        n_examples: N.
        caveats: What to bear in mind, in sentences.
        skipped: Reason -> count of what has no value.
    """

    example_ids: NDArray[Any]
    mean: NDArray[np.float64]
    disagreement: NDArray[np.float64]
    flips: NDArray[np.float64] | None
    n_always_right: int
    n_always_wrong: int
    n_constant: int
    share_varying: float
    share_varying_interval: Interval
    n_runs: int
    n_checkpoints: int
    n_examples: int
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row an example, the least stable first: example_id, mean, disagreement, flips, status."""
        constant = self.disagreement == 0
        status = np.where(constant & (self.mean == 1), "always right", "varies")
        status = np.where(constant & (self.mean == 0), "always wrong", status)
        frame = pl.DataFrame(
            {
                "example_id": self.example_ids.tolist(),
                "mean": self.mean,
                "disagreement": self.disagreement,
                "status": np.where(constant & (status == "varies"), "always the same", status).tolist(),
            }
        )
        if self.flips is not None:
            frame.insert_column(3, pl.Series("flips", self.flips))
        return frame.sort("disagreement", descending=True, maintain_order=True)


def measure_stability(scores: ArrayLike, example_ids: ArrayLike | None = None) -> ExampleStability:
    """Say for each example how often it is right, how often runs disagree on it, and how often it flips.

    Disagreement is the share of the R(R-1)/2 pairs of runs whose scores differ; for correctness with n right
    runs it is 2n(R-n)/(R(R-1)).

    Args:
        scores: (R, N), or (R, T, N) with checkpoints.
        example_ids: (N,); without them positions.

    Raises:
        InputError: There are fewer than 2 runs, scores are not finite, or ids do not fit.
    """
    array = np.asarray(scores)
    values = as_scores(array, ndim=3 if array.ndim == 3 else 2, min_runs=2)
    last = values[:, -1] if values.ndim == 3 else values
    n_runs, n_examples = last.shape
    ids = np.arange(n_examples) if example_ids is None else np.asarray(example_ids)
    if ids.shape != (n_examples,):
        raise InputError(f"example ids have shape {ids.shape}", mend=f"give one for each of the {n_examples} examples")
    ordered = np.sort(last, axis=0)
    constant = ordered[0] == ordered[-1]
    return ExampleStability(
        example_ids=ids,
        mean=last.mean(axis=0),
        disagreement=1.0 - _equal_pairs(ordered) / (n_runs * (n_runs - 1) / 2),
        flips=(np.diff(values, axis=1) != 0).sum(axis=1).mean(axis=0) if values.ndim == 3 else None,
        n_always_right=int((constant & (ordered[0] == 1)).sum()),
        n_always_wrong=int((constant & (ordered[0] == 0)).sum()),
        n_constant=int(constant.sum()),
        share_varying=1 - float(constant.mean()),
        share_varying_interval=wilson_interval(n_examples - int(constant.sum()), n_examples),
        n_runs=n_runs,
        n_checkpoints=values.shape[1] if values.ndim == 3 else 1,
        n_examples=n_examples,
        caveats=few_runs_caveat(n_runs),
    )


def _equal_pairs(ordered: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pairs of equal values in each column of (R, N), sorted along the runs."""
    run_length = np.zeros(ordered.shape[1])
    pairs = np.zeros(ordered.shape[1])
    for before, after in itertools.pairwise(ordered):
        # The n-th value of a stretch of equal ones makes n-1 new pairs.
        run_length = np.where(after == before, run_length + 1, 0.0)
        pairs += run_length
    return pairs
