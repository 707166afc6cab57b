"""What networks that encode each text by itself share: words in, one vector a text, the vectors joined."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from goldassay.models.ragged import Ragged
from goldassay.models.vocabulary import PADDING, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

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
