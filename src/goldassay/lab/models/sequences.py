"""Texts of a batch one after the other without padding, and as rectangles where a product needs them so.

A bidirectional LSTM over texts of different lengths, of which padding is no part.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from goldassay.lab.models.network import Batch, Stream, on_accelerator
from goldassay.lab.models.recurrence import Packing, maximum_over_time, on_processor, states_over_time

if TYPE_CHECKING:
    from collections.abc import Sequence


# The library that multiplies 16-bit numbers compiles a program for each new shape: there shall be few.
_ROUND = 128


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the T words of a batch of B examples stand: of all texts one after the other, role by role.

    What stands so, "flat", has a round number of rows, T'; those behind the T of words are filling, and what they hold
    has no effect.

    Attributes:
        lengths: Words of each text, those of a role together, (roles B,).
        widths: Of each role's rectangle, L.
        counts: Words of each role; counted where they are not given, for which an accelerator must be waited for.
    """

    lengths: Tensor
    widths: tuple[int, ...]
    counts: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.counts:
            counted = tuple(int(each.sum()) for each in self.lengths.chunk(len(self.widths)))
            object.__setattr__(self, "counts", counted)

    @classmethod
    def in_batch(cls, batch: Batch) -> Layout:
        """Of what `word_network.WordNetwork.collate` gives."""
        n_roles = len(batch["lengths"]) // batch.size
        widths = tuple(batch[f"words{role}"].shape[1] for role in range(n_roles))
        return cls(batch["lengths"], widths, batch.counts)

    @classmethod
    def of_streams(cls, streams: Sequence[Stream], counts: tuple[int, ...] = ()) -> Layout:
        """Of vectors that come as rectangles, a role each; words come first in each row."""
        lengths = torch.cat([(stream.roles >= 0).sum(1) for stream in streams])
        return cls(lengths, tuple(stream.roles.shape[1] for stream in streams), counts)

    def apart(self, n_parts: int) -> list[Layout]:
        """Layouts of as many roles each, (roles / n_parts) of them together."""
        share = len(self.widths) // n_parts
        parts = [slice(at, at + share) for at in range(0, len(self.widths), share)]
        lengths = self.lengths.chunk(n_parts)
        return [Layout(own, self.widths[part], self.counts[part]) for own, part in zip(lengths, parts, strict=True)]

    @cached_property
    def real(self) -> list[Tensor]:
        """Where words are in each rectangle, (B, L)."""
        of_roles = zip(self.widths, self.lengths.chunk(len(self.widths)), strict=True)
        return [torch.arange(width, device=lengths.device) < lengths.unsqueeze(1) for width, lengths in of_roles]

    @cached_property
    def cells(self) -> list[Tensor]:
        """Of each role's words the cell of its rectangle, these numbered row by row, (words of the role,)."""
        found = []
        roles = zip(self.widths, self.lengths.chunk(len(self.widths)), self.counts, strict=True)
        for width, lengths, count in roles:
            firsts = torch.arange(len(lengths), device=lengths.device) * width - (lengths.cumsum(0) - lengths)
            words = torch.arange(count, device=lengths.device)
            found.append(words + firsts.repeat_interleave(lengths, output_size=count))
        return found

    @cached_property
    def packed(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The arrays of a `recurrence.Packing` of all texts."""
        packing = Packing.of(self.lengths.numpy())
        arrays = (packing.forwards, packing.backwards, packing.starts, packing.places)
        forwards, backwards, starts, places = map(torch.from_numpy, arrays)
        return forwards, backwards, starts, places

    def of_words(self, flat: Tensor) -> Tensor:
        """Without the filling, (T, D)."""
        return flat[: sum(self.counts)]

    def filled(self, words: Tensor) -> Tensor:
        """Rows of words, (T, D), with filling of 0 behind them, (T', D)."""
        return nn.functional.pad(words, (0, 0, 0, n_filling(len(words))))

    def rectangles(self, flat: Tensor) -> list[Tensor]:
        """Rectangles of what is flat, (B, L, D) each; 0 at padding."""
        parts, size = self.of_words(flat).split(self.counts), len(self.lengths) // len(self.widths)
        shapes = [(size, width, flat.shape[1]) for width in self.widths]
        if on_accelerator(flat.device):
            # To find out how many words a mask has, an accelerator must be waited for.
            return [
                part.new_zeros(size * width, part.shape[1]).index_copy(0, cells, part).view(shape)
                for part, cells, width, shape in zip(parts, self.cells, self.widths, shapes, strict=True)
            ]
        found = []
        for part, real, shape in zip(parts, self.real, shapes, strict=True):
            rectangle = flat.new_zeros(shape)
            rectangle[real] = part
            found.append(rectangle)
        return found

    def flat(self, rectangles: Sequence[Tensor]) -> Tensor:
        """Rectangles, (B, L, D) each, one text after the other without what is padding, (T', D)."""
        if on_accelerator(self.lengths.device):
            rows = [
                each.flatten(0, 1).index_select(0, cells) for each, cells in zip(rectangles, self.cells, strict=True)
            ]
            return self.filled(torch.cat(rows))
        return self.filled(torch.cat([each[real] for each, real in zip(rectangles, self.real, strict=True)]))

    def windows(self, flat: Tensor, width: int) -> Tensor:
        """Of each word its own row and those of the words behind it, (T', width, D); 0 beyond the text's end."""
        places = torch.arange(len(flat), device=flat.device)
        # Filling reaches nothing.
        ends = self.lengths.cumsum(0).repeat_interleave(self.lengths, output_size=sum(self.counts))
        ends = self.filled(ends.unsqueeze(1))
        reached = places.unsqueeze(1) + torch.arange(width, device=flat.device)
        reached = torch.where(reached < ends, reached, len(flat))
        return nn.functional.embedding(reached, torch.cat((flat, flat.new_zeros(1, flat.shape[1]))))

    def sums(self, flat: Tensor) -> Tensor:
        """The sum over each text's words, (roles B, D)."""
        return self._reduced(flat, "sum")

    def averages(self, flat: Tensor) -> Tensor:
        """The average over each text's words, (roles B, D); 0 for a text without words."""
        return self.sums(flat) / self.lengths.clamp(min=1).unsqueeze(1)

    def maxima(self, flat: Tensor) -> Tensor:
        """The maximum over each text's words, (roles B, D); 0 for a text without words."""
        return self._reduced(flat, "max").masked_fill((self.lengths == 0).unsqueeze(1), 0)

    def _reduced(self, flat: Tensor, how: str) -> Tensor:
        words, lengths = self.of_words(flat), self.lengths
        if flat.device.type == "mps":
            # torch has no such reduction for the Mac's GPU.
            words, lengths = words.cpu(), lengths.cpu()
        # Whether lengths and words agree is not looked at on an accelerator, which must be waited for.
        found: Tensor = torch.segment_reduce(words, how, lengths=lengths, unsafe=on_accelerator(words.device))
        return found.to(flat.device)


def n_filling(n_words: int) -> int:
    """Rows of filling behind so many words."""
    return -n_words % _ROUND


def flattened(streams: Sequence[Stream], counts: tuple[int, ...] = ()) -> tuple[Tensor, Layout]:
    """Vectors that come as rectangles, one text after the other, (T', E), and where they stand.

    Args:
        streams: A role each.
        counts: Words of each role, where they are known.
    """
    layout = Layout.of_streams(streams, counts)
    return layout.flat([stream.vectors for stream in streams]), layout


class Bidirectional(nn.Module):
    """States of both directions at every word.

    The backward direction is an LSTM over each text turned around within its own length, so that padding, where there
    is any, comes last in both directions, and no state at a word depends on it. On a processor there is none, see
    `recurrence`.

    Args:
        width: Of the vectors.
        units: Of the LSTM in each direction.
    """

    def __init__(self, width: int, units: int) -> None:
        super().__init__()
        self.forwards = nn.LSTM(width, units, batch_first=True)
        self.backwards = nn.LSTM(width, units, batch_first=True)

    def forward(self, vectors: Tensor, layout: Layout) -> Tensor:
        """States of all words, (T', 2 units), from their vectors, (T', D)."""
        if on_processor(self.forwards.weight_ih_l0):
            states = states_over_time(layout.of_words(vectors), layout.packed, (self.forwards, self.backwards))
            return layout.filled(states)
        states = zip(layout.rectangles(vectors), layout.real, strict=True)
        return layout.flat([self._of_rectangle(rectangle, real) for rectangle, real in states])

    def maxima(self, vectors: Tensor, layout: Layout) -> Tensor:
        """The maximum over time of each text's states, (roles B, 2 units); 0 for a text without words."""
        if on_processor(self.forwards.weight_ih_l0):
            return maximum_over_time(vectors, layout.packed, (self.forwards, self.backwards))
        return layout.maxima(self(vectors, layout))

    def _of_rectangle(self, vectors: Tensor, real: Tensor) -> Tensor:
        around = turned(real)
        forwards, _ = self.forwards(vectors)
        backwards, _ = self.backwards(taken(vectors, around))
        return torch.cat((forwards, taken(backwards, around)), dim=2)


def turned(real: Tensor) -> Tensor:
    """For each place the one it takes when each row's real part is turned around; padding stays, (B, L)."""
    places = torch.arange(real.shape[1], device=real.device).expand_as(real)
    return torch.where(real, real.sum(1, keepdim=True) - 1 - places, places)


def taken(values: Tensor, places: Tensor) -> Tensor:
    """Rows of each example in another order, (B, L, D)."""
    return values.gather(1, places.unsqueeze(2).expand_as(values))
