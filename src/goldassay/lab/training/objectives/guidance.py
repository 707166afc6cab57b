"""Guidance: which training rows a bias gives away, what they weigh, and how that follows the gap on dev.

Cross-entropy in which rows that a bias does not give away weigh more.

Adversarial debiasing: discriminators read the label off one sentence; its encoder learns to keep it from them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from goldassay.core.errors import InputError
from goldassay.lab.models.network import Batch, Network, sent
from goldassay.lab.training.objectives import Objective, Outcome, Requirements, Surroundings, average, present

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from goldassay.lab.training.objectives import TeacherLogitsOn


@dataclass(frozen=True)
class GuidanceSettings:
    """What can be set of guidance. It has no effect without a bias.

    Attributes:
        threshold: An example is biased if it holds a pattern that points to a label more strongly than this, or if
            the bias model gives a label a larger probability; lambda in the paper.
        reweight: Whether the weights follow the gap between easy and hard dev examples.
        phi: From this gap on they grow, below it they shrink; .15 for SNLI, .10 for MultiNLI.
        step: By how much, once an epoch.
        cap: They grow no further; inf as in the paper, which has no bound.
    """

    threshold: float = 0.7
    reweight: bool = False
    phi: float = 0.15
    step: float = 0.5
    cap: float = 20.0

    def __post_init__(self) -> None:
        if not 0 <= self.threshold < 1:
            raise InputError(f"threshold is {self.threshold}", mend="give a share from 0 to below 1")
        if not -1 <= self.phi <= 1:
            raise InputError(f"phi is {self.phi}", mend="give a difference of two accuracies, from -1 to 1")
        if not 0 < self.step < math.inf:
            raise InputError(f"step is {self.step}", mend="give a number above 0")
        if not self.cap >= 1:
            raise InputError(f"cap is {self.cap}", mend="give 1 or more, or inf")


def check_alpha(name: str, value: float) -> None:
    """Refuse a weight that would not guide.

    Raises:
        InputError: It is below 1, or endless.
    """
    if not 1 <= value < math.inf:
        raise InputError(f"{name} is {value}", mend="give a number from 1 up; at 1 nothing is guided")


def next_alpha(alpha: float, start: float, gap: float, settings: GuidanceSettings) -> float:
    """A weight after an epoch: one step up from a gap of phi on, else one step down, never below its start.

    alpha <- max(alpha + step, start) if gap >= phi else max(alpha - step, start), then at most cap (or the start, where
    that is larger). A gap that is not defined leaves it as it is.

    Source: Liu et al. 2020, equation 7; the cap is ours.
    """
    if math.isnan(gap):
        return alpha
    moved = alpha + settings.step if gap >= settings.phi else alpha - settings.step
    return min(max(moved, start), max(settings.cap, start))


class Guidance:
    """Weights of training rows that depend on whether a bias gives them away.

    Args:
        settings: When a row is biased, and how the weights follow the gap.
        alphas: By name: the weight of the rows that weigh more, at the start.
        bias: On the training rows.
        dev_bias: On the dev examples, where weights follow the gap.
        dev_gold: Labels of the dev examples, codes.
    """

    def __init__(
        self,
        settings: GuidanceSettings,
        alphas: Mapping[str, float],
        bias: TeacherLogitsOn,
        dev_bias: TeacherLogitsOn | None = None,
        dev_gold: NDArray[np.int64] | None = None,
    ) -> None:
        self.settings, self.starts = settings, dict(alphas)
        self.alphas = dict(alphas)
        self.biased = bias.biased(settings.threshold)
        self.history: list[dict[str, float]] = []
        self.gold = dev_gold
        if settings.reweight:
            self.easy, self.hard = present(dev_bias).difficulty(present(dev_gold), settings.threshold)

    @classmethod
    def of(cls, surroundings: Surroundings, alphas: Mapping[str, float]) -> Guidance:
        """For an objective whose settings are those of guidance and more."""
        given = surroundings
        return cls(given.settings, alphas, present(given.bias), given.dev_bias, given.dev_gold)

    def weights(self, name: str, rows: NDArray[np.int64], like: Tensor, *, biased: bool) -> Tensor:
        """The weight of that name for the biased rows, or for those that are not, and 1 for the others, (B,)."""
        chosen = self.biased[rows] == biased
        return sent(torch.from_numpy(np.where(chosen, self.alphas[name], 1.0)).to(like.dtype), like.device)

    def end_epoch(self, dev_outputs: NDArray[np.float32] | None) -> None:
        """Let the weights follow the gap on dev, and note both."""
        gap = math.nan
        if self.settings.reweight:
            right = present(dev_outputs).argmax(axis=1) == self.gold
            if self.easy.any() and self.hard.any():
                gap = float(right[self.easy].mean() - right[self.hard].mean())
            self.alphas = {
                name: next_alpha(value, self.starts[name], gap, self.settings) for name, value in self.alphas.items()
            }
            self.history.append({"gap": gap, **self.alphas})

    def memory(self) -> dict[str, Any]:
        """See `objective.Objective.memory`."""
        return {"alphas": self.alphas, "history": self.history}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """See `objective.Objective.recall`."""
        self.alphas, self.history = dict(memory["alphas"]), list(memory["history"])

    def findings(self) -> dict[str, Any]:
        """`biased`: the share of the training rows; `reweighting`: gap and weights after each epoch."""
        found: dict[str, Any] = {"biased": float(self.biased.mean())}
        # JSON has no NaN.
        plain = [{name: None if math.isnan(v) else v for name, v in epoch.items()} for epoch in self.history]
        return found | ({"reweighting": plain} if plain else {})


def combined(weights: Tensor | None, more: Tensor | None) -> Tensor | None:
    """The product of two weights of examples, None standing for all 1."""
    if weights is None or more is None:
        return more if weights is None else weights
    return weights * more


@dataclass(frozen=True)
class GuidedSettings(GuidanceSettings):
    """What can be set.

    Attributes:
        alpha2: Weight of a row that is not biased; of the others it is 1.
    """

    alpha2: float = 5.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_alpha("alpha2", self.alpha2)


class GuidedCrossEntropy(Objective):
    """(1/B) sum_i w_i a_i * -log softmax(logits_i)[label_i], a_i = 1 if row i is biased, else alpha2.

    Source: Liu et al. 2020, "InferSent + Guidance": the classifier of adversarial training alone.
    """

    name: ClassVar[str] = "guided_cross_entropy"
    settings: ClassVar[type] = GuidedSettings

    def __init__(self, guidance: Guidance) -> None:
        super().__init__()
        self.guidance = guidance

    @classmethod
    def requirements(cls, settings: GuidedSettings) -> Requirements:
        """A bias; for reweighting a dev set."""
        return Requirements(bias="required", dev=settings.reweight)

    @classmethod
    def build(cls, surroundings: Surroundings) -> GuidedCrossEntropy:
        """See `objective.Objective.build`."""
        return cls(Guidance.of(surroundings, {"alpha2": surroundings.settings.alpha2}))

    def forward(
        self, network: Network, batch: Batch, labels: Tensor, weights: Tensor | None, rows: NDArray[np.int64]
    ) -> Outcome:
        """See `objective.Objective.forward`."""
        logits = network(batch)
        losses = functional.cross_entropy(logits, labels, reduction="none")
        own = self.guidance.weights("alpha2", rows, losses, biased=False)
        return Outcome(average(losses, combined(weights, own)), logits)

    def memory(self) -> dict[str, Any]:
        """See `objective.Objective.memory`."""
        return self.guidance.memory()

    def recall(self, memory: dict[str, Any]) -> None:
        """See `objective.Objective.recall`."""
        if memory:
            self.guidance.recall(memory)

    def end_epoch(self, epoch: int, dev_outputs: NDArray[np.float32] | None) -> None:  # noqa: ARG002
        """Let the weights follow the gap on dev."""
        self.guidance.end_epoch(dev_outputs)

    def findings(self) -> dict[str, Any]:
        """See `guidance.Guidance.findings`."""
        return self.guidance.findings()


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
