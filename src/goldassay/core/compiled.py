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
    return _compiled(function, {})


def compiled_within(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop that only compiled loops call; its machine code is kept within theirs.

    It cannot be called from the interpreter: what would take its arguments apart took a fifth of the time to compile.
    """
    return njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


def compiled_sums(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop as `compiled` does, and let its floating-point sums be taken in several parts at once.

    The processor then adds four numbers a step; results differ in the last digits from those of the plain order.
    """
    return _compiled(function, {"fastmath": {"reassoc"}})


def _compiled(function: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
    try:
        return njit(cache=True, nogil=True, no_cfunc_wrapper=True, **options)(function)
    except RuntimeError:
        return njit(nogil=True, no_cfunc_wrapper=True, **options)(function)


def is_kept(function: Any) -> bool:
    """Whether machine code of a compiled loop is kept on disk that fits its source; true where none can be kept."""
    # Numba says so nowhere else: the index is empty where its version or the source is another one.
    kept = getattr(function._cache, "_cache_file", None)
    return kept is None or bool(kept._load_index())


@contextmanager
def workers(n: int) -> Iterator[ThreadPoolExecutor]:
    """Threads for compiled loops; after Ctrl-C or an error nothing more is begun."""
    pool = ThreadPoolExecutor(n)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
