"""Networks that compare the maxima over time of a BiLSTM over each sentence: all but their sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from goldassay.models.bidirectional import Bidirectional
from goldassay.models.compared_sentences import ComparedSentences

if TYPE_CHECKING:
    from torch import Tensor

    from goldassay.models.configuration import Task
    from goldassay.models.layout import Layout
    from goldassay.models.vocabulary import Vocabulary


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
