"""Any question-answering model of the transformers library: it names the stretch of a context that answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np
import torch

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.models.checkpoint import (
    attention_mask,
    has_types,
    open_config,
    open_tokenizer,
    open_weights,
    to_the_right,
    token_limit,
)
from goldassay.models.configuration import DESK, PUBLISHED, Configuration, Recipe, Task
from goldassay.models.network import Batch, Stream
from goldassay.models.network import Network as Base
from goldassay.models.ragged import Ragged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

_BLOCK = 1024
# Windows that go through the model together where nothing is learnt: attention takes room with the square of length.
_AT_ONCE = 32
_QUESTION, _CONTEXT = 0, 1


@dataclass(frozen=True)
class Sizes:
    """Limits; all else is the checkpoint's own.

    Attributes:
        max_tokens: Longest input, question and special tokens among them; the checkpoint's own limit, if that is lower.
        stride: Tokens of the context that a window shares with the one before it.
        max_question: Tokens of a question beyond this are cut off.
        max_answer: Most tokens of an answer.
        dropout: In place of the checkpoint's own rates; None leaves them.
    """

    max_tokens: int = 384
    stride: int = 128
    max_question: int = 64
    max_answer: int = 30
    dropout: float | None = None


@dataclass(frozen=True)
class EncodedQuestions:
    """Each question with windows over its context; see `network.Encoded`.

    Attributes:
        windows: Numbers of each question's windows.
        tokens: Of each window, special tokens among them.
        types: Token type of each, where the model has such.
        begins: Where in the context each token begins; -1 for those of the question and special ones.
        ends: Where it ends.
        costs: Tokens of all windows of a question, (N,).
        cut: Questions that lost their end, (roles, N); contexts are seen whole.
    """

    windows: Ragged
    tokens: Ragged
    types: Ragged | None
    begins: Ragged
    ends: Ragged
    costs: NDArray[np.int64]
    cut: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.windows)


class Network(Base):
    """A pretrained transformer with two outputs a token: how likely an answer starts there, and ends there.

    Contexts longer than the input are read through windows that overlap. In training each window is an example of its
    own, in which questions whose answer is not seen whole point to the first token. The answer is the stretch of at
    most 30 tokens of one window's context whose start and end have the largest sum, over all windows and all such
    stretches; nothing is left out of the search. That there is no answer is worth the start and the end at the first
    token, in the window where these are least.

    Published (Devlin et al. 2019): inputs of 384 tokens, stride 128, questions of 64, answers of 30; Zhou et al. 2020:
    batch 12, Adam, peak rate 3e-5, 2 epochs, linear decay; the warm-up of a tenth is that of Devlin et al. Desk has a
    higher rate, for small checkpoints and few rows. What they call the stride is how far windows are apart; here it is
    what they share, as in the transformers library.

    Weights are read from safetensors only, and no code that comes with a checkpoint is run.
    """

    name: ClassVar[str] = "question_answering"
    configurations: ClassVar[Mapping[str, Configuration]] = {
        DESK: Configuration(
            Sizes(),
            Recipe(
                epochs=2, batch_size=12, learning_rate=1e-4, weight_decay=0.01, schedule="linear", warmup=0.1, clip=1.0
            ),
        ),
        PUBLISHED: Configuration(
            Sizes(),
            Recipe(
                epochs=2, batch_size=12, learning_rate=3e-5, weight_decay=0.01, schedule="linear", warmup=0.1, clip=1.0
            ),
        ),
    }

    def __init__(self, model: Any, tokenizer: Any, sizes: Sizes, task: Task) -> None:
        super().__init__()
        self.model, self.tokenizer, self.sizes, self.roles = model, tokenizer, sizes, task.roles
        self.max_tokens = min(sizes.max_tokens, token_limit(model.config, tokenizer))
        self.has_types = has_types(model.config)
        room = self.max_tokens - sizes.max_question - tokenizer.num_special_tokens_to_add(pair=True)
        if room <= sizes.stride:
            own = ", all that the checkpoint takes," if self.max_tokens < sizes.max_tokens else ""
            raise InputError(
                f"windows of {self.max_tokens} tokens{own} leave {max(room, 0)} to the context, and are to share "
                f"{sizes.stride} of these",
                mend="set stride and max_question lower",
            )

    @classmethod
    def build(cls, task: Task, texts: Any, sizes: Any, model: str) -> Network:  # noqa: ARG003
        """Load a checkpoint; its two outputs are new, unless it was made for questions."""
        from transformers import AutoModelForQuestionAnswering

        config = open_config(model, sizes.dropout, num_labels=task.n_outputs)
        tokenizer = open_tokenizer(model)
        return cls(open_weights(AutoModelForQuestionAnswering, model, config), tokenizer, sizes, task)

    @classmethod
    def load(cls, task: Task, sizes: Any, assets: Path) -> Network:
        """See `network.Network.load`."""
        from transformers import AutoConfig, AutoModelForQuestionAnswering

        model = AutoModelForQuestionAnswering.from_config(AutoConfig.from_pretrained(assets))
        return cls(model.float(), open_tokenizer(str(assets)), sizes, task)

    def save_assets(self, folder: Path) -> None:
        """Write configuration and tokenizer as the library does."""
        self.model.config.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def encode(self, texts: Sequence[Sequence[str] | None]) -> EncodedQuestions:
        """Tokenize questions with windows over their contexts.

        Args:
            texts: By role, the roles among question and context; a question that is not shown is empty.
        """
        shown = dict(zip(self.roles, texts, strict=True))
        contexts = shown.get("context")
        if contexts is None:
            raise InputError("answers stand in the context, which is not shown", mend="choose another condition")
        questions = shown.get("question") or [""] * len(contexts)
        parts = [
            part
            for start in range(0, len(contexts), _BLOCK)
            for part in self._block(list(questions[start : start + _BLOCK]), list(contexts[start : start + _BLOCK]))
        ]
        windows = [window for of_question, _ in parts for window in of_question]
        counts = np.fromiter((len(of_question) for of_question, _ in parts), np.int64, len(parts))
        offsets = np.concatenate(([0], np.cumsum(counts)))
        tokens = Ragged.of([window[0] for window in windows])
        cut = np.zeros((len(self.roles), len(parts)), np.bool_)
        if "question" in self.roles:
            cut[self.roles.index("question")] = [lost for _, lost in parts]
        totals = np.concatenate(([0], np.cumsum(tokens.lengths)))[offsets]
        return EncodedQuestions(
            windows=Ragged(np.arange(len(windows)), offsets),
            tokens=tokens,
            types=Ragged.of([window[1] for window in windows]) if self.has_types else None,
            begins=Ragged.of([window[2] for window in windows]),
            ends=Ragged.of([window[3] for window in windows]),
            costs=np.diff(totals),
            cut=cut,
        )

    def _block(self, questions: list[str], contexts: list[str]) -> Iterator[tuple[list[tuple[list[int], ...]], bool]]:
        """Of each question its windows (tokens, types, where they begin and end), and whether it was cut."""
        shortened, lost = self._shortened(questions)
        found = self.tokenizer(
            shortened, contexts, truncation="only_second", max_length=self.max_tokens, stride=self.sizes.stride,
            return_overflowing_tokens=True, return_offsets_mapping=True,
            return_token_type_ids=self.has_types, verbose=False,
        )  # fmt: skip
        of_question: list[list[tuple[list[int], ...]]] = [[] for _ in questions]
        for row, question in enumerate(found["overflow_to_sample_mapping"]):
            inside = [place == _CONTEXT for place in found.sequence_ids(row)]
            spans = found["offset_mapping"][row]
            begins = [span[0] if real else -1 for span, real in zip(spans, inside, strict=True)]
            ends = [span[1] if real else -1 for span, real in zip(spans, inside, strict=True)]
            types = found["token_type_ids"][row] if self.has_types else []
            of_question[question].append((found["input_ids"][row], types, begins, ends))
        yield from zip(of_question, lost, strict=True)

    def _shortened(self, questions: list[str]) -> tuple[list[str], list[bool]]:
        """Questions without what stands behind their last token that is read, and which lost something."""
        found = self.tokenizer(questions, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        most = self.sizes.max_question
        spans = found["offset_mapping"]
        lost = [len(each) > most for each in spans]
        shortened = [
            text[: each[most - 1][1]] if is_cut else text
            for text, each, is_cut in zip(questions, spans, lost, strict=True)
        ]
        return shortened, lost

    def collate(self, encoded: EncodedQuestions, rows: NDArray[np.int64]) -> Batch:
        """All windows of some questions, W of them; `of` says whose each is, `first` where its first token is."""
        some = encoded.windows.take(rows)
        tokens, real = encoded.tokens.take(some.flat).padded(self.tokenizer.pad_token_id or 0)
        tables = {
            "tokens": tokens,
            "real": real.astype(np.int64),
            "begins": encoded.begins.take(some.flat).padded(-1)[0],
            "ends": encoded.ends.take(some.flat).padded(-1)[0],
        }
        if encoded.types is not None:
            tables["types"] = encoded.types.take(some.flat).padded(self.tokenizer.pad_token_type_id)[0]
        if self.tokenizer.padding_side == "left":
            tables = {name: to_the_right(table, real) for name, table in tables.items()}
        tables["of"] = np.repeat(np.arange(rows.size), some.lengths)
        tables["first"] = self._first(tables["tokens"], tables["real"])
        tensors = {name: torch.from_numpy(table) for name, table in tables.items()}
        return Batch(tensors, rows.size, (int(np.count_nonzero(real)),))

    def _first(self, tokens: NDArray[np.int64], real: NDArray[np.int64]) -> NDArray[np.int64]:
        """The token that stands for a whole input, where there is one (XLNet has it last); else the first, (W,)."""
        found = (tokens == self.tokenizer.cls_token_id) & (real > 0)
        return np.where(found.any(1), found.argmax(1), real.argmax(1))

    def window_logits(self, batch: Batch) -> Tensor:
        """Of start and end at each token of each window, (W, L, 2)."""
        inputs = {"input_ids": batch["tokens"]}
        mask = attention_mask(self.model, batch["real"], batch.counts[0])
        if mask is not None:
            inputs["attention_mask"] = mask
        if self.has_types:
            inputs["token_type_ids"] = batch["types"]
        n = len(batch["tokens"])
        at_once = n if torch.is_grad_enabled() else _AT_ONCE
        parts = []
        for start in range(0, n, at_once):
            out = self.model(**{name: table[start : start + at_once] for name, table in inputs.items()})
            parts.append(torch.stack((out.start_logits, out.end_logits), dim=2))
        return torch.cat(parts).float()

    def forward(self, batch: Batch) -> Tensor:
        """Answers; see `answers`."""
        return self.answers(self.window_logits(batch), batch)

    def evaluate(self, batch: Batch, reduced: Callable[[], AbstractContextManager[None]]) -> Tensor:  # noqa: ARG002
        """Answers, (B, 4), in 32 bits throughout: 16-bit logits near 10 have steps of 1/16, and spans would tie."""
        return self(batch)

    def answers(self, logits: Tensor, batch: Batch) -> Tensor:
        """Where the best answer begins and ends in the context, its logit, and that of there being none, (B, 4).

        Args:
            logits: Of `window_logits`.
            batch: B questions with W windows.
        """
        inside = batch["ends"] >= 0
        # Two of them add up to a finite number.
        lowest = torch.finfo(logits.dtype).min / 4
        starts = logits[:, :, 0].masked_fill(~inside, lowest)
        ends = logits[:, :, 1].masked_fill(~inside, lowest)
        n, length = starts.shape
        # The sum for every start and every number of tokens more, (W, L, A): what stands in a context stands together.
        longer = min(self.sizes.max_answer, length)
        beyond = torch.cat((ends, ends.new_full((n, longer - 1), lowest)), dim=1)
        sums = starts.unsqueeze(2) + beyond.unfold(1, longer, 1)
        best, where = sums.flatten(1).max(1)
        start = where // longer
        end = start + where % longer
        rows = torch.arange(n, device=logits.device)
        nothing = logits[rows, batch["first"]].sum(1)
        of = batch["of"]
        highest = best.new_full((batch.size,), 2 * lowest).scatter_reduce(0, of, best, "amax")
        least = nothing.new_full((batch.size,), -lowest).scatter_reduce(0, of, nothing, "amin")
        # Of windows that are equal the first.
        chosen = rows.new_full((batch.size,), n).scatter_reduce(
            0, of, torch.where(best == highest[of], rows, n), "amin"
        )
        begins = batch["begins"][chosen, start[chosen]].clamp(min=0)
        finish = batch["ends"][chosen, end[chosen]].clamp(min=0)
        return torch.stack((begins.to(best.dtype), finish.to(best.dtype), highest, least), dim=1)

    def window_targets(self, batch: Batch, answers: Tensor) -> Tensor:
        """First and last token of the right answer in each window, (W, 2); the first token where it is not seen whole.

        Args:
            batch: B questions with W windows.
            answers: Where the right ones begin and end in the context, (B, 2); -1 where there is none.
        """
        begin, end = (each.unsqueeze(1) for each in answers[batch["of"]].unbind(1))
        begins, ends = batch["begins"], batch["ends"]
        context = ends >= 0
        touched = context & (ends > begin) & (begins < end)
        far = torch.iinfo(begins.dtype).max
        from_here = begins.masked_fill(~context, far).amin(1) <= begin.squeeze(1)
        to_here = ends.amax(1) >= end.squeeze(1)
        whole = touched.any(1) & from_here & to_here & (begin.squeeze(1) >= 0)
        first = touched.long().argmax(1)
        last = touched.shape[1] - 1 - touched.flip(1).long().argmax(1)
        return torch.where(whole.unsqueeze(1), torch.stack((first, last), dim=1), batch["first"].unsqueeze(1))

    def embed(self, batch: Batch) -> list[Stream]:
        """Not of this network: several windows read a text."""
        return _no_vector(batch)

    def represent_streams(self, streams: list[Stream], batch: Batch) -> Tensor:  # noqa: ARG002
        """Not of this network."""
        return _no_vector(batch)

    def classify(self, representation: Tensor) -> Tensor:
        """Not of this network."""
        return _no_vector(representation)

    def token_names(self) -> Sequence[str]:
        """The word pieces, in the order of their numbers."""
        names: list[str] = self.tokenizer.convert_ids_to_tokens(list(range(len(self.tokenizer))))
        return names


def _no_vector(of: Any) -> NoReturn:  # noqa: ARG001
    raise InputError(
        "a question has no one vector and no one class, of which embeddings and relevances are",
        mend=f"leave them out of {option('record')}",
    )
