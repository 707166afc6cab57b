"""What every network offers to the training room, and what it takes from it.

Tensors on their way from the processor's memory to an accelerator's, without waiting for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import torch
from torch import Tensor, nn

from goldassay.core.errors import InputError, option

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from goldassay.lab.models.configuration import Configuration, Task
    from goldassay.lab.models.vocabulary import VectorFile

# One list of N texts for each role of the task; None where a text is left out altogether, as it is when single
# sentences are put through a network for pairs.
Columns = Sequence[Sequence[str] | None]


class Encoded(Protocol):
    """Texts as a network's numbers; made once, used in every epoch."""

    @property
    def costs(self) -> NDArray[np.int64]:
        """How long each example is, for batches of similar length, (N,)."""

    @property
    def cut(self) -> NDArray[np.bool_]:
        """For each role, which texts were longer than the network takes and lost their end, (roles, N)."""

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class Batch:
    """Some examples, ready for the network.

    Attributes:
        tensors: By names that are the network's own.
        size: B.
        counts: Tokens of each role, or of all texts together, where the network needs to know them without reading
            them from an accelerator.
    """

    tensors: dict[str, Tensor]
    size: int
    counts: tuple[int, ...] = ()

    def __getitem__(self, name: str) -> Tensor:
        return self.tensors[name]

    def to(self, device: torch.device) -> Batch:
        """The same on another device, which the processor does not wait for."""
        return Batch({name: sent(tensor, device) for name, tensor in self.tensors.items()}, self.size, self.counts)

    def pinned(self, device: torch.device) -> Batch:
        """The same in memory from which a device can copy by itself; see `transfer.pinned`."""
        return Batch({name: pinned(tensor, device) for name, tensor in self.tensors.items()}, self.size, self.counts)


@dataclass(frozen=True)
class Stream:
    """Tokens that enter a network side by side.

    Attributes:
        vectors: Their input embeddings, (B, L, E).
        tokens: Their numbers, (B, L).
        roles: Position of the role that each token belongs to in the task's roles; -1 for padding and for special
            tokens, (B, L).
    """

    vectors: Tensor
    tokens: Tensor
    roles: Tensor


