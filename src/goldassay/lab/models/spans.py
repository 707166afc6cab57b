"""The best answer among stretches of a context, of all stretches or of candidates that are given.

What networks share that name a stretch of a context.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import torch

from goldassay.core.errors import InputError, option
from goldassay.lab.models.network import Batch, Network, Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.lab.models.vocabulary import Ragged


def best_spans(logits: Tensor, batch: Batch, max_answer: int, nothing: Tensor) -> Tensor:
    """Where the best answer begins and ends in the context, its logit, and that of there being none, (B, 4).

    A stretch's logit is that of its start plus that of its end, max over (i, j) of s_i + e_j with i <= j < i +
    max_answer inside one window. Where the batch holds `candidates`, only these stretches are searched, however long.

    Args:
        logits: Of start and end at each token of each window, (W, L, 2).
        batch: B questions with W windows: `begins` and `ends` of the tokens in the context, -1 for those that are none
            of it; `of`, the question of each window; perhaps `candidates`, (C, 5); see `candidates_in_batch`.
        max_answer: Most tokens of an answer.
        nothing: The logit that a window's question has no answer, (W,); the least of a question's windows counts.

    Source: Devlin, Chang, Lee and Toutanova 2019; Zhang et al. 2018 (ReCoRD) for candidates.
    """
    inside = batch["ends"] >= 0
    # Two of them add up to a finite number.
    lowest = torch.finfo(logits.dtype).min / 4
    starts = logits[:, :, 0].masked_fill(~inside, lowest)
    ends = logits[:, :, 1].masked_fill(~inside, lowest)
    if "candidates" in batch.tensors:
        window, first, last, begins, finish = batch["candidates"].unbind(1)
        best = starts[window, first] + ends[window, last]
    else:
        best, first, last = _best_of_windows(starts, ends, max_answer, lowest)
        window = torch.arange(len(starts), device=logits.device)
        begins, finish = batch["begins"][window, first], batch["ends"][window, last]
    of = batch["of"][window]
    places = torch.arange(len(of), device=logits.device)
    highest = best.new_full((batch.size,), 2 * lowest).scatter_reduce(0, of, best, "amax")
    # Of stretches that are equal the first.
    chosen = places.new_full((batch.size,), len(of)).scatter_reduce(
        0, of, torch.where(best == highest[of], places, len(of)), "amin"
    )
    least = nothing.new_full((batch.size,), -lowest).scatter_reduce(0, batch["of"], nothing, "amin")
    # A question without any candidate takes the row behind all others; a window without context has no places.
    begins, finish = (torch.cat((each, each.new_zeros(1)))[chosen].clamp(min=0) for each in (begins, finish))
    return torch.stack((begins.to(best.dtype), finish.to(best.dtype), highest, least), dim=1)


def _best_of_windows(starts: Tensor, ends: Tensor, max_answer: int, lowest: float) -> tuple[Tensor, Tensor, Tensor]:
    """Of each window the largest sum, its first token and its last, (W,) each."""
    n, length = starts.shape
    # The sum for every start and every number of tokens more, (W, L, A): what stands in a context stands together.
    longer = min(max_answer, length)
    beyond = torch.cat((ends, ends.new_full((n, longer - 1), lowest)), dim=1)
    sums = starts.unsqueeze(2) + beyond.unfold(1, longer, 1)
    best, where = sums.flatten(1).max(1)
    first = where // longer
    return best, first, first + where % longer


def covered_tokens(
    begins: NDArray[np.int64], ends: NDArray[np.int64], spans: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """First and last token of each stretch of a text, (C, 2), and whether the tokens cover it whole, (C,).

    Args:
        begins: Where tokens that do not overlap begin, ascending, (L,).
        ends: Where they end.
        spans: Where stretches begin and end, (C, 2).
    """
    if not begins.size:
        return np.zeros((len(spans), 2), np.int64), np.zeros(len(spans), np.bool_)
    first = np.minimum(np.searchsorted(ends, spans[:, 0], side="right"), begins.size - 1)
    last = np.maximum(np.searchsorted(begins, spans[:, 1], side="left") - 1, 0)
    whole = (spans[:, 0] >= begins[0]) & (spans[:, 1] <= ends[-1]) & (first <= last) & (spans[:, 1] > spans[:, 0])
    # A stretch that lies between two tokens touches none of them.
    touched = (begins[first] < spans[:, 1]) & (ends[first] > spans[:, 0])
    return np.stack((first, last), axis=1), whole & touched


def candidates_in_batch(
    spans: Ragged, of: NDArray[np.int64], begins: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Candidates of a batch: window, first token, last token, where it begins, where it ends, (C, 5).

    One that several windows show stands there several times, one that none shows whole is left out. What begins or ends
    within a token has the logit of that token, and stays what it is.

    Args:
        spans: Of each question its candidates, begin and end in turn.
        of: The question of each window, (W,).
        begins: Where each token begins in its context, (W, L); -1 for those that are none of it.
        ends: Where it ends.
    """
    found = [np.zeros((0, 5), np.int64)]
    for window, question in enumerate(of.tolist()):
        places = np.flatnonzero(ends[window] >= 0)
        wanted = spans.row(question).reshape(-1, 2)
        tokens, whole = covered_tokens(begins[window][places], ends[window][places], wanted)
        if whole.any():
            kept = places[tokens[whole]]
            found.append(np.column_stack((np.full(len(kept), window), kept, wanted[whole])))
    return np.concatenate(found)


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
