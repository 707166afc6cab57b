"""A network: averaged word vectors through a hyperbolic tangent."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from goldassay.lab.models.compared_sentences import ComparedSentences, WordSizes
from goldassay.lab.models.configuration import DESK, Configuration, Recipe, Task
from goldassay.lab.models.sequences import Layout
from goldassay.lab.models.vocabulary import Vocabulary


@dataclass(frozen=True)
class Sizes(WordSizes):
    """Widths and limits, beside those of `WordSizes`."""

    hidden: int = 64
    max_tokens: int = 128


class Squashed(ComparedSentences):
    """u = tanh((1/L) sum_i x_i)."""

    name: ClassVar[str] = "squashed"
    configurations: ClassVar[Mapping[str, Configuration]] = {
        DESK: Configuration(Sizes(), Recipe(epochs=5, batch_size=128, learning_rate=1e-2)),
    }

    def __init__(self, task: Task, sizes: Sizes, vocabulary: Vocabulary) -> None:
        super().__init__(task, sizes, vocabulary, width=sizes.vectors, hidden=sizes.hidden)

    def encode_words(self, vectors: Tensor, layout: Layout) -> Tensor:
        """Each text, (roles B, vectors)."""
        return torch.tanh(layout.averages(vectors))
