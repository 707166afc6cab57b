"""Cross-entropy, with a weight for each example if need be."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from torch.nn import functional

from goldassay.training.objectives.objective import Objective, Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.models.network import Batch, Network


class CrossEntropy(Objective):
    """(1/B) sum_i w_i * -log softmax(logits_i)[label_i], in nats."""

    name: ClassVar[str] = "cross_entropy"

    def forward(
        self,
        network: Network,
        batch: Batch,
        labels: Tensor,
        weights: Tensor | None,
        rows: NDArray[np.int64],  # noqa: ARG002
    ) -> Outcome:
        """See `objective.Objective.forward`."""
        logits = network(batch)
        each = functional.cross_entropy(logits, labels, reduction="none")
        return Outcome(average(each, weights), logits)


def average(losses: Tensor, weights: Tensor | None) -> Tensor:
    """(1/B) sum_i w_i loss_i, (); divided by the number of examples, not by the sum of the weights."""
    return losses.mean() if weights is None else (losses * weights).sum() / losses.shape[0]
