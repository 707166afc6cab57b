"""Networks that questions ask for: what they need of whoever trains them. Questions import no training framework."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from goldassay.core.errors import MissingDependencyError
from goldassay.core.extensions import extensions

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Mapping, Sequence

    import polars as pl

    from goldassay.core.progress import Progress
    from goldassay.data.dataset import Dataset

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
