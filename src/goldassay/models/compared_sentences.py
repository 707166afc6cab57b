"""Networks of word vectors that make one vector of each text and compare the texts by these."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import nn

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.models.dropout import Dropout
from goldassay.models.sentence_encoder import join, joined_width
from goldassay.models.word_network import WordNetwork

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from goldassay.models.configuration import Task
    from goldassay.models.layout import Layout
    from goldassay.models.network import Batch
    from goldassay.models.vocabulary import Vocabulary


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
                mend=f"leave out {option('set', 'cosine=true')}",
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
