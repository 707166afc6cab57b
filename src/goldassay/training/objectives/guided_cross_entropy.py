"""Cross-entropy in which rows that a bias does not give away weigh more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from torch.nn import functional

from goldassay.training.objectives.cross_entropy import average
from goldassay.training.objectives.guidance import Guidance, GuidanceSettings, check_alpha, combined
from goldassay.training.objectives.objective import Objective, Outcome, Requirements, Surroundings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.models.network import Batch, Network


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
