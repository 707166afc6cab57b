"""The teacher of a run: the same network, trained plainly on the same rows with the same seeds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from goldassay.runs import read_runs
from goldassay.training.opinions import TRAIN, softmax

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.data import Dataset
    from goldassay.training.job import Job

FOLDER = "teacher"


def has_own_teacher(job: Job) -> bool:
    """Whether a job's objective learns from a teacher, and none is given."""
    from goldassay.training.objective_choice import settings_of
    from goldassay.training.objectives import load_objective

    needs = load_objective(job.objective).requirements(settings_of(job.objective, job.objective_changes))
    return needs.teacher and job.teacher is None


def teacher_of(job: Job) -> Job:
    """The job of a run's own teacher: a run like any other, in the run's folder, that answers the training rows."""
    return replace(
        job,
        objective="cross_entropy",
        objective_changes={},
        bias=None,
        teacher=None,
        tests=(job.train,),
        out=str(job.folder / FOLDER),
        label=FOLDER,
        record=("predictions", "logits"),
        checkpoint_every=None,
    )


def taught(job: Job, train: Dataset, label_names: Sequence[str]) -> NDArray[np.float32]:
    """Probabilities that a run's teacher gives its training rows, (N, K)."""
    if job.teacher is not None:
        return job.teacher.load().for_rows(TRAIN, train).probabilities
    return _answers(job.folder / FOLDER, train, label_names)


def _answers(folder: Path, train: Dataset, label_names: Sequence[str]) -> NDArray[np.float32]:
    runs = read_runs(folder)
    if runs.logits is None:
        raise ValueError("the run of a teacher records logits")
    place = {name: row for row, name in enumerate(runs.example_ids.tolist())}
    rows = [place[name] for name in train.examples["example_id"].cast(str).to_list()]
    columns = [runs.label_names.index(name) for name in label_names]
    return softmax(runs.logits[0][rows][:, columns]).astype(np.float32)


def uniform(n_rows: int, n_labels: int) -> NDArray[np.float32]:
    """What stands for a teacher where a run is only tried out: it knows nothing, (N, K)."""
    return np.full((n_rows, n_labels), 1 / n_labels, np.float32)
