"""How many cores there are to use, and when one of them is enough."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import socket
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distributed import Client


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


_CONNECT_SECONDS = 15


def require_cluster() -> None:
    """Refuse to use a scheduler where what it needs is not installed.

    Raises:
        MissingDependencyError: Says what to install.
    """
    if importlib.util.find_spec("distributed") is None:
        raise MissingDependencyError("a scheduler needs distributed; install it with: pip install 'goldassay[cluster]'")


def connected(scheduler: str) -> Client:
    """A client of a scheduler that has workers.

    Args:
        scheduler: Its address, tcp://HOST:PORT, or the path of a scheduler file.

    Raises:
        InputError: Nobody listens there, or there are no workers.
    """
    from distributed import Client

    address = _address(scheduler)
    client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    if not client.scheduler_info()["workers"]:
        client.close()
        raise InputError(
            f"the scheduler at {scheduler} has no workers", mend="start some with `dask worker`, one thread each"
        )
    return client


def _address(scheduler: str) -> str:
    """The address of a scheduler that listens; a client of dask that cannot connect complains in many lines.

    Raises:
        InputError: Nobody listens there.
    """
    address = scheduler
    place = Path(scheduler)
    if place.is_file():
        address = ""
        with suppress(OSError, ValueError, AttributeError):
            address = str(json.loads(place.read_text(encoding="utf-8")).get("address", ""))
    found = re.fullmatch(r"(?:(?:tcp|tls)://)?\[?([^\s/]+?)\]?:(\d{1,5})", address)
    try:
        if found is None or int(found[2]) > 65_535:
            raise OSError
        socket.create_connection((found[1], int(found[2])), timeout=_CONNECT_SECONDS).close()
    except OSError as error:
        raise InputError(
            f"no scheduler answers at {scheduler}",
            mend="start one with `dask scheduler`, and give the address that it prints",
        ) from error
    return address
