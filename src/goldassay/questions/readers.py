"""Readers of each part of the input: the quick readers, or a network in their place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.core.errors import GoldassayError
from goldassay.questions.leakage.network_evidence import of_trained_runs
from goldassay.questions.leakage.probes import n_trainings, probe_evidence
from goldassay.questions.networks import network_trainer
from goldassay.readers.conditions import conditions_of
from goldassay.runs import read_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.progress import Progress
    from goldassay.core.settings import Settings
    from goldassay.data import Dataset
    from goldassay.data.data_split import DataSplit
    from goldassay.questions.leakage.partial_input import PartialInputRuns
    from goldassay.questions.networks import Plan


def train_readers(
    split: DataSplit,
    settings: Settings,
    directory: Path,
    progress: Progress,
    plan: Plan | None = None,
    elsewhere: Sequence[Dataset] = (),
) -> PartialInputRuns:
    """Train under every condition with every seed, store each run as it is done, and read them back.

    The quick readers are trained, or what `plan_readers` planned; those of the whole input answer sets of other
    distributions too. What is read back is what anybody else's tool would read: nothing passes from training to the
    measures but the runs on disk.

    Raises:
        InputError: The folder of a run was made with other settings.
        GoldassayError: A training failed.
    """
    train, test = split.train, split.test
    if plan is None:
        seeds = range(settings.seed, settings.seed + n_trainings(settings.leakage.seeds, split))
        conditions = conditions_of(train.text_columns)
        return probe_evidence(split, conditions, seeds, directory, progress, embed=False, elsewhere=elsewhere)
    failures = plan.train(settings.training.workers, progress=progress).failures
    for name, reason in failures.select("name", "reason").rows()[:1]:
        raise GoldassayError(f"{name}: {reason}")
    runs = {
        condition: read_runs(directory, model=plan.model, dataset=test.name, condition=condition)
        for condition in plan.conditions
    }
    made = of_trained_runs(runs, train, test, _about_network(train, settings, plan))
    others = {
        each.name: read_runs(directory, model=plan.model, dataset=each.name, condition=plan.conditions[0])
        for each in elsewhere
    }
    return replace(made, elsewhere=others)


def plan_readers(
    train: Dataset, test: Dataset, settings: Settings, directory: Path, elsewhere: Sequence[Dataset] = ()
) -> Plan | None:
    """The trainings of a network, checked; None where quick readers serve.

    Raises:
        InputError: The network cannot be trained as it is asked for.
        MissingDependencyError: The extra `train` is not installed.
    """
    if settings.leakage.model is None:
        return None
    return network_trainer().plan(
        train,
        settings.leakage.model,
        {each.name: each for each in (test, *elsewhere)},
        out=directory,
        seeds=range(settings.seed, settings.seed + n_trainings(settings.leakage.seeds)),
        conditions=conditions_of(train.text_columns),
        **settings.training.of_network(),
    )


def reader_name(settings: Settings) -> str:
    """What a sentence about the readers begins with."""
    model = settings.leakage.model
    return "A quick probe" if model is None else f"The network {Path(model).name}"


def _about_network(train: Dataset, settings: Settings, plan: Plan) -> str:
    drawn = f"the {len(train):,}" if plan.rows is None else f"{plan.rows:,} of the {len(train):,}"
    again = ", drawn with replacement" if plan.bootstrap else ""
    return (
        f"{reader_name(settings)} judged in place of the quick probe. It was trained on {drawn} training rows{again}, "
        f"{plan.epochs} times over."
    )
