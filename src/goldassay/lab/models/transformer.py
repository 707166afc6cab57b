"""Any sequence classifier of the transformers library, from a folder or from the hub."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from goldassay.core.errors import InputError
from goldassay.lab.models.checkpoint import (
    attention_mask,
    has_types,
    open_config,
    open_tokenizer,
    open_weights,
    skip_padding,
    to_the_right,
    token_limit,
)
from goldassay.lab.models.configuration import DESK, PUBLISHED, Configuration, Recipe, Task
from goldassay.lab.models.layers import replace_dropouts
from goldassay.lab.models.network import Batch, Stream
from goldassay.lab.models.network import Network as Base
from goldassay.lab.models.vocabulary import Ragged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_BLOCK = 4096


@dataclass(frozen=True)
class Sizes:
    """Limits; all else is the checkpoint's own.

    Attributes:
        max_tokens: Longest input, special tokens among them; the checkpoint's own limit, if that is lower.
        dropout: In place of the checkpoint's own rates; None leaves them.
        all_words: Every step moves the vectors of all word pieces, as published; else those of its batch alone, and
            weight decay leaves them as they are.
    """

    max_tokens: int = 128
    dropout: float | None = None
    all_words: bool = False


@dataclass(frozen=True)
class EncodedInputs:
    """Inputs as the tokenizer puts them together; see `network.Encoded`.

    Attributes:
        tokens: Special tokens among them.
        types: Token type of each, where the model has such.
        roles: Position of each token's role; -1 for special tokens.
        costs: Length, (N,).
        cut: (roles, N).
    """

    tokens: Ragged
    types: Ragged | None
    roles: Ragged
    costs: NDArray[np.int64]
    cut: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.tokens)


class Network(Base):
    """A pretrained transformer with a classification head: BERT, RoBERTa, XLNet, ALBERT, DistilBERT and so on.

    Published fine-tuning (Devlin et al. 2019; Zhou et al. 2020): Adam, peak rate 2e-5, batch 32, 2 to 4 epochs, linear
    decay after a warm-up of a tenth. Desk has a higher rate and 3 epochs, for small checkpoints and few rows.

    The layer before the classifier is whatever enters the last linear layer that has as many outputs as there are
    labels: for BERT the pooled first token, for RoBERTa the dense layer of the head, for GPT-2 and its like, which read
    from left to right and are padded in front, the last token. Where a tokenizer puts nothing between two texts, as
    theirs, an end of text stands behind each, as Radford et al. 2018 put delimiters.

    At desk size vectors of word pieces have sparse gradients, which makes a small checkpoint's step shorter; see
    `Sizes.all_words`.

    Weights are read from safetensors only, and no code that comes with a checkpoint is run.
    """

    name: ClassVar[str] = "transformer"
    # On one core pairs of 30 tokens go through a small model at 195 a second; 256 at once leave its cache: 140.
    evaluation_batch: ClassVar[int] = 64
    configurations: ClassVar[Mapping[str, Configuration]] = {
        DESK: Configuration(
            Sizes(),
            Recipe(
                epochs=3, batch_size=32, learning_rate=5e-5, weight_decay=0.01, schedule="linear", warmup=0.1, clip=1.0
            ),
        ),
        PUBLISHED: Configuration(
            Sizes(max_tokens=128, all_words=True),
            Recipe(
                epochs=2, batch_size=32, learning_rate=2e-5, weight_decay=0.01, schedule="linear", warmup=0.1, clip=1.0
            ),
        ),
    }

    def __init__(self, model: Any, tokenizer: Any, sizes: Sizes, n_texts: int) -> None:
        super().__init__()
        replace_dropouts(model)
        # Half of a small checkpoint's weights are vectors of word pieces, of which a batch holds a hundredth.
        words: Any = model.get_input_embeddings()
        words.sparse = isinstance(words, nn.Embedding) and not sizes.all_words
        if words.sparse:
            skip_padding(words)
        self.model, self.tokenizer, self.sizes, self.n_texts = model, tokenizer, sizes, n_texts
        self._classifier_name, classifier = _last_linear(model)
        self._captured: list[Tensor] = []
        classifier.register_forward_pre_hook(lambda _, inputs: self._captured.append(inputs[0]))
        self.max_tokens = min(sizes.max_tokens, token_limit(model.config, tokenizer))
        self.has_types = has_types(model.config)
        self.takes_embeddings = not model.config.is_encoder_decoder
        self.reads_left_to_right = self._classifier_name.rpartition(".")[2] == "score"
        if self.reads_left_to_right:
            text = model.config.get_text_config()
            # Padding is masked, whatever its number is; without one the library refuses batches.
            text.pad_token_id = 0 if text.pad_token_id is None else text.pad_token_id
            text.use_cache = False

    @classmethod
    def build(cls, task: Task, texts: Any, sizes: Any, model: str) -> Network:  # noqa: ARG003
        """Load a checkpoint; its head is new, unless it was made for as many labels."""
        from transformers import AutoModelForSequenceClassification

        tokenizer = open_tokenizer(model)
        config = open_config(model, sizes.dropout, num_labels=task.n_outputs)
        _check_head(config, model, task)
        network = open_weights(AutoModelForSequenceClassification, model, config)
        return cls(network, tokenizer, sizes, len(task.roles))

    @classmethod
    def load(cls, task: Task, sizes: Any, assets: Path) -> Network:
        """See `network.Network.load`."""
        from transformers import AutoConfig, AutoModelForSequenceClassification

        model = AutoModelForSequenceClassification.from_config(AutoConfig.from_pretrained(assets))
        return cls(model.float(), open_tokenizer(str(assets)), sizes, len(task.roles))

    def save_assets(self, folder: Path) -> None:
        """Write configuration and tokenizer as the library does."""
        self.model.config.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def encode(self, texts: Sequence[Sequence[str] | None]) -> EncodedInputs:
        """Tokenize, at most two texts together; too long ones lose tokens from the longer text's end."""
        shown = [role for role, column in enumerate(texts) if column is not None]
        if len(shown) > 2:
            raise InputError(f"a transformer takes one text or two, not {len(shown)}", mend="choose other columns")
        columns = [column for column in texts if column is not None]
        parts = [part for start in range(0, len(columns[0]), _BLOCK) for part in self._block(columns, start)]
        tokens, types, roles, lost = zip(*parts, strict=True) if parts else ((), (), (), ())
        cut = np.zeros((self.n_texts, len(tokens)), np.bool_)
        for place, role in enumerate(shown):
            cut[role] = [place in each for each in lost]
        numbers = np.array([*shown, -1])
        placed = Ragged.of(roles)
        return EncodedInputs(
            tokens=Ragged.of(tokens),
            types=Ragged.of(types) if self.has_types else None,
            roles=Ragged(numbers[placed.flat], placed.offsets),
            costs=np.fromiter(map(len, tokens), np.int64, len(tokens)),
            cut=cut,
        )

    def _block(self, columns: Sequence[Any], start: int) -> Iterator[tuple[list[int], list[int], list[int], set[int]]]:
        """Tokens, types, places of the text (-1 for special tokens) and the texts that were cut, row by row."""
        some = [list(column[start : start + _BLOCK]) for column in columns]
        whole = self.tokenizer(*some, return_token_type_ids=self.has_types, verbose=False)
        long = {row for row, tokens in enumerate(whole["input_ids"]) if len(tokens) > self.max_tokens}
        if long:
            rows = sorted(long)
            shortened = self.tokenizer(
                *([column[row] for row in rows] for column in some),
                truncation="longest_first",
                max_length=self.max_tokens,
                return_token_type_ids=self.has_types,
                verbose=False,
            )
            where = {row: place for place, row in enumerate(rows)}
        for row in range(len(some[0])):
            source, at = (shortened, where[row]) if row in long else (whole, row)
            places = [-1 if place is None else place for place in source.sequence_ids(at)]
            lost = set()
            if row in long:
                before = whole.sequence_ids(row)
                lost = {place for place in range(len(some)) if places.count(place) < before.count(place)}
            types = source["token_type_ids"][at] if self.has_types else []
            yield source["input_ids"][at], types, places, lost

    def collate(self, encoded: EncodedInputs, rows: NDArray[np.int64]) -> Batch:
        """Rectangles of tokens; padding goes to the side that the model was trained with."""
        tokens, real = encoded.tokens.take(rows).padded(self.tokenizer.pad_token_id or 0)
        roles = encoded.roles.take(rows).padded(-1)[0]
        tables = {"tokens": tokens, "real": real.astype(np.int64), "roles": roles}
        if encoded.types is not None:
            tables["types"] = encoded.types.take(rows).padded(self.tokenizer.pad_token_type_id)[0]
        counts = (int(np.count_nonzero(real)),)
        if self.reads_left_to_right or self.tokenizer.padding_side == "left":
            tables = {name: to_the_right(table, real) for name, table in tables.items()}
        return Batch({name: torch.from_numpy(table) for name, table in tables.items()}, rows.size, counts)

    def forward(self, batch: Batch) -> Tensor:
        """Logits."""
        return self._run(batch, input_ids=batch["tokens"])[0]

    def represent(self, batch: Batch) -> Tensor:
        """What enters the classifier, (B, D)."""
        return self._run(batch, input_ids=batch["tokens"])[1]

    def embed(self, batch: Batch) -> list[Stream]:
        """Word-piece embeddings, without those of positions."""
        vectors = self.model.get_input_embeddings()(batch["tokens"])
        return [Stream(vectors, batch["tokens"], batch["roles"])]

    def represent_streams(self, streams: list[Stream], batch: Batch) -> Tensor:
        """What enters the classifier, from given embeddings."""
        return self._run(batch, inputs_embeds=streams[0].vectors)[1]

    def _run(self, batch: Batch, **inputs: Tensor) -> tuple[Tensor, Tensor]:
        if self.has_types:
            inputs["token_type_ids"] = batch["types"]
        if self.reads_left_to_right:
            # Given tokens, the library looks for the last one that is not the padding's number, which may stand in a
            # text too; given vectors, it takes the last.
            if "input_ids" in inputs:
                inputs["inputs_embeds"] = self.model.get_input_embeddings()(inputs.pop("input_ids"))
            inputs["position_ids"] = (batch["real"].cumsum(1) - 1).clamp(min=0)
        self._captured.clear()
        mask = attention_mask(self.model, batch["real"], batch.counts[0])
        logits: Tensor = self.model(**inputs, attention_mask=mask).logits
        entered = self._captured.pop()
        return logits, entered[:, -1] if self.reads_left_to_right else entered

    def classify(self, representation: Tensor) -> Tensor:
        """Logits."""
        logits: Tensor = self.model.get_submodule(self._classifier_name)(representation)
        self._captured.clear()
        return logits

    def token_names(self) -> Sequence[str]:
        """The word pieces, in the order of their numbers."""
        names: list[str] = self.tokenizer.convert_ids_to_tokens(list(range(len(self.tokenizer))))
        return names


def _check_head(config: Any, name: str, task: Task) -> None:
    if task.kind == "number":
        config.problem_type = "regression"
    elif config.problem_type == "regression":
        raise InputError("the checkpoint was made for regression", file=name, mend="give one for classification")


def _last_linear(model: Any) -> tuple[str, nn.Module]:
    n_labels = model.config.num_labels
    found = [
        (name, module)
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and module.out_features == n_labels
    ]
    if not found:
        raise InputError(
            f"{type(model).__name__} has no linear classifier to read from", mend="choose another kind of checkpoint"
        )
    return found[-1]
