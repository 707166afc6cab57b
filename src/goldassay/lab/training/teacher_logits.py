"""Opinions: what another model, a bias model or a teacher, says of the examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset

TRAIN, DEV = "train", "dev"


@dataclass(frozen=True, eq=False)
class TeacherLogitsOn:
    """What a model says of N examples.

    Attributes:
        probabilities: Of each label, (N, K).
        strengths: How strongly each label is pointed to, (N, K): of a model its probabilities again; of patterns the
            largest share of the label among the patterns that the example holds, 0 where it holds none. An example is
            biased at a threshold if one of them exceeds it.
    """

    probabilities: NDArray[np.float32]
    strengths: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.probabilities)

    def take(self, rows: NDArray[np.int64]) -> TeacherLogitsOn:
        """Those of some examples."""
        return TeacherLogitsOn(self.probabilities[rows], self.strengths[rows])

    def biased(self, threshold: float) -> NDArray[np.bool_]:
        """Whether any label is pointed to more strongly than the threshold, (N,)."""
        return np.asarray(self.strengths.max(axis=1) > threshold)

    def difficulty(self, gold: NDArray[np.int64], threshold: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which examples are easy (the one label pointed to is right) and which hard (none of them is), (N,) each."""
        pointed = self.strengths > threshold
        right = pointed[np.arange(len(gold)), gold]
        number = pointed.sum(axis=1)
        return right & (number == 1), ~right & (number > 0)


@dataclass(frozen=True, eq=False)
class TeacherLogits:
    """What a model says of several sets of examples.

    Attributes:
        source: What the model is called.
        about: How its opinions came to be, in a clause.
        label_names: Of the training set, in order.
        example_ids: By part: "train", "dev", or the name of a test set as `part_of_test` gives it.
        on: By part, in the order of the ids.
        accuracy: By part: of the most probable label, on labelled examples.
    """

    source: str
    about: str
    label_names: tuple[str, ...]
    example_ids: Mapping[str, tuple[str, ...]]
    on: Mapping[str, TeacherLogitsOn]
    accuracy: Mapping[str, float]

    def for_rows(self, part: str, dataset: Dataset) -> TeacherLogitsOn:
        """The opinions on the rows of a dataset that was drawn from a part, in their order."""
        place = {name: row for row, name in enumerate(self.example_ids[part])}
        ids = dataset.examples["example_id"].cast(str).to_list()
        return self.on[part].take(np.array([place[name] for name in ids], dtype=np.int64))


def part_of_test(name: str) -> str:
    """The part that a test set is."""
    return f"test {name}"


class TeacherSource(Protocol):
    """Where opinions come from.

    Attributes:
        key: What decides the opinions beside the data, for those that take long to make, so that they are made once;
            else None.
        follows_seed: Whether they differ from seed to seed.
    """

    @property
    def key(self) -> str | None:
        """See above."""

    @property
    def follows_seed(self) -> bool:
        """See above."""

    def on(self, parts: Mapping[str, Dataset], seed: int) -> TeacherLogits:
        """Opinions on parts of the data, "train" at least; the other parts are left out where it has none.

        Raises:
            InputError: It has none on the training rows, or they are of other data or labels.
        """


def teacher_logits_of(
    source: str,
    about: str,
    parts: Mapping[str, Dataset],
    probabilities: Mapping[str, NDArray[np.floating[Any]]],
    strengths: Mapping[str, NDArray[np.floating[Any]]] | None = None,
) -> TeacherLogits:
    """Put opinions together, and measure how accurate they are.

    Args:
        source: What the model is called.
        about: How the opinions came to be, in a clause.
        parts: Datasets by part.
        probabilities: By part, (N, K), in the order of the training set's labels.
        strengths: Likewise; the probabilities where not given.
    """
    names = parts[TRAIN].label_names
    on, accuracy = {}, {}
    for part, values in probabilities.items():
        dataset = parts[part]
        strong = values if strengths is None else strengths[part]
        on[part] = TeacherLogitsOn(values.astype(np.float32), strong.astype(np.float32))
        codes = np.array([names.index(name) for name in dataset.label_names], dtype=np.int64)
        accuracy[part] = float(np.mean(values.argmax(axis=1) == codes[dataset.labels()]))
    ids = {part: tuple(parts[part].examples["example_id"].cast(str).to_list()) for part in probabilities}
    return TeacherLogits(source, about, names, ids, on, accuracy)


def softmax(logits: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Probabilities of logits, (N, K)."""
    powers = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
