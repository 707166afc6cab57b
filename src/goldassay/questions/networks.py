"""Networks that questions ask for: what they need of whoever trains them, and where the runs are kept meanwhile.

Questions import no training framework.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from goldassay.core.errors import MissingDependencyError
from goldassay.core.extensions import extensions
from goldassay.core.files import locked_folder, output_error
from goldassay.core.temp_files import temporary_folder
from goldassay.runs.store import nothing_left_if_refused

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterator, Mapping, Sequence

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
