"""Averages of word and word-pair vectors, compared by one hidden layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from goldassay.lab.models.compared_sentences import (
    EncodedTexts,
    encode_texts,
    join,
    joined_width,
    load_vocabulary,
    save_vocabulary,
)
from goldassay.lab.models.configuration import DESK, PUBLISHED, Configuration, Recipe, Task
from goldassay.lab.models.layers import Dropout
from goldassay.lab.models.network import Batch, Stream
from goldassay.lab.models.network import Network as Base
from goldassay.lab.models.vocabulary import PADDING, Grams, Ragged, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Sizes:
    """Widths and limits.

    Attributes:
        vectors: Width of a word's vector.
        hidden: Width of the hidden layer, which is what `represent` gives; 0 for none, as published.
        longest_gram: Runs of up to so many words have a vector of their own.
        frozen: Whether vectors from a file stay as they are; without a file they are always learnt.
        min_count: Words and runs seen less often in training have none.
        dropout: Before the hidden layer and before the classifier.
        max_tokens: Words of a text beyond this are cut off.
        lowercase: Whether case is ignored.
    """

    vectors: int = 64
    hidden: int = 128
    longest_gram: int = 1
    frozen: bool = False
    min_count: int = 2
    dropout: float = 0.3
    max_tokens: int = 512
    lowercase: bool = True


class Network(Base):
    """fastText's average of word and n-gram vectors, one average a text.

    Published (Joulin et al. 2017, single texts): a linear classifier on the average, 10 to 20 wide vectors, bigrams,
    SGD with a rate from .05 to .5 that falls linearly, 5 epochs; n-grams hashed into 10 million rows.
    Here runs of words get rows of their own if the training texts hold them `min_count` times: no two share a row,
    and the table is a tenth as large. Pairs, which fastText does not know, are joined as [u, v, |u - v|, u * v]; the
    desk size adds a hidden layer, without which the comparison of two averages is linear. Vectors get sparse
    gradients: a step touches the rows of its batch and no others.

    The gradient at a word is that of the average over its length, so that it is the same for all words of a text:
    relevance tells the texts apart, not the words within one.

    Source: Joulin, Grave, Bojanowski and Mikolov 2017; Mou et al. 2016 for joining pairs.
    """

    name: ClassVar[str] = "ngram_average"
    takes_vectors: ClassVar[bool] = True
    configurations: ClassVar[Mapping[str, Configuration]] = {
        DESK: Configuration(
            Sizes(), Recipe(epochs=5, batch_size=256, learning_rate=2e-2, optimizer="adam", schedule="linear", clip=5.0)
        ),
        PUBLISHED: Configuration(
            Sizes(vectors=20, hidden=0, longest_gram=2, dropout=0.0, min_count=1, lowercase=False),
            Recipe(epochs=5, batch_size=1, learning_rate=0.25, optimizer="sgd", schedule="linear"),
        ),
    }

    def __init__(self, task: Task, sizes: Sizes, vocabulary: Vocabulary, grams: Grams) -> None:
        super().__init__()
        self.vocabulary, self.grams, self.sizes = vocabulary, grams, sizes
        self.n_texts = len(task.roles)
        self.vectors = nn.EmbeddingBag(len(vocabulary) + len(grams), sizes.vectors, mode="sum", sparse=True)
        # An average of many must still tell words apart: the scale of fastText's own start, 1/width, is too small
        # for products of two averages.
        nn.init.uniform_(self.vectors.weight, -0.5, 0.5)
        width = joined_width(self.n_texts, sizes.vectors)
        self.dropout = Dropout(sizes.dropout)
        self.hidden = nn.Linear(width, sizes.hidden) if sizes.hidden else None
        self.classifier = nn.Linear(sizes.hidden or width, task.n_outputs)

    @classmethod
    def build(cls, task: Task, texts: Any, sizes: Any, model: str) -> Network:  # noqa: ARG003
        """Learn words and runs from the training texts; see `network.Network.build`."""
        columns = [column for column in texts if column is not None]
        vocabulary = Vocabulary.learn(columns, task.tokenizer, lowercase=sizes.lowercase, min_count=sizes.min_count)
        encoded = (vocabulary.encode(column).cut(sizes.max_tokens)[0] for column in columns)
        grams = Grams.learn(encoded, len(vocabulary), sizes.longest_gram, sizes.min_count)
        return cls(task, sizes, vocabulary, grams)

    @classmethod
    def load(cls, task: Task, sizes: Any, assets: Path) -> Network:
        """See `network.Network.load`."""
        vocabulary, content = load_vocabulary(assets)
        grams = Grams(tuple(np.array(keys, np.int64) for keys in content["grams"]), len(vocabulary))
        return cls(task, sizes, vocabulary, grams)

    def save_assets(self, folder: Path) -> None:
        """Write the vocabulary and the runs of words."""
        save_vocabulary(self.vocabulary, folder, grams=[keys.tolist() for keys in self.grams.keys])

    def encode(self, texts: Sequence[Sequence[str] | None]) -> EncodedTexts:
        """Words and runs of words."""
        encoded = encode_texts(texts, self.vocabulary, self.sizes.max_tokens)
        grams = tuple(self._shifted(self.grams.encode(words)) for words in encoded.words)
        return EncodedTexts(encoded.words, encoded.costs, encoded.cut, grams)

    def _shifted(self, grams: Ragged) -> Ragged:
        return Ragged(grams.flat + len(self.vocabulary), grams.offsets)

    def collate(self, encoded: EncodedTexts, rows: NDArray[np.int64]) -> Batch:
        """Rows of the table for all texts, role by role without padding: of each text its words, then its runs."""
        roles = zip(encoded.words, encoded.grams, strict=True)
        parts = [(words.take(rows), grams.take(rows)) for words, grams in roles]
        texts = [words.beside(grams) for words, grams in parts]
        sizes = np.concatenate([text.lengths for text in texts])
        arrays = {
            "rows": np.concatenate([text.flat for text in texts]),
            "starts": np.cumsum(sizes) - sizes,
            "sizes": sizes,
            "words": np.concatenate([words.lengths for words, _ in parts]),
        }
        return Batch({name: torch.from_numpy(array) for name, array in arrays.items()}, rows.size)

    def sentences(self, batch: Batch) -> tuple[Tensor, ...]:
        """The average of each text, (B, vectors)."""
        # One look-up for all texts: each further one costs a sparse gradient more, and they must be added up.
        total: Tensor = self.vectors(batch["rows"], batch["starts"])
        return self._averages(total, batch)

    def _averages(self, total: Tensor, batch: Batch) -> tuple[Tensor, ...]:
        return (total / batch["sizes"].clamp(min=1).unsqueeze(1)).split(batch.size)

    def embed(self, batch: Batch) -> list[Stream]:
        """The vectors of single words; those of runs stay what they are."""
        streams = []
        is_word = self._is_word(batch)
        lengths, words = batch["words"].split(batch.size), batch["rows"][is_word]
        of_role = words.split([int(length.sum()) for length in lengths])
        for role, (length, numbers) in enumerate(zip(lengths, of_role, strict=True)):
            real = torch.arange(max(1, int(length.max())), device=length.device) < length[:, None]
            tokens = torch.full(real.shape, PADDING, dtype=torch.int64, device=length.device)
            tokens[real] = numbers
            vectors = nn.functional.embedding(tokens, self.vectors.weight)
            streams.append(Stream(vectors, tokens, torch.where(real, role, -1)))
        return streams

    def _is_word(self, batch: Batch) -> Tensor:
        """Which of the rows are single words."""
        sizes = batch["sizes"]
        places = torch.arange(len(batch["rows"]), device=sizes.device) - batch["starts"].repeat_interleave(sizes)
        return places < batch["words"].repeat_interleave(sizes)

    def represent_streams(self, streams: list[Stream], batch: Batch) -> Tensor:
        """The hidden layer, from given vectors of single words."""
        of_words = torch.cat([(stream.vectors * (stream.roles >= 0).unsqueeze(2)).sum(1) for stream in streams])
        runs = torch.where(self._is_word(batch), 0.0, 1.0).to(of_words.dtype)
        of_runs: Tensor = self.vectors(batch["rows"], batch["starts"], per_sample_weights=runs)
        return self.compare(self._averages(of_words + of_runs, batch))

    def represent(self, batch: Batch) -> Tensor:
        """The hidden layer, (B, hidden); without one the joined averages."""
        return self.compare(self.sentences(batch))

    def compare(self, sentences: Sequence[Tensor]) -> Tensor:
        """The hidden layer, (B, hidden), from what `sentences` gives."""
        joined = self.dropout(join(sentences))
        return joined if self.hidden is None else torch.relu(self.hidden(joined))

    def classify(self, representation: Tensor) -> Tensor:
        """Logits."""
        logits: Tensor = self.classifier(self.dropout(representation) if self.hidden is not None else representation)
        return logits

    def token_names(self) -> Sequence[str]:
        """The words, in the order of their numbers."""
        return [self.vocabulary.word(number) for number in range(len(self.vocabulary))]
