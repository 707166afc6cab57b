"""How datasets on the hub are named, apart from what reads them, which takes a while to load."""

from __future__ import annotations

import re
from pathlib import Path

NAME = re.compile(
    r"(?P<repository>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)"
    r"(?:@(?P<revision>[\w./-]+))?"
    r"(?::(?P<configuration>[\w.-]+)(?:/(?P<split>[\w.-]+))?)?"
)


def is_hub_name(place: str) -> bool:
    """Whether a path names a dataset on the hub: `hf://...`, or `owner/name` where no such file or folder is."""
    if place.startswith("hf://"):
        return True
    found = NAME.fullmatch(place)
    if found is None or Path(place).exists():
        return False
    repository = found["repository"]
    # A misspelt file in an existing folder, or one that has a file's ending, was not meant for the hub.
    return not Path(repository).parent.is_dir() and not re.search(r"\.[a-z]+\d?$", repository.lower())
