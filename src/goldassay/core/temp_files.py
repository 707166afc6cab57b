"""Temporary files and folders under names of our own, and the removal of those that killed commands left.

A name holds the machine and the process that made it. Whoever makes the next temporary file in a folder removes there
what nobody uses any more: it is older than an hour, and its process is gone. What another machine made, whose processes
cannot be seen from here, is removed after a day. No other name is touched.
"""

from __future__ import annotations

import os
import platform
import re
import select
import shutil
import stat
import tempfile
import time
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.core.bounds import BYTES, shown
from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator


_HOUR = 3600
_DAY = 24 * _HOUR
_NAME = re.compile(r"\.goldassay-([0-9a-f]{8})-(\d+)-\w+(?:\.part)?")
_swept: set[str] = set()


def temporary_file(folder: Path) -> Path:
    """An empty file of a name of our own, ending in ".part", in a folder that is there."""
    sweep_once(folder)
    handle, name = tempfile.mkstemp(prefix=own_prefix(), suffix=".part", dir=folder)
    os.close(handle)
    return Path(name)


@contextmanager
def temporary_folder(parent: Path | None = None) -> Iterator[Path]:
    """An empty folder of a name of our own, gone at the end.

    Args:
        parent: A folder that is there; without it the one for temporary files.
    """
    parent = Path(tempfile.gettempdir()) if parent is None else parent
    sweep_once(parent)
    made = Path(tempfile.mkdtemp(prefix=own_prefix(), dir=parent))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def is_temporary(path: Path) -> bool:
    """Whether a file, or a folder above it, has a name of our own."""
    return any(map(_NAME.fullmatch, path.parts))


def sweep(folder: Path, age: float = _HOUR) -> None:
    """Remove what killed commands left in a folder; what cannot be removed stays.

    Args:
        folder: Need not be there.
        age: Seconds for which a file whose process is gone is left; of other machines' files a day.
    """
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            named = _NAME.fullmatch(entry.name)
            if named and _is_abandoned(Path(entry.path), named[1], int(named[2]), age):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    Path(entry.path).unlink(missing_ok=True)


def sweep_once(folder: Path) -> None:
    """Sweep a folder, unless this process has done so."""
    # Thousands of runs may be written into one folder.
    if (key := os.path.realpath(folder)) not in _swept:
        _swept.add(key)
        sweep(folder)


def own_prefix() -> str:
    """What names of temporary files and folders of this process begin with."""
    return f".goldassay-{_machine()}-{os.getpid()}-"


def _machine() -> str:
    return f"{zlib.crc32(platform.node().encode('utf-8', 'replace')):08x}"


def _is_abandoned(path: Path, machine: str, process: int, least: float) -> bool:
    inside = path.rglob("*") if path.is_dir() and not path.is_symlink() else ()
    age = time.time() - max(each.lstat().st_mtime for each in (path, *inside))
    # Elsewhere signal 0 is a signal like any other.
    if machine != _machine() or os.name != "posix":
        return age > _DAY
    return age >= least and not _is_running(process)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


_PIECE = 1 << 20
# Bash opens a process substitution while the command already runs.
_PATIENCE_MS = 5000
# By device and inode, since a pipe has several names.
_copies: dict[tuple[int, int], tempfile._TemporaryFileWrapper[bytes]] = {}


def seekable(path: Path) -> Path:
    """The file itself, or a copy of what a pipe gives, which is deleted when the process ends.

    Raises:
        InputError: It is a device or a socket, or no process writes to the pipe.
        OSError: There is no such file, or it may not be read.
    """
    found = path.stat()
    if stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode):
        return path
    if not stat.S_ISFIFO(found.st_mode):
        raise InputError("it is a device or a socket, and no file", file=path, mend="give a file, a folder or a pipe")
    key = (found.st_dev, found.st_ino)
    if key not in _copies:
        _copies[key] = _copied(path)
    return Path(_copies[key].name)


def is_pipe(path: Path) -> bool:
    """Whether a pipe lies at a path."""
    return path.exists() and stat.S_ISFIFO(path.stat().st_mode)


def _copied(path: Path) -> tempfile._TemporaryFileWrapper[bytes]:
    # Without O_NONBLOCK this waits for ever where nobody opens the other end.
    pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    limit = BYTES.limit()
    sweep_once(Path(tempfile.gettempdir()))
    copy = tempfile.NamedTemporaryFile(prefix=own_prefix())  # noqa: SIM115 (it lives as long as the process)
    try:
        waiting = select.poll()
        waiting.register(pipe, select.POLLIN)
        begun = False
        while True:
            ready = waiting.poll(_PATIENCE_MS)
            try:
                piece = os.read(pipe, _PIECE)
            except BlockingIOError:
                continue
            if piece:
                begun = True
                copy.write(piece)
                if copy.tell() > limit:
                    raise BYTES.refusal(f"the pipe gives more than {shown(limit)}", path)
            elif ready or begun:
                break
            else:
                raise InputError("no process writes to this pipe", file=path, mend="give a file, or start the writer")
    except BaseException:
        copy.close()
        raise
    finally:
        os.close(pipe)
    copy.flush()
    return copy
