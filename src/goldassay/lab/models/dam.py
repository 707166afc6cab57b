"""Decomposable attention: each word is compared with the words of the other text that it attends to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from goldassay.lab.models.compared_sentences import WordNetwork, WordSizes
from goldassay.lab.models.configuration import DESK, PUBLISHED, Configuration, Recipe, Task
from goldassay.lab.models.layers import Dropout, counterparts, refuse_many

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.lab.models.sequences import Layout
    from goldassay.lab.models.vocabulary import Vocabulary


@dataclass(frozen=True)
class Sizes(WordSizes):
    """Widths and limits, beside those of `WordSizes`.

    Attributes:
        units: Width that vectors are projected to, and of every hidden layer.
        dropout: Before each layer.
    """

    units: int = 128


class Network(WordNetwork):
    """The decomposable attention model without attention within a sentence.

    Words are projected; attend: e_ij = F(a_i) . F(b_j), b~ and a~ by soft alignment; compare: v1_i = G([a_i, b~_i]),
    v2_j = G([b_j, a~_j]); aggregate: H([sum_i v1_i, sum_j v2_j]). F, G and H are two layers with ReLU each. A text
    without a counterpart is compared with 0.

    Published (Parikh et al. 2016): 300-wide GloVe vectors, frozen and projected to 200; dropout .2; Adagrad, rate .05,
    batch 4; weights from N(0, .01). Liu et al. 2020 train it for 100 epochs, weights uniform within .01. Without
    a file of vectors they are learnt; weights start as torch's layers do; desk is 128 wide, trained by Adam.

    Source: Parikh, Täckström, Das and Uszkoreit 2016.
    """

    name: ClassVar[str] = "dam"
    configurations: ClassVar[Mapping[str, Configuration]] = {
        DESK: Configuration(
            Sizes(), Recipe(epochs=6, batch_size=128, learning_rate=2.8e-3, schedule="linear", clip=5.0)
        ),
        PUBLISHED: Configuration(
            Sizes(vectors=300, units=200, frozen=True),
            Recipe(epochs=100, batch_size=4, learning_rate=0.05, optimizer="adagrad"),
        ),
    }

    def __init__(self, task: Task, sizes: Sizes, vocabulary: Vocabulary) -> None:
        refuse_many(self.name, task)
        super().__init__(task, sizes, vocabulary)
        units = sizes.units
        self.project = nn.Linear(sizes.vectors, units, bias=False)
        self.attend = self._layers(units)
        self.contrast = self._layers(2 * units)
        self.aggregate = self._layers(2 * units)
        self.classifier = nn.Linear(units, task.n_outputs)

    def _layers(self, width: int) -> nn.Sequential:
        units, dropout = self.sizes.units, self.sizes.dropout
        return nn.Sequential(
            Dropout(dropout), nn.Linear(width, units), nn.ReLU(), Dropout(dropout), nn.Linear(units, units), nn.ReLU()
        )

    def represent_words(self, vectors: Tensor, layout: Layout) -> Tensor:
        """The hidden layer after aggregation, (B, units)."""
        kind = vectors.dtype
        words = self.project(vectors).to(kind)
        others = counterparts(self.attend(words).to(kind), words, layout)
        compared = layout.sums(self.contrast(torch.cat((words, others), dim=1)).to(kind)).chunk(self.n_texts)
        if self.n_texts == 1:
            compared = (*compared, torch.zeros_like(compared[0]))
        hidden: Tensor = self.aggregate(torch.cat(compared, dim=1))
        return hidden

    def classify(self, representation: Tensor) -> Tensor:
        """Logits."""
        logits: Tensor = self.classifier(representation)
        return logits
