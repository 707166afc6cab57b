"""Runs on several datasets, found at paths that may say what to call them: `NAME=PATH`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.core.errors import InputError
from goldassay.core.naming import split_named_path
from goldassay.core.nearest import did_you_mean
from goldassay.questions.run_sets import find_runs
from goldassay.runs.slices import UNNAMED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.questions.run_choice import RunChoice
    from goldassay.runs.slices import Collection, Slice

ModelKey = tuple[str, str, str]


@dataclass(frozen=True)
class Place:
    """A path of runs, and what its dataset is called, or which of its datasets is meant; "" where nothing was said."""

    path: str
    name: str = ""

    @classmethod
    def parse(cls, text: str) -> Place:
        """Take `NAME=PATH` or `PATH`; a path whose own name holds the sign is taken as it is."""
        name, path = split_named_path(text)
        return cls(path, name)


@dataclass(frozen=True)
class FoundSets:
    """Runs by model and dataset.

    Attributes:
        slices: All that was found and is meant.
        models: {(model, training set, condition): {dataset: its runs}}.
        notes: What was assumed, in sentences.
    """

    slices: list[Slice]
    models: dict[ModelKey, dict[str, Collection]]
    notes: tuple[str, ...] = field(default=())


def find_sets(places: Sequence[Place], choice: RunChoice) -> FoundSets:
    """Find the runs at the places, named as they say.

    Files that name no model are called after themselves; where each such "model" answered on one dataset only, they
    are taken for the answers of one model.

    Raises:
        InputError: Nothing is there, or a place that is to be one dataset holds others.
    """
    slices = [part for place in places for part in _at(place, choice)]
    models = keys_by_model(slices)
    held = [next(iter(sets)) for sets in models.values()]
    alone = len(models) > 1 and all(len(sets) == 1 for sets in models.values())
    if not (alone and max(Counter(held).values()) == 1):
        return FoundSets(slices, models)
    files = {part.file for part in slices}
    if len(files) < len(models) or len({key[1] for key in models} | {key[2] for key in models}) > 2:
        return FoundSets(slices, models)
    names = ", ".join(key[0] for key in models)
    joined = [replace(part, collection=part.collection._replace(model="model")) for part in slices]
    note = f"No model answered on two datasets, so {names} were taken for the answers of one model."
    return FoundSets(joined, keys_by_model(joined), (note,))


def _at(place: Place, choice: RunChoice) -> list[Slice]:
    # Whether right labels are given for a dataset that is not there is seen once all places are read.
    found = find_runs([place.path], replace(choice, gold={}))
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
    return [replace(part, collection=part.collection._replace(dataset=place.name)) for part in found]


def _named_by_file(found: list[Slice], path: str) -> list[Slice]:
    """What names no dataset is called after its file: two such files are two datasets here, not one."""
    file = Path(path)
    if not file.is_file():
        return found
    stem = file.name.split(".")[0]
    return [
        replace(part, collection=part.collection._replace(dataset=stem)) if part.collection.dataset == UNNAMED else part
        for part in found
    ]


def keys_by_model(found: Sequence[Slice]) -> dict[ModelKey, dict[str, Collection]]:
    """{(model, training set, condition): {name of the dataset: its runs}}; a split is named where there are several."""
    keys = list(dict.fromkeys(part.collection for part in sorted(found, key=lambda part: part.collection)))
    splits = Counter((_model_of(key), key.dataset) for key in keys)
    models: dict[ModelKey, dict[str, Collection]] = {}
    for key in keys:
        several = splits[_model_of(key), key.dataset] > 1
        name = f"{key.dataset}/{key.split}" if several and key.split else key.dataset
        models.setdefault(_model_of(key), {})[name] = key
    return models


def size_of(found: FoundSets, key: ModelKey) -> int | None:
    """How many weights a model has, where its runs say it."""
    return next(
        (part.n_parameters for part in found.slices if part.n_parameters and _model_of(part.collection) == key), None
    )


def _model_of(key: Collection) -> ModelKey:
    return key.model, key.train_set, key.condition


def model_names(keys: Sequence[ModelKey]) -> dict[ModelKey, str]:
    """What to call each model: with its training set and condition where there are several of these."""
    trained, shown = {train for _, train, _ in keys}, {condition for *_, condition in keys}
    return {
        key: key[0] + (f"@{key[1]}" if len(trained) > 1 and key[1] else "") + (f", {key[2]}" if len(shown) > 1 else "")
        for key in keys
    }
