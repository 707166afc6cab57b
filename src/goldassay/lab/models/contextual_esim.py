"""Vectors of words in their texts, from the layers of a frozen encoder; computed once a text and kept.

ESIM on frozen contextual vectors of any encoder, as ESIM with ELMo was.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from goldassay.core.errors import InputError, option
from goldassay.core.files import written_whole
from goldassay.lab.models.checkpoint import open_config, open_tokenizer, open_weights, token_limit
from goldassay.lab.models.configuration import DESK, PUBLISHED, Configuration, Recipe, Task
from goldassay.lab.models.layers import SequentialInference
from goldassay.lab.models.network import Batch, Stream
from goldassay.lab.models.vocabulary import Ragged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_BATCH = 64
_BLOCK = 4096


@dataclass(frozen=True)
class ContextualWords:
    """The words of N texts with their vectors.

    Attributes:
        names: Each word of each text, one text after the other, (T,).
        offsets: Where each text starts, and the end of the last, (N+1,).
        vectors: Of each word, (T, layers, width); 16 bits a number.
        cut: Which texts were longer than the encoder takes and lost their end, (N,).
    """

    names: list[str]
    offsets: NDArray[np.int64]
    vectors: NDArray[np.float16]
    cut: NDArray[np.bool_]


@dataclass(frozen=True)
class _Pieces:
    """Of some texts, one after the other: pieces, special ones among them, and the word that each is of.

    Attributes:
        tokens: Numbers of pieces.
        words: Place of each piece's word in its text; -1 for special pieces.
        names: Of the words.
        n_words: Of each text, (N,).
        cut: (N,).
    """

    tokens: Ragged
    words: Ragged
    names: list[str]
    n_words: NDArray[np.int64]
    cut: NDArray[np.bool_]


class ContextualVectors:
    """A frozen encoder that reads each text by itself.

    A word's vector is the average over its pieces, so that no part of it is lost; in scripts without spaces, and where
    a tokenizer does not know words, each piece is a word. Texts of similar length go through the encoder together, in
    an order that the texts alone decide: the same texts give the same bits, whichever run computes them.

    16 bits a number halve what is kept and differ by a thousandth at most, far below what the encoder's own dropout
    was trained to bear. 18,000 pairs of 22 words are 300 MB for an encoder 384 wide. With a folder they are kept as a
    file there, read by every run of the folder, and by the operating system's leave not held in memory.

    Args:
        place: Folder of the encoder, or its name on the hub.
        n_layers: How many of its last layers are given; one more than it has takes what enters the first, too.
        max_pieces: Pieces of a text beyond this, special ones among them, are cut off.
        tokenizer: Of the task: with "characters" each piece is a word.

    Raises:
        InputError: There is no such encoder, or it has fewer layers.
    """

    def __init__(self, place: str, n_layers: int, max_pieces: int, tokenizer: str) -> None:
        from transformers import AutoModel

        config = open_config(place)
        # It reads each text by itself.
        self.tokenizer = open_tokenizer(place, parted=False)
        model = open_weights(AutoModel, place, config)
        self.model = (model.get_encoder() if getattr(config, "is_encoder_decoder", False) else model).eval()
        self.model.requires_grad_(requires_grad=False)
        # What enters the first of its layers is one too, as ELMo's word representations were.
        available = int(config.num_hidden_layers) + 1
        if not 1 <= n_layers <= available:
            raise InputError(
                f"{n_layers} layers are asked for, and the encoder has {available}",
                file=place,
                mend=f"choose layers from 1 to {available}",
            )
        self.n_layers, self.width = n_layers, int(config.hidden_size)
        self.max_pieces = min(max_pieces, token_limit(config, self.tokenizer))
        self.by_word = tokenizer != "characters" and len({*self.tokenizer("one two").word_ids()} - {None}) == 2
        self._digest: str | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of the weights."""
        if self._digest is None:
            found = hashlib.sha256()
            for name, tensor in sorted(self.model.state_dict().items()):
                found.update(name.encode())
                found.update(tensor.cpu().contiguous().numpy().tobytes())
            self._digest = found.hexdigest()
        return self._digest

    def of(self, texts: Sequence[str], device: torch.device, folder: Path | None) -> ContextualWords:
        """Words and vectors of texts.

        Args:
            texts: N texts; equal ones are computed again.
            device: Where to compute.
            folder: Where vectors are kept and looked for; None keeps them in memory.
        """
        pieces = self._cut_into_pieces(texts)
        offsets = np.concatenate(([0], np.cumsum(pieces.n_words)))
        shape = (int(offsets[-1]), self.n_layers, self.width)
        if folder is None or not shape[0]:
            vectors = np.zeros(shape, np.float16)
            self._fill(vectors, pieces, offsets, device)
            return ContextualWords(pieces.names, offsets, vectors, pieces.cut)
        path = folder / f"{self._key(pieces)}.npy"
        if not path.exists():
            with written_whole(path) as aside:
                kept = np.lib.format.open_memmap(aside, "w+", np.float16, shape)
                self._fill(kept, pieces, offsets, device)
                kept.flush()
        return ContextualWords(pieces.names, offsets, np.load(path, mmap_mode="r", allow_pickle=False), pieces.cut)

    def _key(self, pieces: _Pieces) -> str:
        found = hashlib.sha256(f"{self.digest} {self.n_layers}".encode())
        for rows in (pieces.tokens, pieces.words):
            found.update(rows.offsets.tobytes())
            found.update(rows.flat.tobytes())
        return found.hexdigest()[:32]

    def _cut_into_pieces(self, texts: Sequence[str]) -> _Pieces:
        tokens, words, names, n_words, cut = [], [], [], [], []
        for start in range(0, len(texts), _BLOCK):
            for numbers, places, named, is_cut in self._block(list(texts[start : start + _BLOCK])):
                tokens.append(numbers)
                words.append(places)
                names += named
                n_words.append(len(named))
                cut.append(is_cut)
        return _Pieces(Ragged.of(tokens), Ragged.of(words), names, np.array(n_words, np.int64), np.array(cut, np.bool_))

    def _block(self, texts: list[str]) -> Iterator[tuple[list[int], list[int], list[str], bool]]:
        found = self.tokenizer(texts, truncation=True, max_length=self.max_pieces, verbose=False)
        whole = self.tokenizer(texts, verbose=False)["input_ids"]
        for row, text in enumerate(texts):
            numbers = found["input_ids"][row]
            encoding = found.encodings[row]
            places, named, before = [], [], None
            for place, (word, special) in enumerate(zip(encoding.word_ids, encoding.special_tokens_mask, strict=True)):
                if special or word is None:
                    places.append(-1)
                    continue
                if not self.by_word or word != before:
                    span = encoding.word_to_chars(word) if self.by_word else encoding.offsets[place]
                    named.append(text[span[0] : span[1]])
                    before = word
                places.append(len(named) - 1)
            yield numbers, places, named, len(whole[row]) > len(numbers)

    @torch.inference_mode()
    def _fill(
        self, vectors: NDArray[np.float16], pieces: _Pieces, offsets: NDArray[np.int64], device: torch.device
    ) -> None:
        """Compute the vectors of all words."""
        model = self.model.to(device)
        order = np.argsort(pieces.tokens.lengths, kind="stable")
        order = order[pieces.n_words[order] > 0]
        for start in range(0, order.size, _BATCH):
            rows = order[start : start + _BATCH]
            tokens, real = pieces.tokens.take(rows).padded(self.tokenizer.pad_token_id or 0)
            states = self._states(model, torch.from_numpy(tokens).to(device), torch.from_numpy(real).to(device))
            words = pieces.words.take(rows).padded(-1)[0]
            # Places of the batch's words one text after the other, and of each piece its word's.
            first = np.cumsum(pieces.n_words[rows]) - pieces.n_words[rows]
            inside = words >= 0
            into = torch.from_numpy((words + first[:, None])[inside]).to(device)
            total = torch.zeros(int(pieces.n_words[rows].sum()), *states.shape[2:], device=device)
            total.index_add_(0, into, states[torch.from_numpy(inside).to(device)])
            counts = torch.bincount(into, minlength=len(total)).clamp(min=1)
            means = (total / counts[:, None, None]).half().cpu().numpy()
            goal = np.concatenate([np.arange(offsets[row], offsets[row + 1]) for row in rows])
            vectors[goal] = means

    def _states(self, model: Any, tokens: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """Of the last layers at each piece, (B, L, layers, width)."""
        out = model(input_ids=tokens, attention_mask=real.long(), output_hidden_states=True)
        return torch.stack(out.hidden_states[len(out.hidden_states) - self.n_layers :], dim=2)


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
                mend=f"name a checkpoint's folder or hub name: {option('changes', 'encoder=FOLDER')}",
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
