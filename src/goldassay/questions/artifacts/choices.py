"""What is chosen for the user who says nothing: the least count by size, the tokenizer by script."""

from __future__ import annotations

# From this many training rows on, the published cut of 50 examples is used as it stands.
LARGE = 200_000


def least_count(n_rows: int) -> int:
    """The fewest examples a pattern must occur in: 50 from 200,000 rows on, else one in a thousand, at least 8."""
    return 50 if n_rows >= LARGE else max(8, n_rows // 1000)


def choose_tokenizer(length_unit: str, wanted: str) -> str:
    """The tokenizer that was set, or by script: characters where words are not set apart by spaces."""
    if wanted != "auto":
        return wanted
    return "characters" if length_unit == "characters" else "treebank"
