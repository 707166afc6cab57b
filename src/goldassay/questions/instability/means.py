"""What is kept of a set of runs once its examples have been let go of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from goldassay.runs import Runs


@dataclass(frozen=True)
class RunMeans:
    """Mean scores of the runs of one model on one dataset: all that measures across datasets take.

    Attributes:
        model: Name of the model.
        dataset: Name of the dataset.
        condition: What the model could see.
        train_set: What it was trained on, or "".
        seeds: (R,).
        checkpoints: (T,) steps or names, or None.
        values: Mean score of each run, at each checkpoint where the runs have that axis, (R, [T]).
    """

    model: str
    dataset: str
    condition: str
    train_set: str
    seeds: NDArray[Any]
    checkpoints: NDArray[Any] | None
    values: NDArray[np.float64]

    @classmethod
    def of(cls, runs: Runs) -> RunMeans:
        """Those of runs (R, [T,] N)."""
        return cls(
            model=runs.model,
            dataset=runs.dataset,
            condition=runs.condition,
            train_set=runs.train_set,
            seeds=runs.seeds,
            checkpoints=runs.checkpoints,
            values=runs.scores.mean(axis=-1),
        )

    @property
    def final(self) -> NDArray[np.float64]:
        """Means at the last checkpoint, (R,)."""
        return self.values if self.values.ndim == 1 else self.values[:, -1]

    @property
    def steps(self) -> tuple[int | str, ...] | None:
        """The checkpoints, where there is an axis of them."""
        return None if self.values.ndim == 1 or self.checkpoints is None else tuple(self.checkpoints.tolist())

    def is_of(self, runs: Runs) -> bool:
        """Whether they are of the same seeds and checkpoints."""
        return (
            runs.checkpoints is not None
            and self.steps == tuple(runs.checkpoints.tolist())
            and self.seeds.tolist() == runs.seeds.tolist()
        )
