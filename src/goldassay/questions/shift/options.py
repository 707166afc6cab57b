"""What is asked of gaps between a model's own distribution and others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.questions.shift.measures.set_metrics import Metric


@dataclass(frozen=True)
class GapChoice:
    """Which sets are compared, by which metric, and what is said of the models.

    Attributes:
        in_distribution: {training set: its dataset}; "" stands for all that are not named.
        metric: Of the scores; None says it by what is there: a correlation where labels are numbers.
        floor: What a mean of graded scores is without any knowledge; None: nobody declared it.
        sizes: {model: parameters}, for the gap against size, where the runs do not say it or another counts.
        notes: Further sentences on how the runs came about.
        leave_out: Datasets that have no labels of the task.
        untrained: Models that no seed can change.
        n_draws: Of the intervals.
    """

    in_distribution: Mapping[str, str] = field(default_factory=dict)
    metric: Metric | None = None
    floor: float | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()
    leave_out: Sequence[str] = ()
    untrained: Sequence[str] = ()
    n_draws: int = 1000
