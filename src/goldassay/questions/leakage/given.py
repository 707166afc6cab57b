"""Predictions, embeddings, relevances and probabilities made elsewhere: with the runs that they come from, or alone."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.errors import InputError, option
from goldassay.core.naming import did_you_mean
from goldassay.data.reading import load_data
from goldassay.questions.inputs import describe_input, describe_paths
from goldassay.questions.leakage.partial_input import (
    GIVEN,
    PartialInputRuns,
    beside_runs,
    gold_probabilities,
    named_path,
)
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_sets import find_runs, read_found, read_one
from goldassay.readers.conditions import PAIRED, TEXT, conditions_of, is_part
from goldassay.runs.array_files import aligned, read_distribution, read_probabilities, read_vectors
from goldassay.runs.missing import on_same_items
from goldassay.runs.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.core.document import Input
    from goldassay.data.dataset import Dataset
    from goldassay.runs.run_parts import Slice


@dataclass(frozen=True)
class GivenEvidence:
    """Where evidence lies.

    Attributes:
        paths: Files or folders of predictions; embeddings and relevances beside them are found by themselves. None
            where embeddings or probabilities are all there is.
        choice: Which of the runs to take, and how to read them.
        conditions: Condition to the model (with * or ? several) whose runs are of it, where files do not say so.
        embeddings: Role to a file of embeddings (.npy, .npz, Parquet, CSV).
        probabilities: Condition to a file of the gold label's probability, with ":COLUMN" where it has several.
        bits: The same of -log2 of the probability.
    """

    paths: Sequence[str]
    choice: RunChoice = field(default_factory=RunChoice)
    conditions: Mapping[str, str] = field(default_factory=dict)
    embeddings: Mapping[str, str] = field(default_factory=dict)
    probabilities: Mapping[str, str] = field(default_factory=dict)
    bits: Mapping[str, str] = field(default_factory=dict)


def from_runs(
    given: GivenEvidence, train: Any, test: Any, columns: str | Mapping[str, str] | None
) -> tuple[PartialInputRuns, list[Input]]:
    """Read and fit together what was made elsewhere.

    Args:
        given: Where it lies.
        train: The training part, for its label shares and patterns; or None.
        test: What was predicted, for its texts; or None where the runs hold the right labels.
        columns: Roles of the columns of both.

    Returns:
        The evidence, and what the report says of each input.

    Raises:
        InputError: It cannot be read, is of several models or datasets, or does not fit together.
    """
    name, test = named_path(test)
    tested = None if test is None else load_data(test, "test", columns, name)
    trained = None if train is None else load_data(train, "train", columns)
    if tested is not None:
        _check_roles(given, tested)
    # A file of right labels may be one that is no dataset; what is in memory is one already.
    gold: Any = test if isinstance(test, (str, os.PathLike)) else tested
    choice = given.choice if gold is None else replace(given.choice, gold={"": gold})
    found = find_runs(list(given.paths), choice)
    conditions = _as_named(found, choice, given.conditions) if given.conditions else _as_stored(found, choice)
    if given.choice.rule == "leave-out":
        kept, _ = on_same_items(list(conditions.values()), [f"the runs of {name}" for name in conditions], "leave-out")
        conditions = dict(zip(conditions, kept, strict=True))
    first = conditions.get(PAIRED) or next(iter(conditions.values()))
    conditions = {name: _like(runs, first) for name, runs in _whole_first(conditions).items()}
    gold, names = _gold(first, tested)
    evidence = PartialInputRuns(
        name=name or _dataset_name(first, given.paths, tested),
        model=first.model,
        source=GIVEN,
        label_names=names,
        gold=gold,
        example_ids=first.example_ids,
        conditions=conditions,
        probabilities=_probabilities(given, conditions, gold, first.example_ids),
        test=None if tested is None else _rows(tested, first.example_ids),
        train=trained,
        about=f"Measured from the predictions of {_models(conditions)}.",
    )
    evidence = beside_runs(evidence, given.paths)
    if given.embeddings:
        vectors = {role: [read_vectors(file, first.example_ids, role)] for role, file in given.embeddings.items()}
        files = ", ".join(Path(file).name for file in given.embeddings.values())
        evidence = replace(evidence, vectors={**evidence.vectors, **vectors}, vectors_are=f"those of {files}")
    inputs = describe_paths(list(given.paths), found)
    inputs += [describe_input(role, data) for role, data in (("train", trained), ("test", tested)) if data is not None]
    return evidence, inputs


def _models(conditions: Mapping[str, Runs]) -> str:
    """The model's name, or that of each condition where they differ."""
    names = {runs.model for runs in conditions.values()}
    if len(names) == 1:
        return names.pop()
    return ", ".join(f"{runs.model} ({condition})" for condition, runs in conditions.items())


