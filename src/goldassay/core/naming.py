"""How users name things: `NAME=PATH`, names with `*` and `?`, names that are nearly right, and lists of them."""

from __future__ import annotations

import difflib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def split_named_path(text: str) -> tuple[str, str]:
    """Split `NAME=PATH` into (name, path); ("", text) where nothing is named.

    A path that exists under the whole text is taken as it is, since file names may contain the equals sign.
    """
    name, sign, path = text.partition("=")
    return (name, path) if sign and name and not Path(text).exists() else ("", text)


def is_wildcard(text: str) -> bool:
    """Whether a name contains `*` or `?` and so matches several others."""
    return bool(set(text) & set("*?"))


def matches(name: str, wanted: str) -> bool:
    """Whether a name equals the wanted one, or matches it where that is a wildcard.

    `*` matches any characters, `?` exactly one; all others, brackets included, match only themselves.
    """
    return fnmatchcase(name, wanted.replace("[", "[[]")) if is_wildcard(wanted) else name == wanted


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """A mend for an unknown name: the nearest known ones, or all of them where none is near."""
    near = difflib.get_close_matches(name.lower(), known, n=2, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(repr(each) for each in near)}?"
    return f"known are {', '.join(known)}"


def listing(items: Sequence[Any], limit: int = 5) -> str:
    """The first few items, for an error message."""
    shown = ", ".join(str(item) for item in items[:limit])
    return f"{shown}, ..." if len(items) > limit else shown
