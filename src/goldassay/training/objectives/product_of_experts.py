"""Product of experts: the network learns what a bias model does not say already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from torch.nn import functional

from goldassay.training.objectives.cross_entropy import average
from goldassay.training.objectives.expert import Expert
from goldassay.training.objectives.objective import Objective, Outcome, Requirements, Surroundings, present

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.models.network import Batch, Network


class ProductOfExperts(Objective):
    """(1/B) sum_i w_i * -log softmax(log p_i + log b_i)[label_i], p the network's probabilities, b the bias model's.

    Where the bias model is sure and right, the loss is small whatever the network says, and little is learnt from it.
    The bias model is not trained, and at evaluation the network answers alone. A uniform b gives cross-entropy.

    Source: Hinton 2002; Clark, Yatskar and Zettlemoyer 2019, "bias product"; He, Zha and Wang 2019.
    """

    name: ClassVar[str] = "product_of_experts"

    def __init__(self, expert: Expert) -> None:
        super().__init__()
        self.expert = expert

    @classmethod
    def requirements(cls, settings: Any) -> Requirements:  # noqa: ARG003
        """A bias model."""
        return Requirements(bias="required")

    @classmethod
    def build(cls, surroundings: Surroundings) -> ProductOfExperts:
        """See `objective.Objective.build`."""
        return cls(Expert(present(surroundings.bias).probabilities))

    def forward(
        self, network: Network, batch: Batch, labels: Tensor, weights: Tensor | None, rows: NDArray[np.int64]
    ) -> Outcome:
        """See `objective.Objective.forward`."""
        logits = network(batch)
        # Logits differ from log-probabilities by a constant of the example, which the softmax takes away.
        joined = logits + self.expert.of(rows, logits.device)
        return Outcome(average(functional.cross_entropy(joined, labels, reduction="none"), weights), logits)
