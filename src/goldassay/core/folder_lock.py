"""One writer a folder: of two commands that write into one folder the second is refused.

The lock is one of the operating system on the folder itself (`flock`). It leaves no file behind, and ends with the
process that took it, however that ends. Where the system or the file system has no such lock, as on Windows and on some
network drives, nobody is refused; `goldassay check` still notices files of two reports by their digests.
"""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING

from goldassay.core.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Locks of this process by device and inode of the folder, each with the thread that took it.
_held: dict[tuple[int, int], int] = {}
_until_the_end: ContextVar[ExitStack | None] = ContextVar("until_the_end", default=None)


@contextmanager
def locks_kept() -> Iterator[None]:
    """Keep each lock that is taken meanwhile until this is left: for a command, which is one writer all along."""
    with ExitStack() as locks:
        token = _until_the_end.set(locks)
        try:
            yield
        finally:
            _until_the_end.reset(token)


@contextmanager
def locked_folder(folder: Path, option: str = "-o") -> Iterator[None]:
    """Be the only one that writes into a folder; the same thread may take a lock again that it has.

    Args:
        folder: It is there.
        option: What names another place, for the error to say.

    Raises:
        OutputError: Another command, or another thread, writes into it.
    """
    locks = _until_the_end.get()
    if locks is not None:
        locks.enter_context(_taken(folder, option))
        yield
        return
    with _taken(folder, option):
        yield


@contextmanager
def _taken(folder: Path, option: str) -> Iterator[None]:
    found = folder.stat()
    key = (found.st_dev, found.st_ino)
    if _held.get(key) == threading.get_ident():
        yield
        return
    handle = _locked(folder, option)
    if handle is None:
        yield
        return
    _held[key] = threading.get_ident()
    try:
        yield
    finally:
        del _held[key]
        os.close(handle)


def _locked(folder: Path, option: str) -> int | None:
    """A handle that holds the lock; None where there is no such lock."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:
        # A folder that may be written to but not listed.
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise OutputError(
            f"{folder}: another command is writing into this folder; wait for it, or choose another with {option}"
        ) from None
    except OSError:
        with suppress(OSError):
            os.close(handle)
        return None
    return handle
