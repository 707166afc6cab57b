"""How much memory the process may have, has, and has left."""

from __future__ import annotations

import sys
from pathlib import Path

from goldassay.core.errors import InputError
from goldassay.core.sizes import parse_size

# What a step takes beside what it accounts for: shards in hand, sorted copies, memory that allocators hold back.
MARGIN = 150 * 10**6
# What the process takes once all libraries and loops are loaded, and what the steps need at the very least.
_LOADED = 330 * 10**6
_LEAST_ROOM = 100 * 10**6


class MemoryBound:
    """The most that the whole process may take, interpreter and libraries included.

    Args:
        bound: Bytes, or a number with a unit: "2GB" (10^9 bytes each), "1.5 GiB" (2^30).

    Raises:
        InputError: It is no size, or leaves nothing to work with; the message says what would.
    """

    def __init__(self, bound: int | str) -> None:
        self.bytes = parse_size(bound)
        # At once and not after hours: what is still to be loaded counts as well.
        self.need(_LEAST_ROOM + max(_LOADED - resident(), 0))

    def room(self) -> int:
        """Bytes that may still be taken by arrays of known size."""
        return self.bytes - resident() - MARGIN

    def need(self, size: int, what: str = "to start with", mend: str = "") -> None:
        """Refuse to go on where there is no room for so many bytes.

        Raises:
            InputError: It says the least bound that would do.
        """
        if self.room() < size:
            least = resident() + MARGIN + size
            raise InputError(
                f"a memory of {shown(self.bytes)} is too small {what}",
                mend=f"give at least {shown(least, up=True)}{mend}",
            )


def shown(size: int, up: bool = False) -> str:
    """Bytes for reading; with `up` rounded up, so that what is shown does suffice."""
    unit = 10**7 if size >= 10**8 else 10**6
    size = (-(-size // unit) if up else size // unit) * unit
    return f"{size // 10**6} MB" if size < 10**9 else f"{size / 10**9:g} GB"


def resident() -> int:
    """Bytes of memory that the process holds; where the system does not tell, the most that it has held."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return _most_held()
    import os

    return pages * os.sysconf("SC_PAGE_SIZE")


def _most_held() -> int:
    if sys.platform == "win32":
        # Windows tells it by libraries only: what is usual after loading ours.
        return 350 * 10**6
    import resource

    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held if sys.platform == "darwin" else held * 1024
