"""One reader a format, each a module of this package; adding a reader is adding one file.

A reader module holds `name` (what `--format` takes), `recognizes(head, path)`, which says by content how sure it is
of being the right one, and `read(path)`, which gives the rows untouched. Roles, labels and what is dropped are no
concern of readers.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path
from typing import Protocol, cast

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
    """Find the readers: name to module, in alphabetical order."""
    found = [
        cast("Reader", importlib.import_module(f"{__name__}.{module.name}")) for module in pkgutil.iter_modules(__path__)
    ]
    return {reader.name: reader for reader in sorted(found, key=lambda reader: reader.name)}
