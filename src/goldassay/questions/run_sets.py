"""Every set of runs that some paths hold, read one by one, with names that tell them apart."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter, defaultdict
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from goldassay.core.errors import InputError, option
from goldassay.core.naming import did_you_mean, matches, split_named_path
from goldassay.questions.leakage.measures.single_sentence import PAIRED, TEXT
from goldassay.questions.run_choice import RunChoice
from goldassay.runs.answers import read_answers
from goldassay.runs.assembly import ordered
from goldassay.runs.choosing import at_checkpoint
from goldassay.runs.configurations import refuse_base_name
from goldassay.runs.grades import parse_grades
from goldassay.runs.missing import SharedItems
from goldassay.runs.reading import find_slices, runs_of
from goldassay.runs.run_parts import UNNAMED, Collection, Columns, Outputs, Request, Slice
from goldassay.runs.traits import dataset_of, read_gold, with_traits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.runs.runs import Runs
    from goldassay.runs.statuses import Missing


__all__ = [
    "Place",
    "RunChoice",
    "RunSet",
    "beside_each_other",
    "distinguishable",
    "find_at",
    "find_runs",
    "placed",
    "read_found",
    "read_one",
    "read_rivals",
    "read_run_sets",
    "short_names",
    "unloaded_sets",
]


@dataclasses.dataclass(frozen=True)
class Place:
    """A path of runs, and what its dataset is called, or which of its datasets is meant; "" where nothing was said."""

    path: str
    name: str = ""

    @classmethod
    def parse(cls, text: str | os.PathLike[str]) -> Place:
        """Take `NAME=PATH` or `PATH`; a path whose own name holds the sign is taken as it is."""
        name, path = split_named_path(os.fspath(text))
        return cls(path, name)


@dataclasses.dataclass(frozen=True)
class RunSet:
    """The runs of one model, dataset and condition among what was found, named now and loaded when they are needed.

    Attributes:
        model: What to call the model among the others.
        dataset: What to call the dataset among the others.
        condition: paired, premise_only or hypothesis_only.
        n_runs: How many runs.
        gold: Right labels that replace those of the files: a file of them, a dataset, or None.
        fallback: The dataset that was predicted, for runs without labels of their own.
        is_complete: Whether they answer all of it.
        beside: The sets on whose examples it is loaded; None for its own alone.
    """

    model: str
    dataset: str
    condition: str
    n_runs: int
    gold: str | Dataset | None
    _collection: Collection
    slices: tuple[Slice, ...]
    _choice: RunChoice
    fallback: Dataset | None = None
    is_complete: bool = True
    beside: _Beside | None = None

    @property
    def of(self) -> tuple[str, str, str]:
        """What answers: (model, training set, condition) as its files name them."""
        return self._collection.model, self._collection.train_set, self._collection.condition

    @property
    def is_comparable(self) -> bool:
        """Whether it tells what a reported model scores on a dataset: of all of the input, and on all examples."""
        return self.is_whole_input and self.is_complete

    @property
    def is_whole_input(self) -> bool:
        """Whether it was made of all of the input."""
        return self.condition in (PAIRED, TEXT)

    @property
    def file(self) -> str:
        """Where the first run was found."""
        return self.slices[0].file

    @property
    def rule(self) -> Missing:
        """What is done with answers without a score, and with examples that a run lacks."""
        return self._choice.rule

    def with_missing(self, missing: Missing) -> RunSet:
        """The same set, read by another rule for what is missing."""
        return dataclasses.replace(self, _choice=dataclasses.replace(self._choice, missing=missing))

    def columns(self) -> Columns:
        """The first run as its file holds it."""
        return self.slices[0].load()

    def load(self) -> Runs:
        """All of its runs.

        Raises:
            InputError: They cannot be read or do not fit together.
        """
        own = self._of(self.slices)
        return own if self.beside is None else self.beside.shared.on(own)

    def outputs(self) -> Iterator[tuple[str, Outputs]]:
        """What the model wrote in each run at its last checkpoint, by the run's seed, as far as its file holds it."""
        for part in at_checkpoint(list(self.slices), self._choice.checkpoint or "last"):
            found = None if part.outputs is None else part.outputs()
            if found is not None:
                yield str(part.seed), found

    def load_one(self) -> Runs:
        """One run at one checkpoint: what the examples are, without most of what was predicted of them."""
        return self._of(self.slices[:1])

    def checkpoints_in_common(self) -> list[int | str]:
        """Steps or names of the checkpoints that every run has, in order."""
        of_run: dict[Any, set[int | str]] = {}
        for part in self.slices:
            if part.checkpoint is not None:
                of_run.setdefault((part.collection.model, part.seed), set()).add(part.checkpoint)
        return ordered(set.intersection(*of_run.values())) if len(of_run) == self.n_runs else []

    def at(self, checkpoint: int | str, most: int) -> RunSet:
        """The first `most` of its runs at one checkpoint."""
        parts = sorted(
            (part for part in self.slices if part.checkpoint == checkpoint),
            key=lambda part: (str(part.collection.model), isinstance(part.seed, str), part.seed),
        )[:most]
        chosen = dataclasses.replace(self._choice, checkpoint=checkpoint)
        return dataclasses.replace(self, n_runs=len(parts), slices=tuple(parts), _choice=chosen)

    def _of(self, parts: Sequence[Slice]) -> Runs:
        runs = _read(parts, self._choice, self._collection._asdict(), self.gold, self.fallback)
        groups = {} if self.fallback is None else _groups_of(self.fallback, runs)
        return dataclasses.replace(runs, model=self.model, dataset=self.dataset, groups={**groups, **runs.groups})


