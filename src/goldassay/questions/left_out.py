"""Rows that were left out because a text is missing: whether it is can tell the label, and no reader sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.numbers import count, percent
from goldassay.core.verdicts import Doubt
from goldassay.data.roles import TEXT_ROLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.data import Dataset

# Of the rows read; fewer cannot give away as much as a limit for "unsound".
MOST_LEFT_OUT = 0.01


def left_out_doubts(*parts: Dataset | None) -> list[Doubt]:
    """Why parts of which many rows lack a text are not sound; empty where they do not."""
    found = [
        doubt
        for part in parts
        if part is not None
        for doubt in doubts_of_dropped(part.name, part.provenance.n_read, part.provenance.dropped)
    ]
    return list(dict.fromkeys(found))


def doubts_of_dropped(name: str, n_read: int, dropped: Mapping[str, int]) -> list[Doubt]:
    """The same, of what was dropped of `n_read` rows, counted by reason."""
    n = sum(rows for reason, rows in dropped.items() if reason in {f"{role} is empty" for role in TEXT_ROLES})
    if n <= MOST_LEFT_OUT * n_read:
        return []
    return [
        Doubt(
            f"{count(n)} of the {count(n_read)} rows of {name} ({percent(n / n_read)}) lack a text and were left out: "
            "which rows these are may tell the label.",
            "Fill in the missing texts, or take these rows out of the benchmark.",
        )
    ]
