"""What networks share whose words are those of a vocabulary learnt in training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.models.network import Network
from goldassay.models.sentence_encoder import load_vocabulary, save_vocabulary
from goldassay.models.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Self

    from goldassay.models.configuration import Task


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