@dataclasses.dataclass(frozen=True)
class _Beside:
    """Sets of runs on one dataset, of which each is measured on the examples of all, or on those that all answered."""

    sets: tuple[RunSet, ...]

    @cached_property
    def shared(self) -> SharedItems:
        """These examples.

        Raises:
            InputError: No set can be read, or all answered none.
        """
        read: list[Runs] = []
        for each in self.sets:
            try:
                read.append(each.load().final())
            except InputError:
                # It is refused where it is measured itself.
                if each is self.sets[-1] and not read:
                    raise
        return SharedItems.of(read, [runs.model for runs in read], self.sets[0].rule)


def beside_each_other(sets: Sequence[RunSet]) -> list[RunSet]:
    """The same sets, each on the examples that the rule for what is missing gives all sets of its dataset.

    By "wrong" and "bounds" these are all that any of them was asked, by "leave-out" those that all answered. By other
    rules a set has its own.
    """
    together: dict[tuple[str, str], list[RunSet]] = defaultdict(list)
    for each in sets:
        together[each.dataset, each.condition].append(each)
    shared = {of: _Beside(tuple(every)) for of, every in together.items() if len(every) > 1}
    return [
        each
        if each.rule in ("auto", "refuse") or (each.dataset, each.condition) not in shared
        else dataclasses.replace(each, beside=shared[each.dataset, each.condition])
        for each in sets
    ]


def _groups_of(dataset: Dataset, runs: Runs) -> dict[str, NDArray[np.str_]]:
    """The dataset's groups for each example of runs on it."""
    place = {str(example): row for row, example in enumerate(dataset.examples["example_id"].to_list())}
    rows = np.array([place[str(example)] for example in runs.example_ids.tolist()])
    return {name: dataset.examples[name].cast(str).to_numpy()[rows].astype(np.str_) for name in dataset.groups}


def unloaded_sets(found: Sequence[Slice], choice: RunChoice) -> list[RunSet]:
    """The sets of runs among what was found, by names that tell them apart; none of them is loaded.

    Raises:
        InputError: A file of right labels cannot be read, from which a dataset without a name takes its own.
    """
    keys = _sets(found, choice)
    parts: dict[Collection, list[Slice]] = {key: [] for key in keys}
    for part in found:
        model = part.collection.model if choice.model is None else choice.model
        parts[part.collection._replace(model=model)].append(part)
    shown = _distinct([key._replace(dataset=_dataset(key.dataset, choice)) for key in keys])
    return [
        RunSet(
            model=names.model,
            dataset=names.dataset,
            condition=names.condition,
            n_runs=len({(part.collection.model, part.seed) for part in parts[key]}),
            gold=choice.gold_of(key.dataset),
            _collection=key,
            slices=tuple(parts[key]),
            _choice=choice,
        )
        for key, names in zip(keys, shown, strict=True)
    ]


def _dataset(name: str, choice: RunChoice) -> str:
    """The dataset's name, or that of its right labels where the files do not name it."""
    gold = choice.gold_of(name)
    if name != UNNAMED or gold is None or (isinstance(gold, str) and read_answers(Path(gold)) is not None):
        return name
    return read_gold(gold).name


def find_runs(
    paths: Sequence[str | os.PathLike[str]], choice: RunChoice, broken: list[InputError] | None = None
) -> list[Slice]:
    """What lies at the paths, named but not loaded: the runs that were asked for.

    Args:
        paths: Files and folders, taken together.
        choice: What to take.
        broken: Takes the errors of files in folders that cannot be read; without it the first is raised.

    Raises:
        InputError: Nothing is there or cannot be read, or nothing there is what was asked for.
    """
    with placed(paths):
        scale = parse_grades(choice.grades)
        request = Request.of(
            choice.columns,
            grades=scale,
            pool_configurations=choice.pool_configurations,
            kept=choice.traits.names,
        )
        found = find_slices(list(paths), choice.format, request, broken)
        asked = _asked(choice)
        kept = [part for part in found if _matches(part.collection, asked)]
        if not kept:
            refuse_base_name(found, asked.get("model", ""))
            raise _nothing(found, asked)
        _check_gold(choice, {part.collection.dataset for part in kept})
        return kept if choice.keys is None else list(map(choice.keys.hold, kept))


