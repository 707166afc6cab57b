"""Evidence: everything that one audit knows of its data and runs, each part loaded once, when a question needs it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from goldassay.data.facts import describe
from goldassay.questions.artifacts.search import search_patterns
from goldassay.questions.given_runs import read_given_runs
from goldassay.questions.inputs import describe_input, describe_runs, load_inputs
from goldassay.questions.readers import plan_readers, reader_name, train_readers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goldassay.core.progress import Steps
    from goldassay.core.settings import Settings
    from goldassay.data.facts import DatasetFacts
    from goldassay.questions.artifacts.search import PatternSearch
    from goldassay.questions.leakage.evidence import ConditionEvidence
    from goldassay.runs import Runs
    from goldassay.training import Job


class Evidence:
    """A benchmark's parts, runs on it, and what several questions derive from them.

    The data and the runs are read at once, so that bad input is refused before anything is written; patterns and
    readers are made when the first question asks for them.

    Args:
        train: The training part: a path, a `Dataset` or a frame.
        test: The evaluation part, likewise; None takes the data's own, or sets a share of the rows apart.
        runs: Paths of predictions on the evaluation part.
        columns: Which column plays which role.
        label_names: The labels that may occur, in order.
        file_format: The format of the files, where their content does not say it.
        settings: Everything else.
        steps: Progress, and the seconds that each step took.

    Raises:
        InputError: The data or the runs cannot be read or do not fit together.
    """

    def __init__(
        self,
        train: Any,
        test: Any = None,
        runs: Sequence[str | Path] = (),
        *,
        columns: str | Mapping[str, str] | None = None,
        label_names: Sequence[str] | None = None,
        file_format: str = "auto",
        settings: Settings,
        steps: Steps,
    ) -> None:
        self.settings, self.steps, self._run_paths = settings, steps, tuple(runs)
        with steps.step("reading the data"):
            self.train, self.test, self._decisions = load_inputs(
                train, test, columns=columns, label_names=label_names, file_format=file_format, settings=settings
            )
            self.given_runs: tuple[list[Runs], tuple[str, ...]] = read_given_runs(self._run_paths, self.test)
        self._directory: Path | None = None
        self._jobs: Sequence[Job] = ()

    def keep_runs_in(self, directory: Path) -> None:
        """Plan the readers, whose runs are kept in the folder.

        Raises:
            InputError: A network cannot read the parts as it is asked to.
            MissingDependencyError: A network is to read the parts, and the extra `train` is not installed.
        """
        self._directory = directory
        self._jobs = plan_readers(self.train, self.test, self.settings, directory)

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """What the report says of each input."""
        return [
            describe_input("train", self.train),
            describe_input("test", self.test, self._decisions),
            *map(describe_runs, self._run_paths),
        ]

    @cached_property
    def facts(self) -> DatasetFacts:
        """Sizes, labels, lengths and duplicates."""
        with self.steps.step("counting the facts"):
            return describe(self.train, self.test)

    @cached_property
    def patterns(self) -> PatternSearch:
        """Patterns of the last text of the training part, tried on the test part."""
        with self.steps.step("mining patterns") as progress:
            return search_patterns(self.train, self.test, self.settings.artifacts, self.settings.seed, progress)

    @cached_property
    def readers(self) -> ConditionEvidence:
        """What readers of each part of the input predict: quick readers, or the network of the settings."""
        assert self._directory is not None
        with self.steps.step("training networks" if self._jobs else "training quick probes") as progress:
            return train_readers(self.train, self.test, self.settings, self._directory, progress, self._jobs)

    @property
    def reader_name(self) -> str:
        """What a sentence about the readers begins with."""
        return reader_name(self.settings)
