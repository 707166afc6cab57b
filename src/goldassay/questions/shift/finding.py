"""Runs on several datasets, by model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.runs.slices import Collection, Slice

ModelKey = tuple[str, str, str]


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


def find_sets(slices: list[Slice]) -> FoundSets:
    """Sort the runs that were found by model and dataset.

    Files that name no model are called after themselves; where each such "model" answered on one dataset only, they
    are taken for the answers of one model.
    """
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
