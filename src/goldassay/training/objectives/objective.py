"""What every objective offers to the training loop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from torch import nn

if TYPE_CHECKING:
    from torch import Tensor

    from goldassay.models.network import Batch, Network


@dataclass(frozen=True)
class Outcome:
    """What an objective makes of a batch.

    Attributes:
        loss: To be minimized, ().
        logits: Of the network, (B, K); kept as training dynamics.
    """

    loss: Tensor
    logits: Tensor


class Objective(nn.Module, ABC):
    """A loss over a batch. It is a module, so that it may have weights of its own, trained beside the network's."""

    name: ClassVar[str]

    @abstractmethod
    def forward(self, network: Network, batch: Batch, labels: Tensor, weights: Tensor | None) -> Outcome:
        """The loss.

        Args:
            network: Called on the batch as often as needed.
            batch: B examples.
            labels: Codes, (B,).
            weights: Of the examples, (B,), or None for all 1. Weighted sums are divided by B, not by the weights' sum.
        """

    def memory(self) -> dict[str, Any]:
        """What must be kept in a checkpoint beside weights, as JSON holds it."""
        return {}

    def recall(self, memory: dict[str, Any]) -> None:
        """Take back what `memory` gave."""

    def end_epoch(self, epoch: int) -> None:
        """Called after each epoch."""
