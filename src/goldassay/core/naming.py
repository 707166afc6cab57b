"""How users name things on a command line: `NAME=PATH`, and names with `*` and `?`."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path


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
