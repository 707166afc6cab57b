"""Each change between two reports in a line: its figures in their unit, and what may be said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from goldassay.core.documents import mapping, records
from goldassay.core.numbers import bounds, count, decimal, number, percent, points, signed_points
from goldassay.core.visible import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

_SMALL = 0.02
_UNITS = {"points": " points", "share": " points", "bits": " bits"}
_SHOWN = ("better", "worse", "changed")


class Shown(NamedTuple):
    """A figure in its unit, the number it sorts by, and its interval."""

    text: str
    sort: float | None
    interval: str


def changes_shown(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What changed for certain, as a word and a sentence each, in the order of the measures.

    That is every measure whose interval leaves 0 out, and how many examples there are: what a mend has cost.
    """
    return [
        (str(row["change"]), sentence_of(row))
        for row in records(document.get("measures"))
        if row.get("change") in _SHOWN or (row.get("describes_data") and row.get("difference"))
    ]


def left_open(document: Mapping[str, Any]) -> list[str]:
    """How many measures are not shown to have changed, and which moved with no interval to judge by."""
    measures = records(document.get("measures"))
    still = sum(row.get("change") == "not shown" for row in measures)
    lines = [f"{still} measure{'s' if still > 1 else ''} cannot be said to have changed."] if still else []
    moved = [row for row in measures if row.get("change") in ("fewer", "more") and not row.get("describes_data")]
    if moved:
        names = list(dict.fromkeys(str(row.get("measure")) for row in moved))
        lines.append(f"Moved, with no interval to judge by: {', '.join(names)}.")
    return lines


def sides_named(document: Mapping[str, Any]) -> tuple[str, str]:
    """What the two reports are called: their titles, with their files where these are the same."""
    before, after = (mapping(document, side) for side in ("before", "after"))
    titles = [one_line(side.get("title")) for side in (before, after)]
    if titles[0] != titles[1]:
        return titles[0], titles[1]
    first, second = (f"{side.get('title')} ({side.get('path')})" for side in (before, after))
    return one_line(first), one_line(second)


def sentence_of(row: Mapping[str, Any]) -> str:
    """A measure's change with its figures."""
    of = f" ({one_line(row['of'])})" if row.get("of") else ""
    unit = _UNITS.get(str(row.get("unit")), "")
    before, after = value_shown(row, "before").text, value_shown(row, "after").text
    change = f"{change_shown(row).text}{unit} {change_shown(row).interval}".rstrip()
    return f"{row.get('measure')}{of} {before} → {after}, {change}"


def value_shown(row: Mapping[str, Any], key: str = "value") -> Shown:
    """A figure of a measure in its unit, with its interval; `key` says which of the row's."""
    prefix = "" if key == "value" else f"{key}_"
    low, high = row.get(f"{prefix}low"), row.get(f"{prefix}high")
    unit, value = row.get("unit"), row.get(key)
    if unit == "examples":
        return Shown(count(value), number(value), bounds(low, high, 0, 1.0))
    if unit in ("points", "share"):
        shown = percent(value, _digits(row)) if unit == "share" else points(value, _digits(row))
        return Shown(shown, number(value), bounds(low, high, _digits(row)))
    return Shown(decimal(value, 3), number(value), bounds(low, high, 3, 1.0))


def change_shown(row: Mapping[str, Any]) -> Shown:
    """The difference of a measure with its sign, and its interval."""
    value, unit = row.get("difference"), row.get("unit")
    if unit in ("points", "share"):
        shown, interval = signed_points(value, _digits(row)), bounds(row.get("low"), row.get("high"), _digits(row))
    else:
        digits = 0 if unit == "examples" else 3
        shown, interval = decimal(value, digits), bounds(row.get("low"), row.get("high"), digits, 1.0)
        shown = f"+{shown}" if (number(value) or 0.0) > 0 else shown
    return Shown(shown, number(value), interval)


def _digits(row: Mapping[str, Any]) -> int:
    """Decimals of points: what is smaller than two of them needs a second one."""
    sizes = [abs(number(row.get(key)) or 0.0) for key in ("value", "before", "after")]
    return 2 if max(sizes) < _SMALL else 1
