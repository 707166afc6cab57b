"""Tables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Columns of equal width, numbers to the right."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    numeric = [all(row[i].replace(",", "").isdigit() for row in table[1:]) for i in range(len(table[0]))]
    return [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in table
    ]
