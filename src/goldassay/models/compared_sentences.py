"""Networks of word vectors that make one vector of each text and compare them by one hidden layer."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from goldassay.models.dropout import Dropout
from goldassay.models.sentence_encoder import join, joined_width
from goldassay.models.word_network import WordNetwork

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from goldassay.models.configuration import Task
    from goldassay.models.network import Batch, Stream
    from goldassay.models.vocabulary import Vocabulary


class ComparedSentences(WordNetwork):
    """h = ReLU(W s + b) and a linear classifier, where s joins the texts' vectors.

    Of one text s = u, of two s = [u, v, |u - v|, u * v]. A subclass gives u and v: `encode_stream`. Its sizes hold
    `hidden` and `dropout` beside those of a `WordNetwork`.

    Args:
        task: What to learn.
        sizes: Of the subclass.
        vocabulary: Of the training texts.
        width: Of a text's vector.

    Source: Mou et al. 2016 for joining pairs.
    """

    def __init__(self, task: Task, sizes: Any, vocabulary: Vocabulary, width: int) -> None:
        super().__init__(task, sizes, vocabulary)
        self.dropout = Dropout(sizes.dropout)
        self.hidden = nn.Linear(joined_width(self.n_texts, width), sizes.hidden)
        self.classifier = nn.Linear(sizes.hidden, task.n_outputs)

    @abstractmethod
    def encode_stream(self, stream: Stream) -> Tensor:
        """One vector a text, (B, width); 0 for an empty text."""

    def sentences(self, batch: Batch) -> tuple[Tensor, ...]:
        """One vector a text, each (B, width); 0 for an empty text."""
        return tuple(self.encode_stream(stream) for stream in self.embed(batch))

    def represent(self, batch: Batch) -> Tensor:
        """The hidden layer, (B, hidden)."""
        return self.compare(self.sentences(batch))

    def represent_streams(self, streams: list[Stream], batch: Batch) -> Tensor:  # noqa: ARG002
        """The hidden layer, (B, hidden), from given vectors."""
        return self.compare([self.encode_stream(stream) for stream in streams])

    def compare(self, sentences: Sequence[Tensor]) -> Tensor:
        """The hidden layer, (B, hidden), from what `sentences` gives."""
        return torch.relu(self.hidden(self.dropout(join(sentences))))

    def classify(self, representation: Tensor) -> Tensor:
        """Logits."""
        logits: Tensor = self.classifier(self.dropout(representation))
        return logits
