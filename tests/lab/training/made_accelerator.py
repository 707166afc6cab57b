"""An accelerator made of the processor: its tensors are on a device of their own, and what must be waited for is seen.

Each operation is done by the processor, so that all values are right. A tensor of it holds its values aside and says
that it is on the device "meta", for which torch's automatic differentiation works without a real one. What a real
accelerator has the processor wait for is written down: values that are read, copies to the processor, copies from
memory that is not pinned, and operations whose result's size depends on values.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

DEVICE = torch.device("meta")
_aten = torch.ops.aten
# By their names: how many different values, rows or pairs there are must be known before the result can be made.
_COUNTING = {
    "nonzero", "masked_select", "_unique", "_unique2", "unique_dim", "unique_consecutive", "bincount", "coalesce",
    "_coalesce", "equal", "is_nonzero", "allclose", "_local_scalar_dense", "item",
}  # fmt: skip


class Waits:
    """What the processor had to wait for, by the names of the operations."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def look_at(self, func: Any, args: Any, kwargs: dict[str, Any]) -> None:
        name = func.overloadpacket.__name__
        far = [each for each in tree_leaves((args, kwargs)) if isinstance(each, Far)]
        if name in ("_to_copy", "copy_"):
            self._look_at_copy(name, args, kwargs)
        elif far and (name in _COUNTING or _counts_words(name, args, kwargs)):
            self.seen.append(name)

    def _look_at_copy(self, name: str, args: Any, kwargs: dict[str, Any]) -> None:
        source = args[1] if name == "copy_" else args[0]
        if name == "copy_":
            to_far, blocking = isinstance(args[0], Far), not (kwargs.get("non_blocking") or args[2:3] == (True,))
        else:
            device = kwargs.get("device")
            to_far = isinstance(source, Far) if device is None else torch.device(device) == DEVICE
            blocking = not kwargs.get("non_blocking")
        if isinstance(source, Far) and not to_far:
            self.seen.append("copy to the processor")
        elif to_far and not isinstance(source, Far) and (blocking or not getattr(source, "made_pinned", False)):
            self.seen.append("copy from memory that is not pinned")


def _counts_words(name: str, args: Any, kwargs: dict[str, Any]) -> bool:
    if name in ("index", "index_put", "index_put_", "_index_put_impl_"):
        return any(each is not None and each.dtype in (torch.bool, torch.uint8) for each in args[1])
    if name == "repeat_interleave":
        return kwargs.get("output_size") is None
    return name == "segment_reduce" and not kwargs.get("unsafe")


WAITS = Waits()


class Far(torch.Tensor):
    """A tensor of the made accelerator."""

    near: torch.Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, near: torch.Tensor) -> Far:
        strided = {} if near.is_sparse else {"strides": near.stride(), "storage_offset": near.storage_offset()}
        made: Far = torch.Tensor._make_wrapper_subclass(
            cls, near.size(), dtype=near.dtype, layout=near.layout, device=DEVICE, **strided
        )
        made.near = near
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _do(func, args, kwargs or {})


class _Everything(TorchDispatchMode):
    """Operations without a tensor of the accelerator too, such as those that make the first."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _do(func, args, kwargs or {})


def _near(value: Any) -> Any:
    if isinstance(value, Far):
        return value.near
    if isinstance(value, torch.device):
        return torch.device("cpu")
    assert not (isinstance(value, torch.Tensor) and value.device == DEVICE), "a tensor that the device lost"
    return value


def _do(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    WAITS.look_at(func, args, kwargs)
    device = kwargs.get("device")
    to_far = any(isinstance(each, Far) for each in tree_leaves((args, kwargs)))
    to_far = to_far if device is None else torch.device(device) == DEVICE
    if isinstance(device, str):
        kwargs = {**kwargs, "device": torch.device(device)}
    out = func(*tree_map(_near, args), **tree_map(_near, kwargs))
    if not to_far or func is _aten._local_scalar_dense.default or not isinstance(out, (torch.Tensor, tuple, list)):
        return out
    out = tree_map(lambda each: Far(each) if type(each) is torch.Tensor else each, out)
    return return_and_correct_aliasing(func, args, kwargs, out)


def _pinned(tensor: torch.Tensor) -> torch.Tensor:
    pinned = tensor.clone()
    pinned.made_pinned = True  # type: ignore[attr-defined]
    return pinned


@contextmanager
def made_accelerator(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """As much of accelerate's object as a training looks at, with the made device; `WAITS` is empty when it begins."""
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: _pinned(self))
    WAITS.seen.clear()
    with _Everything():
        yield SimpleNamespace(
            device=DEVICE,
            num_processes=1,
            process_index=0,
            autocast=nullcontext,
            backward=lambda loss: loss.backward(),
        )
