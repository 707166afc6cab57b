"""How many cores there are to use."""

from __future__ import annotations

import os


def cores() -> int:
    """How many cores this process may run on, at least 1; those that a scheduler or a container holds back are not."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
