"""Embeddings and probabilities by themselves, without the runs that they come from: of the texts of a test set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.nearest import did_you_mean
from goldassay.data.reading import load_data
from goldassay.questions.inputs import describe_input
from goldassay.questions.leakage.array_files import read_distribution, read_probabilities, read_vectors
from goldassay.questions.leakage.condition_evidence import GIVEN, ConditionEvidence, gold_probabilities, named_path
from goldassay.readers.conditions import conditions_of
from goldassay.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.data import Dataset
    from goldassay.questions.leakage.foreign_evidence import GivenEvidence


def read_alone(
    given: GivenEvidence, train: Any, test: Any, columns: str | Mapping[str, str] | None
) -> tuple[ConditionEvidence, list[dict[str, Any]]]:
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
            runs = conditions[condition] = _runs(own, gold, ids, condition, tested)
            found = gold_probabilities(runs, gold)
            assert found is not None
            probabilities[condition] = found
    probabilities |= {each: read_probabilities(place, ids, bits=True) for each, place in given.bits.items()}
    vectors = {role: [read_vectors(place, ids, role)] for role, place in given.embeddings.items()}
    files = ", ".join(Path(file).name for file in given.embeddings.values())
    evidence = ConditionEvidence(
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


def _runs(logs: Any, gold: Any, ids: Any, condition: str, test: Dataset) -> Runs:
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
