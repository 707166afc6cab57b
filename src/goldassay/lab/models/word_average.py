"""The average of a text's word vectors, compared by one hidden layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torch import Tensor, nn

from goldassay.lab.models.compared_sentences import ComparedSentences, WordSizes
from goldassay.lab.models.configuration import DESK, PUBLISHED, Configuration, Recipe, Task
from goldassay.lab.models.sequences import Layout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.lab.models.network import Batch
    from goldassay.lab.models.vocabulary import Vocabulary


@dataclass(frozen=True)
class Sizes(WordSizes):
    """Widths and limits, beside those of `WordSizes`.

    Attributes:
        hidden: Width of the hidden layer, which is what `represent` gives.
        dropout: Before the hidden layer and before the classifier.
        cosine: Whether two texts are compared by the cosine of their vectors alone.
    """

    hidden: int = 128
    dropout: float = 0.3
    max_tokens: int = 512
    cosine: bool = False


class Network(ComparedSentences):
    """Averaged word vectors: u = (1/L) sum_i x_i; words count alike, wherever they stand.

    Published (Hendrycks et al. 2020): 300-wide word2vec or GloVe vectors, frozen; Adam, rate 5e-4, batch 32, 16 epochs,
    patience 4, gradient norm 4; "an MLP" on the encoding, whose width is not printed: here 300, and for two texts on
    [u, v, |u - v|, u * v]. Their released settings sum the vectors and classify without a hidden layer; ours follow the
    paper's words. Without a file the vectors are learnt; desk is 128 wide. A sum is longer for longer texts, so that
    one rate would not serve sentences and reviews alike.

    It differs from `ngram_average` in starting from a file's vectors as they are (no rows for runs of words) and in its
    published recipe.

    The gradient at a word is that of the average over the text's length, the same for all its words: relevance tells
    the texts apart, not the words within one.

    Source: Hendrycks, Liu, Wallace, Dziedzic, Krishnan and Song 2020; Wieting, Bansal, Gimpel and Livescu 2016.
    """

    name: ClassVar[str] = "word_average"
    configurations: ClassVar[Mapping[str, Configuration]] = {
        DESK: Configuration(Sizes(), Recipe(epochs=5, batch_size=128, learning_rate=1e-2, schedule="linear", clip=5.0)),
        PUBLISHED: Configuration(
            Sizes(vectors=300, hidden=300, dropout=0.0, frozen=True),
            Recipe(epochs=16, batch_size=32, learning_rate=5e-4, clip=4.0, patience=4),
        ),
    }

    def __init__(self, task: Task, sizes: Sizes, vocabulary: Vocabulary) -> None:
        super().__init__(task, sizes, vocabulary, width=sizes.vectors, hidden=sizes.hidden, cosine=sizes.cosine)

    def sentences(self, batch: Batch) -> tuple[Tensor, ...]:
        """The average of each text, (B, vectors); 0 for an empty text."""
        # The same as `encode_words`, without a row for each word in between.
        layout, lengths = Layout.in_batch(batch), batch["lengths"]
        tokens, starts = layout.of_words(batch["tokens"]), lengths.cumsum(0) - lengths
        total = nn.functional.embedding_bag(tokens, self.vectors.weight, starts, mode="sum", sparse=True)
        return (total / lengths.clamp(min=1).unsqueeze(1)).split(batch.size)

    def encode_words(self, vectors: Tensor, layout: Layout) -> Tensor:
        """The average of each text, (roles B, vectors); 0 for an empty text."""
        return layout.averages(vectors)
