"""One reader a format, each a module of this package, or an entry point of the group "goldassay.readers" of another.

A reader module holds `name` (what `--format` takes), `recognizes(head, path)`, which says by content how sure it is
of being the right one, and `read(path)`, which gives the rows untouched. Roles, labels and what is dropped are no
concern of readers.
"""

from __future__ import annotations

import importlib
import pkgutil
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Protocol

from goldassay.core.errors import InputError, option
from goldassay.core.extensions import extensions
from goldassay.data.source import file_within, read_bytes, read_head

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.data.table import Table

NO = 0
LAST_RESORT = 1
BY_NAME = 2
LIKELY = 3
CERTAIN = 4


class Reader(Protocol):
    """What a module of this package must offer."""

    name: str

    def recognizes(self, head: bytes, path: Path) -> int:
        """Say how sure the reader is, from NO to CERTAIN, that it can read `path`.

        Args:
            head: First bytes after decompression, without a byte order mark; empty for a folder.
            path: The file or folder.
        """

    def read(self, path: Path) -> Table:
        """Read all rows."""


@cache
def all_readers() -> dict[str, Reader]:
    """Find the readers: name to reader, in alphabetical order.

    Raises:
        GoldassayError: One of another distribution cannot be loaded.
    """
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    own = {module.name: module for module in modules}
    found: dict[str, Reader] = {**own, **extensions("goldassay.readers", "name", own)}
    return {name: found[name] for name in sorted(found)}


def reader_for(path: Path, format_: str = "auto") -> Reader:
    """Find the reader that is surest of a file or folder, or the one that is asked for by name.

    Raises:
        InputError: No reader has that name, or none recognizes the file.
    """
    readers = all_readers()
    if format_ != "auto":
        if format_ not in readers:
            near = get_close_matches(format_, readers, 1)
            mend = f"did you mean {near[0]!r}?" if near else f"the formats are {', '.join(readers)}"
            raise InputError(f"there is no format {format_!r}", mend=mend)
        return readers[format_]
    head = b"" if path.is_dir() else read_head(path)
    sureness = {name: reader.recognizes(head, path) for name, reader in readers.items()}
    best = max(sureness, key=lambda name: sureness[name])
    if sureness[best] > NO:
        return readers[best]
    if path.is_dir():
        raise InputError(
            "the folder holds no dataset",
            file=path,
            mend=f"give {file_within(path)}, or a folder with train, dev or test files, with pos and neg folders, or a "
            "saved dataset",
        )
    read_bytes(path)
    raise InputError(
        "the format is not recognized", file=path, mend=f"force one with {option('format')}: {', '.join(readers)}"
    )
