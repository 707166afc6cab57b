"""Where compiled passes can stand in for torch's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


def on_processor(weights: Tensor) -> bool:
    """Whether weights are numbers of 32 bits on a processor, which is what the compiled passes take."""
    return weights.device.type == "cpu" and weights.dtype == torch.float32
