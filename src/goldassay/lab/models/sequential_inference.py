"""The layers of ESIM above the words, whatever the words' vectors come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from goldassay.lab.models.layers import Dropout, counterparts, refuse_many
from goldassay.lab.models.network import Batch, Network, Stream
from goldassay.lab.models.sequences import Bidirectional, Layout, flattened

if TYPE_CHECKING:
    from torch import Tensor

    from goldassay.lab.models.configuration import Task


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

    def represent_streams(self, streams: list[Stream], batch: Batch) -> Tensor:
        """The hidden layer, (B, units)."""
        return self.represent_words(*flattened(streams, batch.counts))

    def represent_words(self, vectors: Tensor, layout: Layout) -> Tensor:
        """The hidden layer, (B, units), from the vectors of all words, (T', E)."""
        own = self.read(self.dropout(vectors), layout)
        other = counterparts(own, own, layout)
        contrasted = torch.cat((own, other, own - other, own * other), dim=1)
        states = self.compose(self.dropout(torch.relu(self.contrast(contrasted))), layout)
        pooled = torch.cat((layout.averages(states), layout.maxima(states)), dim=1).chunk(self.n_texts)
        if self.n_texts == 1:
            pooled = (*pooled, torch.zeros_like(pooled[0]))
        return torch.tanh(self.hidden(self.dropout(torch.cat(pooled, dim=1))))

    def classify(self, representation: Tensor) -> Tensor:
        """Logits."""
        logits: Tensor = self.classifier(self.dropout(representation))
        return logits
