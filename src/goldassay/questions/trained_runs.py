"""Training as its command does it: settings, then keywords; and runs that every question can be asked of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.keywords import takes
from goldassay.core.settings import Settings
from goldassay.lab.training.job_folder import nothing_left_if_refused
from goldassay.lab.training.many_seeds import check_workers, plan_jobs, run_plan
from goldassay.questions.inputs import named_sources
from goldassay.questions.opinions import with_sources

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from goldassay.lab.training.job import Job
    from goldassay.lab.training.many_seeds import TrainingReport
    from goldassay.lab.training.outcome import Watcher

    # Opens, for the trainings that are to come, what is told how they go.
    Watching = Callable[[Sequence[Job]], AbstractContextManager[Watcher]]

__all__ = ["train", "train_runs"]


@takes("train")
def train(
    train: Any,
    test: Any,
    model: str | None = None,
    *,
    out: str | os.PathLike[str] = "runs",
    seeds: int | Sequence[int] | None = None,
    conditions: Sequence[str] | None = None,
    dev: Any = None,
    columns: str | Mapping[str, str] | None = None,
    workers: int | None = None,
    settings: Settings | None = None,
    **options: Any,
) -> TrainingReport:
    """Train a network with several seeds and keep what the measures need: `goldassay train`.

    What is already in the folder is not done again, and what was begun goes on from its last checkpoint.

    Args:
        train: To train on: a path, a `Dataset`, or a polars or pandas frame, Arrow table, `datasets.Dataset` or list of
            dicts.
        test: What to evaluate on, likewise; {name: data} or a list of pairs names several.
        model: A network, or a transformers checkpoint: its folder or its name on the hub; by default that of the
            settings.
        out: Folder of the runs.
        seeds: How many, or which; by default 10.
        conditions: What the model sees; by default all texts.
        dev: What to choose the best epoch by, as `train`.
        columns: Which column plays which role, in all data.
        workers: Runs side by side; by default one a GPU, or where there is none one a core.
        settings: Its section [training] holds what is not given here; by default `Settings()`.
        options: Other keys of [training]: configuration, changes, objective, objective_changes, bias, bias_folds,
            teacher, vectors, vary, rows, bootstrap, weights, checkpoint_every, state_every, record, precision, device,
            deterministic; and label, which names the model in its runs.

    Returns:
        What became of each run; `.summary()` is a frame with the scores.

    Raises:
        InputError: Anything that keeps all of it from being done, in one line.
        MissingDependencyError: The extra `train` is not installed.
        GoldassayError: Not a single run could be finished.
    """
    given = {**options, "model": model, "seeds": seeds, "conditions": conditions, "dev": dev, "workers": workers}
    return train_runs(train, test, given, out=out, columns=columns, settings=settings, watching=None)


def train_runs(
    train: Any,
    test: Any,
    given: Mapping[str, Any],
    *,
    out: str | os.PathLike[str],
    columns: str | Mapping[str, str] | None,
    settings: Settings | None,
    watching: Watching | None,
) -> TrainingReport:
    """Train: what the command and `train` have in common.

    Args:
        train: As for `train`.
        test: Likewise.
        given: Keys of [training], and label; None where the settings decide.
        out: As for `train`.
        columns: Likewise.
        settings: Likewise.
        watching: Opens, for the trainings that are to come, what is told how they go.

    Raises:
        InputError: As `train`.
    """
    asked = (settings or Settings()).training.arguments() | {k: v for k, v in given.items() if v is not None}
    if "model" not in asked:
        example = option("model", "ngram_average")
        raise InputError("no model is named", mend=f"name one with {option('model')}, such as {example}")
    workers = asked.pop("workers", None)
    check_workers(workers)
    tests: Any = [(name or None, data) for name, data in named_sources(test)]
    with nothing_left_if_refused(out):
        asked = with_sources(asked, out)
        jobs = plan_jobs(train, asked.pop("model"), tests, out=out, columns=columns, **asked)
        if watching is None:
            return run_plan(jobs, workers)
        with watching(jobs) as watcher:
            return run_plan(jobs, workers, watcher)
