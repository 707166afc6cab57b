"""Cross-entropy of where an answer starts and ends in each window over its context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.nn import functional

from goldassay.training.objectives.objective import Objective, Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.models.configuration import Kind
    from goldassay.models.network import Batch


class SpanCrossEntropy(Objective):
    """(1/W) sum_j w_j (-log softmax(starts_j)[s_j] - log softmax(ends_j)[e_j]) / 2 over the W windows of the questions.

    The softmax is over a window's tokens, the question and special ones among them, padding left out. A window that
    does not hold the whole answer points to its first token; it has the weight of its question.

    Source: Devlin, Chang, Lee and Toutanova 2019.
    """

    name: ClassVar[str] = "span_cross_entropy"
    kind: ClassVar[Kind] = "span"

    def forward(
        self,
        network: Any,
        batch: Batch,
        labels: Tensor,
        weights: Tensor | None,
        rows: NDArray[np.int64],  # noqa: ARG002
    ) -> Outcome:
        """See `objective.Objective.forward`; `labels` are where the answers begin and end, (B, M, 2)."""
        logits = network.window_logits(batch)
        targets = network.window_targets(batch, labels)
        padding = (batch["real"] == 0).unsqueeze(2)
        masked = logits.masked_fill(padding, torch.finfo(logits.dtype).min / 4)
        # torch's own cross-entropy of several classifications an example has no deterministic gradient on a GPU.
        each = -functional.log_softmax(masked, 1).gather(1, targets.unsqueeze(1)).squeeze(1)
        losses = each.mean(1)
        if weights is not None:
            losses = losses * weights[batch["of"]]
        return Outcome(losses.mean(), network.answers(logits.detach(), batch))
