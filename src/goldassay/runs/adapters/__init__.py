"""One file a foreign format.

Each adapter module is found by itself, and so are those that other distributions register in the group
"goldassay.adapters" of entry points; it has

    NAME: str               what `format=` calls it
    PRIORITY: int           adapters are asked in ascending order; the more specific ones come first
    find(path, request)     -> list of Slice if the file or folder is of this format, else None

An adapter looks at content, not at the name alone; it computes nothing and maps no labels.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING, Protocol

from goldassay.core.extensions import extensions

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.runs.run_parts import Request, Slice

# Adapters from this priority on take tables of any tool, which may be tables of something else.
TABLES = 80


class Adapter(Protocol):
    """What a module of this folder offers."""

    NAME: str
    PRIORITY: int

    def find(self, path: Path, request: Request) -> list[Slice] | None:
        """Say which runs lie at `path`, or None if it is not of this format."""


@cache
def adapters() -> tuple[Adapter, ...]:
    """All adapters, the more specific ones first.

    Raises:
        GoldassayError: One of another distribution cannot be loaded.
    """
    modules = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    own = {module.NAME: module for module in modules if hasattr(module, "find")}
    offered: dict[str, Adapter] = {**own, **extensions("goldassay.adapters", "NAME", own)}
    return tuple(sorted(offered.values(), key=lambda adapter: (adapter.PRIORITY, adapter.NAME)))
