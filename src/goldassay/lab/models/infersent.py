"""InferSent: BiLSTM-max encoders of each sentence, shared or separate, and the full comparison of the two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch

from goldassay.lab.models.compared_sentences import SentenceMaxima, WordSizes
from goldassay.lab.models.configuration import DESK, PUBLISHED, Configuration, Recipe, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch import Tensor

    from goldassay.lab.models.vocabulary import Vocabulary


@dataclass(frozen=True)
class Sizes(WordSizes):
    """Widths and limits, beside those of `WordSizes`.

    Attributes:
        units: Of the LSTM in each direction.
        hidden: Width of the hidden layer, which is what `represent` gives.
        separate: Whether premise and hypothesis have encoders of their own; as published one reads both.
        dropout: On word vectors, before the hidden layer and before the classifier.
    """

    units: int = 512
    hidden: int = 512
    separate: bool = False


class Network(SentenceMaxima):
    """InferSent: u, v = maximum over time of a BiLSTM; h = tanh(W [u, v, |u - v|, u * v]); a linear classifier.

    Published (Conneau et al. 2017): 300-wide GloVe vectors, frozen; 2048 units in each direction; hidden layer of 512;
    one encoder for both sentences; no dropout; SGD, rate .1, decay .99, divided by 5 when dev accuracy drops, stop
    below 1e-5; batch 64; 20 epochs; clip 5. The hidden layer's function is not printed; here it is tanh.

    Whether the premise has an encoder of its own decides what debiasing through the hypothesis can do: with a shared
    one, what is taken from the hypothesis's encoder is taken from the premise's too. `separate=true` parts them, and
    doubles the recurrent weights, not the time.

    Here vectors are learnt unless a file is given; desk has 512 units and is trained by Adam on larger batches.

    Source: Conneau, Kiela, Schwenk, Barrault and Bordes 2017.
    """

    name: ClassVar[str] = "infersent"
    activation: ClassVar[Callable[[Tensor], Tensor]] = torch.tanh
    configurations: ClassVar[Mapping[str, Configuration]] = {
        DESK: Configuration(Sizes(), Recipe(epochs=4, batch_size=128, learning_rate=4e-3, schedule="linear", clip=5.0)),
        PUBLISHED: Configuration(
            Sizes(vectors=300, units=2048, dropout=0.0, frozen=True),
            Recipe(epochs=20, batch_size=64, learning_rate=0.1, optimizer="sgd", schedule="dev_drops", clip=5.0),
        ),
    }

    def __init__(self, task: Task, sizes: Sizes, vocabulary: Vocabulary) -> None:
        super().__init__(task, sizes, vocabulary, separate=sizes.separate)
