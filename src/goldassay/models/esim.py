"""Enhanced sequential inference: BiLSTM states are aligned, contrasted, and composed by a second BiLSTM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import nn

from goldassay.models.bidirectional import Bidirectional, maximum_of_words
from goldassay.models.configuration import DESK, PUBLISHED, Configuration, Recipe, Task
from goldassay.models.dam import refuse_many
from goldassay.models.dropout import Dropout
from goldassay.models.word_network import WordNetwork, aligned, real

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

    from goldassay.models.network import Batch, Stream
    from goldassay.models.vocabulary import Vocabulary


@dataclass(frozen=True)
class Sizes:
    """Widths and limits.

    Attributes:
        vectors: Width of a word's vector.
        units: Of the LSTMs in each direction, and of the hidden layers.
        dropout: On word vectors, after each projection and before the classifier.
        min_count: Words seen less often in training are unknown.
        max_tokens: Words of a text beyond this are cut off.
        lowercase: Whether case is ignored.
    """

    vectors: int = 128
    units: int = 64
    dropout: float = 0.3
    min_count: int = 2
    max_tokens: int = 256
    lowercase: bool = True


class Network(WordNetwork):
    """The sequential model of ESIM, without trees.

    a, b = BiLSTM(words); b~, a~ by soft alignment of the states; m_a = [a, b~, a - b~, a * b~], and m_b likewise;
    projected by one layer with ReLU; a second BiLSTM over each; [average, maximum] over the words of both texts; one
    hidden layer with tanh. A text without a counterpart is contrasted with 0.

    Published (Chen et al. 2017): 300-wide GloVe vectors, tuned; 300 units; dropout .5; Adam, rate 4e-4, batch 32. Liu
    et al. 2020: clip 10, patience 5, 64 epochs. Here vectors are learnt in training, in both sizes; desk has 64 units.

    Source: Chen, Zhu, Ling, Wei, Jiang and Inkpen 2017.
    """

    name: ClassVar[str] = "esim"
    configurations: ClassVar[Mapping[str, Configuration]] = {
        DESK: Configuration(Sizes(), Recipe(epochs=4, batch_size=64, learning_rate=3e-3, schedule="linear", clip=10.0)),
        PUBLISHED: Configuration(
            Sizes(vectors=300, units=300, dropout=0.5),
            Recipe(epochs=64, batch_size=32, learning_rate=4e-4, clip=10.0, patience=5),
        ),
    }

    def __init__(self, task: Task, sizes: Sizes, vocabulary: Vocabulary) -> None:
        refuse_many(self.name, task)
        super().__init__(task, sizes, vocabulary)
        units = sizes.units
        self.read = Bidirectional(sizes.vectors, units)
        self.contrast = nn.Linear(8 * units, units)
        self.compose = Bidirectional(units, units)
        self.hidden = nn.Linear(8 * units, units)
        self.classifier = nn.Linear(units, len(task.label_names))
        self.dropout = Dropout(sizes.dropout)

    def represent_streams(self, streams: list[Stream], batch: Batch) -> Tensor:  # noqa: ARG002
        """The hidden layer, (B, units)."""
        masks = [real(stream) for stream in streams]
        states = [self.read(self.dropout(stream.vectors), mask) for stream, mask in zip(streams, masks, strict=True)]
        others: Any = [torch.zeros_like(each) for each in states]
        if self.n_texts == 2:
            others = aligned(states[0], states[1], masks[0], masks[1], states[0], states[1])
        pooled = [
            part
            for own, other, mask in zip(states, others, masks, strict=True)
            for part in self._composed(own, other, mask)
        ]
        if self.n_texts == 1:
            pooled += [torch.zeros_like(part) for part in pooled]
        return torch.tanh(self.hidden(self.dropout(torch.cat(pooled, dim=1))))

    def _composed(self, own: Tensor, other: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Average and maximum over the words of one text, each (B, 2 units); 0 for an empty text."""
        contrasted = torch.cat((own, other, own - other, own * other), dim=2)
        states = self.compose(self.dropout(torch.relu(self.contrast(contrasted))), mask)
        return states.sum(1) / mask.sum(1).clamp(min=1), maximum_of_words(states, mask)

    def classify(self, representation: Tensor) -> Tensor:
        """Logits."""
        logits: Tensor = self.classifier(self.dropout(representation))
        return logits
