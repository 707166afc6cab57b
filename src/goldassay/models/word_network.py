"""What networks that read texts as word vectors share: all but how they represent a text."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import nn

from goldassay.models.layout import Layout, flattened, n_filling
from goldassay.models.network import Batch, Stream
from goldassay.models.sentence_encoder import EncodedTexts, encode_texts, padded_words
from goldassay.models.vocabulary import PADDING
from goldassay.models.vocabulary_network import VocabularyNetwork

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.models.configuration import Task
    from goldassay.models.vocabulary import Vocabulary


class WordNetwork(VocabularyNetwork):
    """A network whose texts are words of a vocabulary learnt in training, each with a vector.

    Vectors are learnt with the rest, from random ones or from those of a file, which may stay as they are. None are
    trained beforehand on the training texts by themselves: a published recipe without a file's vectors has no such
    step, and 18,000 pairs hold too few words for one.

    A subclass says what becomes of the vectors: `represent_words` and `classify`. Its sizes hold `vectors`,
    `frozen`, `min_count`, `max_tokens` and `lowercase`.

    Args:
        task: What to learn.
        sizes: Of the subclass.
        vocabulary: Of the training texts.
    """

    takes_vectors: ClassVar[bool] = True

    def __init__(self, task: Task, sizes: Any, vocabulary: Vocabulary) -> None:
        super().__init__(task, sizes, vocabulary)
        self.vectors = nn.Embedding(len(vocabulary), sizes.vectors, sparse=True)
        nn.init.normal_(self.vectors.weight, std=0.3)

    def encode(self, texts: Sequence[Sequence[str] | None]) -> EncodedTexts:
        """Words of each text."""
        return encode_texts(texts, self.vocabulary, self.sizes.max_tokens)

    def collate(self, encoded: EncodedTexts, rows: NDArray[np.int64]) -> Batch:
        """Words as rectangles, one a role, and of all texts one after the other."""
        some = [words.take(rows) for words in encoded.words]
        tokens = np.concatenate([each.flat for each in some])
        flat = {
            "tokens": np.concatenate((tokens, np.full(n_filling(tokens.size), PADDING))),
            "lengths": np.concatenate([each.lengths for each in some]),
        }
        tensors = padded_words(some) | {name: torch.from_numpy(each) for name, each in flat.items()}
        return Batch(tensors, rows.size, tuple(each.flat.size for each in some))

    @abstractmethod
    def represent_words(self, vectors: Tensor, layout: Layout) -> Tensor:
        """The layer before the classifier, (B, D), from the vectors of all words, (T', E)."""

    def look_up(self, batch: Batch) -> tuple[Tensor, Layout]:
        """The vectors of all words, (T', E), and where they stand."""
        # One look-up for all texts: each further one costs a sparse gradient more.
        return self.vectors(batch["tokens"]), Layout.in_batch(batch)

    def represent(self, batch: Batch) -> Tensor:
        """The layer before the classifier, (B, D)."""
        return self.represent_words(*self.look_up(batch))

    def represent_streams(self, streams: list[Stream], batch: Batch) -> Tensor:
        """The same from given vectors."""
        return self.represent_words(*flattened(streams, batch.counts))

    def embed(self, batch: Batch) -> list[Stream]:
        """Word vectors."""
        streams = []
        for role in range(self.n_texts):
            words = batch[f"words{role}"]
            streams.append(Stream(self.vectors(words), words, torch.where(words != PADDING, role, -1)))
        return streams
