"""Batches made ready while an accelerator is at work on those before them."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, TypeVar, cast

from goldassay.models.transfer import on_accelerator

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    import torch

Given = TypeVar("Given")
Ready = TypeVar("Ready")

# Batches that wait, ready: enough that an evaluation between two steps does not find none.
_AHEAD = 4
_END = object()


def prefetched(
    items: Sequence[Given], prepare: Callable[[Given], Ready], device: torch.device
) -> Generator[Ready, None, None]:
    """Prepare items one after the other, on an accelerator by a thread some of them ahead; close it when it is left.

    A processor has nothing to wait for: there each item is prepared when it is asked for.

    Args:
        items: Prepared in their order.
        prepare: Called from one thread at a time.
        device: Where what is prepared will be used.

    Raises:
        Exception: Whatever `prepare` raised, in place of the item that it was called for.
    """
    if not on_accelerator(device):
        yield from map(prepare, items)
        return
    ready: queue.Queue[object] = queue.Queue(_AHEAD)
    left = threading.Event()

    def work() -> None:
        # A new thread is on the first of several GPUs, whose memory it would take for what it pins.
        if device.index:
            import torch

            torch.cuda.set_device(device)
        try:
            for item in items:
                if left.is_set():
                    return
                ready.put((prepare(item), None))
        # It is raised where the item is asked for.
        except BaseException as error:
            ready.put((None, error))
        else:
            ready.put(_END)

    thread = threading.Thread(target=work, name="prefetch", daemon=True)
    thread.start()
    try:
        while (found := ready.get()) is not _END:
            prepared, error = cast("tuple[Ready, BaseException | None]", found)
            if error is not None:
                raise error
            yield prepared
    finally:
        left.set()
        # It may be waiting for room.
        while thread.is_alive():
            try:
                ready.get(timeout=0.01)
            except queue.Empty:
                continue
