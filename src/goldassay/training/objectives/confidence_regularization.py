"""Confidence regularization: learn from a teacher, less surely where a bias model is right already."""

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


class ConfidenceRegularization(Objective):
    """(1/B) sum_i w_i sum_k -s_ik log p_ik, with s_ik = t_ik^(1 - beta_i) / sum_j t_ij^(1 - beta_i).

    p are the network's probabilities, t a teacher's (the same network trained plainly), and beta_i the probability that
    the bias model gives the right label: the more the bias model knows, the flatter what is learnt; beta = 0 everywhere
    is plain distillation, beta = 1 asks for indifference. At evaluation the network answers alone.

    Source: Utama, Moosavi and Gurevych 2020, "Mind the trade-off".
    """

    name: ClassVar[str] = "confidence_regularization"

    def __init__(self, bias: Expert, teacher: Expert) -> None:
        super().__init__()
        self.bias, self.teacher = bias, teacher

    @classmethod
    def requirements(cls, settings: Any) -> Requirements:  # noqa: ARG003
        """A bias model and a teacher."""
        return Requirements(bias="required", teacher=True)

    @classmethod
    def build(cls, surroundings: Surroundings) -> ConfidenceRegularization:
        """See `objective.Objective.build`."""
        return cls(Expert(present(surroundings.bias).probabilities), Expert(present(surroundings.teacher)))

    def forward(
        self, network: Network, batch: Batch, labels: Tensor, weights: Tensor | None, rows: NDArray[np.int64]
    ) -> Outcome:
        """See `objective.Objective.forward`."""
        logits = network(batch)
        known = self.bias.of(rows, logits.device).gather(1, labels[:, None]).exp()
        scaled = functional.softmax((1 - known) * self.teacher.of(rows, logits.device), 1)
        return Outcome(average(-(scaled * functional.log_softmax(logits, 1)).sum(1), weights), logits)
