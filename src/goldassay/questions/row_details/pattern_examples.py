"""A few training examples of each pattern that a test row holds: the table `pattern_examples`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.questions.artifacts.measures.difficulty import DifficultyAssignment
    from goldassay.questions.artifacts.result import MarkedExample

# Patterns that a page may ask for, the most frequent among the test rows first, and examples of each.
MOST_PATTERNS, MOST_EXAMPLES = 1000, 3
# Characters of a text around what is marked: reviews have thousands.
WIDTH = 300
SCHEMA = pl.Schema(
    {"pattern": pl.String(), "example_id": pl.String(), "label": pl.String(), "text": pl.String(),
     "marks": pl.List(pl.Int64())}
)  # fmt: skip


def patterns_of_rows(assignment: DifficultyAssignment) -> list[int]:
    """Positions of the patterns that most test rows hold, at most `MOST_PATTERNS`, ascending."""
    ids, counts = np.unique(assignment.pattern_rows, return_counts=True)
    return sorted(ids[np.lexsort((ids, -counts))][:MOST_PATTERNS].tolist())


def table_of_examples(names: Sequence[str], samples: Mapping[int, Sequence[MarkedExample]]) -> pl.DataFrame:
    """A row a pattern and example; `marks` are begin and end of each marked part, one after the other.

    Args:
        names: Of all patterns.
        samples: {position of a pattern: its examples, as `sample_examples` gives them}.
    """
    rows = [
        (names[at], each.example_id, each.label, *_cut(each.text, each.marks))
        for at, examples in sorted(samples.items())
        for each in examples[:MOST_EXAMPLES]
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _cut(text: str, marks: Sequence[Sequence[int]]) -> tuple[str, list[int]]:
    """The text around its marks, and where these are in it."""
    if len(text) <= WIDTH or not marks:
        return text[:WIDTH], [place for mark in marks for place in mark if mark[1] <= WIDTH]
    begin = max(0, marks[0][0] - WIDTH // 3)
    end = begin + WIDTH
    before, after = "… " if begin else "", " …" if end < len(text) else ""
    shift = len(before) - begin
    inside = [place + shift for mark in marks if mark[1] <= end for place in mark]
    return f"{before}{text[begin:end]}{after}", inside
