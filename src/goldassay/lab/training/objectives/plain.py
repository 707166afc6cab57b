"""Cross-entropy, with a weight for each example if need be.

Mean squared error, with a weight for each example if need be.

Cross-entropy of where an answer starts and ends in each window over its context.

Cross-entropy of where an answer starts and ends among the tokens of all paragraphs of a context.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.nn import functional

from goldassay.lab.training.objectives import Objective, Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.lab.models.configuration import Kind
    from goldassay.lab.models.network import Batch, Network


class CrossEntropy(Objective):
    """(1/B) sum_i w_i * -log softmax(logits_i)[label_i], in nats."""

    name: ClassVar[str] = "cross_entropy"

    def forward(
        self,
        network: Network,
        batch: Batch,
        labels: Tensor,
        weights: Tensor | None,
        rows: NDArray[np.int64],  # noqa: ARG002
    ) -> Outcome:
        """See `objective.Objective.forward`."""
        logits = network(batch)
        each = functional.cross_entropy(logits, labels, reduction="none")
        return Outcome(average(each, weights), logits)


def average(losses: Tensor, weights: Tensor | None) -> Tensor:
    """(1/B) sum_i w_i loss_i, (); divided by the number of examples, not by the sum of the weights."""
    return losses.mean() if weights is None else (losses * weights).sum() / losses.shape[0]


class SquaredError(Objective):
    """(1/B) sum_i w_i (output_i - y_i)^2, y standardized; see `training.targets.NumberTarget`."""

    name: ClassVar[str] = "squared_error"
    kind: ClassVar[Kind] = "number"

    def forward(
        self,
        network: Network,
        batch: Batch,
        labels: Tensor,
        weights: Tensor | None,
        rows: NDArray[np.int64],  # noqa: ARG002
    ) -> Outcome:
        """See `objective.Objective.forward`."""
        outputs = network(batch)
        each = (outputs[:, 0].float() - labels).square()
        return Outcome((each if weights is None else each * weights).sum() / batch.size, outputs)


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


class SharedNormalization(Objective):
    """(1/B) sum_i w_i (l(starts_i) + l(ends_i)) / 2, l(z) = log sum_j exp(z_j) - log sum_{j right} exp(z_j).

    Both sums are over the tokens of all paragraphs (or windows) of question i, so that logits of one paragraph are
    comparable with those of another. Of several right answers, or places of one, each token that starts (ends) one is
    right. A question without an answer has one right place more, which stands for there being none.

    Answers that no window shows whole teach nothing.

    Source: Clark and Gardner 2018, section 3.2 (shared normalization) and 2.3 (sum over right places).
    """

    name: ClassVar[str] = "shared_normalization"
    kind: ClassVar[Kind] = "span"

    def forward(
        self,
        network: Any,
        batch: Batch,
        labels: Tensor,
        weights: Tensor | None,
        rows: NDArray[np.int64],  # noqa: ARG002
    ) -> Outcome:
        """See `objective.Objective.forward`; `labels` are where the right answers begin and end, (B, M, 2)."""
        logits = network.window_logits(batch)
        tokens, whole = network.window_spans(batch, labels)
        right = torch.zeros(logits.shape, dtype=torch.long, device=logits.device)
        # Answers not seen here all point to token 0, and add nothing to it.
        right = right.scatter_add(1, tokens, whole.unsqueeze(2).expand_as(tokens).long()) > 0
        nothing, unanswered = network.nothing(logits, batch), (labels[:, :, 0] < 0).all(1)
        context = (batch["ends"] >= 0).unsqueeze(2)
        of, n = batch["of"], batch.size
        # One row of a question's own for there being no answer, the least of its windows as in `answers`.
        largest = torch.finfo(logits.dtype).max / 4
        none = logits.new_full((n, 2), largest).scatter_reduce(0, of.unsqueeze(1).expand_as(nothing), nothing, "amin")
        everything = _log_sums(logits, context.expand_as(logits), of, none, torch.ones_like(unanswered), n)
        correct = _log_sums(logits, right & context, of, none, unanswered, n)
        shown = torch.zeros(n, dtype=torch.long, device=of.device).index_add(0, of, right.any(1).all(1).long()) > 0
        losses = torch.where((shown | unanswered).unsqueeze(1), everything - correct, 0).mean(1)
        if weights is not None:
            losses = losses * weights
        return Outcome(losses.mean(), network.answers(logits.detach(), batch))


def _log_sums(logits: Tensor, chosen: Tensor, of: Tensor, none: Tensor, with_none: Tensor, n: int) -> Tensor:
    """Log sum exp over the chosen tokens of all windows of each question, and over its row of `none`, (n, 2).

    Args:
        logits: (W, L, 2).
        chosen: (W, L, 2).
        of: Question of each window, (W,).
        none: Logits of there being no answer, (n, 2).
        with_none: Of which questions these count, (n,).
        n: Questions.
    """
    lowest = torch.finfo(logits.dtype).min / 2
    none = none.masked_fill(~with_none.unsqueeze(1), lowest)
    of_windows = logits.masked_fill(~chosen, lowest).logsumexp(1)
    # Rectangles of windows a question: no sum of exponentials is added up by atomic operations.
    counts = torch.zeros(n, dtype=torch.long, device=of.device).index_add(0, of, torch.ones_like(of))
    place = torch.arange(len(of), device=of.device) - (counts.cumsum(0) - counts)[of]
    table = logits.new_full((n, int(counts.max()) + 1, 2), lowest)
    table = table.index_put((of, place + 1), of_windows)
    return torch.cat((none.unsqueeze(1), table[:, 1:]), dim=1).logsumexp(1)
