"""Objectives, known by name without importing torch; those of one family share a file."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar, cast

from torch import Tensor, nn

from goldassay.core.errors import InputError
from goldassay.core.naming import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from goldassay.lab.models.configuration import Kind
    from goldassay.lab.models.network import Batch, Network
    from goldassay.lab.training.targets import TeacherLogitsOn


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
