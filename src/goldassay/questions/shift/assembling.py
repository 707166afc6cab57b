"""What both reports on shift take: models with the sets that they answered on, their texts, titles and tables."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.doors import option, right_labels
from goldassay.core.errors import InputError
from goldassay.questions.shift.answer_files import read_gold_texts
from goldassay.questions.shift.finding import model_names, size_of
from goldassay.questions.shift.groups import Group, own_set, with_common_seeds
from goldassay.questions.shift.overlaps import without_shared

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goldassay.data import Dataset
    from goldassay.questions.run_choice import RunChoice
    from goldassay.questions.shift.answers import Answers
    from goldassay.questions.shift.finding import FoundSets, ModelKey
    from goldassay.runs.slices import Collection


def form_groups(
    found: FoundSets,
    asked: Mapping[str, str],
    read: Callable[[Collection], Answers],
    leave_out: Sequence[str] = (),
) -> list[Group]:
    """Every model that answered on its own set and on another.

    Args:
        found: Runs by model and dataset.
        asked: {training set: its own dataset}; "" stands for all that are not named.
        read: Reads the runs of one model on one dataset.
        leave_out: Datasets to pass over.

    Raises:
        InputError: No model answered on two, or what it answered does not fit together.
    """
    models = {
        key: {name: part for name, part in sets.items() if name not in leave_out} for key, sets in found.models.items()
    }
    several = {key: sets for key, sets in models.items() if len(sets) > 1}
    if not several:
        dropped = [name for name in dict.fromkeys(leave_out) if any(name in sets for sets in found.models.values())]
        if dropped:
            raise InputError(
                f"the runs on {', '.join(dropped)} have no labels to be scored by, and without them no model answered "
                "on two datasets",
                mend=f"give the right labels with {right_labels(f'{dropped[0]}=FILE')}",
            )
        there = "; ".join(f"{key[0]} on {', '.join(sets)}" for key, sets in list(models.items())[:4])
        raise InputError(
            f"no model answered on two datasets, and a shift is from one to another ({there})",
            mend="give the predictions of the same model on both, NAME=PATH",
        )
    answers = {key: {name: read(part) for name, part in sets.items()} for key, sets in several.items()}
    return group_answers(answers, asked, {key: size_of(found, key) for key in several})


def group_answers(
    answers: Mapping[ModelKey, Mapping[str, Answers]],
    asked: Mapping[str, str],
    sizes: Mapping[ModelKey, int | None] = MappingProxyType({}),
) -> list[Group]:
    """One group a model: its own set and others.

    Args:
        answers: {model: {dataset: what it answered}}, two datasets or more of each.
        asked: As for `form_groups`.
        sizes: {model: how many parameters it has}, where that is known.

    Raises:
        InputError: Nothing says which is the own set, or what was answered does not fit together.
    """
    names = model_names(list(answers))
    groups = []
    for key, sets in answers.items():
        own = own_set(key[1], list(sets), asked)
        named = {name: replace(each, model=names[key], dataset=name) for name, each in sets.items()}
        others = tuple(each for name, each in named.items() if name != own)
        groups.append(with_common_seeds(Group(names[key], key[0], key[1], named[own], others, sizes.get(key))))
        _check_kinds(groups[-1])
        _check_different(groups[-1])
    return groups


def _check_kinds(group: Group) -> None:
    strange = [each.dataset for each in group.others if each.regression != group.own.regression]
    if strange:
        raise InputError(
            f"{group.model} has numbers for labels on one of {group.own.dataset} and {strange[0]}, and classes on the "
            "other",
            mend=f"give sets of one task; {option('metric', 'pearson')} takes both for numbers",
        )


def _check_different(group: Group) -> None:
    same = next((each for each in group.others if _are_same(group.own, each)), None)
    if same is not None:
        raise InputError(
            f"what {group.model} answered on {same.dataset} is what it answered on {group.own.dataset}, example by "
            "example",
            file=same.file,
            mend="give the predictions on another dataset",
        )


def _are_same(own: Answers, other: Answers) -> bool:
    """Whether two sets are one: the same ids, labels and answers, where these vary at all."""
    parts = [(own.example_ids, other.example_ids), (own.gold, other.gold)]
    parts += (answers := [(own.predictions, other.predictions), (own.logits, other.logits)])
    varied = any(one is not None and bool((one != one[:, :1]).any()) for one, _ in answers)
    return varied and all(
        one is two or (one is not None and two is not None and np.array_equal(one, two)) for one, two in parts
    )


def disjoint(groups: Sequence[Group], texts: Mapping[str, Dataset]) -> tuple[list[Group], list[dict[str, Any]]]:
    """The groups without texts that both sides have, and how many these were.

    Raises:
        InputError: All texts of a set are in-distribution as well.
    """
    kept, rows = [], []
    for group in groups:
        own, found = without_shared(group, texts)
        kept.append(own)
        rows += found
    return kept, rows


def gather_texts(found: FoundSets, choice: RunChoice, texts: Mapping[str, Dataset] | None) -> dict[str, Dataset]:
    """{dataset: its texts}: those in memory, and those of the files of right labels.

    Raises:
        InputError: Right labels are given for a dataset of which there are no runs.
    """
    names = {name: key.dataset for sets in found.models.values() for name, key in sets.items()}
    unknown = [name for name in choice.gold if name and name not in names.values()]
    if unknown:
        raise InputError(
            f"right labels are given for the dataset {unknown[0]!r}, of which there are no runs",
            mend=f"there are runs on {', '.join(sorted(set(names.values())))}",
        )
    read = read_gold_texts({name: choice.gold_of(dataset) for name, dataset in names.items()})
    return {**read, **{name: (texts or {})[dataset] for name, dataset in names.items() if dataset in (texts or {})}}


def notes_of(groups: Sequence[Group], found: FoundSets) -> list[str]:
    """What was done to make the sets of each model comparable, and which models were left out, in sentences."""
    compared = {(group.model_name, group.train_set) for group in groups}
    datasets = {each.dataset for group in groups for each in (group.own, *group.others)}
    left_out = {key: name for key, name in model_names(list(found.models)).items() if key[:2] not in compared}
    return [note for group in groups for note in group.notes] + [
        f"{name} answered on {', '.join(each for each in found.models[key] if each in datasets) or 'no such set'} "
        "alone and was left out: a shift is from one set to another."
        for key, name in left_out.items()
    ]


def describe_sets(groups: Sequence[Group]) -> list[dict[str, Any]]:
    """What was compared, for the table of what was read."""
    return [
        {
            "model": group.model,
            "train_set": group.train_set,
            "dataset": each.dataset,
            "own": each is group.own,
            "n_runs": len(each.seeds),
            "seeds": [str(seed) for seed in each.seeds],
            "n_examples": each.n_examples,
            "label_names": list(each.label_names),
            "regression": each.regression,
        }
        for group in groups
        for each in (group.own, *group.others)
    ]


def title_of(what: str, sets: Sequence[Mapping[str, Any]]) -> str:
    """The report's title: what of which models, from where to where, of rows as `describe_sets` makes them."""
    models = list(dict.fromkeys(row["model"] for row in sets))
    own, others = (list(dict.fromkeys(row["dataset"] for row in sets if row["own"] is side)) for side in (True, False))
    of = f" of {len(models)} models" if len(models) > 1 else "" if models == ["model"] else f" of {models[0]}"
    to = others[0] if len(others) == 1 else f"{len(others)} other sets"
    start = own[0] if len(own) == 1 else f"{len(own)} sets"
    return f"{what}{of}: {start} {'to' if what == 'Generalization' else 'against'} {to}"


def frames(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, pl.DataFrame]:
    """The tables that have rows, as frames."""
    return {name: pl.DataFrame(list(rows), infer_schema_length=None) for name, rows in tables.items() if rows}
