"""Probabilities of another model, ready for a loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from goldassay.models.transfer import sent

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

# A model that is sure and wrong would make a loss endless; below one in a million it is taken at that.
SMALLEST = 1e-6


class Expert:
    """Log-probabilities that a model gives the training rows, looked up by row.

    Kept outside the objective's weights and off the accelerator: they are data, and a state need not hold them.

    Args:
        probabilities: (N, K).
    """

    def __init__(self, probabilities: NDArray[np.floating[Any]]) -> None:
        self.logs = torch.from_numpy(np.log(np.maximum(probabilities, SMALLEST)).astype(np.float32))

    def of(self, rows: NDArray[np.int64], device: torch.device) -> Tensor:
        """Log-probabilities of some rows, (B, K)."""
        return sent(self.logs[torch.from_numpy(rows)], device)
