"""Compilation of hot loops, and the threads that run them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from numba import njit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop with numba, without the interpreter lock, and keep the machine code on disk.

    The code is kept beside the source, or in the user's cache folder where the package is read-only. Where neither
    can be written, it is compiled anew in each process: slower to start, the same results.
    """
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:
        return njit(nogil=True)(function)


@contextmanager
def workers(n: int) -> Iterator[ThreadPoolExecutor]:
    """Threads for compiled loops; after Ctrl-C or an error nothing more is begun."""
    pool = ThreadPoolExecutor(n)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
