"""Counts of words, and nothing else, through a linear model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from goldassay.lab.models.compared_sentences import EncodedTexts, VocabularyNetwork, encode_texts, padded_words
from goldassay.lab.models.configuration import DESK, PUBLISHED, Configuration, Recipe, Task
from goldassay.lab.models.layers import Dropout
from goldassay.lab.models.network import Batch, Stream
from goldassay.lab.models.vocabulary import PADDING, UNKNOWN, Ragged, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Sizes:
    """Widths and limits.

    Attributes:
        projection: Width that counts are projected to, which is what `represent` gives.
        dropout: Before the classifier.
        min_count: Words seen less often in training are unknown.
        max_tokens: Words of a text beyond this are cut off.
        lowercase: Whether case is ignored.
    """

    projection: int = 64
    dropout: float = 0.5
    min_count: int = 2
    max_tokens: int = 512
    lowercase: bool = True


@dataclass(frozen=True)
class EncodedBags(EncodedTexts):
    """Words of each text, and the rows of the table that they stand for.

    Attributes:
        rows: One a role.
    """

    rows: tuple[Ragged, ...] = ()


class Network(VocabularyNetwork):
    """A linear model on the counts of words: p = W c + b, and a linear classifier on p.

    Published (Hendrycks et al. 2020, released settings): counts projected to 300 numbers without a function between,
    a linear classifier; Adam, rate 1e-3, batch 32, 16 epochs, patience 4, gradient norm 4. For sentiment alone; STS-B
    is the cosine of two counts, which nothing is trained for (`goldassay shift generalization --model bow`). Desk
    projects to 64 and is trained on larger batches.

    What is counted of two texts or more is ours: of each text, apart, the words that another text has too and those
    that none has. Of counts of 0 and 1 that is as much as [u, v, |u - v|, u * v] holds, by which other networks join
    two texts; without it a linear model could not compare them. A word that is not known is shared with nobody.

    It has no vectors of words, and reads two texts together: no vector for each sentence.

    Source: Hendrycks, Liu, Wallace, Dziedzic, Krishnan and Song 2020.
    """

    name: ClassVar[str] = "bag_of_words"
    configurations: ClassVar[Mapping[str, Configuration]] = {
        DESK: Configuration(Sizes(), Recipe(epochs=4, batch_size=128, learning_rate=1e-2, schedule="linear", clip=5.0)),
        PUBLISHED: Configuration(
            Sizes(projection=300, dropout=0.0, min_count=1),
            Recipe(epochs=16, batch_size=32, learning_rate=1e-3, clip=4.0, patience=4),
        ),
    }

    def __init__(self, task: Task, sizes: Sizes, vocabulary: Vocabulary) -> None:
        super().__init__(task, sizes, vocabulary)
        kinds = 2 * self.n_texts if self.n_texts > 1 else 1
        self.table = nn.Embedding(kinds * len(vocabulary), sizes.projection, sparse=True)
        # A review's hundreds of counts are summed: its projection shall begin near 1, not near 20.
        nn.init.normal_(self.table.weight, std=0.05)
        self.bias = nn.Parameter(torch.zeros(sizes.projection))
        self.dropout = Dropout(sizes.dropout)
        self.classifier = nn.Linear(sizes.projection, task.n_outputs)

    def encode(self, texts: Sequence[Sequence[str] | None]) -> EncodedBags:
        """Words of each text, and which of them another text of the example has."""
        encoded = encode_texts(texts, self.vocabulary, self.sizes.max_tokens)
        n_words = len(self.vocabulary)
        keys = [np.repeat(np.arange(len(words)), words.lengths) * n_words + words.flat for words in encoded.words]
        rows = []
        for role, words in enumerate(encoded.words):
            others = [each for place, each in enumerate(keys) if place != role]
            shared = np.isin(keys[role], np.concatenate(others)) if others else np.zeros(words.flat.size, np.bool_)
            shared &= words.flat != UNKNOWN
            rows.append(Ragged(words.flat + n_words * (2 * role + shared), words.offsets))
        return EncodedBags(encoded.words, encoded.costs, encoded.cut, rows=tuple(rows))

    def collate(self, encoded: EncodedBags, rows: NDArray[np.int64]) -> Batch:
        """Rows of the table, of all texts of an example one after the other; and words and rows as rectangles."""
        some = [each.take(rows) for each in encoded.rows]
        joined = some[0]
        for each in some[1:]:
            joined = joined.beside(each)
        tensors = padded_words([words.take(rows) for words in encoded.words])
        tensors |= {f"rows{role}": torch.from_numpy(each.padded()[0]) for role, each in enumerate(some)}
        tensors |= {"rows": torch.from_numpy(joined.flat), "starts": torch.from_numpy(joined.offsets[:-1])}
        return Batch(tensors, rows.size)

    def embed(self, batch: Batch) -> list[Stream]:
        """Each word's row of the table."""
        streams = []
        for role in range(self.n_texts):
            words = batch[f"words{role}"]
            streams.append(Stream(self.table(batch[f"rows{role}"]), words, torch.where(words != PADDING, role, -1)))
        return streams

    def represent_streams(self, streams: list[Stream], batch: Batch) -> Tensor:  # noqa: ARG002
        """The projection, (B, projection), from given rows."""
        parts = [(stream.vectors * (stream.roles >= 0).unsqueeze(2)).sum(1) for stream in streams]
        return torch.stack(parts).sum(0) + self.bias

    def represent(self, batch: Batch) -> Tensor:
        """The projection, (B, projection)."""
        total = nn.functional.embedding_bag(batch["rows"], self.table.weight, batch["starts"], mode="sum", sparse=True)
        return total + self.bias

    def classify(self, representation: Tensor) -> Tensor:
        """Logits."""
        logits: Tensor = self.classifier(self.dropout(representation))
        return logits