def _dataset_name(runs: Runs, paths: Sequence[str], test: Dataset | None) -> str:
    """What the runs call the dataset; where they do not, and are called after their own file, as the test set is."""
    own = {Path(path).name.partition(".")[0] for path in paths}
    return test.name if test is not None and runs.dataset in own else runs.dataset


def _check_roles(given: GivenEvidence, test: Dataset) -> None:
    """Refuse what is said to be of a text that the test set has not."""
    parts = {f"condition {name!r}": name.removesuffix("_only") for name in given.conditions if is_part(name)}
    for what, role in (parts | {f"embeddings of {name!r}": name for name in given.embeddings}).items():
        if role not in test.text_columns:
            raise InputError(
                f"{what}: the test set has no {role}", file=test.source, mend=did_you_mean(role, test.text_columns)
            )


def _as_named(found: list[Slice], choice: RunChoice, conditions: Mapping[str, str]) -> dict[str, Runs]:
    return {
        name: replace(read_one(found, replace(choice, model=model)), condition=name)
        for name, model in conditions.items()
    }


def _as_stored(found: list[Slice], choice: RunChoice) -> dict[str, Runs]:
    sets = list(read_found(found, choice))
    for name in ("model", "dataset", "split", "train_set"):
        there = list(dict.fromkeys(str(getattr(runs, name)) for runs in sets))
        if len(there) > 1:
            more = "" if len(there) <= 6 else ", ..."
            mend = f"choose one, as in {option(name, there[0])}"
            if name == "model":
                mend += f", or say which model is of which condition with {option('models')}"
            raise InputError(f"there are runs of {len(there)} {name}s: {', '.join(there[:6])}{more}", mend=mend)
    return {runs.condition: runs for runs in sets}


def _whole_first(conditions: Mapping[str, Runs]) -> dict[str, Runs]:
    order = sorted(conditions, key=lambda name: (name not in (PAIRED, TEXT), not name.endswith("_only")))
    return {name: conditions[name] for name in order}


def _like(runs: Runs, first: Runs) -> Runs:
    """The runs' examples in the order of the first condition's, its labels' codes in its order.

    Raises:
        InputError: They are other examples or have other labels.
    """
    if set(runs.label_names) - set(first.label_names):
        raise InputError(
            f"the runs of {runs.condition} have the labels {', '.join(runs.label_names)}, those of {first.condition} "
            f"{', '.join(first.label_names)}",
            mend=f"map them with {option('labels', 'NAME=LABEL,...')}",
        )
    if runs.n_examples != first.n_examples:
        raise InputError(
            f"the runs of {runs.condition} cover {runs.n_examples:,} examples, those of {first.condition} "
            f"{first.n_examples:,}",
            mend=f"give runs on the same examples; {option('missing', 'leave-out')} or {option('align', 'intersect')} "
            "keeps those in common",
        )
    if not np.array_equal(runs.example_ids, first.example_ids):
        rows = aligned(
            np.arange(runs.n_examples), runs.example_ids, first.example_ids, f"runs of {runs.condition}", None
        )
        runs = runs.take(rows)
    if runs.label_names == first.label_names:
        return runs
    codes = np.array([first.label_names.index(name) for name in runs.label_names], np.int64)
    logits = runs.logits
    if logits is not None:
        moved = np.full((*logits.shape[:-1], len(first.label_names)), -np.inf)
        moved[..., codes] = logits
        logits = moved
    return replace(
        runs,
        label_names=first.label_names,
        gold=None if runs.gold is None else codes[runs.gold],
        predictions=None if runs.predictions is None else codes[runs.predictions],
        logits=logits,
    )


def _gold(runs: Runs, test: Dataset | None) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    if runs.gold is not None:
        return runs.gold, runs.label_names
    if test is None:
        raise InputError(
            "the runs do not hold the right labels", mend=f"give what was predicted with {option('test', 'FILE')}"
        )
    labels = _rows(test, runs.example_ids)
    return labels.labels(), labels.label_names


def _rows(test: Dataset, ids: NDArray[Any]) -> Dataset:
    own = np.array(test.examples["example_id"].cast(str).to_list(), dtype=np.str_)
    if len(test) == ids.size and np.array_equal(own, ids.astype(np.str_)):
        return test
    if len(test) == ids.size and set(own.tolist()) != set(ids.astype(np.str_).tolist()):
        # Runs aligned by position carry numbers for ids.
        return test
    return test.take(aligned(np.arange(len(test)), own, ids, "the texts", test.source))


