"""Networks that questions ask for: what they need of whoever trains them, and where the runs are kept meanwhile.

Questions import no training framework.

Readers of each part of the input: the quick readers, or a network in their place.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from goldassay.core.errors import GoldassayError, MissingDependencyError
from goldassay.core.extensions import extensions
from goldassay.core.files import locked_folder, output_error, temporary_folder
from goldassay.questions.leakage.partial_input import PartialInputRuns, beside_runs, gold_probabilities
from goldassay.questions.leakage.probes import n_trainings, probe_evidence
from goldassay.readers.conditions import EMPTY, conditions_of
from goldassay.runs.reading import read_runs
from goldassay.runs.store import nothing_left_if_refused

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import polars as pl

    from goldassay.core.progress import Progress
    from goldassay.core.settings import Settings, TrainingSettings
    from goldassay.data.dataset import Dataset
    from goldassay.readers.conditions import DataSplit
    from goldassay.runs.runs import Runs


_GROUP = "goldassay.trainers"


class Trained(Protocol):
    """What came of the trainings of a network; its runs lie in their folder.

    Attributes:
        failures: name, reason; of trainings that could not be finished.
    """

    @property
    def failures(self) -> pl.DataFrame:
        """See above."""

    def remarks(self) -> list[str]:
        """What is not as one would expect, in sentences."""


class Plan(Protocol):
    """Trainings of one network, checked and not begun.

    Attributes:
        model: What its runs call it.
        conditions: What it is shown, the whole input first.
        n_runs: How many trainings there are.
        epochs: How often each goes through its rows.
        rows: How many of the training rows each draws; None takes all.
        bootstrap: Whether they are drawn with replacement.
    """

    @property
    def model(self) -> str:
        """See above."""

    @property
    def conditions(self) -> tuple[str, ...]:
        """See above."""

    @property
    def n_runs(self) -> int:
        """See above."""

    @property
    def epochs(self) -> int:
        """See above."""

    @property
    def rows(self) -> int | None:
        """See above."""

    @property
    def bootstrap(self) -> bool:
        """See above."""

    def train(
        self,
        workers: int | None = None,
        *,
        progress: Progress | None = None,
        quiet: bool = True,
        unscored: Collection[str] = (),
    ) -> Trained:
        """Train what is not done yet.

        Args:
            workers: Trainings side by side; by default one a GPU, or where there is none one a core.
            progress: Told how many are done, where `quiet`.
            quiet: Show no bars of them.
            unscored: Test sets whose scores mean nothing and are told nobody.

        Raises:
            InputError: A run was made with other settings.
            GoldassayError: Not a single run could be finished.
        """


class Trainer(Protocol):
    """What trains networks; registered as an entry point of the group "goldassay.trainers"."""

    def check_name(self, model: str) -> None:
        """Refuse a name of no network.

        Raises:
            InputError: The nearest names are given.
        """

    def check_tests(self, training: Dataset, tests: Sequence[Dataset]) -> None:
        """Refuse sets whose right answers are of another kind than those of the training data.

        Raises:
            InputError: Says which, and what to do.
        """

    def plan(
        self,
        train: Dataset,
        model: str,
        tests: Mapping[str, Dataset],
        *,
        out: str | os.PathLike[str],
        seeds: int | Sequence[int],
        conditions: Sequence[str] | None = None,
        **options: Any,
    ) -> Plan:
        """Plan the trainings of a network with every seed under every condition.

        Args:
            train: To train on.
            model: A network, or a transformers checkpoint.
            tests: To evaluate on, by name.
            out: Folder of the runs.
            seeds: How many, or which.
            conditions: What it is shown; by default all texts.
            options: As `TrainingSettings.of_network` gives them; record, what is kept of each run; and label, what the
                runs call the model.

        Raises:
            InputError: The network cannot be trained as it is asked for.
            MissingDependencyError: What trains it is not installed.
        """


def network_trainer() -> Trainer:
    """Whoever trains networks here.

    Raises:
        MissingDependencyError: Nobody is registered.
    """
    found = list(extensions(_GROUP).values())
    if not found:
        raise MissingDependencyError(
            f"nothing that trains networks is registered as {_GROUP}; install it with: pip install 'goldassay[train]'"
        )
    trainer: Trainer = found[0]
    return trainer


def files_since(directory: Path, start: float) -> tuple[Path, ...]:
    """The runs that were written into a folder since a time; none where the folder is gone."""
    return tuple(sorted(path for path in directory.glob("*.parquet") if path.stat().st_mtime >= start))


@contextmanager
def evidence_directory(out: str | os.PathLike[str] | None) -> Iterator[Path]:
    """The folder `out/runs`, or one that is gone afterwards where no folder is given.

    Raises:
        OutputError: It cannot be made or written to, or another command writes into it.
        KeyboardInterrupt: It was interrupted; the message says how many runs are kept.
    """
    if out is None:
        with temporary_folder() as place:
            yield place
        return
    directory = Path(out) / "runs"
    new = [each for each in (directory, directory.parent) if not each.exists()]
    try:
        with nothing_left_if_refused(directory):
            _try(directory)
            with locked_folder(Path(out)):
                yield directory
    except KeyboardInterrupt:
        kept = len(list(directory.glob("*.parquet")))
        note = f"{kept} finished runs are kept in {directory}" if kept else ""
        raise KeyboardInterrupt(note) from None
    finally:
        # Where nothing was made, because the data cannot be used, nothing is left.
        for each in new:
            with suppress(OSError):
                each.rmdir()


def _try(directory: Path) -> None:
    """Make a folder and write to it, before the long work starts."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise output_error(error, directory.parent) from error


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
