"""Dropout whose random numbers cost little on a processor.

Attention between two texts: for each word of one what corresponds to it in the other.

Layers of readers on word vectors: characters, recurrence, attention to a question and to the paragraph itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from goldassay.core.compiled import compiled
from goldassay.core.errors import InputError
from goldassay.lab.models.network import Batch, Network, Stream
from goldassay.lab.models.recurrence import on_processor
from goldassay.lab.models.sequences import Bidirectional, Layout, flattened, taken, turned

if TYPE_CHECKING:
    from goldassay.lab.models.configuration import Task


class Dropout(nn.Dropout):
    """Dropout that draws one byte a number on a processor; elsewhere torch's own.

    torch draws 32 bits for each number, which took a tenth of a step of a small network. The rate is that of the
    nearest 256th, and what is kept is scaled by exactly that.
    """

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002
        """Some numbers 0, the others scaled so that the expectation stays."""
        dropped = round(256 * self.p)
        if not self.training or input.device.type != "cpu" or not 0 < dropped < 256:
            return super().forward(input)
        # The generator's whole words, of which each byte is as random as the others.
        words = torch.empty(-(-input.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
        drawn = words.view(torch.uint8)[: input.numel()]
        if on_processor(input):
            kept: Tensor = _Kept.apply(input, drawn, dropped)
            return kept
        return input * (drawn.view(input.shape) >= dropped).to(input.dtype).mul_(256 / (256 - dropped))


def replace_dropouts(model: nn.Module) -> None:
    """Put `Dropout` in place of torch's own in a model, at the same rates."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            # Subclasses do something else.
            if type(child) is nn.Dropout:
                setattr(module, name, Dropout(child.p))


class _Kept(torch.autograd.Function):
    """One pass each way, and of what was drawn the bytes are kept."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, drawn: Tensor, dropped: int) -> Tensor:
        ctx.save_for_backward(drawn)
        ctx.dropped = dropped
        return _kept(values, drawn, dropped)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (drawn,) = ctx.saved_tensors
        return _kept(gradients[0], drawn, ctx.dropped), None, None


def _kept(values: Tensor, drawn: Tensor, dropped: int) -> Tensor:
    values = values.detach().contiguous()
    out = torch.empty_like(values)
    scale = np.float32(256 / (256 - dropped))
    _keep(values.view(-1).numpy(), drawn.numpy(), np.uint8(dropped), scale, out.view(-1).numpy())
    return out


@compiled
def _keep(values: Any, drawn: Any, dropped: Any, scale: Any, out: Any) -> None:
    nothing = np.float32(0)
    for i in range(values.size):
        out[i] = values[i] * scale if drawn[i] >= dropped else nothing


def counterparts(compared: Tensor, averaged: Tensor, layout: Layout) -> Tensor:
    """For each word of one text the average of the other's words that it attends to.

    e_ij = a_i . b_j of what is compared, the rows of one text and of the other; what corresponds to word i is
    sum_j softmax_j(e_ij) of_b_j, of_b what is averaged, and to word j sum_i softmax_i(e_ij) of_a_i; 0 where the other
    text has no words, or where there is none.

    Args:
        compared: (T', D).
        averaged: (T', E).
        layout: Of one text or two.

    Returns:
        (T', E).

    Source: Parikh, Täckström, Das and Uszkoreit 2016.
    """
    if len(layout.widths) == 1:
        return torch.zeros_like(averaged)
    a, b = layout.rectangles(compared)
    of_a, of_b = (a, b) if averaged is compared else layout.rectangles(averaged)
    # On a processor products as small as these, and of ever new shapes, are slower in 16 bits.
    with torch.autocast("cpu", enabled=False):
        scores = a @ b.transpose(1, 2)
        # Far below any score but finite: where no word is, all shares are equal, and what is averaged is 0.
        lowest = torch.finfo(scores.dtype).min / 2
        no_a, no_b = (~real for real in layout.real)
        from_b = torch.softmax(scores.masked_fill(no_b.unsqueeze(1), lowest), dim=2)
        from_a = torch.softmax(scores.masked_fill(no_a.unsqueeze(2), lowest), dim=1)
        return layout.flat([from_b @ of_b, from_a.transpose(1, 2) @ of_a])


def refuse_many(name: str, task: Task) -> None:
    """Refuse more than two texts, which attention between two cannot compare.

    Raises:
        InputError: The task has more.
    """
    if len(task.roles) > 2:
        raise InputError(
            f"{name} compares two texts and was given {len(task.roles)}: {', '.join(task.roles)}",
            mend="choose bilstm, ngram_average, convnet or a transformer",
        )


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


class SequentialInference(Network):
    """a, b = BiLSTM(words); b~, a~ by soft alignment of the states; m_a = [a, b~, a - b~, a * b~], and m_b likewise.

    They are projected by one layer with ReLU; a second BiLSTM over each; [average, maximum] over the words of both
    texts; one hidden layer with tanh. A text without a counterpart is contrasted with 0.

    Source: Chen, Zhu, Ling, Wei, Jiang and Inkpen 2017.
    """

    n_texts: int

    def add_layers(self, task: Task, width: int, units: int, dropout: float) -> None:
        """Make the layers.

        Args:
            task: What to learn.
            width: Of a word's vector.
            units: Of the LSTMs in each direction, and of the hidden layers.
            dropout: On word vectors, after each projection and before the classifier.

        Raises:
            InputError: There are more than two texts.
        """
        refuse_many(self.name, task)
        self.n_texts = len(task.roles)
        self.read = Bidirectional(width, units)
        self.contrast = nn.Linear(8 * units, units)
        self.compose = Bidirectional(units, units)
        self.hidden = nn.Linear(8 * units, units)
        self.classifier = nn.Linear(units, task.n_outputs)
        self.dropout = Dropout(dropout)

    def represent_streams(self, streams: list[Stream], batch: Batch) -> Tensor:
        """The hidden layer, (B, units)."""
        return self.represent_words(*flattened(streams, batch.counts))

    def represent_words(self, vectors: Tensor, layout: Layout) -> Tensor:
        """The hidden layer, (B, units), from the vectors of all words, (T', E)."""
        own = self.read(self.dropout(vectors), layout)
        other = counterparts(own, own, layout)
        contrasted = torch.cat((own, other, own - other, own * other), dim=1)
        states = self.compose(self.dropout(torch.relu(self.contrast(contrasted))), layout)
        pooled = torch.cat((layout.averages(states), layout.maxima(states)), dim=1).chunk(self.n_texts)
        if self.n_texts == 1:
            pooled = (*pooled, torch.zeros_like(pooled[0]))
        return torch.tanh(self.hidden(self.dropout(torch.cat(pooled, dim=1))))

    def classify(self, representation: Tensor) -> Tensor:
        """Logits."""
        logits: Tensor = self.classifier(self.dropout(representation))
        return logits
