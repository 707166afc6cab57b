"""A dataset as a network sees it, to be evaluated on.

What is asked of a network: how right answers become what a loss takes, and outputs become predictions and scores.

A kind of target is a class here or in a module of its own, and `target_of` says which one a dataset asks for. All else
of the training room (steps, states, workers, seeds) is the same for every kind.

Opinions: what another model, a bias model or a teacher, says of the examples.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.data.facts import check_same_labels, require_classes
from goldassay.data.roles import naming
from goldassay.lab.models.configuration import Kind, Task
from goldassay.readers.conditions import coarsening, labels_named_in
from goldassay.readers.probes import as_numbers, closeness, gold_codes, has_numbers, numbers_of, other_kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.lab.models.network import Encoded, Network


@dataclass(frozen=True)
class EvaluationSet:
    """A dataset as a network sees it.

    Attributes:
        dataset: N examples.
        split: What the runs call the part.
        texts: A column for each role that the condition shows.
        gold: Right answers as `Target.gold` gives them: codes of labels, or numbers, (N,).
        encoded: The texts as the network's numbers.
    """

    dataset: Dataset
    split: str
    texts: dict[str, list[str]]
    gold: NDArray[Any]
    encoded: Encoded

    @property
    def example_ids(self) -> NDArray[np.str_]:
        """(N,)."""
        return np.array(self.dataset.examples["example_id"].to_list(), dtype=np.str_)


# What an evaluation may be told in, the first of a kind being the one that is spoken of.
METRICS = ("accuracy", "pearson", "spearman", "exact_match", "f1")


@dataclass(frozen=True)
class Answered:
    """What a network answered on N examples.

    Attributes:
        columns: Of the runs store, each of N: label, prediction, score (in [0, 1]), logits; those that there are.
        scores: By metric, the first of them the one that is spoken of.
        label_names: What labels and predictions are among, in the order of logits; none of numbers and spans.
    """

    columns: Mapping[str, pl.Series]
    scores: dict[str, float]
    label_names: tuple[str, ...] = ()


class Target(ABC):
    """A kind of right answer.

    Attributes:
        kind: Its name, which a task and an objective carry too.
        objective: What is minimized where nothing else is asked for.
    """

    kind: ClassVar[Kind]
    objective: ClassVar[str]

    @classmethod
    @abstractmethod
    def check(cls, training: Dataset, others: Sequence[Dataset] = ()) -> None:
        """Refuse data that cannot be trained on, or sets that cannot be evaluated, before anything is trained.

        Raises:
            InputError: Says which, and what to do.
        """

    @classmethod
    def check_tests(cls, training: Dataset, tests: Sequence[Dataset]) -> None:
        """As `check`, of sets that are evaluated only, neither learnt from nor chosen by.

        Raises:
            InputError: Says which, and what to do.
        """
        cls.check(training, tests)

    @classmethod
    @abstractmethod
    def task(cls, training: Dataset, roles: tuple[str, ...], tokenizer: str) -> Task:
        """What a network is to learn of the training rows."""

    @classmethod
    def prepared(cls, network: Network, encoded: Encoded, dataset: Dataset) -> Encoded:  # noqa: ARG003
        """What a network encoded of a dataset, with what this kind of answer needs beside the texts."""
        return encoded

    @classmethod
    @abstractmethod
    def labels(cls, dataset: Dataset, task: Task, encoded: Encoded | None) -> NDArray[Any]:
        """Right answers as the objective takes them, (N, ...)."""

    @classmethod
    def gold(cls, dataset: Dataset, task: Task, encoded: Encoded | None) -> NDArray[Any]:
        """Right answers of a test set as `answers` takes them, (N, ...)."""
        return cls.labels(dataset, task, encoded)

    @classmethod
    @abstractmethod
    def dev_score(cls, outputs: NDArray[np.float32], labels: NDArray[Any]) -> float:
        """What the best epoch is chosen by, the higher the better; never NaN.

        Args:
            outputs: Of the network, (N, ...).
            labels: As `labels` gave them.
        """

    @classmethod
    @abstractmethod
    def answers(cls, outputs: NDArray[np.float32], on: EvaluationSet, task: Task, *, keep_logits: bool) -> Answered:
        """What the outputs say, and how right it is."""


class LabelTarget(Target):
    """One of K labels; accuracy."""

    kind: ClassVar[Kind] = "label"
    objective: ClassVar[str] = "cross_entropy"

    @classmethod
    def check(cls, training: Dataset, others: Sequence[Dataset] = ()) -> None:
        """Two labels or more in training, and no others elsewhere."""
        require_classes(training)
        for other in others:
            cls._check_kind(other)
            check_same_labels(training, other)

    @classmethod
    def check_tests(cls, training: Dataset, tests: Sequence[Dataset]) -> None:
        """No labels that training lacks, unless they are coarser ones; see `coarsening`."""
        for test in tests:
            cls._check_kind(test)
            if coarsening(training.label_names, test.label_names) is None:
                check_same_labels(training, test)

    @classmethod
    def _check_kind(cls, dataset: Dataset) -> None:
        if has_numbers(dataset):
            raise other_kind(dataset, "numbers", "classes")
        if not len(dataset) or not np.all(dataset.labels() >= 0):
            raise InputError("there are no labelled examples", file=dataset.source, mend="give a file with some")

    @classmethod
    def task(cls, training: Dataset, roles: tuple[str, ...], tokenizer: str) -> Task:
        """The labels in the order of the logits."""
        return Task(roles, training.label_names, tokenizer)

    @classmethod
    def labels(cls, dataset: Dataset, task: Task, encoded: Encoded | None = None) -> NDArray[np.int64]:  # noqa: ARG003
        """Codes, (N,)."""
        return gold_codes(dataset, task.label_names)

    @classmethod
    def gold(cls, dataset: Dataset, task: Task, encoded: Encoded | None = None) -> NDArray[np.int64]:  # noqa: ARG003
        """Codes of the labels in which answers on this set are told, (N,)."""
        return gold_codes(dataset, labels_named_in(task.label_names, dataset.label_names)[0])

    @classmethod
    def dev_score(cls, outputs: NDArray[np.float32], labels: NDArray[Any]) -> float:
        """Accuracy."""
        return float(np.mean(outputs.argmax(1) == labels))

    @classmethod
    def answers(cls, outputs: NDArray[np.float32], on: EvaluationSet, task: Task, *, keep_logits: bool) -> Answered:
        """The label of the highest logit, the first of equals; coarser labels have none, and no logits are kept."""
        names, told = labels_named_in(task.label_names, on.dataset.label_names)
        written = pl.Series(names, dtype=pl.String)
        predicted = told[outputs.argmax(1)]
        right = predicted == on.gold
        columns = {
            "label": written.gather(on.gold),
            "prediction": written.gather(predicted),
            "score": pl.Series(right.astype(np.float64)),
        }
        if keep_logits and names == task.label_names:
            columns["logits"] = pl.Series(outputs).reshape((-1, outputs.shape[1])).arr.to_list()
        return Answered(columns, {"accuracy": float(np.mean(right))}, names)


class NumberTarget(Target):
    """A number; Pearson's and Spearman's correlation, NaN where one side is constant.

    The network learns (y - mean) / SD of the training rows' labels, so that its rate of learning does not depend on
    their unit and a fresh head need not first learn their mean; its predictions are written in the labels' own unit,
    and correlations are the same either way. (BERT's published fine-tuning on STS-B takes the labels 0 to 5 as they
    are, at a rate set for them; fresh networks spend their first epochs on the mean of 2.6 then.)

    The best epoch is that of the least squared error: correlation has no value where a network still answers the same
    to everything, as it may in its first epochs, and it does not see that predictions are off by a constant.

    The score of an example is 1 - |prediction - label| / (highest - lowest training label), not below 0, so that runs
    can be compared and decomposed example by example; its mean is no correlation.

    Source: Cer et al. 2017 (STS-B and its correlations); Devlin et al. 2019 (regression on it).
    """

    kind: ClassVar[Kind] = "number"
    objective: ClassVar[str] = "squared_error"

    @classmethod
    def check(cls, training: Dataset, others: Sequence[Dataset] = ()) -> None:
        """Numbers everywhere, and different ones in training."""
        if training.examples["label"].n_unique() < 2:
            raise InputError(
                "all labels are the same number", file=training.source, mend="give a file with different ones"
            )
        for other in others:
            if "label" not in other.examples.columns:
                raise InputError(
                    "there are no labels",
                    file=other.source,
                    mend=naming(other.examples, "score", besides=other.text_columns),
                )
            if not has_numbers(other) and as_numbers(other) is None:
                raise other_kind(other, "classes", "numbers")
            if not len(other):
                raise InputError("there are no labelled examples", file=other.source, mend="give a file with some")

    @classmethod
    def task(cls, training: Dataset, roles: tuple[str, ...], tokenizer: str) -> Task:
        """Mean, SD and range of the training labels."""
        values = numbers_of(training)
        return Task(
            roles, (), tokenizer, cls.kind, float(values.mean()), float(values.std()) or 1.0,
            (float(values.min()), float(values.max())),
        )  # fmt: skip

    @classmethod
    def labels(cls, dataset: Dataset, task: Task, encoded: Encoded | None = None) -> NDArray[np.float32]:  # noqa: ARG003
        """Standardized numbers, (N,)."""
        return ((numbers_of(dataset) - task.center) / task.scale).astype(np.float32)

    @classmethod
    def dev_score(cls, outputs: NDArray[np.float32], labels: NDArray[Any]) -> float:
        """Minus the mean squared error."""
        return -float(np.mean(np.square(outputs[:, 0].astype(np.float64) - labels)))

    @classmethod
    def answers(cls, outputs: NDArray[np.float32], on: EvaluationSet, task: Task, *, keep_logits: bool) -> Answered:  # noqa: ARG003
        """Numbers in the labels' own unit; there are no logits."""
        right = numbers_of(on.dataset)
        predicted = outputs[:, 0].astype(np.float64) * task.scale + task.center
        columns = {
            "label": pl.Series(right),
            "prediction": pl.Series(predicted),
            "score": pl.Series(closeness(predicted, right, task.range)),
        }
        return Answered(columns, {"pearson": pearson(predicted, right), "spearman": spearman(predicted, right)})


def pearson(predictions: NDArray[np.float64], labels: NDArray[np.float64]) -> float:
    """Pearson's correlation of numbers (N,) with the right ones; NaN where either is constant."""
    if len(labels) < 2 or np.ptp(predictions) == 0 or np.ptp(labels) == 0:
        return float("nan")
    return float(np.corrcoef(predictions, labels)[0, 1])


def spearman(predictions: NDArray[np.float64], labels: NDArray[np.float64]) -> float:
    """Spearman's correlation: Pearson's of the ranks, ties at their mean."""
    ranks = [pl.Series(values).rank("average").to_numpy() for values in (predictions, labels)]
    return pearson(*ranks)


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
