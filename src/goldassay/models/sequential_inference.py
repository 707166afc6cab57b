"""The layers of ESIM above the words, whatever the words' vectors come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from goldassay.models.bidirectional import Bidirectional, maximum_of_words
from goldassay.models.dam import refuse_many
from goldassay.models.dropout import Dropout
from goldassay.models.network import Batch, Network, Stream
from goldassay.models.word_network import aligned, real

if TYPE_CHECKING:
    from torch import Tensor

    from goldassay.models.configuration import Task


class SequentialInference(Network):
    """a, b = BiLSTM(words); b~, a~ by soft alignment of the states; m_a = [a, b~, a - b~, a * b~], and m_b likewise.

    They are projected by one layer with ReLU; a second BiLSTM over each; [average, maximum] over the words of both
    texts; one hidden layer with tanh. A text without a counterpart is contrasted with 0.

    Source: Chen, Zhu, Ling, Wei, Jiang and Inkpen 2017.
    """

    n_texts: int

    def add_layers(self, task: Task, width: int, units: int, dropout: float) -> None:
        """Make the layers.

        Args:
            task: What to learn.
            width: Of a word's vector.
            units: Of the LSTMs in each direction, and of the hidden layers.
            dropout: On word vectors, after each projection and before the classifier.

        Raises:
            InputError: There are more than two texts.
        """
        refuse_many(self.name, task)
        self.n_texts = len(task.roles)
        self.read = Bidirectional(width, units)
        self.contrast = nn.Linear(8 * units, units)
        self.compose = Bidirectional(units, units)
        self.hidden = nn.Linear(8 * units, units)
        self.classifier = nn.Linear(units, task.n_outputs)
        self.dropout = Dropout(dropout)

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
