"""Temporary files and folders under names of our own, and the removal of those that killed commands left.

A name holds the machine and the process that made it. Whoever makes the next temporary file in a folder removes there
what nobody uses any more: it is older than an hour, and its process is gone. What another machine made, whose processes
cannot be seen from here, is removed after a day. No other name is touched.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
import time
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

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
