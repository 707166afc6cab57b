"""Rows that were left out because a text is missing: whether it is can tell the label, and no reader sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.numbers import count, percent
from goldassay.data.roles import TEXT_ROLES
from goldassay.stats.effects import LEAST_ROWS
from goldassay.stats.verdicts import Doubt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data import Dataset

# Of the rows read; fewer cannot give away as much as a limit for "unsound" where labels are balanced.
MOST_LEFT_OUT = 0.01
# Of the rarest label with as many rows as effects count, if all of them were its own.
MOST_OF_LABEL = 0.05


def left_out_doubts(*parts: Dataset | None) -> list[Doubt]:
    """Why parts of which many rows lack a text are not sound; empty where they do not."""
    found = [
        doubt
        for part in parts
        if part is not None
        for doubt in doubts_of_dropped(
            part.name,
            part.provenance.n_read,
            part.provenance.dropped,
            part.examples["label"].value_counts()["count"].to_list() if part.label_names else [],
        )
    ]
    return list(dict.fromkeys(found))


def doubts_of_dropped(
    name: str, n_read: int, dropped: Mapping[str, int], label_counts: Sequence[int] = ()
) -> list[Doubt]:
    """The same, of what was dropped of `n_read` rows, counted by reason.

    Which label a row without a text had is not kept: all of them may be of the rarest label, which a reader of what is
    missing would then tell by the share n/(n + its rows).

    Args:
        name: Of the part.
        n_read: Rows read.
        dropped: Rows dropped, by reason.
        label_counts: Rows kept of each label.
    """
    n = sum(rows for reason, rows in dropped.items() if reason in {f"{role} is empty" for role in TEXT_ROLES})
    rarest = min((rows for rows in label_counts if rows + n >= LEAST_ROWS), default=None)
    of_rarest = 0.0 if rarest is None else n / (n + rarest)
    if n <= MOST_LEFT_OUT * n_read and of_rarest < MOST_OF_LABEL:
        return []
    rare = "" if n > MOST_LEFT_OUT * n_read else f"; of the rarest label they may be {percent(of_rarest)}"
    return [
        Doubt(
            f"{count(n)} of the {count(n_read)} rows of {name} ({percent(n / n_read)}) lack a text and were left out: "
            f"which rows these are may tell the label{rare}.",
            "Fill in the missing texts, or take these rows out of the benchmark.",
        )
    ]
