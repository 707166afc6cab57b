"""Convolutions over runs of words, and the largest response of each filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from goldassay.core.errors import InputError
from goldassay.lab.models.compared_sentences import ComparedSentences, WordSizes
from goldassay.lab.models.configuration import DESK, PUBLISHED, Configuration, Recipe, Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.lab.models.sequences import Layout
    from goldassay.lab.models.vocabulary import Vocabulary


@dataclass(frozen=True)
class Sizes(WordSizes):
    """Widths and limits, beside those of `WordSizes`.

    Attributes:
        filters: Of each length.
        shortest: Words that the shortest filters span.
        longest: Words that the longest filters span.
        hidden: Width of a layer between the vectors and the classifier; none as Kim has it.
        dropout: Before the layer and the classifier.
        cosine: Whether two texts are compared by the cosine of their vectors alone.
    """

    filters: int = 64
    shortest: int = 3
    longest: int = 5
    hidden: int | None = None
    dropout: float = 0.5
    max_tokens: int = 512
    cosine: bool = False

    def __post_init__(self) -> None:
        if self.shortest > self.longest:
            raise InputError(
                f"shortest is {self.shortest}, and longest is {self.longest}", mend="give a longest that is no less"
            )


class Network(ComparedSentences):
    """Kim's convolutional network, one vector a text; two texts are joined as [u, v, |u - v|, u * v].

    For each length h: c_i = ReLU(w . x_(i:i+h-1) + b), its maximum over the places that begin at a word; places beyond
    the text's end are 0, so that a text shorter than a filter has responses too.

    Published (Kim 2014): 300-wide word2vec vectors, lengths 3, 4 and 5 with 100 filters each, dropout .5, Adadelta,
    batch 50, the norm of each class's weights at most 3. Hendrycks et al. 2020: frozen vectors, Adam, rate 5e-4, batch
    32, 16 epochs, patience 4, gradient norm 4; in their released settings 1,024 filters of each length from 2 to 5.
    Published here has Kim's filters and their training; weights are not bounded. Hendrycks et al. feed the encoding
    into an MLP, of which `hidden` is the layer: h = ReLU(W s + b). Without a file of vectors they are learnt. Desk has
    64 filters of each length.

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
        lengths = range(sizes.shortest, sizes.longest + 1)
        width, hidden = sizes.filters * len(lengths), sizes.hidden or 0
        super().__init__(task, sizes, vocabulary, width=width, hidden=hidden, cosine=sizes.cosine)
        self.filters = nn.ModuleList(nn.Conv1d(sizes.vectors, sizes.filters, length) for length in lengths)

    def encode_words(self, vectors: Tensor, layout: Layout) -> Tensor:
        """The largest response of each filter, (roles B, filters of all lengths); 0 for an empty text."""
        reach = self.sizes.longest
        # All filters as one product: shorter ones are 0 at the words that they do not reach.
        weights = [nn.functional.pad(each.weight, (0, reach - each.weight.shape[2])) for each in self.filters]
        weight = torch.cat(weights).transpose(1, 2).flatten(1)
        bias = torch.cat([each.bias for each in self.filters])
        windows = layout.windows(vectors, reach).flatten(1)
        return layout.maxima(torch.relu(nn.functional.linear(windows, weight, bias)).to(vectors.dtype))
