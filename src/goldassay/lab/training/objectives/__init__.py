"""Objectives, known by name without importing torch; those of one family share a file.

Opinions: what another model, a bias model or a teacher, says of the examples.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, TypeVar, cast

import numpy as np
from torch import Tensor, nn

from goldassay.core.errors import InputError
from goldassay.core.naming import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.lab.models.configuration import Kind
    from goldassay.lab.models.network import Batch, Network


_CLASSES = {
    "adversarial": ("guidance", "Adversarial"),
    "confidence_regularization": ("experts", "ConfidenceRegularization"),
    "cross_entropy": ("plain", "CrossEntropy"),
    "guided_cross_entropy": ("guidance", "GuidedCrossEntropy"),
    "learned_mixin": ("experts", "LearnedMixin"),
    "product_of_experts": ("experts", "ProductOfExperts"),
    "shared_normalization": ("plain", "SharedNormalization"),
    "span_cross_entropy": ("plain", "SpanCrossEntropy"),
    "squared_error": ("plain", "SquaredError"),
}
OBJECTIVES = tuple(_CLASSES)


def load_objective(name: str) -> type[Objective]:
    """The class of an objective.

    Raises:
        InputError: There is no such objective; the nearest one is named.
    """
    if name not in _CLASSES:
        raise InputError(f"there is no objective {name!r}", mend=did_you_mean(name, OBJECTIVES))
    file, class_name = _CLASSES[name]
    module: Any = importlib.import_module(f"goldassay.lab.training.objectives.{file}")
    return cast("type[Objective]", getattr(module, class_name))


def objectives_of(kind: Kind) -> list[str]:
    """The objectives that take a kind of right answers; see `training.targets`."""
    return [name for name in OBJECTIVES if load_objective(name).kind == kind]


Need = Literal["none", "optional", "required"]


@dataclass(frozen=True)
class Outcome:
    """What an objective makes of a batch.

    Attributes:
        loss: To be minimized, ().
        logits: Of the network, (B, K); kept as training dynamics.
    """

    loss: Tensor
    logits: Tensor


@dataclass(frozen=True)
class NoSettings:
    """Of an objective that has nothing to set."""


@dataclass(frozen=True)
class Surroundings:
    """What an objective is made for.

    Attributes:
        settings: Of the objective's own kind.
        network: With fresh weights.
        example: A batch of one example, from which widths are read.
        n_labels: K.
        bias: What the bias model says of the N training rows, or None.
        dev_bias: And of the dev examples.
        dev_gold: Their labels, codes.
        teacher: Probabilities that the teacher gives the training rows, (N, K), or None.
    """

    settings: Any
    network: Network
    example: Batch
    n_labels: int
    bias: TeacherLogitsOn | None = None
    dev_bias: TeacherLogitsOn | None = None
    dev_gold: NDArray[np.int64] | None = None
    teacher: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class Requirements:
    """What an objective needs, so that it can be refused before anything is trained.

    Attributes:
        bias: Whether it takes what a bias model says of the rows.
        teacher: Whether it takes what a teacher says of them.
        sentences: Whether the network must encode each sentence by itself.
        dev: Whether there must be a dev set.
    """

    bias: Need = "none"
    teacher: bool = False
    sentences: bool = False
    dev: bool = False


class Objective(nn.Module, ABC):
    """A loss over a batch. It is a module, so that it may have weights of its own, trained beside the network's."""

    name: ClassVar[str]
    kind: ClassVar[Kind] = "label"
    settings: ClassVar[type] = NoSettings
    # Settings that have an effect with a bias model only.
    of_bias: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def requirements(cls, settings: Any) -> Requirements:  # noqa: ARG003
        """What it needs under its settings."""
        return Requirements()

    @classmethod
    def build(cls, surroundings: Surroundings) -> Self:  # noqa: ARG003
        """Make it with fresh weights, drawn from torch's generator."""
        return cls()

    @abstractmethod
    def forward(
        self, network: Network, batch: Batch, labels: Tensor, weights: Tensor | None, rows: NDArray[np.int64]
    ) -> Outcome:
        """The loss.

        Args:
            network: Called on the batch as often as needed.
            batch: B examples.
            labels: Codes, (B,).
            weights: Of the examples, (B,), or None for all 1. Weighted sums are divided by B, not by the weights' sum.
            rows: Which of the training rows they are, (B,).
        """

    def memory(self) -> dict[str, Any]:
        """What must be kept in a checkpoint beside weights, as JSON holds it."""
        return {}

    def recall(self, memory: dict[str, Any]) -> None:
        """Take back what `memory` gave."""

    def end_epoch(self, epoch: int, dev_outputs: NDArray[np.float32] | None) -> None:
        """Called after each epoch.

        Args:
            epoch: Epochs done.
            dev_outputs: Of the network on the dev examples, (N, K), where there is a dev set.
        """

    @property
    def n_judges(self) -> int:
        """J, how many classifiers of its own it trains."""
        return 0

    def judges(self, network: Network, batch: Batch) -> Tensor:
        """Logits of classifiers of its own, one after the other, (B, J K)."""
        return network(batch)[:, :0]

    def findings(self) -> Mapping[str, Any]:
        """What came to light in training, as JSON holds it."""
        return {}


Value = TypeVar("Value")


def present(value: Value | None) -> Value:
    """What an objective's requirements promise to be there."""
    if value is None:
        raise ValueError("a requirement of the objective was not checked")
    return value


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
