"""Layers of readers on word vectors: characters, recurrence, attention to a question and to the paragraph itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from goldassay.models.bidirectional import taken, turned

if TYPE_CHECKING:
    from torch import Tensor


class CharacterConvolution(nn.Module):
    """A word's vector from its characters: the maximum over places of ReLU(W c[i:i+width] + b).

    Args:
        n_characters: Known ones, with padding and the unknown.
        width: Of a character's vector.
        filters: Width of the word's vector.
        window: Characters that a filter sees.

    Source: Kim 2014; Seo, Kembhavi, Farhadi and Hajishirzi 2017 for words of characters.
    """

    def __init__(self, n_characters: int, width: int, filters: int, window: int) -> None:
        super().__init__()
        self.vectors = nn.Embedding(n_characters, width, padding_idx=0)
        self.convolution = nn.Conv1d(width, filters, window, padding=window - 1)

    def forward(self, characters: Tensor) -> Tensor:
        """Vectors, (U, filters), of words whose characters are (U, M), 0 where there is none."""
        found: Tensor = torch.relu(self.convolution(self.vectors(characters).transpose(1, 2))).amax(2)
        return found


class BidirectionalGru(nn.Module):
    """States of a GRU in each direction at every word; padding comes last in both, and no state depends on it.

    Args:
        width: Of the vectors.
        units: Of the GRU in each direction.

    Source: Cho et al. 2014.
    """

    def __init__(self, width: int, units: int) -> None:
        super().__init__()
        self.forwards = nn.GRU(width, units, batch_first=True)
        self.backwards = nn.GRU(width, units, batch_first=True)

    def forward(self, vectors: Tensor, real: Tensor) -> Tensor:
        """States, (N, L, 2 units), from vectors, (N, L, D), of which some are real, (N, L)."""
        around = turned(real)
        forwards, _ = self.forwards(vectors)
        backwards, _ = self.backwards(taken(vectors, around))
        return torch.cat((forwards, taken(backwards, around)), dim=2)


class Trilinear(nn.Module):
    """Scores of pairs of words, a_ij = w1 . x_i + w2 . y_j + w3 . (x_i * y_j).

    Args:
        width: Of the words' vectors.

    Source: Seo, Kembhavi, Farhadi and Hajishirzi 2017.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.of_x, self.of_y = nn.Linear(width, 1), nn.Linear(width, 1, bias=False)
        # Two words are near each other from the start if their vectors are.
        self.of_both = nn.Parameter(torch.full((width,), width**-0.5))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Scores, (N, L, M), of x, (N, L, D), and y, (N, M, D)."""
        scores: Tensor = self.of_x(x) + self.of_y(y).transpose(1, 2) + (x * self.of_both) @ y.transpose(1, 2)
        return scores


def shares(scores: Tensor, real: Tensor, axis: int) -> Tensor:
    """Softmax over what is real; 0 everywhere where nothing is.

    Args:
        scores: Of any shape.
        real: Broadcast to it.
        axis: Over which they add up to 1.
    """
    lowest = torch.finfo(scores.dtype).min / 2
    return torch.softmax(scores.masked_fill(~real, lowest), axis) * real


class QuestionAttention(nn.Module):
    """Words of a paragraph with what they attend to in the question: ReLU(W [x, c, x * c, q * c] + b).

    c_i = sum_j softmax_j(a_ij) y_j is the question as word i sees it, q = sum_i softmax_i(max_j a_ij) x_i the
    paragraph's words that the question asks for, a the scores of `Trilinear`.

    Args:
        width: Of the vectors of words.
        units: Of what is given.

    Source: Seo, Kembhavi, Farhadi and Hajishirzi 2017; Clark and Gardner 2018 for joining them.
    """

    def __init__(self, width: int, units: int) -> None:
        super().__init__()
        self.scores, self.joined = Trilinear(width), nn.Linear(4 * width, units)

    def forward(self, x: Tensor, real: Tensor, y: Tensor, real_y: Tensor) -> Tensor:
        """From paragraphs x, (P, L, D), and their questions y, (P, M, D): (P, L, units)."""
        scores = self.scores(x, y)
        from_y = shares(scores, real_y.unsqueeze(1), 2) @ y
        lowest = torch.finfo(scores.dtype).min / 2
        most = scores.masked_fill(~real_y.unsqueeze(1), lowest).amax(2)
        asked = (shares(most, real, 1).unsqueeze(1) @ x).expand_as(x)
        return torch.relu(self.joined(torch.cat((x, from_y, x * from_y, asked * from_y), dim=2)))


class SelfAttention(nn.Module):
    """Words of a paragraph with what they attend to in it: x + ReLU(W [h, c, h * c] + b), h states of a GRU over x.

    c_i = sum_j softmax_j(a_ij) h_j over the other words j != i of the paragraph.

    Args:
        units: Of the vectors of words, and of the GRU in each direction.
        dropout: On what the GRU reads.

    Source: Clark and Gardner 2018.
    """

    def __init__(self, units: int, dropout: nn.Module) -> None:
        super().__init__()
        self.dropout, self.states = dropout, BidirectionalGru(units, units)
        self.scores, self.joined = Trilinear(2 * units), nn.Linear(6 * units, units)

    def forward(self, x: Tensor, real: Tensor) -> Tensor:
        """From paragraphs, (P, L, units), of which some words are real: (P, L, units)."""
        h = self.states(self.dropout(x), real)
        others = ~torch.eye(x.shape[1], dtype=torch.bool, device=x.device)
        c = shares(self.scores(h, h), real.unsqueeze(1) & others, 2) @ h
        return x + torch.relu(self.joined(torch.cat((h, c, h * c), dim=2)))
