"""Each network as one writes it first: plain torch on rectangles of words, padding masked, all weights dense."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence


def plain_network(name: str, table: Tensor, sizes: Any, n_labels: int) -> nn.Module:
    """The peer of a network of ours, which takes premises and hypotheses as numbers of words, 0 for padding.

    Args:
        name: Of our network.
        table: Its fresh word vectors, which both start from.
        sizes: Its sizes.
        n_labels: How many labels.
    """
    vectors = nn.Embedding.from_pretrained(table.detach().clone(), freeze=False, padding_idx=0)
    if name in ("dam", "esim"):
        return {"dam": Attending, "esim": Inferring}[name](vectors, sizes, n_labels)
    encoders = {
        "ngram_average": Average, "word_average": Average, "bilstm": Maximum, "infersent": Maximum, "lstm": Last,
        "convnet": Convolutions,
    }  # fmt: skip
    function = {"convnet": None, "infersent": torch.tanh}.get(name, torch.relu)
    return Compared(vectors, encoders[name](sizes), sizes, n_labels, function)


class Compared(nn.Module):
    """[u, v, |u - v|, u * v], a hidden layer if there is one, and a linear classifier."""

    def __init__(self, vectors: nn.Embedding, encoder: Any, sizes: Any, n_labels: int, function: Any) -> None:
        super().__init__()
        self.vectors, self.encoder, self.function = vectors, encoder, function
        self.dropout = nn.Dropout(sizes.dropout)
        width = 4 * encoder.width
        self.hidden = nn.Linear(width, sizes.hidden) if function else None
        self.classifier = nn.Linear(sizes.hidden if function else width, n_labels)

    def forward(self, premises: Tensor, hypotheses: Tensor) -> Tensor:
        """Logits."""
        u, v = (self.encoder(self.vectors(words), words > 0) for words in (premises, hypotheses))
        joined = self.dropout(torch.cat((u, v, (u - v).abs(), u * v), 1))
        if self.hidden is not None:
            joined = self.dropout(self.function(self.hidden(joined)))
        return self.classifier(joined)


class Average(nn.Module):
    """The average of a text's word vectors."""

    def __init__(self, sizes: Any) -> None:
        super().__init__()
        self.width = sizes.vectors

    def forward(self, vectors: Tensor, real: Tensor) -> Tensor:
        """One vector a text."""
        return (vectors * real.unsqueeze(2)).sum(1) / real.sum(1, keepdim=True).clamp(min=1)


class Maximum(nn.Module):
    """The maximum over time of a BiLSTM."""

    def __init__(self, sizes: Any) -> None:
        super().__init__()
        self.width = 2 * sizes.units
        self.dropout = nn.Dropout(sizes.dropout)
        self.lstm = nn.LSTM(sizes.vectors, sizes.units, batch_first=True, bidirectional=True)

    def forward(self, vectors: Tensor, real: Tensor) -> Tensor:
        """One vector a text."""
        return self.lstm(self.dropout(vectors))[0].masked_fill(~real.unsqueeze(2), -1e4).amax(1)


class Last(nn.Module):
    """The last state of an LSTM."""

    def __init__(self, sizes: Any) -> None:
        super().__init__()
        self.width = sizes.units
        self.dropout = nn.Dropout(sizes.dropout)
        self.lstm = nn.LSTM(sizes.vectors, sizes.units, sizes.layers, batch_first=True)

    def forward(self, vectors: Tensor, real: Tensor) -> Tensor:
        """One vector a text."""
        lengths = real.sum(1).clamp(min=1)
        packed = pack_padded_sequence(self.dropout(vectors), lengths, batch_first=True, enforce_sorted=False)
        return self.lstm(packed)[1][0][-1]


