"""Which row each decision is about, in a dataset that may have been reordered or changed since."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goldassay.core.numbers import count
from goldassay.data.decisions import Decision, decided_and_noted
from goldassay.data.row_keys import copies_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


@dataclass(frozen=True)
class Placed:
    """Decisions and their rows.

    Attributes:
        by_row: {row: how it stands}.
        gone: Decisions with the content of no row, or of a row with a later decision.
        alike: Decisions with the content of one of several rows, where no id says which.
    """

    by_row: dict[int, Decision] = field(default_factory=dict)
    gone: list[Decision] = field(default_factory=list)
    alike: list[Decision] = field(default_factory=list)


def place_decisions(
    decisions: Iterable[Decision],
    rows: Mapping[str, Sequence[int]],
    id_of: Callable[[int], str],
    *,
    are_positions: bool,
) -> Placed:
    """Find the row of each decision by its content and id.

    A row that alone has its content is found whatever its id is, so that a reordered file still fits. Of rows with the
    same content the id decides. Where ids are positions, these tell rows apart only while the same positions have the
    content; and a decision that was made about one of several rows never takes the last of them by its content alone.

    Args:
        decisions: In the order of their file.
        rows: {key: all rows with that content}, at least of the keys of the decisions.
        id_of: The id of a row.
        are_positions: Whether ids count the rows, see `row_keys.are_positions`.
    """
    placed = Placed()
    for decision in sorted(decisions, key=lambda each: each.line):
        same = rows.get(decision.key, ())
        if not same:
            placed.gone.append(decision)
            continue
        own = [at for at in same if id_of(at) == decision.id]
        if len(own) == 1 and (not are_positions or decision.copies == copies_of([id_of(at) for at in same])):
            at = own[0]
        elif len(same) == 1 and not decision.copies:
            at = same[0]
        else:
            placed.alike.append(decision)
            continue
        standing = placed.by_row.get(at)
        if standing is not None and standing.id == id_of(at) != decision.id:
            placed.gone.append(decision)
            continue
        if standing is not None:
            placed.gone.append(standing)
        placed.by_row[at] = decision
    return placed


def none_fits(placed: Placed, of: str) -> str | None:
    """That decisions are of another dataset, since none of them has the content of a row; None where some have.

    Args:
        placed: All of a file.
        of: Of what the rows are, such as "of this report".
    """
    n, n_notes = decided_and_noted(placed.gone)
    if placed.by_row or placed.alike or n + n_notes == 0:
        return None
    if n == 0:
        return f"it has only notes, which fit no row {of}: it is about another dataset"
    fits = "its decision fits no row" if n == 1 else f"none of its {count(n)} decisions fits a row"
    return f"{fits} {of}: it is about another dataset"
