"""Why nothing was recognized in a file of runs: it may be no text, or no JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from goldassay.core.errors import InputError
from goldassay.core.read_errors import reason
from goldassay.data.source import bare_name, read_text

if TYPE_CHECKING:
    from pathlib import Path

# A larger file is not read once more.
_MOST_BYTES = 1 << 26
_OF_TEXT = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")


def refuse_unreadable(path: Path) -> None:
    """Say why a file of text in which no runs were recognized cannot be read at all; pass one that can.

    Raises:
        InputError: It is no UTF-8, or a line of it is no JSON.
    """
    name = bare_name(path)
    if not path.is_file() or path.stat().st_size > _MOST_BYTES or not name.endswith(_OF_TEXT):
        return
    data, _ = read_text(path)
    if name.endswith((".csv", ".tsv")):
        return
    first = data.lstrip().split(b"\n", 1)[0]
    is_lines = not name.endswith(".json") or (first.startswith(b"{") and _is_object(first))
    lines = data.split(b"\n") if is_lines else [data]
    for number, line in enumerate(lines, 1):
        try:
            json.loads(line or b"null")
        except (ValueError, RecursionError) as error:
            row = None if len(lines) == 1 else number
            raise InputError(
                f"is not JSON ({reason(error)})", file=path, row=row, mend="write or copy the file again"
            ) from error


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
