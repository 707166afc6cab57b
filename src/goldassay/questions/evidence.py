"""Evidence: everything that one command knows of its data and runs, each part loaded once, when a question needs it."""

from __future__ import annotations

import os
import warnings
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from goldassay.core.document import About, Input
from goldassay.core.naming import split_named_path
from goldassay.core.results import Verdict, not_asked
from goldassay.data.facts import describe
from goldassay.data.reading import Source, open_source
from goldassay.data.roles import own_roles
from goldassay.questions.artifacts.inputs import Bounds
from goldassay.questions.artifacts.search import (
    Described,
    PatternSearch,
    SearchedTexts,
    describe_search,
    search_patterns,
)
from goldassay.questions.artifacts.training import SharedTexts
from goldassay.questions.checks import TEXTS
from goldassay.questions.example_clusters import example_clusters
from goldassay.questions.inputs import (
    Inputs,
    deal_folds,
    describe_input,
    describe_runs,
    load_elsewhere,
    load_inputs,
    read_texts,
)
from goldassay.questions.matching import Answered, sort_by_dataset
from goldassay.questions.networks import plan_readers, reader_name, train_readers
from goldassay.questions.provenance import NO_TEST_PART, data_notes, describe_clusters
from goldassay.questions.rows import copies_in_training, copies_within, first_rows
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_sets import Place, RunSet, by_configuration, find_at, find_runs, placed, unloaded_sets
from goldassay.readers.conditions import DataSplit
from goldassay.runs.configurations import name_by_configuration
from goldassay.runs.kinds.opening import Opened, open_input, refuse_other_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor, Future

    from goldassay.core.document import AnswerFit, DatasetFacts
    from goldassay.core.errors import InputError
    from goldassay.core.progress import Progress, Steps
    from goldassay.core.sections import Finding, RowToRead
    from goldassay.core.settings import Settings
    from goldassay.data.dataset import Dataset
    from goldassay.questions.leakage.partial_input import PartialInputRuns
    from goldassay.questions.networks import Plan
    from goldassay.questions.overlap.search.scan import CorpusChoice
    from goldassay.runs.item_keys import ItemKeys
    from goldassay.runs.run_parts import Slice
    from goldassay.stats.clusters import Clusters


class _Reading(NamedTuple):
    """How the data are read; see `load_inputs`."""

    columns: str | Mapping[str, str] | None
    label_names: Sequence[str] | None
    file_format: str
    same_texts: bool


