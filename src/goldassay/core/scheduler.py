"""Connections to a dask scheduler, whose workers do jobs on other machines."""

from __future__ import annotations

import importlib.util
import json
import re
import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.core.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    from distributed import Client

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
