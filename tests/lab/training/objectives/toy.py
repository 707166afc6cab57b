"""A network small enough for arithmetic by hand: two linear encoders, a hidden layer, a classifier, in float64."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from goldassay.lab.models.network import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

N, K, WIDTH = 7, 3, 4


class Toy(nn.Module):
    """Logits = C tanh(H [u, v]) with u = P x_p and v = Q x_h."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.premise = nn.Linear(5, WIDTH, bias=False).double()
        self.hypothesis = nn.Linear(5, WIDTH, bias=False).double()
        self.hidden = nn.Linear(2 * WIDTH, 6).double()
        self.classifier = nn.Linear(6, K).double()

    def sentences(self, batch: Batch) -> tuple[Tensor, ...]:
        return self.premise(batch["premise"]), self.hypothesis(batch["hypothesis"])

    def compare(self, sentences: tuple[Tensor, ...]) -> Tensor:
        return torch.tanh(self.hidden(torch.cat(sentences, dim=1)))

    def represent(self, batch: Batch) -> Tensor:
        return self.compare(self.sentences(batch))

    def classify(self, representation: Tensor) -> Tensor:
        logits: Tensor = self.classifier(representation)
        return logits

    def forward(self, batch: Batch) -> Tensor:
        return self.classify(self.represent(batch))


def made_batch() -> tuple[Batch, Tensor]:
    """N examples and their labels."""
    rng = np.random.default_rng(1)
    tensors = {name: torch.from_numpy(rng.normal(size=(N, 5))) for name in ("premise", "hypothesis")}
    return Batch(tensors, N), torch.from_numpy(rng.integers(0, K, N))


def made_probabilities(seed: int = 2, n: int = N) -> NDArray[np.float64]:
    """Rows that add up to 1, (n, K)."""
    return np.random.default_rng(seed).dirichlet(np.ones(K), n)


def log_softmax(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Row by row, in plain NumPy."""
    powers = np.exp(values)
    return np.log(powers / powers.sum(axis=1, keepdims=True))


def slopes(loss, parameters: list[Tensor], step: float = 1e-6) -> list[NDArray[np.float64]]:
    """Gradients by central differences of a loss called again and again."""
    found = []
    for parameter in parameters:
        slope = np.zeros(parameter.shape)
        flat = parameter.data.view(-1)
        for place in range(flat.numel()):
            kept = flat[place].item()
            flat[place] = kept + step
            above = loss().item()
            flat[place] = kept - step
            slope.reshape(-1)[place] = (above - loss().item()) / (2 * step)
            flat[place] = kept
        found.append(slope)
    return found
