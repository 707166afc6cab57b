"""Files by the names under which they were published, wherever they lie in a folder, packed or not."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_PACKED = re.compile(r"\.(gz|zst)$", re.IGNORECASE)


def without_packing(name: str) -> str:
    """A file's name without the ending that says how it is packed: "dev.json.gz" is "dev.json"."""
    return _PACKED.sub("", name)


def is_published_as(path: Path, pattern: str) -> bool:
    """Whether the last parts of a path are as a pattern says, in any case, packed or not.

    Args:
        path: Of a file or folder.
        pattern: "ocnli/dev.json" or "reviews_*.json"; `*` and `?` stand for parts of a name.
    """
    wanted = pattern.split("/")
    parts = [*path.resolve().parts[:-1], path.name][-len(wanted) :]
    return len(parts) == len(wanted) and all(map(_is_called, parts, wanted))


def find_published(folder: Path, patterns: Sequence[str]) -> Path | None:
    """The file or folder that the first of some patterns finds below a folder, or below a folder in it.

    A name that has the pattern's own case goes before one that has another, and an unpacked file before a packed one.
    """
    if not folder.is_dir():
        return None
    bases = [folder, *sorted(each for each in folder.iterdir() if each.is_dir())]
    return next(
        (found for pattern in patterns for base in bases if (found := _below(base, pattern.split("/"))) is not None),
        None,
    )


def _below(folder: Path, wanted: Sequence[str]) -> Path | None:
    name, *rest = wanted
    called = [each for each in folder.iterdir() if _is_called(each.name, name) and (not rest or each.is_dir())]
    called.sort(key=lambda each: (not fnmatchcase(each.name, name), without_packing(each.name) != each.name, each.name))
    if not rest:
        return called[0] if called else None
    return next((found for each in called if (found := _below(each, rest)) is not None), None)


def _is_called(name: str, wanted: str) -> bool:
    return fnmatchcase(without_packing(name).lower(), without_packing(wanted).lower())