class Network(nn.Module, ABC):
    """A classifier of texts.

    `forward` is `classify(represent(batch))`. What a network adds for the measures is that the layer before the
    classifier can be read (`represent`), and that its input embeddings can be given from outside (`embed`,
    `represent_streams`), so that the gradient at each token is at hand.
    """

    name: ClassVar[str]
    configurations: ClassVar[Mapping[str, Configuration]]
    # Whether it can start from a file of word vectors; those that can have a `vocabulary` and a table `vectors`.
    takes_vectors: ClassVar[bool] = False
    # Whether it can be given vectors of tokens: relevances are gradients at these.
    takes_embeddings: bool = True
    # Examples evaluated at once.
    evaluation_batch: ClassVar[int] = 256

    @classmethod
    @abstractmethod
    def build(cls, task: Task, texts: Columns, sizes: Any, model: str) -> Self:
        """Make a network with fresh weights, drawn from torch's generator; what it learns of `texts` are words only.

        Args:
            task: What to learn.
            texts: Of the training rows, a column a role.
            sizes: One of those in `configurations`, or like it.
            model: What the user called it: for pretrained networks the place of the checkpoint.
        """

    @classmethod
    @abstractmethod
    def load(cls, task: Task, sizes: Any, assets: Path) -> Self:
        """Make a network of the same shape from what `save_assets` wrote; its weights are whatever they are."""

    @abstractmethod
    def save_assets(self, folder: Path) -> None:
        """Write all that is not weights (vocabulary, tokenizer, configuration) into a folder."""

    @abstractmethod
    def encode(self, texts: Columns) -> Encoded:
        """Turn texts into numbers."""

    @abstractmethod
    def collate(self, encoded: Any, rows: NDArray[np.int64]) -> Batch:
        """Put some examples into a batch."""

    @abstractmethod
    def embed(self, batch: Batch) -> list[Stream]:
        """Input embeddings of all tokens."""

    @abstractmethod
    def represent_streams(self, streams: list[Stream], batch: Batch) -> Tensor:
        """The layer before the classifier, (B, D), from embeddings."""

    @abstractmethod
    def classify(self, representation: Tensor) -> Tensor:
        """Logits, (B, K)."""

    @abstractmethod
    def token_names(self) -> Sequence[str]:
        """The token of each number."""

    def represent(self, batch: Batch) -> Tensor:
        """The layer before the classifier, (B, D)."""
        return self.represent_streams(self.embed(batch), batch)

    def forward(self, batch: Batch) -> Tensor:
        """Logits, (B, K)."""
        return self.classify(self.represent(batch))

    def evaluate(self, batch: Batch, reduced: Callable[[], AbstractContextManager[None]]) -> Tensor:
        """Logits, (B, K), computed under the reduced precision of the training up to the classifier.

        The classifier itself is computed in 32 bits: logits of 16 bits were equal for the two best labels of one
        example in six hundred, and the order of the labels would then decide.

        Args:
            batch: What to evaluate.
            reduced: Opens what computes in that precision.
        """
        with reduced():
            representation = self.represent(batch)
        return self.classify(representation.float())

    def sentences(self, batch: Batch) -> tuple[Tensor, ...]:  # noqa: ARG002
        """One vector a text, each (B, S), for objectives that look at one sentence alone.

        Raises:
            InputError: The network reads its texts together and has no such vectors.
        """
        raise InputError(
            f"{self.name} has no vector for each sentence, since it reads the texts together",
            mend="choose a network that encodes each sentence by itself, such as bilstm",
        )

    def compare(self, sentences: Sequence[Tensor]) -> Tensor:  # noqa: ARG002
        """The layer before the classifier, (B, D), from what `sentences` gives.

        Raises:
            InputError: The network has no such vectors, or compares more than them.
        """
        raise InputError(
            f"{self.name} does not compare the texts by one vector each",
            mend="choose a network that encodes each sentence by itself, such as bilstm",
        )

    @classmethod
    def check_sizes(cls, sizes: Any) -> None:
        """Refuse sizes that no such network can have, before anything is read.

        Raises:
            InputError: Says what is missing.
        """

    @classmethod
    def check_texts(cls, sizes: Any, roles: Sequence[str]) -> None:
        """Refuse texts that a network of these sizes cannot read, before anything is read.

        Raises:
            InputError: Says which it takes.
        """

    def keep_in(self, folder: Path) -> None:
        """Be told of a folder for what `encode` computes once and other runs can use; most compute no such thing."""

    def start_from(self, vectors: VectorFile, *, frozen: bool = False) -> int:
        """Replace the fresh vectors of the words that a file has by those of the file, and count these words.

        Args:
            vectors: The file.
            frozen: Whether the vectors stay as they then are, those of words that the file lacks too.

        Raises:
            InputError: The network has no vectors of words, the file has none of its words, or a value is no number.
        """
        if not self.takes_vectors:
            raise InputError(f"{self.name} does not start from word vectors", mend=f"leave out {option('vectors')}")
        vocabulary: Any = self.vocabulary
        table: Any = self.vectors
        numbers, found = vectors.read(vocabulary.numbers)
        if not numbers.size:
            raise InputError(
                f"it has none of the {len(vocabulary.numbers):,} words of the training texts",
                file=vectors.path,
                mend="give vectors of their language and case",
            )
        with torch.no_grad():
            place = table.weight.device
            table.weight[torch.from_numpy(numbers).to(place)] = torch.from_numpy(found).to(place, table.weight.dtype)
        table.weight.requires_grad_(not frozen)
        return int(numbers.size)

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return next(self.parameters()).device


def on_accelerator(device: torch.device) -> bool:
    """Whether a device computes apart from the processor, which waits for it only to read from its memory."""
    return device.type != "cpu"


def pinned(tensor: Tensor, device: torch.device) -> Tensor:
    """A tensor in memory from which a device can copy by itself, where the device needs that; else the same."""
    # The Mac's GPU shares the processor's memory.
    return tensor.pin_memory() if device.type not in ("cpu", "mps") else tensor


def sent(tensor: Tensor, device: torch.device) -> Tensor:
    """A tensor of the processor on a device; an accelerator copies it when its work before that is done.

    From memory that is not pinned the processor would wait until then.
    """
    return pinned(tensor, device).to(device, non_blocking=True)
