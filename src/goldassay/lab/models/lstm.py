"""An LSTM that reads each text from left to right; its last state, compared by one hidden layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from goldassay.lab.models.compared_sentences import ComparedSentences, WordSizes
from goldassay.lab.models.configuration import DESK, PUBLISHED, Configuration, Recipe, Task
from goldassay.lab.models.recurrence import on_processor, packed_states

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.lab.models.sequences import Layout
    from goldassay.lab.models.vocabulary import Vocabulary


@dataclass(frozen=True)
class Sizes(WordSizes):
    """Widths and limits, beside those of `WordSizes`.

    Attributes:
        units: Of each LSTM.
        layers: LSTMs on top of each other.
        hidden: Width of the hidden layer, which is what `represent` gives.
        dropout: On word vectors, before the hidden layer and before the classifier.
        cosine: Whether two texts are compared by the cosine of their vectors alone.
    """

    units: int = 128
    layers: int = 1
    hidden: int = 128
    cosine: bool = False


class Network(ComparedSentences):
    """The last state of an LSTM, one vector a text; unlike `bilstm` it reads in one direction and pools nothing.

    Published (Hendrycks et al. 2020): 300-wide word2vec or GloVe vectors, frozen; two layers of 512 units, read from
    left to right, of which the last state is taken; Adam, rate 5e-4, batch 32, 16 epochs, patience 4, gradient norm 4;
    "an MLP" on the encoding, whose width is not printed: here 512, and for two texts on [u, v, |u - v|, u * v]. Their
    released settings classify without a hidden layer. Without a file the vectors are learnt; desk is one layer of 128.

    The last state is that at the text's last word; on a processor there is no padding behind it, see `recurrence`, so
    that batches are large and of mixed lengths.

    Source: Hendrycks, Liu, Wallace, Dziedzic, Krishnan and Song 2020; Hochreiter and Schmidhuber 1997.
    """

    name: ClassVar[str] = "lstm"
    configurations: ClassVar[Mapping[str, Configuration]] = {
        DESK: Configuration(
            Sizes(), Recipe(epochs=4, batch_size=192, learning_rate=1e-2, schedule="linear", clip=5.0, pool=1)
        ),
        PUBLISHED: Configuration(
            Sizes(vectors=300, units=512, layers=2, hidden=512, dropout=0.0, frozen=True),
            Recipe(epochs=16, batch_size=32, learning_rate=5e-4, clip=4.0, patience=4),
        ),
    }

    def __init__(self, task: Task, sizes: Sizes, vocabulary: Vocabulary) -> None:
        super().__init__(task, sizes, vocabulary, width=sizes.units, hidden=sizes.hidden, cosine=sizes.cosine)
        widths = [sizes.vectors, *[sizes.units] * (sizes.layers - 1)]
        self.layers = nn.ModuleList(nn.LSTM(width, sizes.units, batch_first=True) for width in widths)

    def encode_words(self, vectors: Tensor, layout: Layout) -> Tensor:
        """The state at the last word, (roles B, units); 0 for an empty text."""
        states = self.dropout(vectors)
        if not on_processor(vectors):
            return torch.cat([self._last(*each) for each in zip(layout.rectangles(states), layout.real, strict=True)])
        order, _, starts, places = layout.packed
        for layer in self.layers:
            states = packed_states(states, (order,), starts, (layer,))[0]
            # What the next one reads stands in the order of the steps already.
            order = torch.arange(len(order))
        # An empty text takes the row behind all others.
        states = torch.cat((states, states.new_zeros(1, states.shape[1])))
        lengths = layout.lengths
        return states[torch.where(lengths > 0, starts[lengths - 1] + places, len(order))]

    def _last(self, states: Tensor, real: Tensor) -> Tensor:
        for layer in self.layers:
            states, _ = layer(states)
        lengths = real.sum(1)
        last = (lengths - 1).clamp(min=0)[:, None, None].expand(-1, 1, states.shape[2])
        return states.gather(1, last).squeeze(1) * (lengths > 0).unsqueeze(1)
