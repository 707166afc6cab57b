"""What networks that encode each text by itself share: words in, one vector a text, the vectors joined.

What networks share whose words are those of a vocabulary learnt in training.

What networks that read texts as word vectors share: all but how they represent a text.

Networks of word vectors that make one vector of each text and compare the texts by these.

Networks that compare the maxima over time of a BiLSTM over each sentence: all but their sizes.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn

from goldassay.core.errors import InputError, option
from goldassay.lab.models.layers import Dropout
from goldassay.lab.models.network import Batch, Network, Stream
from goldassay.lab.models.sequences import Bidirectional, Layout, flattened, n_filling
from goldassay.lab.models.vocabulary import PADDING, Ragged, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.lab.models.configuration import Task

VOCABULARY = "vocabulary.json"


@dataclass(frozen=True)
class EncodedTexts:
    """Words of each text, role by role; see `network.Encoded`.

    Attributes:
        words: One a role.
        costs: (N,).
        cut: (roles, N).
        grams: One a role, for networks that look at runs of words.
    """

    words: tuple[Ragged, ...]
    costs: NDArray[np.int64]
    cut: NDArray[np.bool_]
    grams: tuple[Ragged, ...] = ()

    def __len__(self) -> int:
        return len(self.words[0])


def encode_texts(texts: Sequence[Sequence[str] | None], vocabulary: Vocabulary, max_tokens: int) -> EncodedTexts:
    """Words of all roles; texts that are left out have none."""
    n = next(len(column) for column in texts if column is not None)
    encoded = [Ragged.empty(n) if column is None else vocabulary.encode(column) for column in texts]
    kept, cut = zip(*(rows.cut(max_tokens) for rows in encoded), strict=True)
    # Batches are sorted by the first text and, among equals, by the next: both are then padded little.
    costs = np.zeros(n, np.int64)
    for rows in kept:
        costs = costs * (max_tokens + 1) + rows.lengths
    return EncodedTexts(kept, costs, np.stack(cut))


def padded_words(words: Sequence[Ragged]) -> dict[str, Tensor]:
    """Words of B examples, one entry a role, as rectangles "words0", "words1", ..., each (B, L)."""
    return {f"words{role}": torch.from_numpy(each.padded(PADDING)[0]) for role, each in enumerate(words)}


def join(vectors: Sequence[Tensor]) -> Tensor:
    """Vectors of the texts as one: of two, u and v, [u, v, |u - v|, u * v]; of others just one after the other.

    Source: Mou et al. 2016; Conneau et al. 2017.
    """
    if len(vectors) != 2:
        return torch.cat(tuple(vectors), dim=1)
    u, v = vectors
    return torch.cat((u, v, (u - v).abs(), u * v), dim=1)


def joined_width(n_texts: int, width: int) -> int:
    """Width of what `join` gives."""
    return width * (4 if n_texts == 2 else n_texts)


def save_vocabulary(vocabulary: Vocabulary, folder: Path, **more: Any) -> None:
    """Write a vocabulary, and whatever goes with it, as JSON."""
    content = vocabulary.to_dict() | more
    (folder / VOCABULARY).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def load_vocabulary(folder: Path) -> tuple[Vocabulary, dict[str, Any]]:
    """What `save_vocabulary` wrote."""
    content = json.loads((folder / VOCABULARY).read_text(encoding="utf-8"))
    return Vocabulary.from_dict(content), content


class VocabularyNetwork(Network):
    """A network that knows the words of the training texts, and is made anew from its vocabulary alone.

    Its sizes hold `min_count`, `max_tokens` and `lowercase`.

    Args:
        task: What to learn.
        sizes: Of the subclass.
        vocabulary: Of the training texts.
    """

    def __init__(self, task: Task, sizes: Any, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.vocabulary, self.sizes = vocabulary, sizes
        self.n_texts = len(task.roles)

    @classmethod
    def build(cls, task: Task, texts: Any, sizes: Any, model: str) -> Self:  # noqa: ARG003
        """Learn words from the training texts; see `network.Network.build`."""
        columns = [column for column in texts if column is not None]
        vocabulary = Vocabulary.learn(columns, task.tokenizer, lowercase=sizes.lowercase, min_count=sizes.min_count)
        return cls(task, sizes, vocabulary)

    @classmethod
    def load(cls, task: Task, sizes: Any, assets: Path) -> Self:
        """See `network.Network.load`."""
        return cls(task, sizes, load_vocabulary(assets)[0])

    def save_assets(self, folder: Path) -> None:
        """Write the vocabulary."""
        save_vocabulary(self.vocabulary, folder)

    def token_names(self) -> Sequence[str]:
        """The words, in the order of their numbers."""
        return [self.vocabulary.word(number) for number in range(len(self.vocabulary))]


@dataclass(frozen=True)
class WordSizes:
    """Widths and limits that all networks on words share.

    Attributes:
        vectors: Width of a word's vector.
        dropout: On word vectors and before layers, as each network says.
        frozen: Whether vectors from a file stay as they are; without a file they are always learnt.
        min_count: Words seen less often in training are unknown.
        max_tokens: Words of a text beyond this are cut off.
        lowercase: Whether case is ignored.
    """

    vectors: int = 128
    dropout: float = 0.2
    frozen: bool = False
    min_count: int = 2
    max_tokens: int = 256
    lowercase: bool = True


class WordNetwork(VocabularyNetwork):
    """A network whose texts are words of a vocabulary learnt in training, each with a vector.

    Vectors are learnt with the rest, from random ones or from those of a file, which may stay as they are. None are
    trained beforehand on the training texts by themselves: a published recipe without a file's vectors has no such
    step, and 18,000 pairs hold too few words for one.

    A subclass says what becomes of the vectors: `represent_words` and `classify`. Its sizes hold `vectors`,
    `frozen`, `min_count`, `max_tokens` and `lowercase`.

    Args:
        task: What to learn.
        sizes: Of the subclass.
        vocabulary: Of the training texts.
    """

    takes_vectors: ClassVar[bool] = True

    def __init__(self, task: Task, sizes: Any, vocabulary: Vocabulary) -> None:
        super().__init__(task, sizes, vocabulary)
        self.vectors = nn.Embedding(len(vocabulary), sizes.vectors, sparse=True)
        nn.init.normal_(self.vectors.weight, std=0.3)

    def encode(self, texts: Sequence[Sequence[str] | None]) -> EncodedTexts:
        """Words of each text."""
        return encode_texts(texts, self.vocabulary, self.sizes.max_tokens)

    def collate(self, encoded: EncodedTexts, rows: NDArray[np.int64]) -> Batch:
        """Words as rectangles, one a role, and of all texts one after the other."""
        some = [words.take(rows) for words in encoded.words]
        tokens = np.concatenate([each.flat for each in some])
        flat = {
            "tokens": np.concatenate((tokens, np.full(n_filling(tokens.size), PADDING))),
            "lengths": np.concatenate([each.lengths for each in some]),
        }
        tensors = padded_words(some) | {name: torch.from_numpy(each) for name, each in flat.items()}
        return Batch(tensors, rows.size, tuple(each.flat.size for each in some))

    @abstractmethod
    def represent_words(self, vectors: Tensor, layout: Layout) -> Tensor:
        """The layer before the classifier, (B, D), from the vectors of all words, (T', E)."""

    def look_up(self, batch: Batch) -> tuple[Tensor, Layout]:
        """The vectors of all words, (T', E), and where they stand."""
        # One look-up for all texts: each further one costs a sparse gradient more.
        return self.vectors(batch["tokens"]), Layout.in_batch(batch)

    def represent(self, batch: Batch) -> Tensor:
        """The layer before the classifier, (B, D)."""
        return self.represent_words(*self.look_up(batch))

    def represent_streams(self, streams: list[Stream], batch: Batch) -> Tensor:
        """The same from given vectors."""
        return self.represent_words(*flattened(streams, batch.counts))

    def embed(self, batch: Batch) -> list[Stream]:
        """Word vectors."""
        streams = []
        for role in range(self.n_texts):
            words = batch[f"words{role}"]
            streams.append(Stream(self.vectors(words), words, torch.where(words != PADDING, role, -1)))
        return streams


class ComparedSentences(WordNetwork):
    """h = f(W s + b), or s itself, and a linear classifier, where s joins the texts' vectors.

    Of one text s = u, of two s = [u, v, |u - v|, u * v]. A subclass gives u and v (`encode_words`), and may replace f,
    which is ReLU. Its sizes hold `dropout` beside those of a `WordNetwork`.

    With `cosine` two texts are compared by h = u . v / (|u| |v|) alone, 0 where one of them is 0, and outputs are
    linear in it: of a number a h + b, with a = 1 and b = 0 at first, so that alike texts begin with the higher one.

    Args:
        task: What to learn.
        sizes: Of the subclass.
        vocabulary: Of the training texts.
        width: Of a text's vector.
        hidden: Width of h; 0 for s itself.
        cosine: Whether h is the cosine of two texts.

    Source: Mou et al. 2016 for joining pairs; Hendrycks et al. 2020 for their cosine.
    """

    activation: ClassVar[Callable[[Tensor], Tensor]] = torch.relu

    def __init__(
        self, task: Task, sizes: Any, vocabulary: Vocabulary, *, width: int, hidden: int, cosine: bool = False
    ) -> None:
        super().__init__(task, sizes, vocabulary)
        self.check_texts(sizes, task.roles)
        self.dropout, self.cosine = Dropout(sizes.dropout), cosine
        joined = joined_width(self.n_texts, width)
        self.hidden = nn.Linear(joined, hidden) if hidden and not cosine else None
        self.classifier = nn.Linear(1 if cosine else hidden or joined, task.n_outputs)
        if cosine and task.kind == "number":
            nn.init.ones_(self.classifier.weight)
            nn.init.zeros_(self.classifier.bias)

    @classmethod
    def check_texts(cls, sizes: Any, roles: Sequence[str]) -> None:
        """Refuse a cosine of anything but two texts."""
        if getattr(sizes, "cosine", False) and len(roles) != 2:
            raise InputError(
                f"a cosine is of two texts, and there {'is 1' if len(roles) == 1 else f'are {len(roles)}'}: "
                f"{', '.join(roles)}",
                mend=f"leave out {option('changes', 'cosine=true')}",
            )

    @abstractmethod
    def encode_words(self, vectors: Tensor, layout: Layout) -> Tensor:
        """One vector a text, (roles B, width), from those of all words, (T', E); 0 for an empty text."""

    def sentences(self, batch: Batch) -> tuple[Tensor, ...]:
        """One vector a text, each (B, width); 0 for an empty text."""
        return self.encode_words(*self.look_up(batch)).split(batch.size)

    def represent_words(self, vectors: Tensor, layout: Layout) -> Tensor:
        """What is classified, (B, hidden)."""
        return self.compare(self.encode_words(vectors, layout).chunk(self.n_texts))

    def represent(self, batch: Batch) -> Tensor:
        """What is classified, (B, hidden)."""
        return self.compare(self.sentences(batch))

    def compare(self, sentences: Sequence[Tensor]) -> Tensor:
        """What is classified, (B, hidden), from what `sentences` gives."""
        if self.cosine:
            u, v = (self.dropout(each) for each in sentences)
            return nn.functional.cosine_similarity(u, v, dim=1).unsqueeze(1)
        joined = join(sentences)
        return joined if self.hidden is None else type(self).activation(self.hidden(self.dropout(joined)))

    def classify(self, representation: Tensor) -> Tensor:
        """Logits."""
        # Dropped, the one number that a cosine is would leave nothing.
        logits: Tensor = self.classifier(representation if self.cosine else self.dropout(representation))
        return logits


class SentenceMaxima(ComparedSentences):
    """u and v are the maxima over time of a BiLSTM. Its sizes hold `units` and `hidden` too.

    Args:
        task: What to learn.
        sizes: Of the subclass.
        vocabulary: Of the training texts.
        separate: Whether each text has an encoder of its own, instead of one for all.
    """

    def __init__(self, task: Task, sizes: Any, vocabulary: Vocabulary, *, separate: bool = False) -> None:
        super().__init__(task, sizes, vocabulary, width=2 * sizes.units, hidden=sizes.hidden)
        n_encoders = self.n_texts if separate else 1
        self.encoders = nn.ModuleList(Bidirectional(sizes.vectors, sizes.units) for _ in range(n_encoders))

    def encode_words(self, vectors: Tensor, layout: Layout) -> Tensor:
        """The maximum over time of each text, (roles B, 2 units); 0 for an empty text."""
        # What an encoder reads goes through it at once: all texts, or those of one role.
        layouts = layout.apart(len(self.encoders))
        own = layout.of_words(self.dropout(vectors)).split([sum(each.counts) for each in layouts])
        parts = zip(self.encoders, own, layouts, strict=True)
        return torch.cat([encoder.maxima(words, each) for encoder, words, each in parts])
