"""Networks that compare the maxima over time of a BiLSTM over each sentence: all but their sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import nn

from goldassay.models.bidirectional import Bidirectional, maximum_of_words
from goldassay.models.dropout import Dropout
from goldassay.models.network import Batch, Stream
from goldassay.models.recurrence import Packing, maximum_over_time
from goldassay.models.sentence_encoder import EncodedTexts, join, joined_width, padded_words
from goldassay.models.word_network import WordNetwork, real

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.models.configuration import Task
    from goldassay.models.vocabulary import Vocabulary


class SentenceMaxima(WordNetwork):
    """u and v, the maxima over time of a BiLSTM; f(W [u, v, |u - v|, u * v]); and a linear classifier.

    On a processor there is no padding at all, see `recurrence`. Its sizes hold `units`, `hidden` and `dropout` beside
    those of a `WordNetwork`.

    Args:
        task: What to learn.
        sizes: Of the subclass.
        vocabulary: Of the training texts.
        separate: Whether each text has an encoder of its own, instead of one for all.
    """

    activation: ClassVar[Callable[[Tensor], Tensor]]

    def __init__(self, task: Task, sizes: Any, vocabulary: Vocabulary, *, separate: bool = False) -> None:
        super().__init__(task, sizes, vocabulary)
        n_encoders = self.n_texts if separate else 1
        self.encoders = nn.ModuleList(Bidirectional(sizes.vectors, sizes.units) for _ in range(n_encoders))
        self.dropout = Dropout(sizes.dropout)
        self.hidden = nn.Linear(joined_width(self.n_texts, 2 * sizes.units), sizes.hidden)
        self.classifier = nn.Linear(sizes.hidden, task.n_outputs)

    def collate(self, encoded: EncodedTexts, rows: NDArray[np.int64]) -> Batch:
        """Words as rectangles, and for each encoder one after the other for training on a processor."""
        some = [words.take(rows) for words in encoded.words]
        tensors = padded_words(some)
        # What an encoder reads goes through it at once: all texts, or those of one role.
        share = self.n_texts // len(self.encoders)
        for place in range(len(self.encoders)):
            texts = some[place * share : (place + 1) * share]
            packing = Packing.of(np.concatenate([each.lengths for each in texts]))
            arrays = vars(packing) | {"tokens": np.concatenate([each.flat for each in texts])}
            tensors |= {f"{name}{place}": torch.from_numpy(array) for name, array in arrays.items()}
        return Batch(tensors, rows.size)

    def sentences(self, batch: Batch) -> tuple[Tensor, ...]:
        """The maximum over time of each text, (B, 2 units); 0 for an empty text."""
        if batch["tokens0"].device.type != "cpu" or self.vectors.weight.dtype != torch.float32:
            return self._of_streams(self.embed(batch))
        tokens = [batch[f"tokens{place}"] for place in range(len(self.encoders))]
        # One look-up for all: each further one costs a sparse gradient more.
        vectors = self.dropout(self.vectors(torch.cat(tokens))).split([len(each) for each in tokens])
        maxima = []
        for place, (encoder, own) in enumerate(zip(self.encoders, vectors, strict=True)):
            forwards, backwards, starts, places = (batch[f"{name}{place}"] for name in _PACKED)
            both = (encoder.forwards, encoder.backwards)
            maxima += maximum_over_time(own, (forwards, backwards, starts, places), both).split(batch.size)
        return tuple(maxima)

    def _of_streams(self, streams: Sequence[Stream]) -> tuple[Tensor, ...]:
        encoders = list(self.encoders) * (len(streams) // len(self.encoders))
        masks = [real(stream) for stream in streams]
        return tuple(
            maximum_of_words(encoder(self.dropout(stream.vectors), mask), mask)
            for encoder, stream, mask in zip(encoders, streams, masks, strict=True)
        )

    def compare(self, sentences: Sequence[Tensor]) -> Tensor:
        """The hidden layer, (B, hidden), from what `sentences` gives."""
        return type(self).activation(self.hidden(self.dropout(join(sentences))))

    def represent(self, batch: Batch) -> Tensor:
        """The hidden layer, (B, hidden)."""
        return self.compare(self.sentences(batch))

    def represent_streams(self, streams: list[Stream], batch: Batch) -> Tensor:  # noqa: ARG002
        """The hidden layer, (B, hidden), from given vectors."""
        return self.compare(self._of_streams(streams))

    def classify(self, representation: Tensor) -> Tensor:
        """Logits."""
        logits: Tensor = self.classifier(self.dropout(representation))
        return logits


_PACKED = ("forwards", "backwards", "starts", "places")