class Convolutions(nn.Module):
    """The largest response of each filter."""

    def __init__(self, sizes: Any) -> None:
        super().__init__()
        lengths = range(sizes.shortest, sizes.longest + 1)
        self.width = sizes.filters * len(lengths)
        self.filters = nn.ModuleList(nn.Conv1d(sizes.vectors, sizes.filters, length) for length in lengths)

    def forward(self, vectors: Tensor, real: Tensor) -> Tensor:
        """One vector a text."""
        columns = (vectors * real.unsqueeze(2)).transpose(1, 2)
        found = [
            (torch.relu(each(functional.pad(columns, (0, each.kernel_size[0] - 1)))) * real.unsqueeze(1)).amax(2)
            for each in self.filters
        ]
        return torch.cat(found, 1)


class Attending(nn.Module):
    """Decomposable attention."""

    def __init__(self, vectors: nn.Embedding, sizes: Any, n_labels: int) -> None:
        super().__init__()
        units = sizes.units
        self.vectors, self.project = vectors, nn.Linear(sizes.vectors, units, bias=False)
        self.attend, self.compare, self.aggregate = (
            layers(width, units, sizes.dropout) for width in (units, 2 * units, 2 * units)
        )
        self.classifier = nn.Linear(units, n_labels)

    def forward(self, premises: Tensor, hypotheses: Tensor) -> Tensor:
        """Logits."""
        masks = [words > 0 for words in (premises, hypotheses)]
        a, b = (self.project(self.vectors(words)) for words in (premises, hypotheses))
        others = soft_alignment(self.attend(a), self.attend(b), *masks, a, b)
        compared = [
            (self.compare(torch.cat((own, other), 2)) * mask.unsqueeze(2)).sum(1)
            for own, other, mask in zip((a, b), others, masks, strict=True)
        ]
        return self.classifier(self.aggregate(torch.cat(compared, 1)))


class Inferring(nn.Module):
    """ESIM."""

    def __init__(self, vectors: nn.Embedding, sizes: Any, n_labels: int) -> None:
        super().__init__()
        units = sizes.units
        self.vectors, self.dropout = vectors, nn.Dropout(sizes.dropout)
        self.read = nn.LSTM(sizes.vectors, units, batch_first=True, bidirectional=True)
        self.contrast = nn.Linear(8 * units, units)
        self.compose = nn.LSTM(units, units, batch_first=True, bidirectional=True)
        self.hidden, self.classifier = nn.Linear(8 * units, units), nn.Linear(units, n_labels)

    def forward(self, premises: Tensor, hypotheses: Tensor) -> Tensor:
        """Logits."""
        masks = [words > 0 for words in (premises, hypotheses)]
        a, b = (self.read(self.dropout(self.vectors(words)))[0] for words in (premises, hypotheses))
        pooled = []
        for own, other, mask in zip((a, b), soft_alignment(a, b, *masks, a, b), masks, strict=True):
            contrasted = torch.cat((own, other, own - other, own * other), 2)
            states = self.compose(self.dropout(torch.relu(self.contrast(contrasted))))[0]
            real = mask.unsqueeze(2)
            pooled += [(states * real).sum(1) / real.sum(1).clamp(min=1), states.masked_fill(~real, -1e4).amax(1)]
        return self.classifier(self.dropout(torch.tanh(self.hidden(self.dropout(torch.cat(pooled, 1))))))


def layers(width: int, units: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(
        nn.Dropout(dropout), nn.Linear(width, units), nn.ReLU(),
        nn.Dropout(dropout), nn.Linear(units, units), nn.ReLU(),
    )  # fmt: skip


def soft_alignment(a: Tensor, b: Tensor, real_a: Tensor, real_b: Tensor, of_a: Tensor, of_b: Tensor) -> list[Tensor]:
    """For each word of one text the average of the other's words that it attends to."""
    scores = a @ b.transpose(1, 2)
    to_b = scores.masked_fill(~real_b.unsqueeze(1), -1e4).softmax(2)
    to_a = scores.masked_fill(~real_a.unsqueeze(2), -1e4).softmax(1)
    return [to_b @ of_b, to_a.transpose(1, 2) @ of_a]
