"""Dropout whose random numbers cost little on a processor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from goldassay.core.compiled import compiled
from goldassay.models.processor import on_processor

if TYPE_CHECKING:
    from torch import Tensor


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
