"""Evidence: everything that one command knows of its data and runs, each part loaded once, when a question needs it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goldassay.data.facts import describe
from goldassay.questions.artifacts.dependence import SharedTexts
from goldassay.questions.artifacts.inputs import Bounds
from goldassay.questions.artifacts.search import describe_search, read_control
from goldassay.questions.example_clusters import example_clusters
from goldassay.questions.given_runs import read_given_runs
from goldassay.questions.inputs import describe_input, describe_runs, load_inputs
from goldassay.questions.readers import plan_readers, reader_name, train_readers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from goldassay.core.clusters import Clusters
    from goldassay.core.progress import Steps
    from goldassay.core.settings import Settings
    from goldassay.data import Dataset
    from goldassay.data.facts import DatasetFacts
    from goldassay.questions.artifacts.search import Control
    from goldassay.questions.artifacts.section import Described
    from goldassay.questions.leakage.condition_evidence import ConditionEvidence
    from goldassay.runs import Runs
    from goldassay.training import Job


@dataclass(frozen=True)
class _Loaded:
    train: Dataset
    test: Dataset | None
    decisions: tuple[str, ...]
    runs: list[Runs]
    remarks: tuple[str, ...]


class Evidence:
    """A benchmark's parts, runs on it, and what several questions derive from them.

    Nothing is read before it is used; `load` reads data and runs at once.

    Args:
        train: The training part: a path, a `Dataset` or a frame.
        test: The evaluation part, likewise; None takes the data's own, or sets a share of the rows apart.
        runs: Paths of predictions on the evaluation part.
        columns: Which column plays which role.
        label_names: The labels that may occur, in order.
        file_format: The format of the files, where their content does not say it.
        settings: Everything else.
        steps: Progress, and the seconds that each step took.
        split: Whether an evaluation part is taken of the training data where none is given.
        make_readers: Makes what models of each part of the input predict, where that is not what an audit trains.
    """

    def __init__(
        self,
        train: Any = None,
        test: Any = None,
        runs: Sequence[str | Path] = (),
        *,
        columns: str | Mapping[str, str] | None = None,
        label_names: Sequence[str] | None = None,
        file_format: str = "auto",
        settings: Settings,
        steps: Steps,
        split: bool = True,
        make_readers: Callable[[Evidence], ConditionEvidence] | None = None,
    ) -> None:
        self.settings, self.steps = settings, steps
        self._sources, self._run_paths = (train, test), tuple(runs)
        self._reading: dict[str, Any] = {
            "columns": columns,
            "label_names": label_names,
            "file_format": file_format,
            "split": split,
        }
        self._make_readers = make_readers
        self._directory: Path | None = None
        self._jobs: Sequence[Job] = ()

    @cached_property
    def _loaded(self) -> _Loaded:
        with self.steps.step("reading the data"):
            train, test, decisions = load_inputs(*self._sources, settings=self.settings, **self._reading)
            runs, remarks = ([], ()) if test is None else read_given_runs(self._run_paths, test)
            return _Loaded(train, test, decisions, runs, remarks)

    def load(self) -> None:
        """Read the data and the runs now, so that bad input is refused before anything is written.

        Raises:
            InputError: The data or the runs cannot be read or do not fit together.
        """
        _ = self._loaded

    @property
    def train(self) -> Dataset:
        """The training part."""
        return self._loaded.train

    @property
    def test(self) -> Dataset:
        """The evaluation part."""
        assert self._loaded.test is not None
        return self._loaded.test

    @property
    def held_out(self) -> Dataset | None:
        """The evaluation part, if there is one: always, unless `split` is off."""
        return self._loaded.test

    @property
    def decisions(self) -> tuple[str, ...]:
        """How the evaluation part came about, in sentences."""
        return self._loaded.decisions

    @property
    def given_runs(self) -> tuple[list[Runs], tuple[str, ...]]:
        """Runs on the evaluation part, and what is not as one would expect of them."""
        return self._loaded.runs, self._loaded.remarks

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
            *([] if self.held_out is None else [describe_input("test", self.held_out, self.decisions)]),
            *map(describe_runs, self._run_paths),
        ]

    @cached_property
    def facts(self) -> DatasetFacts:
        """Sizes, labels, lengths and duplicates."""
        with self.steps.step("counting the facts"):
            return describe(self.train, self.test)

    @cached_property
    def clusters(self) -> Clusters:
        """Which test rows count as one in every interval."""
        with self.steps.step("joining rows that share a text"):
            return example_clusters(self.test, self.settings.data.clusters)

    @cached_property
    def _shared_texts(self) -> SharedTexts:
        return SharedTexts.of(self.train, self.settings.data.clusters)

    @cached_property
    def patterns(self) -> Described:
        """Patterns of the last text of the training part (of a pair the hypothesis), tried on the test part."""
        keeping = self.settings.artifacts
        role = self.train.text_columns[-1]
        together, clusters = self.settings.data.clusters, self.clusters
        bounds = Bounds(keeping.max_tokens, keeping.max_gap, keeping.min_count, keeping.tokenizer, role, together)
        with self.steps.step("mining patterns") as progress, warnings.catch_warnings():
            # That no pattern was frequent enough is a finding here: the counts in the report say it.
            warnings.simplefilter("ignore", UserWarning)
            return describe_search(
                self.train,
                self.test,
                bounds,
                keeping,
                self.settings.seed,
                progress,
                self._shared_texts,
                clusters.codes_if_any,
            )

    @cached_property
    def control_patterns(self) -> Control | None:
        """Patterns of the first text of a pair, which tell nothing in a sound construction; None of single texts."""
        if len(self.train.text_columns) < 2:
            return None
        role, settings = self.train.text_columns[0], self.settings
        with self.steps.step("mining patterns"):
            return read_control(self.train, self.test, role, settings, self._shared_texts)

    @cached_property
    def readers(self) -> ConditionEvidence:
        """What readers of each part of the input predict: quick readers, or the network of the settings."""
        if self._make_readers is not None:
            made = self._make_readers(self)
        else:
            assert self._directory is not None
            with self.steps.step("training networks" if self._jobs else "training quick probes") as progress:
                made = train_readers(self.train, self.test, self.settings, self._directory, progress, self._jobs)
        if made.test is None:
            return made
        # Runs that were made elsewhere may be of some of the test examples.
        own = "_loaded" in self.__dict__ and made.test is self.held_out
        chosen = self.clusters if own else example_clusters(made.test, self.settings.data.clusters)
        return replace(made, clusters_found=chosen)

    @property
    def reader_name(self) -> str:
        """What a sentence about the readers begins with."""
        return reader_name(self.settings)
