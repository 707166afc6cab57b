"""Any question-answering model of the transformers library: it names the stretch of a context that answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch

from goldassay.core.errors import InputError
from goldassay.lab.models.checkpoint import (
    attention_mask,
    has_types,
    open_config,
    open_tokenizer,
    open_weights,
    to_the_right,
    token_limit,
)
from goldassay.lab.models.configuration import DESK, PUBLISHED, Configuration, Recipe, Task
from goldassay.lab.models.network import Batch
from goldassay.lab.models.spans import SpanReader, asked_of, best_spans, candidates_in_batch
from goldassay.lab.models.vocabulary import Ragged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
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
        candidates: Where in its context each question's candidates begin and end, in turn; None where any stretch may
            be the answer.
    """

    windows: Ragged
    tokens: Ragged
    types: Ragged | None
    begins: Ragged
    ends: Ragged
    costs: NDArray[np.int64]
    cut: NDArray[np.bool_]
    candidates: Ragged | None = None

    def __len__(self) -> int:
        return len(self.windows)


class Network(SpanReader):
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
        questions, contexts = asked_of(self.roles, texts)
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
        if encoded.candidates is not None:
            kept = encoded.candidates.take(rows)
            tables["candidates"] = candidates_in_batch(kept, tables["of"], tables["begins"], tables["ends"])
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

    def nothing(self, logits: Tensor, batch: Batch) -> Tensor:
        """The logits at each window's first token, (W, 2)."""
        return logits[torch.arange(len(logits), device=logits.device), batch["first"]]

    def answers(self, logits: Tensor, batch: Batch) -> Tensor:
        """See `spans.best_spans`."""
        return best_spans(logits, batch, self.sizes.max_answer, self.nothing(logits, batch).sum(1))

    def restrict(self, encoded: EncodedQuestions, candidates: Ragged) -> EncodedQuestions:
        """See `span_reader.SpanReader.restrict`."""
        return replace(encoded, candidates=candidates)

    def window_targets(self, batch: Batch, answers: Tensor) -> Tensor:
        """First and last token of the right answer in each window, (W, 2); the first token where it is not seen whole.

        Args:
            batch: B questions with W windows.
            answers: Where the right ones begin and end in the context, (B, M, 2); -1 where there is none. The first of
                a question counts.
        """
        tokens, whole = self.window_spans(batch, answers[:, :1])
        return torch.where(whole, tokens.squeeze(1), batch["first"].unsqueeze(1))

    def token_names(self) -> Sequence[str]:
        """The word pieces, in the order of their numbers."""
        names: list[str] = self.tokenizer.convert_ids_to_tokens(list(range(len(self.tokenizer))))
        return names
