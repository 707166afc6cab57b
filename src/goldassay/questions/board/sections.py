"""The section on a board: which places are sure, and which items decide them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, texts
from goldassay.core.numbers import count
from goldassay.core.sections import Part, Section, explanation
from goldassay.core.tables import Column, Table, with_bounds

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE, LEAD = "Board", "Which system is first, and which places are sure?"
# Systems on the page; the table beside it has all.
MOST_SYSTEMS = 30


def heading(_: Mapping[str, Any]) -> tuple[str, str]:
    """Title and question."""
    return TITLE, LEAD


def meanings(_: Mapping[str, Any]) -> Mapping[str, str]:
    """A board is not judged."""
    return {}


def sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Board"; none where there is none."""
    found = mapping(document, "board")
    if not found.get("systems"):
        return ()
    section = Section(
        key="board",
        title=TITLE,
        lead=LEAD,
        sentences=texts(found.get("sentences")),
        notes=texts(found.get("notes")),
        parts=(Part("board_ranks", _systems(found)), Part(table=_decisive(found)), Part(table=_against(found))),
        how=explanation("goldassay.questions.board", "how"),
    )
    return (section,)


def _systems(found: Mapping[str, Any]) -> Table:
    rows = records(found.get("systems"))
    columns = (
        Column("place", "place", "count"),
        Column("system", "system", "data", aside="as"),
        with_bounds("score", "score", "points", 2),
        Column("ranks", "ranks it may have", sort="rank_low"),
        Column("tier", "group", "count"),
        *((Column("n_runs", "runs", "count"),) if any(row.get("n_runs") != 1 for row in rows) else ()),
    )
    shown = tuple(
        {
            **row,
            "score_low": row.get("low"),
            "score_high": row.get("high"),
            "ranks": f"{row.get('rank_low')} to {row.get('rank_high')}"
            if row.get("rank_low") != row.get("rank_high")
            else str(row.get("rank_low")),
            "as": f"scores as {row['same_as']} on every item" if row.get("same_as") else None,
        }
        for row in rows[:MOST_SYSTEMS]
    )
    first = f"The first {count(len(shown))} of {count(len(rows))} systems" if len(rows) > len(shown) else "Systems"
    return Table("board", f"{first}, with the ranks that each may have", columns, shown, file="board")


def _item_table(name: str, caption: str, rows: tuple[Mapping[str, Any], ...]) -> Table:
    columns = (
        Column("item", "item", "data"),
        Column("n_solved", "solved by", "count"),
        Column("mean", "mean score", "points"),
        Column("discrimination", "correlation with the rest", "decimal", 2),
        *((Column("q", "q", "decimal", 4),) if any(row.get("q") is not None for row in rows) else ()),
    )
    return Table(name, caption, columns, rows, file="board_items")


def _decisive(found: Mapping[str, Any]) -> Table:
    n = mapping(found, "lead").get("n_decisive")
    caption = f"The {count(n)} items without which {found.get('second')} would be ahead of {found.get('first')}"
    return _item_table("decisive", caption, tuple(records(found.get("decisive"))))


def _against(found: Mapping[str, Any]) -> Table:
    caption = "Items that weaker systems solve and stronger ones miss: read their answers first"
    return _item_table("against", caption, tuple(records(found.get("against"))))
