"""Adversarial debiasing: discriminators read the label off one sentence; its encoder learns to keep it from them."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, cast

import torch
from torch import nn
from torch.nn import functional

from goldassay.core.errors import InputError
from goldassay.training.objectives.cross_entropy import average
from goldassay.training.objectives.guidance import Guidance, GuidanceSettings, check_alpha, combined
from goldassay.training.objectives.objective import Objective, Outcome, Requirements, Surroundings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.models.network import Batch, Network


@dataclass(frozen=True)
class AdversarialSettings(GuidanceSettings):
    """What can be set.

    Attributes:
        gamma: How strongly the encoder is kept from the label, relative to the classifier's loss. Published, for
            plain gradient descent: 3 for SNLI, 1 for MultiNLI. Adam makes steps of the same length however small the
            classifier's part of the gradient is, and at such gammas the classifier learns nothing; on 18,000 pairs of
            SNLI, .2 was the largest at which dev accuracy fell by less than a point.
        discriminators: How many, each with weights of its own; published: 1 to 3, 2 the best.
        hidden: Width of a discriminator's hidden layer.
        alpha1: With a bias: weight of a biased row in the discriminators' loss; of the others it is 1.
        alpha2: With a bias: weight of a row that is not biased in the classifier's loss; of the others it is 1.
    """

    gamma: float = 0.2
    discriminators: int = 2
    hidden: int = 512
    alpha1: float = 5.0
    alpha2: float = 5.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.gamma < math.inf:
            raise InputError(f"gamma is {self.gamma}", mend="give a number from 0 up")
        for name in ("discriminators", "hidden"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}", mend="give 1 or more")
        check_alpha("alpha1", self.alpha1)
        check_alpha("alpha2", self.alpha2)


class _Reversal(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, gamma: float) -> Tensor:
        ctx.gamma = gamma
        return values.view_as(values)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return -ctx.gamma * gradients[0], None


def reverse_gradient(values: Tensor, gamma: float) -> Tensor:
    """The same values; their gradient is -gamma times what comes back.

    Source: Ganin and Lempitsky 2015.
    """
    return cast("Tensor", _Reversal.apply(values, gamma))


class Adversarial(Objective):
    """L_C = (1/B) sum_i wC_i CE_C(i) and L_D = (1/k) sum_j (1/B) sum_i wD_i CE_Dj(i), D_j on the last text's vector.

    Minimized over the discriminators: L_D; over the classifier and the other texts' encoder: L_C; over the last text's
    encoder (the hypothesis's): L_C - gamma L_D. A layer that passes the vector on as it is and turns its gradient into
    -gamma times itself gives all three in one pass; gamma does not touch the discriminators' own steps. (The printed
    equations descend along the gradient of +log p; the directions here are the ones meant.) Outside training the layer
    does nothing.

    With a bias, wD is alpha1 for biased rows and wC is alpha2 for all others; else all weights are 1. Where one encoder
    reads both texts, the reversed gradient reaches what it does with the premise too.

    A discriminator has one hidden layer, as the classifier of InferSent; the paper does not say. Nor does it say how
    several are combined: here their losses are averaged, so that gamma means the same for any number.

    Source: Liu et al. 2020, sections 4.1 and 4.2; Belinkov et al. 2019 for one discriminator without guidance.
    """

    name: ClassVar[str] = "adversarial"
    settings: ClassVar[type] = AdversarialSettings
    of_bias: ClassVar[frozenset[str]] = frozenset(
        {"alpha1", "alpha2"} | {each.name for each in fields(GuidanceSettings)}
    )

    right: Tensor
    seen: Tensor

    def __init__(
        self, settings: AdversarialSettings, width: int, n_labels: int, guidance: Guidance | None = None
    ) -> None:
        super().__init__()
        self.gamma, self.guidance, self.n_labels = settings.gamma, guidance, n_labels
        self.discriminators = nn.ModuleList(
            nn.Sequential(nn.Linear(width, settings.hidden), nn.Tanh(), nn.Linear(settings.hidden, n_labels))
            for _ in range(settings.discriminators)
        )
        # Counts of the epoch under way; as buffers they are part of a state.
        self.register_buffer("right", torch.zeros(settings.discriminators, dtype=torch.int64))
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))
        self.accuracies: list[list[float]] = []

    @classmethod
    def requirements(cls, settings: AdversarialSettings) -> Requirements:
        """A vector for each sentence; for reweighting a bias and a dev set."""
        return Requirements(bias="required" if settings.reweight else "optional", sentences=True, dev=settings.reweight)

    @classmethod
    def build(cls, surroundings: Surroundings) -> Adversarial:
        """See `objective.Objective.build`."""
        settings = surroundings.settings
        with torch.no_grad():
            width = surroundings.network.sentences(surroundings.example)[-1].shape[1]
        alphas = {"alpha1": settings.alpha1, "alpha2": settings.alpha2}
        guidance = None if surroundings.bias is None else Guidance.of(surroundings, alphas)
        return cls(settings, width, surroundings.n_labels, guidance)

    def forward(
        self, network: Network, batch: Batch, labels: Tensor, weights: Tensor | None, rows: NDArray[np.int64]
    ) -> Outcome:
        """See `objective.Objective.forward`."""
        sentences = network.sentences(batch)
        logits = network.classify(network.compare(sentences))
        shown = reverse_gradient(sentences[-1], self.gamma) if self.training else sentences[-1]
        losses = functional.cross_entropy(logits, labels, reduction="none")
        of_classifier, of_discriminators = weights, weights
        if self.guidance is not None:
            own = (
                self.guidance.weights(name, rows, losses, biased=biased)
                for name, biased in (("alpha2", False), ("alpha1", True))
            )
            of_classifier, of_discriminators = (combined(weights, each) for each in own)
        loss = average(losses, of_classifier)
        for place, discriminator in enumerate(self.discriminators):
            judged = discriminator(shown)
            losses = functional.cross_entropy(judged, labels, reduction="none")
            loss = loss + average(losses, of_discriminators) / len(self.discriminators)
            self.right[place] += (judged.detach().argmax(1) == labels).sum()
        self.seen += batch.size
        return Outcome(loss, logits)

    @property
    def n_judges(self) -> int:
        """k, the discriminators."""
        return len(self.discriminators)

    def judges(self, network: Network, batch: Batch) -> Tensor:
        """Logits of the discriminators, one after the other, (B, k K)."""
        vector = network.sentences(batch)[-1]
        return torch.cat([discriminator(vector) for discriminator in self.discriminators], dim=1)

    def end_epoch(self, epoch: int, dev_outputs: NDArray[np.float32] | None) -> None:  # noqa: ARG002
        """Note how often the discriminators were right in the epoch, and let weights follow the gap on dev."""
        self.accuracies.append((self.right / self.seen).tolist())
        self.right.zero_()
        self.seen.zero_()
        if self.guidance is not None:
            self.guidance.end_epoch(dev_outputs)

    def memory(self) -> dict[str, Any]:
        """Accuracies of the discriminators and weights of guidance."""
        guided = {} if self.guidance is None else {"guidance": self.guidance.memory()}
        return {"accuracies": self.accuracies, **guided}

    def recall(self, memory: dict[str, Any]) -> None:
        """See `objective.Objective.recall`."""
        self.accuracies = list(memory.get("accuracies", []))
        if self.guidance is not None and "guidance" in memory:
            self.guidance.recall(memory["guidance"])

    def findings(self) -> dict[str, Any]:
        """`discriminators`: how often each was right in each epoch, while it was trained; and those of guidance."""
        guided = {} if self.guidance is None else self.guidance.findings()
        return {"discriminators": self.accuracies, **guided}
