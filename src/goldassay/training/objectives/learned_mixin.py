"""Learned-mixin: a product of experts in which the network says how far to trust the bias model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import nn
from torch.nn import functional

from goldassay.core.errors import InputError
from goldassay.training.objectives.cross_entropy import average
from goldassay.training.objectives.expert import Expert
from goldassay.training.objectives.objective import Objective, Outcome, Requirements, Surroundings, present

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.models.network import Batch, Network


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
