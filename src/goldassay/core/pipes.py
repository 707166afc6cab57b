"""What is no regular file: a pipe is read once into a file of its own, a device or socket is refused.

`goldassay split <(cat part-*.jsonl)` and `cat train.jsonl | goldassay split /dev/stdin` hand over pipes, which can be
read only once, while a format is recognized by a first look and read by a second one.
"""

from __future__ import annotations

import os
import select
import stat
import tempfile
from pathlib import Path

from goldassay.core.bounds import BYTES, shown
from goldassay.core.errors import InputError
from goldassay.core.temp_files import own_prefix, sweep_once

_PIECE = 1 << 20
# Bash opens a process substitution while the command already runs.
_PATIENCE_MS = 5000
# By device and inode, since a pipe has several names.
_copies: dict[tuple[int, int], tempfile._TemporaryFileWrapper[bytes]] = {}


def seekable(path: Path) -> Path:
    """The file itself, or a copy of what a pipe gives, which is deleted when the process ends.

    Raises:
        InputError: It is a device or a socket, or nobody writes to the pipe.
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
                raise InputError("nobody writes to this pipe", file=path, mend="give a file, or start the writer")
    except BaseException:
        copy.close()
        raise
    finally:
        os.close(pipe)
    copy.flush()
    return copy
