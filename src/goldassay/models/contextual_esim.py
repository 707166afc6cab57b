"""ESIM on frozen contextual vectors of any encoder, as ESIM with ELMo was."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import nn

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.models.configuration import DESK, PUBLISHED, Configuration, Recipe, Task
from goldassay.models.contextual_vectors import ContextualVectors
from goldassay.models.network import Batch, Stream
from goldassay.models.ragged import Ragged
from goldassay.models.sequential_inference import SequentialInference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

_ASSETS = "encoder.json"


@dataclass(frozen=True)
class Sizes:
    """Widths and limits.

    Attributes:
        encoder: Folder of a transformers checkpoint, or its name on the hub; must be given.
        layers: How many of its last layers are mixed, with weights that are learnt, as ELMo's three were, which are all
            of it and what enters the first; each takes as much room as the first.
        units: Of the LSTMs in each direction, and of the hidden layers.
        dropout: On word vectors, after each projection and before the classifier.
        max_tokens: Word pieces of a text beyond this are cut off; the encoder's own limit, if that is lower.
    """

    encoder: str = ""
    layers: int = 1
    units: int = 64
    dropout: float = 0.3
    max_tokens: int = 256


@dataclass(frozen=True)
class EncodedContexts:
    """Words and vectors of each text, role by role; see `network.Encoded`.

    Attributes:
        words: Numbers of words, one a role.
        places: Of each word's vector, one a role.
        vectors: Of all different texts, (words, layers, width).
        costs: (N,).
        cut: (roles, N).
    """

    words: tuple[Ragged, ...]
    places: tuple[Ragged, ...]
    vectors: NDArray[np.float16]
    costs: NDArray[np.int64]
    cut: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.words[0])


class Network(SequentialInference):
    """The layers of ESIM on the vectors that a frozen encoder gives each word in its text.

    The encoder reads premise and hypothesis apart, as ELMo did; of several layers the mix is g sum_l softmax(s)_l h_l,
    g and s learnt. Vectors are computed once a text and kept, see `contextual_vectors`: what is trained is as small as
    ESIM, and an epoch costs what it costs there. The encoder itself is not copied into the run's folder.

    Published (ESIM+ELMo in Zhou et al. 2020, the AllenNLP model): the three layers of ELMo, 1024 wide; 300 units;
    dropout .5; Adam, rate 4e-4, clip 10, patience 5; 64 epochs and batches of 32 are ESIM's. Desk has 64 units.

    Source: Chen, Zhu, Ling, Wei, Jiang and Inkpen 2017; Peters, Neumann, Iyyer, Gardner, Clark, Lee and Zettlemoyer
    2018.
    """

    name: ClassVar[str] = "contextual_esim"
    configurations: ClassVar[Mapping[str, Configuration]] = {
        DESK: Configuration(Sizes(), Recipe(epochs=4, batch_size=64, learning_rate=3e-3, schedule="linear", clip=10.0)),
        PUBLISHED: Configuration(
            Sizes(layers=3, units=300, dropout=0.5),
            Recipe(epochs=64, batch_size=32, learning_rate=4e-4, clip=10.0, patience=5),
        ),
    }

    def __init__(self, task: Task, sizes: Sizes, encoder: ContextualVectors) -> None:
        super().__init__()
        self.sizes = sizes
        # In a list, so that its weights are neither trained nor written with the network's.
        self._encoder = [encoder]
        self._folder: Path | None = None
        self._numbers: dict[str, int] = {"": 0}
        self.mix = nn.Parameter(torch.zeros(sizes.layers)) if sizes.layers > 1 else None
        self.gain = nn.Parameter(torch.ones(())) if sizes.layers > 1 else None
        self.add_layers(task, encoder.width, sizes.units, sizes.dropout)

    @classmethod
    def check_sizes(cls, sizes: Any) -> None:
        """Refuse to do without an encoder."""
        if not sizes.encoder:
            raise InputError(
                "contextual_esim needs an encoder",
                mend=f"name a checkpoint's folder or hub name: {option('set', 'encoder=FOLDER')}",
            )

    @classmethod
    def build(cls, task: Task, texts: Any, sizes: Any, model: str) -> Network:  # noqa: ARG003
        """See `network.Network.build`."""
        cls.check_sizes(sizes)
        return cls(task, sizes, ContextualVectors(sizes.encoder, sizes.layers, sizes.max_tokens, task.tokenizer))

    @classmethod
    def load(cls, task: Task, sizes: Any, assets: Path) -> Network:
        """See `network.Network.load`.

        Raises:
            InputError: The encoder is another one now.
        """
        network = cls.build(task, (), sizes, cls.name)
        content = json.loads((assets / _ASSETS).read_text(encoding="utf-8"))
        if content["sha256"] != network.encoder.digest:
            raise InputError(
                "the encoder has other weights than the one trained on",
                file=sizes.encoder,
                mend="give the same checkpoint, or train again",
            )
        return network

    def save_assets(self, folder: Path) -> None:
        """Write which encoder it is."""
        content = {"encoder": self.sizes.encoder, "sha256": self.encoder.digest}
        (folder / _ASSETS).write_text(json.dumps(content), encoding="utf-8")

    @property
    def encoder(self) -> ContextualVectors:
        """What gives the vectors."""
        return self._encoder[0]

    def keep_in(self, folder: Path) -> None:
        """Keep vectors in a folder, for other runs on the same texts; see `network.Network.keep_in`."""
        self._folder = folder

    def encode(self, texts: Sequence[Sequence[str] | None]) -> EncodedContexts:
        """Words and their vectors."""
        n = next(len(column) for column in texts if column is not None)
        different: dict[str, int] = {}
        rows = [
            None if column is None else np.array([different.setdefault(text, len(different)) for text in column])
            for column in texts
        ]
        found = self.encoder.of(list(different), self.device, self._folder)
        numbers = [self._numbers.setdefault(name, len(self._numbers)) for name in found.names]
        words = Ragged(np.array(numbers, np.int64), found.offsets)
        places = Ragged(np.arange(words.flat.size), found.offsets)
        empty = Ragged.empty(n)
        of_role = [empty if row is None else words.take(row) for row in rows]
        costs = np.zeros(n, np.int64)
        for each in of_role:
            costs = costs * (self.sizes.max_tokens + 1) + each.lengths
        return EncodedContexts(
            words=tuple(of_role),
            places=tuple(empty if row is None else places.take(row) for row in rows),
            vectors=found.vectors,
            costs=costs,
            cut=np.stack([np.zeros(n, np.bool_) if row is None else found.cut[row] for row in rows]),
        )

    def collate(self, encoded: EncodedContexts, rows: NDArray[np.int64]) -> Batch:
        """Words and vectors as rectangles, one of each a role."""
        tensors: dict[str, NDArray[Any]] = {}
        counts = []
        for role, (words, places) in enumerate(zip(encoded.words, encoded.places, strict=True)):
            numbers, real = words.take(rows).padded()
            counts.append(int(np.count_nonzero(real)))
            vectors = np.zeros((*real.shape, *encoded.vectors.shape[1:]), np.float16)
            vectors[real] = encoded.vectors[places.take(rows).flat]
            tensors |= {f"words{role}": numbers, f"real{role}": real, f"vectors{role}": vectors}
        return Batch({name: torch.from_numpy(array) for name, array in tensors.items()}, rows.size, tuple(counts))

    def embed(self, batch: Batch) -> list[Stream]:
        """The encoder's vectors, mixed."""
        return [
            Stream(
                self._mixed(batch[f"vectors{role}"].to(self.hidden.weight.dtype)),
                batch[f"words{role}"],
                torch.where(batch[f"real{role}"], role, -1),
            )
            for role in range(self.n_texts)
        ]

    def _mixed(self, layers: Tensor) -> Tensor:
        """One vector a word, (B, L, width), of those of its layers, (B, L, layers, width)."""
        if self.mix is None:
            return layers.squeeze(2)
        return self.gain * torch.einsum("blnw,n->blw", layers, torch.softmax(self.mix, 0))

    def token_names(self) -> Sequence[str]:
        """The words, in the order of their numbers."""
        return list(self._numbers)
