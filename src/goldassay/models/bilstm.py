"""A bidirectional LSTM over each sentence, its maximum over time, and a comparison of the two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from torch import nn

from goldassay.models.bidirectional import taken, turned
from goldassay.models.configuration import DESK, PUBLISHED, Configuration, Recipe, Task
from goldassay.models.dropout import Dropout
from goldassay.models.network import Batch, Stream
from goldassay.models.recurrence import Packing, maximum_over_time
from goldassay.models.sentence_encoder import EncodedTexts, join, joined_width, padded_words
from goldassay.models.word_network import WordNetwork

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.models.vocabulary import Vocabulary


_PACKED = ("forwards", "backwards", "starts", "places")


@dataclass(frozen=True)
class Sizes:
    """Widths and limits.

    Attributes:
        vectors: Width of a word's vector.
        units: Of the LSTM in each direction.
        hidden: Width of the hidden layer, which is what `represent` gives.
        dropout: On word vectors, before the hidden layer and before the classifier.
        min_count: Words seen less often in training are unknown.
        max_tokens: Words of a text beyond this are cut off.
        lowercase: Whether case is ignored.
    """

    vectors: int = 128
    units: int = 128
    hidden: int = 128
    dropout: float = 0.2
    min_count: int = 2
    max_tokens: int = 256
    lowercase: bool = True


class Network(WordNetwork):
    """A BiLSTM encoder with max pooling, shared by the texts; word vectors are learnt from the training texts.

    Published (Conneau et al. 2017): 300-wide GloVe vectors, frozen; 2048 units in each direction; hidden layer of 512;
    SGD, rate .1, decay .99, divided by 5 when dev accuracy drops, stop below 1e-5; batch 64; 20 epochs; clip 5.
    Here the vectors are not GloVe but learnt, in both sizes; desk is 128 wide throughout and trained by Adam.

    The backward direction is an LSTM over each text turned around within its own length, so that padding always comes
    last in both directions: no hidden state at a word ever depends on it. On a processor there is no padding at all,
    see `recurrence`; batches are larger than usual, and the rate with them, since there they cost less an example.

    Source: Conneau, Kiela, Schwenk, Barrault and Bordes 2017.
    """

    name: ClassVar[str] = "bilstm"
    configurations: ClassVar[Mapping[str, Configuration]] = {
        DESK: Configuration(
            Sizes(), Recipe(epochs=4, batch_size=128, learning_rate=8e-3, optimizer="adam", schedule="linear", clip=5.0)
        ),
        PUBLISHED: Configuration(
            Sizes(vectors=300, units=2048, hidden=512, dropout=0.0),
            Recipe(epochs=20, batch_size=64, learning_rate=0.1, optimizer="sgd", schedule="dev_drops", clip=5.0),
        ),
    }

    def __init__(self, task: Task, sizes: Sizes, vocabulary: Vocabulary) -> None:
        super().__init__(task, sizes, vocabulary)
        self.forwards = nn.LSTM(sizes.vectors, sizes.units, batch_first=True)
        self.backwards = nn.LSTM(sizes.vectors, sizes.units, batch_first=True)
        self.dropout = Dropout(sizes.dropout)
        self.hidden = nn.Linear(joined_width(self.n_texts, 2 * sizes.units), sizes.hidden)
        self.classifier = nn.Linear(sizes.hidden, len(task.label_names))

    def collate(self, encoded: EncodedTexts, rows: NDArray[np.int64]) -> Batch:
        """Words as rectangles, and one after the other for training on a processor."""
        some = [words.take(rows) for words in encoded.words]
        packing = Packing.of(np.concatenate([each.lengths for each in some]))
        flat = {
            "tokens": np.concatenate([each.flat for each in some]),
            **{name: getattr(packing, name) for name in _PACKED},
        }
        return Batch(padded_words(some) | {name: torch.from_numpy(each) for name, each in flat.items()}, rows.size)

    def sentences(self, batch: Batch) -> tuple[Tensor, ...]:
        """The maximum over time of each text, (B, 2 units); 0 for an empty text."""
        if batch["tokens"].device.type != "cpu" or self.vectors.weight.dtype != torch.float32:
            return tuple(self._encode(stream) for stream in self.embed(batch))
        forwards, backwards, starts, places = (batch[name] for name in _PACKED)
        vectors = self.dropout(self.vectors(batch["tokens"]))
        both = maximum_over_time(vectors, (forwards, backwards, starts, places), (self.forwards, self.backwards))
        return both.split(batch.size)

    def represent(self, batch: Batch) -> Tensor:
        """The hidden layer, (B, hidden)."""
        return self._compare(self.sentences(batch))

    def represent_streams(self, streams: list[Stream], batch: Batch) -> Tensor:  # noqa: ARG002
        """The hidden layer, (B, hidden), from given vectors."""
        return self._compare([self._encode(stream) for stream in streams])

    def _compare(self, sentences: Sequence[Tensor]) -> Tensor:
        return torch.relu(self.hidden(self.dropout(join(sentences))))

    def _encode(self, stream: Stream) -> Tensor:
        real = (stream.roles >= 0).unsqueeze(2)
        around = turned(real.squeeze(2))
        vectors = self.dropout(stream.vectors)
        forwards, _ = self.forwards(vectors)
        backwards, _ = self.backwards(taken(vectors, around))
        states = torch.cat((forwards, taken(backwards, around)), dim=2)
        # The lowest number instead of minus infinity: an empty text has no maximum, and 0 must not become NaN.
        lowest = torch.finfo(states.dtype).min
        return torch.where(real.any(1), states.masked_fill(~real, lowest).amax(1), torch.zeros_like(states[:, 0]))

    def classify(self, representation: Tensor) -> Tensor:
        """Logits."""
        logits: Tensor = self.classifier(self.dropout(representation))
        return logits
