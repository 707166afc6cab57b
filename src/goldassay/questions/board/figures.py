"""The figures of a board: scores, ranks, and how far the first place is sure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.figures import Figure, Measure, declare

if TYPE_CHECKING:
    from collections.abc import Mapping

_SCORE = declare(Measure("board.score", "mean score of the system", "points", "higher", least=0, most=1))
_RANK = declare(Measure("board.rank", "rank of the system", "number", "lower", least=1))
_LEAD = declare(Measure("board.lead", "lead of the first system", "points", "neither"))
_STAYS = declare(Measure("board.first_stays", "halves of the items with the same first", "share", "higher"))
_RELIABILITY = declare(Measure("board.reliability", "reliability of the totals (KR-20)", "number", "higher"))


def figures(document: Mapping[str, Any]) -> list[Figure]:
    """Of each system score and rank; of the board the lead, halves with the same first, and the reliability."""
    found = document.get("board") or {}
    if not found:
        return []
    n = found["n_items"]
    made = []
    for row in found["systems"]:
        of = {"model": row["system"]}
        made += [
            _SCORE.figure(row["score"], row["low"], row["high"], n=n, **of),
            _RANK.figure(row["place"], row["rank_low"], row["rank_high"], n=n, **of),
        ]
    if lead := found.get("lead"):
        made.append(_LEAD.figure(lead["difference"], lead["low"], lead["high"], n=n))
    made.append(_STAYS.figure(found["first_stays"], n=n))
    own = found["reliability"]
    made.append(_RELIABILITY.figure(own["value"], own["low"], own["high"], n=n, reason=own["reason"]))
    return made
