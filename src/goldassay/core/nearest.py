"""The nearest known name to one that is not known."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """A mend for an unknown name: the nearest known ones, or all of them where none is near."""
    near = difflib.get_close_matches(name.lower(), known, n=2, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(repr(each) for each in near)}?"
    return f"known are {', '.join(known)}"
