"""`goldassay train`: the signature of the command; what it does is loaded when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from goldassay.core.commands import command
from goldassay.core.naming import split_named_path
from goldassay.core.options import (
    Bias,
    BiasFolds,
    Bootstrap,
    Changes,
    CheckpointEvery,
    Columns,
    ColumnsOf,
    Conditions,
    Configuration,
    Deterministic,
    Dev,
    Device,
    Model,
    Name,
    Objective,
    ObjectiveChanges,
    Out,
    Precision,
    Quiet,
    Record,
    Rows,
    SettingsOrFile,
    StateEvery,
    Teacher,
    Tests,
    Train,
    TrainingSeeds,
    Vary,
    Vectors,
    Weights,
    Workers,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from goldassay.lab.training.job import Job, Watcher
    from goldassay.lab.training.many_seeds import TrainingReport


class TrainingOptions(TypedDict, total=False):
    """Keys of the section [training] of the settings, and what the runs call the model."""

    dev: Dev
    seeds: TrainingSeeds
    vary: Vary
    conditions: Conditions
    configuration: Configuration
    changes: Changes
    objective: Objective
    objective_changes: ObjectiveChanges
    bias: Bias
    bias_folds: BiasFolds
    teacher: Teacher
    vectors: Vectors
    rows: Rows
    bootstrap: Bootstrap
    weights: Weights
    checkpoint_every: CheckpointEvery
    state_every: StateEvery
    record: Record
    precision: Precision
    deterministic: Deterministic
    device: Device
    workers: Workers
    name: Name


@command()
def train(
    train: Train,
    test: Tests = None,
    model: Model = None,
    *,
    out: Out = "runs",
    columns: Columns = None,
    columns_of: ColumnsOf = None,
    settings: SettingsOrFile = None,
    quiet: Quiet = True,
    **options: Unpack[TrainingOptions],
) -> TrainingReport:
    """Train a network with several seeds, and keep what the measures need.

    Each run is a model trained with a seed of its own under one condition, and evaluated on every test set. Runs go
    on side by side, one a core, or one a GPU. The folder can be handed to goldassay instability, compare and audit
    --runs. Networks: bow, average, lstm, conv, ngram_average, bilstm, infersent, dam, esim, contextual_esim, and
    transformers checkpoints, by their folder or their name on the hub.

      goldassay instability runs

    A command that was stopped, or killed, goes on where it was when it is given again, and what is done is not done
    again. Options not given are taken from the section [training] of the settings. --seeds 0,1,2 says which seeds.

    Note:
        Data are a path, a `Dataset`, or a polars or pandas frame, Arrow table, `datasets.Dataset` or list of dicts;
        {name: data} or a list of pairs names several.

    Returns:
        What became of each run; `.summary()` is a frame with the scores.

    Raises:
        InputError: Anything that keeps all of it from being done, in one line.
        MissingDependencyError: The extra `train` is not installed.
        GoldassayError: Not a single run could be finished.
    """
    from goldassay.core.settings import chosen
    from goldassay.data.roles import with_own
    from goldassay.lab.training.job import bars, warn_of_precision
    from goldassay.lab.training.precision import leads
    from goldassay.lab.training.train import train_runs
    from goldassay.questions.inputs import input_names

    def watching(jobs: Sequence[Job]) -> AbstractContextManager[Watcher]:
        warn_of_precision(jobs)
        return bars(len(jobs))

    given: dict[str, Any] = {**options, "model": model}
    given["label"] = given.pop("name", None)
    tests = test if isinstance(test, (list, tuple)) else [] if test is None else test
    if isinstance(tests, list):
        tests = [split_named_path(each) if isinstance(each, str) else each for each in tests]
    roles = with_own(columns, columns_of, ["dev", *input_names(tests)])
    # Of several processes that share a training one speaks.
    watched = None if quiet or not leads() else watching
    try:
        return train_runs(
            train, tests, given, out=out or "runs", columns=roles, settings=chosen(settings), watching=watched
        )
    except KeyboardInterrupt as interruption:
        raise KeyboardInterrupt(
            f"what is done is kept in {out}, and the same command goes on from there"
        ) from interruption
