"""Readers of each part of the input: the quick readers, or a network in their place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.core.errors import GoldassayError
from goldassay.questions.leakage.partial_input import PartialInputRuns, beside_runs, gold_probabilities
from goldassay.questions.leakage.probes import n_trainings, probe_evidence
from goldassay.questions.networks import Plan, network_trainer
from goldassay.readers.conditions import EMPTY, conditions_of
from goldassay.runs.reading import read_runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.core.progress import Progress
    from goldassay.core.settings import Settings, TrainingSettings
    from goldassay.data.data_split import DataSplit
    from goldassay.data.dataset import Dataset
    from goldassay.runs.runs import Runs


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


# Embeddings and relevances are what PECO and token relevance agreement are measured from.
RECORD = ("predictions", "logits", "embeddings", "relevance")


def network_conditions(wanted: Sequence[str], text_columns: Sequence[str]) -> tuple[str, ...]:
    """What a network is shown: the conditions asked for, by default every text alone and all; and nothing.

    A model of the empty input is what usable information is measured against.
    """
    return tuple(dict.fromkeys((*(wanted or conditions_of(text_columns)), EMPTY)))


def train_evidence(
    train: Dataset,
    test: Dataset,
    conditions: Sequence[str],
    model: str,
    seeds: Sequence[int],
    directory: Path,
    settings: TrainingSettings,
    *,
    quiet: bool = True,
) -> PartialInputRuns:
    """Train what is missing in the folder, and read what it holds.

    Args:
        train: To train on.
        test: To measure on.
        conditions: Of `network_conditions`.
        model: Name of a network, or a checkpoint's folder or name on the hub.
        seeds: Which.
        directory: Of the runs.
        settings: Of how the network is made, and how many are trained side by side.
        quiet: Show no progress.

    Raises:
        InputError: The data or the network cannot be used.
        MissingDependencyError: The extra `train` is not installed.
    """
    plan = network_trainer().plan(
        train, model, {test.name: test}, out=directory, seeds=tuple(seeds), conditions=conditions, record=RECORD,
        **settings.of_network(),
    )  # fmt: skip
    trained = plan.train(settings.workers, quiet=quiet)
    runs = {
        name: read_runs(
            directory, model=plan.model, dataset=test.name, condition=name, train_set=train.name, checkpoint="last"
        )
        for name in conditions
    }
    evidence = of_trained_runs(runs, train, test, _about(plan, len(train)))
    return beside_runs(replace(evidence, remarks=tuple(trained.remarks())), [str(directory)])


def of_trained_runs(runs: Mapping[str, Runs], train: Dataset, test: Dataset, about: str) -> PartialInputRuns:
    """What networks trained on one part predict on the other.

    Args:
        runs: Condition to its runs, read back from disk.
        train: What they were trained on.
        test: What they predict.
        about: What was trained and how, in a sentence.
    """
    first = next(iter(runs.values()))
    assert first.gold is not None
    found = {name: gold_probabilities(each, first.gold) for name, each in runs.items()}
    return PartialInputRuns(
        name=test.name,
        model=first.model,
        source="training",
        label_names=first.label_names,
        gold=first.gold,
        example_ids=first.example_ids,
        conditions=runs,
        probabilities={name: each for name, each in found.items() if each is not None},
        test=test,
        train=train,
        about=about,
    )


def _about(plan: Plan, n_rows: int) -> str:
    drawn = f"{n_rows:,}" if plan.rows is None else f"{plan.rows:,} of the {n_rows:,}"
    return f"{plan.model} was trained on {drawn} rows{', drawn with replacement' if plan.bootstrap else ''}."
