"""What networks share that name a stretch of a context."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.models.network import Batch, Network, Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from torch import Tensor

    from goldassay.models.ragged import Ragged


def asked_of(roles: Sequence[str], texts: Sequence[Sequence[str] | None]) -> tuple[Sequence[str], Sequence[str]]:
    """Questions, and the contexts that they are asked of; a question that is not shown is empty.

    Args:
        roles: Question and context, or one of them.
        texts: By role, None where it is not shown.

    Raises:
        InputError: The context is not shown.
    """
    shown = dict(zip(roles, texts, strict=True))
    contexts = shown.get("context")
    if contexts is None:
        raise InputError("answers stand in the context, which is not shown", mend="choose another condition")
    return shown.get("question") or [""] * len(contexts), contexts


class SpanReader(Network):
    """A network with two logits a token, that an answer starts there and that it ends there.

    Its batches hold W windows, or paragraphs, of B questions: `of`, the question of each, (W,), `real`, which tokens
    are no padding, `begins` and `ends`, where each stands in the context, -1 where it is none of it, (W, L).
    """

    @abstractmethod
    def window_logits(self, batch: Batch) -> Tensor:
        """Of start and end at each token of each window, (W, L, 2)."""

    @abstractmethod
    def nothing(self, logits: Tensor, batch: Batch) -> Tensor:
        """Logits that a window's question has no answer, of its start and its end, (W, 2), from `window_logits`."""

    @abstractmethod
    def answers(self, logits: Tensor, batch: Batch) -> Tensor:
        """Where the best answer begins and ends in the context, its logit, and that of there being none, (B, 4)."""

    @abstractmethod
    def restrict(self, encoded: Any, candidates: Ragged) -> Any:
        """What `encode` gave, with the stretches that alone may be answers.

        Args:
            encoded: N questions.
            candidates: Of each where they begin and end in its context, in turn.
        """

    def forward(self, batch: Batch) -> Tensor:
        """Answers; see `answers`."""
        return self.answers(self.window_logits(batch), batch)

    def evaluate(self, batch: Batch, reduced: Callable[[], AbstractContextManager[None]]) -> Tensor:  # noqa: ARG002
        """Answers, (B, 4), in 32 bits throughout: 16-bit logits near 10 have steps of 1/16, and spans would tie."""
        return self(batch)

    def window_spans(self, batch: Batch, answers: Tensor) -> tuple[Tensor, Tensor]:
        """First and last token of right answers in each window, (W, M, 2), and which are seen there whole, (W, M).

        Args:
            batch: B questions with W windows.
            answers: Where the right ones begin and end in the context, (B, M, 2); -1 where there is none.
        """
        begin, end = answers[batch["of"]].unbind(2)
        begins, ends = batch["begins"].unsqueeze(1), batch["ends"].unsqueeze(1)
        context = ends >= 0
        touched = context & (ends > begin.unsqueeze(2)) & (begins < end.unsqueeze(2))
        far = torch.iinfo(begins.dtype).max
        from_here = begins.masked_fill(~context, far).amin(2) <= begin
        to_here = ends.amax(2) >= end
        whole = touched.any(2) & from_here & to_here & (begin >= 0)
        first = touched.long().argmax(2)
        last = touched.shape[2] - 1 - touched.flip(2).long().argmax(2)
        return torch.stack((first, last), dim=2), whole

    def embed(self, batch: Batch) -> list[Stream]:
        """Not of this network: several windows read a text."""
        return _no_vector(batch)

    def represent_streams(self, streams: list[Stream], batch: Batch) -> Tensor:  # noqa: ARG002
        """Not of this network."""
        return _no_vector(batch)

    def classify(self, representation: Tensor) -> Tensor:
        """Not of this network."""
        return _no_vector(representation)


def _no_vector(of: Any) -> NoReturn:  # noqa: ARG001
    raise InputError(
        "a question has no one vector and no one class, of which embeddings and relevances are",
        mend=f"leave them out of {option('record')}",
    )
