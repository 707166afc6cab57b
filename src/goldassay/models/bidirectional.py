"""A bidirectional LSTM over rectangles of vectors, of which padding is no part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from goldassay.models.recurrence import Packing, states_over_time

if TYPE_CHECKING:
    from torch import Tensor


class Bidirectional(nn.Module):
    """States of both directions at every word.

    The backward direction is an LSTM over each text turned around within its own length, so that padding comes last in
    both directions, and no state at a word depends on it.

    Args:
        width: Of the vectors.
        units: Of the LSTM in each direction.
    """

    def __init__(self, width: int, units: int) -> None:
        super().__init__()
        self.forwards = nn.LSTM(width, units, batch_first=True)
        self.backwards = nn.LSTM(width, units, batch_first=True)

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """States, (B, L, 2 units), 0 at padding.

        Args:
            vectors: (B, L, D).
            mask: 1 for words, which come first in each row, 0 for padding, (B, L, 1).
        """
        here = mask.squeeze(2) > 0
        if vectors.device.type == "cpu" and self.forwards.weight_ih_l0.dtype == torch.float32:
            return self._without_padding(vectors, here)
        around = turned(here)
        forwards, _ = self.forwards(vectors)
        backwards, _ = self.backwards(taken(vectors, around))
        return torch.cat((forwards, taken(backwards, around)), dim=2) * mask

    def _without_padding(self, vectors: Tensor, here: Tensor) -> Tensor:
        packing = Packing.of(here.sum(1).numpy())
        packed = (packing.forwards, packing.backwards, packing.starts, packing.places)
        forwards, backwards, starts, places = map(torch.from_numpy, packed)
        found = states_over_time(vectors[here], (forwards, backwards, starts, places), (self.forwards, self.backwards))
        states = found.new_zeros(*here.shape, found.shape[1])
        states[here] = found
        return states


def turned(real: Tensor) -> Tensor:
    """For each place the one it takes when each row's real part is turned around; padding stays, (B, L)."""
    places = torch.arange(real.shape[1], device=real.device).expand_as(real)
    return torch.where(real, real.sum(1, keepdim=True) - 1 - places, places)


def taken(values: Tensor, places: Tensor) -> Tensor:
    """Rows of each example in another order, (B, L, D)."""
    return values.gather(1, places.unsqueeze(2).expand_as(values))


def maximum_of_words(states: Tensor, mask: Tensor) -> Tensor:
    """The maximum over the words of each text, (B, D) of (B, L, D); 0 for a text without words."""
    # The lowest number instead of minus infinity: an empty text has no maximum, and 0 must not become NaN.
    lowest = torch.finfo(states.dtype).min
    return states.masked_fill(mask == 0, lowest).amax(1) * (mask.sum(1) > 0)
