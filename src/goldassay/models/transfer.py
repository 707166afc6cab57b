"""Tensors on their way from the processor's memory to an accelerator's, without waiting for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from torch import Tensor


def on_accelerator(device: torch.device) -> bool:
    """Whether a device computes apart from the processor, which waits for it only to read from its memory."""
    return device.type != "cpu"


def pinned(tensor: Tensor, device: torch.device) -> Tensor:
    """A tensor in memory from which a device can copy by itself, where the device needs that; else the same."""
    # The Mac's GPU shares the processor's memory.
    return tensor.pin_memory() if device.type not in ("cpu", "mps") else tensor


def sent(tensor: Tensor, device: torch.device) -> Tensor:
    """A tensor of the processor on a device; an accelerator copies it when its work before that is done.

    From memory that is not pinned the processor would wait until then.
    """
    return pinned(tensor, device).to(device, non_blocking=True)
