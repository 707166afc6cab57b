"""Cross-entropy, with a weight for each example if need be."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from torch.nn import functional

from goldassay.training.objectives.objective import Objective, Outcome

if TYPE_CHECKING:
    from torch import Tensor

    from goldassay.models.network import Batch, Network


class CrossEntropy(Objective):
    """(1/B) sum_i w_i * -log softmax(logits_i)[label_i], in nats."""

    name: ClassVar[str] = "cross_entropy"

    def forward(self, network: Network, batch: Batch, labels: Tensor, weights: Tensor | None) -> Outcome:
        """See `objective.Objective.forward`."""
        logits = network(batch)
        if weights is None:
            return Outcome(functional.cross_entropy(logits, labels), logits)
        each = functional.cross_entropy(logits, labels, reduction="none")
        return Outcome((each * weights).sum() / batch.size, logits)
