"""What networks that read texts as rectangles of word vectors share: all but how they represent a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import nn

from goldassay.models.network import Batch, Network, Stream
from goldassay.models.sentence_encoder import (
    EncodedTexts,
    encode_texts,
    load_vocabulary,
    padded_words,
    save_vocabulary,
)
from goldassay.models.vocabulary import PADDING, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.models.configuration import Task


class WordNetwork(Network):
    """A network whose texts are words of a vocabulary learnt in training, each with a vector.

    Vectors are learnt with the rest, from random ones or from those of a file, which may stay as they are. None are
    trained beforehand on the training texts by themselves: a published recipe without a file's vectors has no such
    step, and 18,000 pairs hold too few words for one.

    A subclass says what becomes of the vectors: `represent_streams` and `classify`. Its sizes hold `vectors`,
    `frozen`, `min_count`, `max_tokens` and `lowercase`.

    Args:
        task: What to learn.
        sizes: Of the subclass.
        vocabulary: Of the training texts.
    """

    takes_vectors: ClassVar[bool] = True

    def __init__(self, task: Task, sizes: Any, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.vocabulary, self.sizes = vocabulary, sizes
        self.n_texts = len(task.roles)
        self.vectors = nn.Embedding(len(vocabulary), sizes.vectors, sparse=True)
        nn.init.normal_(self.vectors.weight, std=0.3)

    @classmethod
    def build(cls, task: Task, texts: Any, sizes: Any, model: str) -> Self:  # noqa: ARG003
        """Learn words from the training texts; see `network.Network.build`."""
        columns = [column for column in texts if column is not None]
        vocabulary = Vocabulary.learn(columns, task.tokenizer, lowercase=sizes.lowercase, min_count=sizes.min_count)
        return cls(task, sizes, vocabulary)

    @classmethod
    def load(cls, task: Task, sizes: Any, assets: Path) -> Self:
        """See `network.Network.load`."""
        return cls(task, sizes, load_vocabulary(assets)[0])

    def save_assets(self, folder: Path) -> None:
        """Write the vocabulary."""
        save_vocabulary(self.vocabulary, folder)

    def encode(self, texts: Sequence[Sequence[str] | None]) -> EncodedTexts:
        """Words of each text."""
        return encode_texts(texts, self.vocabulary, self.sizes.max_tokens)

    def collate(self, encoded: EncodedTexts, rows: NDArray[np.int64]) -> Batch:
        """Words as rectangles, one a role."""
        return Batch(padded_words([words.take(rows) for words in encoded.words]), rows.size)

    def embed(self, batch: Batch) -> list[Stream]:
        """Word vectors."""
        streams = []
        for role in range(self.n_texts):
            words = batch[f"words{role}"]
            streams.append(Stream(self.vectors(words), words, torch.where(words != PADDING, role, -1)))
        return streams

    def token_names(self) -> Sequence[str]:
        """The words, in the order of their numbers."""
        return [self.vocabulary.word(number) for number in range(len(self.vocabulary))]


def real(stream: Stream) -> Tensor:
    """1 where a word is, 0 where padding, (B, L, 1), in the vectors' own type."""
    return (stream.roles >= 0).unsqueeze(2).to(stream.vectors.dtype)


def aligned(a: Tensor, b: Tensor, real_a: Tensor, real_b: Tensor, of_a: Tensor, of_b: Tensor) -> tuple[Tensor, Tensor]:
    """For each word of one text the average of the other's words that it attends to; 0 where the other has none.

    e_ij = a_i . b_j; b~_i = sum_j softmax_j(e_ij) of_b_j, and a~_j = sum_i softmax_i(e_ij) of_a_i, over words only.

    Args:
        a: What is compared of the first text, (B, L, D).
        b: Of the second, (B, M, D).
        real_a: 1 for words, (B, L, 1).
        real_b: The same of the second, (B, M, 1).
        of_a: What is averaged of the first text, (B, L, E).
        of_b: Of the second, (B, M, E).

    Returns:
        b~, (B, L, E), and a~, (B, M, E); 0 at padding.

    Source: Parikh, Täckström, Das and Uszkoreit 2016.
    """
    scores = a @ b.transpose(1, 2)
    # Far below any score but finite: a row without words must not become NaN.
    lowest = torch.finfo(scores.dtype).min / 2
    from_b = torch.softmax(scores.masked_fill(real_b.transpose(1, 2) == 0, lowest), dim=2) * real_b.transpose(1, 2)
    from_a = torch.softmax(scores.masked_fill(real_a == 0, lowest), dim=1) * real_a
    return from_b @ of_b * real_a, from_a.transpose(1, 2) @ of_a * real_b