class Evidence:
    """A benchmark's parts, runs on it, and what several questions derive from them; or runs alone, on any datasets.

    Where there is no test part, all rows are read by five folds: both parts are then the same rows.

    Nothing is read before it is used; `load` reads data and finds runs at once.

    Args:
        train: The training part: a path, a `Dataset` or a frame; None where there are runs alone.
        test: The evaluation part, likewise; None takes the data's own, or folds of the rows.
        runs: Paths of predictions.
        elsewhere: Sets of other distributions: {name: path, `Dataset` or frame}, or several of these.
        choice: Which runs to take, and how to read them; by default each run at its last checkpoint.
        texts: {dataset: what was predicted} of runs alone, where it is in memory.
        trained_on: What the models of runs alone were trained on.
        columns: Which column plays which role.
        label_names: The labels that may occur, in order.
        file_format: The format of the files, where their content does not say it.
        settings: Everything else.
        steps: Progress, and the seconds that each step took.
        corpus: What may have been trained on, beside the training part.
        same_texts: Whether an evaluation part must have all texts of the training part.
        make_readers: Makes what models of each part of the input predict, where that is not what an audit trains.
        broken_runs: Takes the errors of files of runs that cannot be read; without it the first is raised.
    """

    kind = TEXTS
    """What the data are."""
    items: tuple[ItemKeys, AnswerFit] | None = None
    """The items that runs answer, and how the answers fit them; None where there are no items with keys."""
    has_data = True
    """Whether there are data, and not runs or verdicts alone: then a report says which questions were not asked."""

    def __init__(
        self,
        train: Any = None,
        test: Any = None,
        runs: Sequence[str | os.PathLike[str]] = (),
        *,
        elsewhere: Any = None,
        choice: RunChoice | None = None,
        texts: Mapping[str, Dataset] | None = None,
        trained_on: Dataset | None = None,
        columns: str | Mapping[str, str] | None = None,
        label_names: Sequence[str] | None = None,
        file_format: str = "auto",
        settings: Settings,
        steps: Steps,
        corpus: CorpusChoice | None = None,
        same_texts: bool = True,
        make_readers: Callable[[Evidence], PartialInputRuns] | None = None,
        broken_runs: list[InputError] | None = None,
    ) -> None:
        self.broken_runs = broken_runs
        self.settings, self.steps = settings, steps
        self.choice = choice or RunChoice(checkpoint=None if train is None else "last")
        self._corpus = corpus
        self._sources, self._elsewhere, self.run_paths = (train, test), elsewhere, tuple(runs)
        self._reading = _Reading(columns, label_names, file_format, same_texts)
        self._make_readers = make_readers
        self._texts, self._trained_on = texts or {}, trained_on
        self._gold_texts: dict[str, Dataset | None] = {}
        self._directory: Path | None = None
        self._plan: Plan | None = None
        self._begun: Future[PartialInputRuns] | None = None
        self._is_reading = False

    @property
    def label_names(self) -> Sequence[str] | None:
        """The labels that were said to occur, in order; None where the data say it."""
        return self._reading.label_names

    @cached_property
    def opened(self) -> Opened:
        """The training part, or all data or runs: its rows, and the kind that it is of.

        Raises:
            InputError: See `open_input`.
        """
        with self.reading_data():
            columns = own_roles(self._reading.columns, "train")
            return open_input(self._sources[0], "train", self._reading.file_format, columns)

    @cached_property
    def source(self) -> Source:
        """The rows of the training part, or of all data, uninterpreted.

        Raises:
            InputError: They cannot be read.
        """
        if "opened" in self.__dict__:
            return self.opened.source
        with self.reading_data():
            format_, columns = self._reading.file_format, own_roles(self._reading.columns, "train")
            return open_source(self._sources[0], "train", format_, columns=columns)

    @cached_property
    def _loaded(self) -> Inputs:
        with self.reading_data():
            if "opened" not in self.__dict__:
                refuse_other_kind(self.source, own_roles(self._reading.columns, "train"))
            return load_inputs(self.source, self._sources[1], settings=self.settings, **self._reading._asdict())

    @contextmanager
    def reading_data(self) -> Iterator[None]:
        """The step of all that is read together, so that bad input is one line and not one after those of steps."""
        if self._is_reading:
            yield
            return
        self._is_reading = True
        try:
            with self.steps.step("reading the data"):
                yield
        finally:
            self._is_reading = False

    def load(self) -> None:
        """Read the data and the runs now, so that bad input is refused before anything is trained or written.

        Raises:
            InputError: The data or the runs cannot be read or do not fit together.
        """
        with self.reading_data():
            _ = self._loaded, self.elsewhere
            for sets in self.answered.sets.values():
                for runs in sets:
                    runs.load()

    @property
    def train(self) -> Dataset:
        """The training part."""
        return self._loaded.train

    @property
    def test(self) -> Dataset:
        """The rows that are read: those of the evaluation part, or all."""
        return self._loaded.test

    @cached_property
    def split(self) -> DataSplit:
        """Who teaches the readers of which rows.

        Raises:
            InputError: All rows hang together, so that there are no folds.
        """
        found = self._loaded
        if found.test is not found.train:
            return DataSplit(found.train, found.test, apart=found.whole)
        return DataSplit(found.train, found.test, deal_folds(found.train, self.clusters, self.settings))

    @property
    def whole(self) -> Dataset:
        """What patterns are shown of: the training part where a test part was given, else all rows."""
        return self.train if self.split.whole is None else self.split.whole

    @cached_property
    def elsewhere(self) -> dict[str, Dataset]:
        """Sets of other distributions by name.

        Raises:
            InputError: See `load_elsewhere`.
        """
        if self._elsewhere is None:
            return {}
        columns, format_ = self._reading.columns, self._reading.file_format
        with self.reading_data():
            return load_elsewhere(self._elsewhere, self.train, self.test, columns=columns, file_format=format_)

    @property
    def texts(self) -> dict[str, Dataset]:
        """{dataset: what was predicted} of runs on several datasets, where it is at hand."""
        return dict(self._texts) if self._sources[0] is None else {self.test.name: self.test, **self.elsewhere}

    @property
    def trained_on(self) -> Dataset | None:
        """What the models were trained on, where it is at hand."""
        return self._trained_on if self._sources[0] is None else self.train

    @property
    def corpus(self) -> CorpusChoice:
        """What may have been trained on, beside the training part."""
        assert self._corpus is not None
        return self._corpus

    @property
    def test_place(self) -> str | None:
        """Where the evaluation part lies, if it is a file or folder of its own."""
        given = self._sources[1]
        place = split_named_path(os.fspath(given))[1] if isinstance(given, (str, os.PathLike)) else ""
        return place if place and Path(place).exists() else None

    @property
    def decisions(self) -> tuple[str, ...]:
        """How the evaluation part came about, in sentences."""
        return self._loaded.decisions

    @cached_property
    def found_runs(self) -> list[Slice]:
        """The runs that lie at the paths, taken together, none of them loaded.

        Raises:
            InputError: Nothing is there or cannot be read, or nothing there is what was asked for.
        """
        return find_runs(self.run_paths, self.choice, self.broken_runs)

    def runs_at(self, path: str | os.PathLike[str], model: str | None) -> list[Slice]:
        """The runs of one model that lie at one of the paths, none of them loaded; None: of all that are there.

        Raises:
            InputError: As for `found_runs`.
        """
        return find_runs([path], replace(self.choice, model=model))

    @cached_property
    def named_runs(self) -> list[Slice]:
        """The same of each path by itself, which may be NAME=PATH and then says what its dataset is called.

        Raises:
            InputError: As for `found_runs`, or a path that is to be one dataset holds others.
        """
        # One place may hold another configuration of a model than the next.
        return name_by_configuration([part for place in self.places for part in find_at(place, self.choice)])

    @property
    def places(self) -> list[Place]:
        """The paths of the runs, and what each calls its dataset."""
        return list(map(Place.parse, self.run_paths))

    @property
    def run_places(self) -> list[str]:
        """The paths of the runs without names."""
        return [place.path for place in self.places]

    @cached_property
    def answered(self) -> Answered:
        """Which of the runs answer the evaluation part, and which the sets of other distributions.

        Raises:
            InputError: As for `named_runs`, or the runs answer none of these, or bring other labels.
        """
        if not self.run_paths:
            return Answered({})
        with self.reading_data(), placed(self.run_paths):
            # Of several paths, those that name no dataset are of different ones; a single one may stay without a name.
            alone = len(self.run_paths) == 1 and self.run_places == list(map(str, self.run_paths))
            found = unloaded_sets(self.found_runs if alone else self.named_runs, self.choice)
            return sort_by_dataset(found, self.train.label_names, {self.test.name: self.test, **self.elsewhere})

    @property
    def unanswered(self) -> list[Dataset]:
        """Sets of other distributions that the readers must answer: no model's runs answer them and the test part."""
        at_home = {runs.of for runs in self.run_sets if runs.is_comparable}
        return [
            dataset
            for name, dataset in self.elsewhere.items()
            if not any(runs.of in at_home and runs.is_comparable for runs in self.answered.sets.get(name, ()))
        ]

    @cached_property
    def run_sets(self) -> list[RunSet]:
        """Sets of runs to measure: those on the evaluation part, or where there are runs alone all of them.

        Raises:
            InputError: As for `found_runs`, or the runs are on other examples than the evaluation part's.
        """
        if self._sources[0] is None:
            with placed(self.run_paths):
                return unloaded_sets(self.found_runs, self.choice)
        return self.answered.sets.get(self.test.name, [])

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is not as one would expect of the runs, in sentences."""
        return () if self._sources[0] is None else self.answered.remarks

    def texts_of(self, runs: RunSet) -> Dataset | None:
        """What was predicted by a set of runs; None where it is not at hand."""
        if runs.fallback is not None or runs.gold is None:
            return runs.fallback
        return self.gold_texts(runs.gold)

    def gold_texts(self, gold: str | Dataset) -> Dataset | None:
        """The dataset that right labels are of; None for a file that holds labels alone."""
        if not isinstance(gold, str):
            return gold
        path = gold
        if path not in self._gold_texts:
            self._gold_texts[path] = read_texts(path)
        return self._gold_texts[path]

    def has(self, need: str) -> bool:
        """Whether there is what a check needs: "runs" on the evaluation part, several "configurations", "elsewhere".

        A "test" part is there where one was given, or a corpus to search for one.
        """
        if need == "test":
            # Rows that were set apart by us share nothing with the others by construction.
            is_given = not any(each.startswith(NO_TEST_PART) for each in self.decisions)
            return self._corpus is not None and (is_given or bool(self._corpus.places))
        if need == "configurations":
            return bool(by_configuration(self.run_sets).several)
        return bool({"runs": self.run_sets, "elsewhere": self.elsewhere}[need])

    def prepare(self, directory: Path) -> None:
        """Do what must be refused before anything is measured.

        Args:
            directory: Where the runs of readers are kept.

        Raises:
            InputError: As for `keep_runs_in`.
            MissingDependencyError: Likewise.
        """
        self.keep_runs_in(directory)
        _ = self.facts

    @property
    def title(self) -> str:
        """The title of an audit."""
        by_folds = self.test is self.train
        return f"Audit of {self.train.name}" + ("" if by_folds else f", evaluated on {self.test.name}")

    def why_not(self, question: str, needs: Sequence[str]) -> Verdict:
        """What an audit says of a question that it does not ask."""
        return not_asked(question, needs)

    def described(self) -> dict[str, Any]:
        """What an audit's document says of the data beside what was found."""
        return {
            "dataset": About(
                name=self.train.name,
                label_names=self.train.label_names,
                text_columns=self.train.text_columns,
                conditions=tuple(self.readers.conditions),
            ),
            "inputs": self.inputs,
            "clusters": describe_clusters(self.clusters),
            "data_notes": data_notes(
                self.train, self.test, self.clusters, self.decisions, tuple(self.elsewhere.values())
            ),
            "facts": self.facts,
        }

    def rows(self) -> pl.DataFrame | None:
        """One row for each test example: its texts and label, and its groups; None where there are none at hand."""
        groups = (pl.col(name).cast(pl.String).alias(f"group_{name}") for name in self.test.groups)
        return self.test.examples.select("example_id", *self.test.text_columns, "label", *groups)

    def near_copies(self, places: pl.DataFrame | None) -> pl.DataFrame:
        """Copies of the test rows among themselves and in the training part.

        Args:
            places: Where the search for overlap found them, if it was made.
        """
        test, train = self.test.examples, self.train.examples
        copies = copies_within([test[role] for role in self.test.text_columns], test["example_id"], test["label"])
        known = [train[role] for role in self.train.text_columns]
        return pl.concat([copies, copies_in_training(places, known, train["example_id"], train["label"])])

    def first_rows(self, found: Sequence[Finding]) -> tuple[RowToRead, ...]:
        """The rows to look at first."""
        return first_rows(found)

    def keep_runs_in(self, directory: Path) -> None:
        """Plan the readers, whose runs are kept in the folder.

        Raises:
            InputError: A network cannot read the parts as it is asked to.
            MissingDependencyError: A network is to read the parts, and the extra `train` is not installed.
        """
        self._directory = directory
        self._plan = plan_readers(self.train, self.test, self.settings, directory, self.unanswered)

    @property
    def inputs(self) -> list[Input]:
        """What the report says of each input."""
        by_folds = self.test is self.train
        return [
            describe_input("train", self.train, self.decisions if by_folds else ()),
            *([] if by_folds else [describe_input("test", self.test, self.decisions)]),
            *(describe_input("elsewhere", each) for each in self.elsewhere.values()),
            *(describe_runs(place, self.choice.align, self.choice.grades) for place in self.run_places),
        ]

    @cached_property
    def facts(self) -> DatasetFacts:
        """Sizes, labels, lengths and duplicates."""
        with self.steps.step("counting the facts"):
            return describe(self.train, None if self.test is self.train else self.test)

    @cached_property
    def clusters(self) -> Clusters:
        """Which test rows count as one in every interval."""
        with self.steps.step("joining rows that share a text"):
            return example_clusters(self.test, self.settings.data.clusters)

    @cached_property
    def _shared_texts(self) -> SharedTexts:
        return SharedTexts.of(self.whole, self.settings.data.clusters)

    def search(self, bounds: Bounds, progress: Progress) -> PatternSearch:
        """Patterns of one text, tried on the rows that are read.

        Raises:
            InputError: See `search_patterns`.
        """
        return search_patterns(*self._searched(bounds, progress))

    def _searched(self, bounds: Bounds, progress: Progress) -> tuple[Any, ...]:
        settings, codes = self.settings, self.clusters.codes_if_any
        return (
            self.whole, self.split, bounds, settings.artifacts, settings.seed, progress, self._shared_texts, codes,
        )  # fmt: skip

    @cached_property
    def patterns(self) -> SearchedTexts:
        """Patterns of each text, tried on the rows that are read."""
        keeping, together = self.settings.artifacts, self.settings.data.clusters
        found = []
        for role in self.train.text_columns:
            bounds = Bounds(keeping.max_tokens, keeping.max_gap, keeping.min_count, keeping.tokenizer, role, together)
            with self.steps.step("mining patterns") as progress, warnings.catch_warnings():
                # That no pattern was frequent enough is a finding here: the counts in the report say it.
                warnings.simplefilter("ignore", UserWarning)
                found.append(describe_search(*self._searched(bounds, progress)))
        return self.measured(found)

    def measured(self, texts: Sequence[Described]) -> SearchedTexts:
        """What guessing by the patterns of searched texts gains, and which of these is shown."""
        codes = self.clusters.codes_if_any
        with self.steps.step("planting cues in texts"):
            return SearchedTexts.of(texts, codes, self.settings)

    def begin(self, beside: Executor) -> None:
        """Begin to train the quick readers, which a later question needs, while others are answered.

        Args:
            beside: A thread.
        """
        if self.kind == TEXTS and self._make_readers is None and self._plan is None:
            # What is kept once it is known must not become known in two threads.
            _ = self.clusters
            self._begun = beside.submit(self._trained, self.split, self.unanswered)

    def _trained(self, split: DataSplit, unanswered: list[Dataset]) -> PartialInputRuns:
        assert self._directory is not None
        with self.steps.step("training quick probes" if self._plan is None else "training networks") as progress:
            return train_readers(split, self.settings, self._directory, progress, self._plan, unanswered)

    @cached_property
    def readers(self) -> PartialInputRuns:
        """What readers of each part of the input predict: quick readers, or the network of the settings."""
        if self._make_readers is not None:
            made = self._make_readers(self)
        elif self._begun is not None:
            made = self._begun.result()
        else:
            made = self._trained(self.split, self.unanswered)
        if made.test is None:
            return made
        # Runs that were made elsewhere may be of some of the test examples.
        own = "_loaded" in self.__dict__ and made.test is self.test
        chosen = self.clusters if own else example_clusters(made.test, self.settings.data.clusters)
        return replace(made, clusters_found=chosen)

    @property
    def reader_name(self) -> str:
        """What a sentence about the readers begins with."""
        return reader_name(self.settings)
