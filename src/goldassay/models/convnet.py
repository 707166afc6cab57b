"""Convolutions over runs of words, and the largest response of each filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import nn

from goldassay.models.configuration import DESK, PUBLISHED, Configuration, Recipe, Task
from goldassay.models.dropout import Dropout
from goldassay.models.sentence_encoder import join, joined_width
from goldassay.models.word_network import WordNetwork, real

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch import Tensor

    from goldassay.models.network import Batch, Stream
    from goldassay.models.vocabulary import Vocabulary


@dataclass(frozen=True)
class Sizes:
    """Widths and limits.

    Attributes:
        vectors: Width of a word's vector.
        filters: Of each length.
        shortest: Words that the shortest filters span.
        longest: Words that the longest filters span.
        dropout: Before the classifier.
        frozen: Whether vectors from a file stay as they are; without a file they are always learnt.
        min_count: Words seen less often in training are unknown.
        max_tokens: Words of a text beyond this are cut off.
        lowercase: Whether case is ignored.
    """

    vectors: int = 128
    filters: int = 64
    shortest: int = 3
    longest: int = 5
    dropout: float = 0.5
    frozen: bool = False
    min_count: int = 2
    max_tokens: int = 512
    lowercase: bool = True


class Network(WordNetwork):
    """Kim's convolutional network, one vector a text; two texts are joined as [u, v, |u - v|, u * v].

    For each length h: c_i = ReLU(w . x_(i:i+h-1) + b), its maximum over the places that begin at a word; places beyond
    the text's end are 0, so that a text shorter than a filter has responses too.

    Published (Kim 2014): 300-wide word2vec vectors, lengths 3, 4 and 5 with 100 filters each, dropout .5, Adadelta,
    batch 50, the norm of each class's weights at most 3. Hendrycks et al. 2020: frozen vectors, Adam, rate 5e-4, batch
    32, 16 epochs, patience 4, gradient norm 4; in their released settings 1,024 filters of each length from 2 to 5.
    Published here has Kim's filters and their training; weights are not bounded. Without a file of vectors they are
    learnt. Desk has 64 filters of each length.

    Source: Kim 2014; Mou et al. 2016 for joining pairs.
    """

    name: ClassVar[str] = "convnet"
    configurations: ClassVar[Mapping[str, Configuration]] = {
        DESK: Configuration(Sizes(), Recipe(epochs=4, batch_size=64, learning_rate=3e-3, schedule="linear", clip=5.0)),
        PUBLISHED: Configuration(
            Sizes(vectors=300, filters=100, frozen=True),
            Recipe(epochs=16, batch_size=32, learning_rate=5e-4, clip=4.0, patience=4),
        ),
    }

    def __init__(self, task: Task, sizes: Sizes, vocabulary: Vocabulary) -> None:
        super().__init__(task, sizes, vocabulary)
        lengths = range(sizes.shortest, sizes.longest + 1)
        self.filters = nn.ModuleList(nn.Conv1d(sizes.vectors, sizes.filters, length) for length in lengths)
        self.dropout = Dropout(sizes.dropout)
        self.classifier = nn.Linear(joined_width(self.n_texts, sizes.filters * len(lengths)), task.n_outputs)

    def sentences(self, batch: Batch) -> tuple[Tensor, ...]:
        """The largest responses of each text, (B, filters of all lengths); 0 for an empty text."""
        return tuple(self._encode(stream) for stream in self.embed(batch))

    def represent_streams(self, streams: list[Stream], batch: Batch) -> Tensor:  # noqa: ARG002
        """The texts' largest responses, joined."""
        return self.compare([self._encode(stream) for stream in streams])

    def compare(self, sentences: Sequence[Tensor]) -> Tensor:
        """The texts' largest responses, joined."""
        return join(sentences)

    def _encode(self, stream: Stream) -> Tensor:
        mask = real(stream)
        vectors = (stream.vectors * mask).transpose(1, 2)
        responses = []
        for convolution in self.filters:
            reach = int(convolution.kernel_size[0]) - 1
            # ReLU is never below 0, so that places without a word cannot win as 0.
            found = torch.relu(convolution(nn.functional.pad(vectors, (0, reach)))) * mask.transpose(1, 2)
            responses.append(found.amax(2))
        return torch.cat(responses, dim=1)

    def classify(self, representation: Tensor) -> Tensor:
        """Logits."""
        logits: Tensor = self.classifier(self.dropout(representation))
        return logits
