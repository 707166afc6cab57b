"""Shift detection in Python: do a model's scores tell texts from elsewhere apart?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.keywords import takes
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_sources import run_paths
from goldassay.questions.shift.detection_report import report_detection

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from goldassay.core.settings import Settings
    from goldassay.questions.shift.measures.false_alarms import Rule
    from goldassay.report.report import Report

__all__ = ["detect_shift"]


class DetectionReading(TypedDict, total=False):
    """How the runs are read, as for `read_runs`; `gold` is the data that were predicted, for their texts."""

    format: str
    model: str | None
    condition: str | None
    split: str | None
    train_set: str | None
    checkpoint: int | str | None
    columns: Mapping[str, str] | str | None
    labels: Mapping[str, str] | None
    label_names: Sequence[str] | None
    grades: str | None
    pool_configurations: bool
    gold: Any


@takes("shift detection")
def detect_shift(
    inside: Any,
    outside: Any,
    train: Any = None,
    *,
    scores: Sequence[str] | None = None,
    recall: float = 0.95,
    rule: Rule = "at_least",
    k: int = 10,
    n_draws: int = 1000,
    seed: int | None = None,
    settings: Settings | None = None,
    quiet: bool = True,
    **reading: Unpack[DetectionReading],
) -> Report:
    """Measure whether a model's confidence tells texts from elsewhere from its own: `goldassay shift detection`.

    Runs are a path, `Runs`, or a table with a row a prediction (a frame, Arrow table, `datasets.Dataset` or list of
    dicts), {name of the dataset: one of these}, or several of these; all with logits or probabilities.

    Args:
        inside: Runs on the model's own distribution.
        outside: Runs of the same models on other distributions; their labels are ignored.
        train: Runs on the training data, with embeddings beside them, for the Mahalanobis distance and neighbors.
        scores: Some of max_softmax, max_logit, energy, entropy, mahalanobis, knn; by default all that can be taken.
        recall: Share of the out-of-distribution examples to be flagged.
        rule: Which threshold: "at_least", "closest" or "interpolate".
        k: Which neighbor.
        n_draws: Of the intervals.
        seed: Of all draws; by default that of the settings.
        settings: Everything else that can be set; by default `Settings()`.
        quiet: Show no progress.
        reading: How runs are read: `gold`, `model`, `columns`, `labels`, `label_names`, `checkpoint`, `split`,
            `condition`, `train_set`, `format`, `grades`,
            `pool_configurations`, as for `read_runs`.

    Returns:
        The report; it shows itself in a notebook, and `.save(directory)` writes its files.

    Raises:
        InputError: The runs cannot be read, no model answered on both sides, or a setting is out of range.
    """
    choice = RunChoice.of(**reading)
    with run_paths(inside) as own, run_paths(outside) as others, run_paths(train) as trained:
        if len(trained) > 1:
            raise InputError("several runs on the training data were given", mend=f"give one as {option('train')}")
        return report_detection(
            own,
            others,
            training=trained[0] if trained else None,
            scores=scores,
            recall=recall,
            rule=rule,
            k=k,
            choice=choice,
            seed=seed,
            n_draws=n_draws,
            settings=settings,
            quiet=quiet,
        )
