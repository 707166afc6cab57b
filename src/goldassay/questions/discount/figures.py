"""The figures on discounted scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records
from goldassay.core.figures import Figure, Measure, declare

if TYPE_CHECKING:
    from collections.abc import Mapping

_SCORE = declare(Measure("discount.score", "score with the shortcut discounted", "points", "higher", least=0, most=1))
_UNGIVEN = declare(
    Measure(
        "discount.ungiven", "score where the shortcut does not point to the label", "points", "higher", least=0, most=1
    )
)
_SLOPE = declare(Measure("discount.slope", "score gained per bit of the shortcut", "number", "lower"))
_CHANGED = declare(Measure("discount.changed_places", "systems that change their place", "number", "neither", least=0))
_LEFT = declare(
    Measure("discount.other_bits", "bits that readers of a part tell which is not discounted", "bits", "lower")
)


def figures(document: Mapping[str, Any]) -> list[Figure]:
    """Of each system its score without the shortcut, and how many change their place."""
    found = mapping(document, "discount")
    if not found:
        return []
    reason, n = found["reason"], found["n_items"]
    made = []
    for row in found["systems"]:
        of = {"model": row["system"]}
        within = (None, None) if reason else (row["discounted_low"], row["discounted_high"])
        made.append(_SCORE.figure(None if reason else row["discounted"], *within, n=n, reason=reason, **of))
        few = "" if row["ungiven"] is not None else "the shortcut points to the label of nearly all rows"
        made.append(
            _UNGIVEN.figure(
                row["ungiven"], row["ungiven_low"], row["ungiven_high"], n=found["n_ungiven"], reason=few, **of
            )
        )
        made.append(_SLOPE.figure(row["slope"], row["slope_low"], row["slope_high"], n=n, **of))
    made += [
        _LEFT.figure(row["bits"], row["bits_low"], row["bits_high"], n=n, part=row["part"])
        for row in records(found.get("other_parts"))
    ]
    changed = sum(row["place"] != row["discounted_place"] for row in found["systems"])
    made.append(_CHANGED.figure(None if reason else changed, n=n, reason=reason))
    return made
