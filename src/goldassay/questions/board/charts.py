"""The chart of a board: of each system the ranks that it may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.charts import Axis, Chart, Dot, DotGroup, DotRow, Dots, by_name, first_of
from goldassay.core.documents import mapping, records
from goldassay.core.numbers import bounds, number, points
from goldassay.questions.board.sections import MOST_SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Mapping


def charts(document: Mapping[str, Any]) -> dict[str, Chart]:
    """A line for each system from the best to the worst rank that it may have, a dot at its place."""
    rows = records(mapping(document, "board").get("systems"))
    shown, omitted = first_of([_group(row) for row in rows], MOST_SYSTEMS, "systems")
    if not shown:
        return {}
    return by_name(
        Dots(
            name="board_ranks",
            title="Ranks that each system may have",
            caption="The dot is the place by mean score, the line joins the best and the worst rank that the system "
            "may have; all lines hold at once in 95 of 100 boards. To the right the score with its own 95 % interval.",
            omitted=omitted,
            groups=tuple(shown),
            axis=Axis("rank", unit="count", digits=0, low=1.0),
            headings="left",
        )
    )


def _group(row: Mapping[str, Any]) -> DotGroup:
    place, low, high = (number(row.get(key)) or 0.0 for key in ("place", "rank_low", "rank_high"))
    score, score_low, score_high = (number(row.get(key)) for key in ("score", "low", "high"))
    hover = f"{row.get('system')}: place {place:.0f}, rank {low:.0f} to {high:.0f}"
    return DotGroup(
        str(row.get("system")),
        (DotRow((Dot(place, hover),), (low, high)),),
        points(score or 0.0, 1),
        bounds(score_low, score_high, 1),
    )