def _probabilities(
    given: GivenEvidence, conditions: Mapping[str, Runs], gold: NDArray[np.int64], ids: NDArray[Any]
) -> dict[str, NDArray[np.float64]]:
    found = {name: p for name, runs in conditions.items() if (p := gold_probabilities(runs, gold)) is not None}
    found |= {name: read_probabilities(place, ids, bits=False) for name, place in given.probabilities.items()}
    return found | {name: read_probabilities(place, ids, bits=True) for name, place in given.bits.items()}


def from_arrays(
    given: GivenEvidence, train: Any, test: Any, columns: str | Mapping[str, str] | None
) -> tuple[PartialInputRuns, list[Input]]:
    """Read embeddings and probabilities, and fit them to the rows of the test set, by example id or by order.

    Probabilities of all labels name a label, so that everything is measured that predictions tell; those of the right
    label alone tell bits.

    Args:
        given: Where they lie; without paths of runs.
        train: The training part, for its label shares and patterns; or None.
        test: The set that they are of.
        columns: Roles of the columns of both.

    Returns:
        The evidence, and what the report says of each input.

    Raises:
        InputError: There is no test set, a file cannot be read, or it does not fit.
    """
    name, test = named_path(test)
    if test is None:
        raise InputError(
            "embeddings and probabilities by themselves hold no labels",
            mend=f"give the set that they are of with {option('test', 'FILE')}, or predictions with {option('runs')}",
        )
    tested = load_data(test, "test", columns, name)
    trained = None if train is None else load_data(train, "train", columns)
    _check_names(given, tested)
    gold = tested.labels()
    ids = np.array(tested.examples["example_id"].cast(str).to_list(), dtype=np.str_)
    names = _label_names(given, tested)
    conditions: dict[str, Runs] = {}
    probabilities = {}
    for condition, place in given.probabilities.items():
        logs = read_distribution(place, ids, names, ordered=bool(given.choice.label_names))
        if logs is None:
            probabilities[condition] = read_probabilities(place, ids, bits=False)
        else:
            own = logs[:, [names.index(label) for label in tested.label_names]]
            runs = conditions[condition] = _runs_of(own, gold, ids, condition, tested)
            found = gold_probabilities(runs, gold)
            assert found is not None
            probabilities[condition] = found
    probabilities |= {each: read_probabilities(place, ids, bits=True) for each, place in given.bits.items()}
    vectors = {role: [read_vectors(place, ids, role)] for role, place in given.embeddings.items()}
    files = ", ".join(Path(file).name for file in given.embeddings.values())
    evidence = PartialInputRuns(
        name=tested.name,
        model="",
        source=GIVEN,
        label_names=tested.label_names,
        gold=gold,
        example_ids=ids,
        conditions=conditions,
        probabilities=probabilities,
        vectors=vectors,
        vectors_are=f"those of {files}" if files else "",
        test=tested,
        train=trained,
        about=f"Measured from {' and '.join(_named(given))}, without the runs that they come from.",
    )
    inputs = [describe_input(role, data) for role, data in (("train", trained), ("test", tested)) if data is not None]
    return evidence, inputs


def _named(given: GivenEvidence) -> list[str]:
    there = (("embeddings", given.embeddings), ("probabilities", {**given.probabilities, **given.bits}))
    return [what for what, files in there if files]


def _label_names(given: GivenEvidence, test: Dataset) -> tuple[str, ...]:
    """The labels in the order of arrays, as somebody said it; else that of the set."""
    if not given.choice.label_names:
        return test.label_names
    names = tuple(given.choice.label_names)
    if set(names) != set(test.label_names) or len(set(names)) < len(names):
        raise InputError(
            f"{option('label_names')} names {', '.join(names)}", file=test.source,
            mend=f"give the labels of the test set, each once: {', '.join(test.label_names)}",
        )  # fmt: skip
    return names


def _check_names(given: GivenEvidence, test: Dataset) -> None:
    known = {
        "embeddings": (given.embeddings, test.text_columns),
        "probabilities": (given.probabilities, conditions_of(test.text_columns)),
        "bits": (given.bits, conditions_of(test.text_columns)),
    }
    for name, (files, names) in known.items():
        for each in files:
            if each not in names:
                raise InputError(
                    f"{option(name)}: the test set has no {each}", file=test.source, mend=did_you_mean(each, names)
                )


def _runs_of(logs: Any, gold: Any, ids: Any, condition: str, test: Dataset) -> Runs:
    return Runs.from_arrays(
        predictions=logs.argmax(axis=-1)[np.newaxis],
        gold=gold,
        logits=logs[np.newaxis],
        label_names=test.label_names,
        example_ids=ids,
        model="",
        dataset=test.name,
        condition=condition,
        split="test",
    )