def find_at(place: Place, choice: RunChoice) -> list[Slice]:
    """What lies at a place, under the name that it has for its dataset.

    Raises:
        InputError: As for `find_runs`, or a place that is to be one dataset holds others.
    """
    # Whether right labels are given for a dataset that is not there is seen once all places are read.
    found = find_runs([place.path], dataclasses.replace(choice, gold={}))
    if not place.name:
        return _named_by_file(found, place.path)
    datasets = list(dict.fromkeys(part.collection.dataset for part in found))
    if place.name in datasets:
        return [part for part in found if part.collection.dataset == place.name]
    if len(datasets) > 1:
        raise InputError(
            f"there are runs on {len(datasets)} datasets, and none is called {place.name!r}",
            file=place.path,
            mend=did_you_mean(place.name, datasets),
        )
    return [dataclasses.replace(part, collection=part.collection._replace(dataset=place.name)) for part in found]


def _named_by_file(found: list[Slice], path: str) -> list[Slice]:
    """What names no dataset is called after its file: two such files are two datasets here, not one."""
    file = Path(path)
    if not file.is_file():
        return found
    stem = file.name.split(".")[0]
    return [
        dataclasses.replace(part, collection=part.collection._replace(dataset=stem))
        if part.collection.dataset == UNNAMED
        else part
        for part in found
    ]


def read_found(found: Sequence[Slice], choice: RunChoice) -> Iterator[Runs]:
    """Load the runs of each model, dataset and condition among what was found, one set after the other.

    Raises:
        InputError: The runs of a set cannot be read or do not fit together.
    """
    for key in _sets(found, choice):
        yield _read(found, choice, key._asdict(), choice.gold_of(key.dataset))


def read_run_sets(paths: Sequence[str | os.PathLike[str]], choice: RunChoice) -> Iterator[Runs]:
    """Read the runs of every model, dataset and condition at the paths, one after the other.

    Paths are taken together: the files of one run each make one set.

    Raises:
        InputError: As for `find_runs` and `read_found`.
    """
    with placed(paths):
        yield from read_found(find_runs(paths, choice), choice)


def read_one(found: Sequence[Slice], choice: RunChoice) -> Runs:
    """Load the runs of one model on one dataset.

    Raises:
        InputError: As for `read_found`, or there are several sets (the line names them).
    """
    asked = {key: getattr(choice, key) for key in Collection._fields}
    datasets = {part.collection.dataset for part in found}
    return _read(found, choice, asked, choice.gold_of(datasets.pop() if len(datasets) == 1 else ""))


def read_rivals(found: Sequence[Slice], choice: RunChoice, models: Sequence[str] = ()) -> list[Runs]:
    """Load the runs of two or more models to compare, all on one dataset.

    Args:
        found: What is there.
        choice: How to read it, and what to take.
        models: Those to take, by default all; with * or ?, all that match, as runs of one.

    Raises:
        InputError: As for `read_found`, fewer than two models are there, or they are of several datasets.
    """
    asked = [part for part in found if not models or any(matches(part.collection.model, name) for name in models)]
    for name in ("dataset", "condition", "split"):
        there = list(dict.fromkeys(getattr(part.collection, name) for part in asked))
        if len(there) > 1:
            raise InputError(
                f"there are runs of {len(there)} {name}s: {', '.join(there[:8])}, and models are compared on one",
                mend=f"choose one, as in {option(name, there[0])}",
            )
    if len(models) == 1:
        raise InputError(
            "one model is named, and a comparison needs two", mend=f"give {option('model')} for each of them"
        )
    if models:
        return distinguishable([read_one(found, dataclasses.replace(choice, model=name)) for name in models])
    sets = distinguishable(list(read_found(found, choice)))
    if len(sets) < 2:
        raise InputError(
            f"the runs are all of one model, {sets[0].model}, and a comparison needs two",
            mend="give a path for each model",
        )
    return sets


def _read(
    found: Sequence[Slice],
    choice: RunChoice,
    asked: Mapping[str, str | None],
    gold: str | Dataset | None,
    fallback: Dataset | None = None,
) -> Runs:
    runs = runs_of(
        list(found),
        asked,
        gold,
        fallback_gold=fallback,
        checkpoint=choice.checkpoint,
        labels=choice.labels,
        label_names=choice.label_names,
        align=choice.align,
        missing=choice.missing,
        score=choice.columns.get("score"),
    )
    # A dataset is read once more only for columns that the runs' own files lack.
    wanted = choice.traits
    lacks = any(name not in runs.groups for name in (wanted.weight, *wanted.needed) if name)
    lacks |= bool(wanted.known) and not any(name in runs.groups for name in wanted.known)
    return with_traits(runs, wanted, dataset_of(gold if gold is not None else fallback) if lacks else None)


