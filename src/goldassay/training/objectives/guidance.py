"""Guidance: which training rows a bias gives away, what they weigh, and how that follows the gap on dev."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from goldassay.core.errors import InputError
from goldassay.models.transfer import sent
from goldassay.training.objectives.objective import Surroundings, present

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.training.opinions import OpinionsOn


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
        bias: OpinionsOn,
        dev_bias: OpinionsOn | None = None,
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
