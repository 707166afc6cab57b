"""Results of `evaluate`, as evaluate.save writes them: what metrics returned, and no predictions. They hold no runs.

They are recognized so that none of their numbers is taken for a row of a table: passed over in a folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.runs.tables import start_of

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.runs.run_parts import Request, Slice

NAME = "evaluate"
PRIORITY = 5

_HEAD = 1 << 16


def find(path: Path, request: Request) -> list[Slice] | None:  # noqa: ARG001
    """Recognize one file by the version that is in each."""
    return [] if path.is_file() and is_result(path) else None


def is_result(path: Path) -> bool:
    """Whether a file is one that evaluate.save wrote."""
    if path.suffix != ".json" or not (head := start_of(path, _HEAD)).lstrip().startswith(b"{"):
        return False
    return b'"_evaluate_version"' in head and b'"_timestamp"' in head