@contextmanager
def placed(paths: Sequence[str | os.PathLike[str]]) -> Iterator[None]:
    """Name the paths in an error that names no file: it is of what was read from them together."""
    try:
        yield
    except InputError as error:
        if error.file is not None or not paths:
            raise
        shown = ", ".join(map(str, paths[:3])) + (", ..." if len(paths) > 3 else "")
        of_kind = type(error)
        raise of_kind(error.problem, file=shown, row=error.row, column=error.column, mend=error.mend) from error


def _check_gold(choice: RunChoice, datasets: set[str]) -> None:
    unknown = [name for name in choice.gold if name and name not in datasets]
    if unknown:
        raise InputError(
            f"right labels are given for the dataset {unknown[0]!r}, of which there are no runs",
            mend=f"there are runs on {', '.join(sorted(datasets))}",
        )


def _sets(found: Sequence[Slice], choice: RunChoice) -> list[Collection]:
    """What tells the sets apart, each once; models asked for by a pattern are one."""
    keys = sorted({part.collection for part in found})
    if choice.model is not None:
        keys = [key._replace(model=choice.model) for key in keys]
    return list(dict.fromkeys(keys))


def _nothing(found: Sequence[Slice], asked: Mapping[str, str]) -> InputError:
    wanted = ", ".join(f"{key.replace('_', ' ')} {value!r}" for key, value in asked.items())
    there = sorted({f"{part.collection.model} on {part.collection.dataset}" for part in found})
    shown = ", ".join(there[:8]) + (", ..." if len(there) > 8 else "")
    return InputError(f"there are no runs with {wanted}", mend=f"there are {shown}")


def _matches(row: Collection, asked: Mapping[str, str]) -> bool:
    """Whether a set is what was asked for; the model may be asked for by a pattern."""
    return all(
        matches(row.model, value) if key == "model" else getattr(row, key) == value for key, value in asked.items()
    )


def _asked(choice: RunChoice) -> dict[str, str]:
    return {key: value for key in Collection._fields if (value := getattr(choice, key)) is not None}


def distinguishable(sets: Sequence[Runs]) -> list[Runs]:
    """Add the split to a dataset's name, and the training set to a model's, where there are several of them."""
    keys = [Collection(*(getattr(runs, name) for name in Collection._fields)) for runs in sets]
    return [
        dataclasses.replace(runs, dataset=names.dataset, model=names.model)
        for runs, names in zip(sets, _distinct(keys), strict=True)
    ]


def _distinct(keys: Sequence[Collection]) -> list[Collection]:
    splits = Counter(name for name, _ in {(key.dataset, key.split) for key in keys})
    trained = Counter(name for name, _ in {(key.model, key.train_set) for key in keys})
    return [
        key._replace(
            dataset=f"{key.dataset}/{key.split}" if splits[key.dataset] > 1 and key.split else key.dataset,
            model=f"{key.model}@{key.train_set}" if trained[key.model] > 1 and key.train_set else key.model,
        )
        for key in keys
    ]


def short_names(sets: Sequence[RunSet]) -> dict[tuple[str, str, str], str]:
    """What to call each set among the others, by (model, dataset, condition): its dataset, and what else differs."""
    keys = [(runs.model, runs.dataset, runs.condition) for runs in sets]
    differs = [len({key[i] for key in keys}) > 1 for i in range(3)]
    shown = (differs[0], True, differs[2])
    return {key: " · ".join(part for part, show in zip(key, shown, strict=True) if show) for key in keys}


class ByConfiguration(NamedTuple):
    """Sets of runs by how their model was asked.

    Attributes:
        several: For each model, dataset and condition with several configurations its sets, one a configuration.
        alone: The sets of models that have one configuration.
    """

    several: list[list[RunSet]]
    alone: list[RunSet]


def by_configuration(sets: Sequence[RunSet]) -> ByConfiguration:
    """Sort sets of runs by model, dataset and condition."""
    found: dict[tuple[str, ...], list[RunSet]] = defaultdict(list)
    for each in sets:
        train_set = each.slices[0].collection.train_set
        found[own_name(each), each.dataset, each.condition, train_set].append(each)
    several = [of_model for of_model in found.values() if len(of_model) > 1]
    return ByConfiguration(several, [of_model[0] for of_model in found.values() if len(of_model) < 2])


def own_name(runs: RunSet) -> str:
    """The model's own name, without that of the configuration."""
    return runs.slices[0].base_model or runs.model
