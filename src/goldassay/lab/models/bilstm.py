"""A bidirectional LSTM over each sentence, its maximum over time, and a comparison of the two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch

from goldassay.lab.models.compared_sentences import SentenceMaxima, WordSizes
from goldassay.lab.models.configuration import DESK, PUBLISHED, Configuration, Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch import Tensor


@dataclass(frozen=True)
class Sizes(WordSizes):
    """Widths and limits, beside those of `WordSizes`.

    Attributes:
        units: Of the LSTM in each direction.
        hidden: Width of the hidden layer, which is what `represent` gives.
        dropout: On word vectors, before the hidden layer and before the classifier.
    """

    units: int = 128
    hidden: int = 128


class Network(SentenceMaxima):
    """A BiLSTM encoder with max pooling, shared by the texts; word vectors are learnt from the training texts.

    Published (Conneau et al. 2017): 300-wide GloVe vectors, frozen; 2048 units in each direction; hidden layer of 512;
    SGD, rate .1, decay .99, divided by 5 when dev accuracy drops, stop below 1e-5; batch 64; 20 epochs; clip 5.
    Without a file of vectors they are learnt; desk is 128 wide throughout and trained by Adam.

    The backward direction is an LSTM over each text turned around within its own length, so that padding always comes
    last in both directions: no hidden state at a word ever depends on it. On a processor there is no padding at all,
    see `recurrence`. So lengths can stay mixed at no cost; and batches are larger than usual, and the rate with them,
    since they cost less an example.

    Source: Conneau, Kiela, Schwenk, Barrault and Bordes 2017.
    """

    name: ClassVar[str] = "bilstm"
    activation: ClassVar[Callable[[Tensor], Tensor]] = torch.relu
    configurations: ClassVar[Mapping[str, Configuration]] = {
        DESK: Configuration(
            Sizes(), Recipe(epochs=4, batch_size=192, learning_rate=1e-2, schedule="linear", clip=5.0, pool=1)
        ),
        PUBLISHED: Configuration(
            Sizes(vectors=300, units=2048, hidden=512, dropout=0.0, frozen=True),
            Recipe(epochs=20, batch_size=64, learning_rate=0.1, optimizer="sgd", schedule="dev_drops", clip=5.0),
        ),
    }
