"""A bidirectional LSTM over texts of different lengths, of which padding is no part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from goldassay.models.processor import on_processor
from goldassay.models.recurrence import maximum_over_time, states_over_time

if TYPE_CHECKING:
    from torch import Tensor

    from goldassay.models.layout import Layout


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
