"""Probabilities of another model, ready for a loss.

Product of experts: the network learns what a bias model does not say already.

Learned-mixin: a product of experts in which the network says how far to trust the bias model.

Confidence regularization: learn from a teacher, less surely where a bias model is right already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from goldassay.core.errors import InputError
from goldassay.lab.models.network import Batch, Network, sent
from goldassay.lab.training.objectives import Objective, Outcome, Requirements, Surroundings, average, present

if TYPE_CHECKING:
    from numpy.typing import NDArray


# A model that is sure and wrong would make a loss endless; below one in a million it is taken at that.
SMALLEST = 1e-6


class Expert:
    """Log-probabilities that a model gives the training rows, looked up by row.

    Kept outside the objective's weights and off the accelerator: they are data, and a state need not hold them.

    Args:
        probabilities: (N, K).
    """

    def __init__(self, probabilities: NDArray[np.floating[Any]]) -> None:
        self.logs = torch.from_numpy(np.log(np.maximum(probabilities, SMALLEST)).astype(np.float32))

    def of(self, rows: NDArray[np.int64], device: torch.device) -> Tensor:
        """Log-probabilities of some rows, (B, K)."""
        return sent(self.logs[torch.from_numpy(rows)], device)


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


@dataclass(frozen=True)
class LearnedMixinSettings:
    """What can be set.

    Attributes:
        penalty: Of the entropy; 0 leaves it out. Published: 0.03 on MultiNLI.
    """

    penalty: float = 0.03

    def __post_init__(self) -> None:
        if not 0 <= self.penalty < float("inf"):
            raise InputError(f"penalty is {self.penalty}", mend="give a number from 0 up")


class LearnedMixin(Objective):
    """(1/B) sum_i w_i (-log softmax(log p_i + g_i log b_i)[label_i] + penalty * H(softmax(g_i log b_i))).

    p are the network's probabilities, b the bias model's, and g_i = softplus(v . h_i + c) of the network's hidden layer
    h, learnt with it. Without the penalty, on the entropy H in nats of what is left of the bias model, g may go to 0
    everywhere, and nothing is removed. At evaluation the network answers alone.

    Source: Clark, Yatskar and Zettlemoyer 2019, "learned-mixin" and, with the penalty, "learned-mixin +H".
    """

    name: ClassVar[str] = "learned_mixin"
    settings: ClassVar[type] = LearnedMixinSettings

    trust_sum: Tensor
    seen: Tensor

    def __init__(self, expert: Expert, settings: LearnedMixinSettings, width: int) -> None:
        super().__init__()
        self.expert, self.penalty = expert, settings.penalty
        self.trust = nn.Linear(width, 1)
        # Sums of the epoch under way; as buffers they are part of a state.
        self.register_buffer("trust_sum", torch.zeros(()))
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))
        self.trusts: list[float] = []

    @classmethod
    def requirements(cls, settings: Any) -> Requirements:  # noqa: ARG003
        """A bias model."""
        return Requirements(bias="required")

    @classmethod
    def build(cls, surroundings: Surroundings) -> LearnedMixin:
        """See `objective.Objective.build`."""
        with torch.no_grad():
            width = surroundings.network.represent(surroundings.example).shape[1]
        return cls(Expert(present(surroundings.bias).probabilities), surroundings.settings, width)

    def forward(
        self, network: Network, batch: Batch, labels: Tensor, weights: Tensor | None, rows: NDArray[np.int64]
    ) -> Outcome:
        """See `objective.Objective.forward`."""
        hidden = network.represent(batch)
        logits = network.classify(hidden)
        trust = functional.softplus(self.trust(hidden))
        biased = trust * self.expert.of(rows, logits.device)
        self.trust_sum += trust.detach().sum()
        self.seen += batch.size
        losses = functional.cross_entropy(functional.log_softmax(logits, 1) + biased, labels, reduction="none")
        logs = functional.log_softmax(biased, 1)
        entropies = -(logs.exp() * logs).sum(1)
        return Outcome(average(losses + self.penalty * entropies, weights), logits)

    def end_epoch(self, epoch: int, dev_outputs: NDArray[np.float32] | None) -> None:  # noqa: ARG002
        """Note the mean of g in the epoch."""
        self.trusts.append(float(self.trust_sum / self.seen))
        self.trust_sum.zero_()
        self.seen.zero_()

    def memory(self) -> dict[str, Any]:
        """The means of g."""
        return {"trusts": self.trusts}

    def recall(self, memory: dict[str, Any]) -> None:
        """See `objective.Objective.recall`."""
        self.trusts = list(memory.get("trusts", []))

    def findings(self) -> dict[str, Any]:
        """`trust`: the mean of g in each epoch."""
        return {"trust": self.trusts}


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
