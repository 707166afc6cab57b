"""Where a figure stands in a report's document: a path, a value, and the bounds beside it.

What reads single figures out of `report.json`, a policy and a diff, says where they are by a `Place` and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

ROWS = "[]"


@dataclass(frozen=True)
class Place:
    """Where figures of one kind stand.

    Attributes:
        at: Keys joined by dots down to an object, or with [] at the end to a list of objects, a figure each.
        value: The key of the figure itself.
        names: Keys whose texts tell one object of the list from another.
        only: Which objects count: a key and what its text must match, * and ? as in file names.
        but: Which of these do not count: a key, or a dotted one of the document, and the text that it must not have.
        ends: The keys of its bounds; by default `low` and `high` beside "value", else value_low, value_high.
        shares_of: Dotted key of classes, each with its number `n`, that the figure is a share of all examples of.
        source: A dotted key of the document and the texts that it must have one of; "" where it may be missing.
    """

    at: str
    value: str
    names: tuple[str, ...] = ()
    only: Mapping[str, str] = field(default_factory=dict)
    but: tuple[str, str] | None = None
    ends: tuple[str, str] | None = None
    shares_of: str = ""
    source: tuple[str, tuple[str, ...]] | None = None


@dataclass(frozen=True)
class Figure:
    """A figure that was found: its value and bounds (NaN where not defined), what it is of, why it is not defined."""

    value: float | str
    low: float = math.nan
    high: float = math.nan
    of: tuple[str, ...] = ()
    reason: str = ""
    row: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_defined(self) -> bool:
        """Whether there is a value."""
        return not (isinstance(self.value, float) and math.isnan(self.value))


def figures_at(document: Mapping[str, Any], place: Place) -> tuple[Figure, ...]:
    """Every figure of a place, in the document's order; none where the document has no such part."""
    return tuple(_figure(row, place) for row in _rows(document, place) if not _left_out(document, row, place))


def why_lacking(document: Mapping[str, Any], place: Place) -> str:
    """What the document itself says of a part that it lacks; empty where it says nothing."""
    head = document.get(place.at.partition(".")[0])
    if not isinstance(head, Mapping):
        return ""
    # What quick probes stand in for is told in a note.
    told = head.get("note") if head.get("source") == "probe" else ""
    if place.but is not None and _rows(document, place) and not figures_at(document, place):
        told = f"what it has is of {place.but[1]}, which does not count"
    return str(head.get("reason") or told or "").partition(". ")[0].rstrip(".")


def under(document: Mapping[str, Any], path: str) -> Any:
    """What stands under dotted keys, or None."""
    value: Any = document
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, Mapping) and value.get("applies") is False:
            return None
    return value


def _rows(document: Mapping[str, Any], place: Place) -> list[Mapping[str, Any]]:
    if place.source is not None:
        said = under(document, place.source[0])
        if ("" if said is None else said) not in place.source[1]:
            return []
    found = under(document, place.at.removesuffix(ROWS))
    rows = found if place.at.endswith(ROWS) else [found]
    return [row for row in rows if _counts(row, place)] if isinstance(rows, (list, tuple)) else []


def _counts(row: Any, place: Place) -> bool:
    if not isinstance(row, Mapping) or place.value not in row:
        return False
    return all(fnmatchcase(str(row.get(key)), pattern) for key, pattern in place.only.items())


def _left_out(document: Mapping[str, Any], row: Mapping[str, Any], place: Place) -> bool:
    if place.but is None:
        return False
    key, text = place.but
    return bool((under(document, key) if "." in key else row.get(key)) == text)


def _figure(row: Mapping[str, Any], place: Place) -> Figure:
    beside = ("low", "high") if place.value == "value" else (f"{place.value}_low", f"{place.value}_high")
    low, high = (_number(row.get(key)) for key in place.ends or beside)
    value = row[place.value]
    return Figure(
        value=value if isinstance(value, str) else _number(value),
        low=low,
        high=high,
        of=tuple(str(row[name]) for name in place.names if row.get(name) is not None),
        reason=str(row.get("reason") or ""),
        row=row,
    )


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return math.nan
    return float(value)
