"""Enhanced sequential inference: BiLSTM states are aligned, contrasted, and composed by a second BiLSTM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from goldassay.lab.models.compared_sentences import WordNetwork, WordSizes
from goldassay.lab.models.configuration import DESK, PUBLISHED, Configuration, Recipe, Task
from goldassay.lab.models.layers import SequentialInference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.lab.models.vocabulary import Vocabulary


@dataclass(frozen=True)
class Sizes(WordSizes):
    """Widths and limits, beside those of `WordSizes`.

    Attributes:
        units: Of the LSTMs in each direction, and of the hidden layers.
        dropout: On word vectors, after each projection and before the classifier.
    """

    units: int = 64
    dropout: float = 0.3


class Network(SequentialInference, WordNetwork):
    """The sequential model of ESIM, without trees; see `sequential_inference` for its layers.

    Published (Chen et al. 2017): 300-wide GloVe vectors, tuned; 300 units; dropout .5; Adam, rate 4e-4, batch 32. Liu
    et al. 2020: clip 10, patience 5, 64 epochs. Without a file of vectors they are learnt; desk has 64 units.

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
        super().__init__(task, sizes, vocabulary)
        self.add_layers(task, sizes.vectors, sizes.units, sizes.dropout)
