"""How many cores there are to use, and when one of them is enough."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def cores() -> int:
    """How many cores this process may run on, at least 1; those that a scheduler or a container holds back are not."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let the matrix libraries of NumPy and SciPy use one core within the block.

    Products of a few hundred columns gain nothing by more, and where other work keeps the cores busy their threads wait
    for each other: then they take ten times as long. The last bits do not depend on the number of cores either.
    """
    with _matrix_libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _matrix_libraries() -> Any:
    # SciPy has a library of its own, which can be limited once it is loaded.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    # Looking for them takes as long as many a product.
    return ThreadpoolController()
