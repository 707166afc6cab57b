"""From two reports to what changed: verdicts, measures with intervals of their change, patterns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError
from goldassay.core.figures import Measure, measure_of
from goldassay.core.intervals import Interval, difference_interval
from goldassay.core.listings import listings
from goldassay.core.results import to_plain
from goldassay.core.severity import WORDS, severity
from goldassay.gate.diff.lists import CHANGES, compare_lists
from goldassay.gate.diff.matching import match_figures
from goldassay.gate.diff.pairing import shared_examples
from goldassay.gate.diff.standing import check_comparable, compared_figures, same_test_set, warnings_of
from goldassay.version import __version__

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    import polars as pl

    from goldassay.core.figures import Figure
    from goldassay.gate.diff.pairing import Examples
    from goldassay.gate.reading import StoredReport

SCHEMA, SCHEMA_VERSION = "goldassay.diff", 1
PAIRED = "paired by test example"
UNPAIRED = "unpaired"
SAME = "the same figure"


@dataclass(frozen=True)
class Changes:
    """What changed from one report to another.

    Attributes:
        document: Plain data under the schema "goldassay.diff", version 1.
        tables: Full tables by name: measures, and patterns where both reports have any.
    """

    document: Mapping[str, Any]
    tables: Mapping[str, pl.DataFrame] = field(default_factory=lambda: MappingProxyType({}))


def table_names() -> list[str]:
    """Every table that a comparison may have."""
    return ["measures", *(f"{listing.name}_{change}" for listing in listings() for change in CHANGES)]


def compare_reports(before: str | os.PathLike[str], after: str | os.PathLike[str]) -> Changes:
    """Compare two reports: files or folders, of the same command, before and after something was mended.

    The interval of a change is paired where both audits lie in their folders and evaluate on the same test file, else
    from the two intervals as of independent samples; each row says which, and where the reports hold neither, that
    there is none.

    Raises:
        InputError: A report cannot be read or was edited, or the two are not about the same thing.
    """
    from goldassay.gate.reading import read_report

    one, other = read_report(before), read_report(after)
    check_comparable(one, other)
    examples = shared_examples(one, other)
    pairs, gone, new = match_figures(compared_figures(one), compared_figures(other))
    if all(_measure(first).describes_data for first, _ in pairs):
        raise InputError(
            f"it has no measure in common with {one.path}",
            file=other.path,
            mend="compare two reports of the same command",
        )
    measures = [_change(first, second, examples) for first, second in pairs]
    lists = {listing.name: compare_lists(listing, one, other) for listing in listings()}
    document = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "goldassay_version": __version__,
        "title": f"{one.title}: what changed" if one.title == other.title else "What changed between two reports",
        "before": one.describe(),
        "after": other.describe(),
        "warnings": warnings_of(one, other),
        "notes": _notes(measures, same_test_set(one, other)),
        "verdicts": _verdicts(one, other),
        "measures": measures,
        "only_before": [_alone(figure) for figure in gone],
        "only_after": [_alone(figure) for figure in new],
        **lists,
    }
    tables = _tables(measures)
    for name, found in lists.items():
        if found is not None:
            tables |= {f"{name}_{change}": getattr(found, change) for change in CHANGES}
    return Changes(to_plain(document), {name: table for name, table in tables.items() if table.height})


def _change(one: Figure, other: Figure, examples: Examples | None) -> dict[str, Any]:
    interval, method = _interval(one, other, examples)
    low, high = (interval.low, interval.high) if interval else (math.nan, math.nan)
    roles = dict.fromkeys([*one.of, *other.of])
    return {
        "id": one.id,
        "question": one.question,
        "measure": one.label,
        "of": ", ".join(_both(one.of.get(role), other.of.get(role)) for role in roles),
        "unit": one.unit,
        "describes_data": _measure(one).describes_data,
        "before": one.value, "before_low": one.low, "before_high": one.high,
        "after": other.value, "after_low": other.low, "after_high": other.high,
        "difference": other.value - one.value, "low": low, "high": high,
        "method": method,
        "change": _word(one.better, other.value - one.value, low, high),
    }  # fmt: skip


def _measure(figure: Figure) -> Measure:
    """The measure of a figure that is compared: of others nothing is known here."""
    measure = measure_of(figure.id)
    assert measure is not None
    return measure


def _interval(one: Figure, other: Figure, examples: Examples | None) -> tuple[Interval | None, str]:
    numbers = [(each.value, each.low, each.high) for each in (one, other)]
    if one.unit != "examples" and numbers[0] == numbers[1]:
        # Numbers that agree to the last digit are of the same data: there is no change to be unsure of.
        return None, SAME
    pairing = _measure(one).pairing
    if examples is not None and pairing is not None:
        paired = examples.interval(one, other, pairing)
        if paired is not None:
            return paired, PAIRED
    if not (one.has_interval and other.has_interval):
        return None, "a count" if one.unit == "examples" else "the reports hold none"
    bounds = [Interval(each.low, each.high) for each in (one, other)]
    return difference_interval(other.value, bounds[1], one.value, bounds[0]), UNPAIRED


def _word(better: str, difference: float, low: float, high: float) -> str:
    """What a change is: a word that the interval supports; without one, which way it went."""
    if math.isnan(low):
        return "same" if difference == 0 else "fewer" if difference < 0 else "more"
    if low <= 0 <= high:
        return "not shown"
    if better == "neither":
        return "changed"
    return "better" if (difference < 0) == (better == "lower") else "worse"


def _both(one: str | None, other: str | None) -> str:
    return str(one) if one == other else f"{one} → {other}"


def _alone(figure: Figure) -> dict[str, Any]:
    return {
        "id": figure.id, "question": figure.question, "measure": figure.label, "of": ", ".join(figure.of.values()),
        "unit": figure.unit, "value": figure.value, "low": figure.low, "high": figure.high,
    }  # fmt: skip


def _verdicts(one: StoredReport, other: StoredReport) -> list[dict[str, Any]]:
    found = []
    for question, first in one.verdicts.items():
        second = other.verdicts.get(question)
        if second is not None:
            words = first["verdict"], second["verdict"]
            found.append({"question": question, "before": first, "after": second, "moved": _moved(*words)})
    return found


def _moved(before: str, after: str) -> str:
    if before == after:
        return "same"
    if "not measurable" in (before, after):
        return "now measured" if before == "not measurable" else "no longer measurable"
    if before in WORDS and after in WORDS:
        return "better" if severity(after) < severity(before) else "worse"
    return "changed"


def _notes(measures: list[dict[str, Any]], same: bool | None) -> list[str]:
    methods = {row["method"] for row in measures}
    notes = []
    if PAIRED in methods:
        notes.append(
            "Both reports evaluate on the same test examples. Where the tables beside them hold each one's part, the "
            "interval of a change is of the differences example by example, with the noise of seeds added (paired)."
        )
    if UNPAIRED in methods:
        note = "Intervals called unpaired are made from those of the two reports, as of independent samples"
        tail = "; the test examples being the same, they are rather too wide." if same else "."
        notes.append(note + tail)
    with_interval = sum(not math.isnan(row["low"]) for row in measures)
    if with_interval > 1:
        notes.append(
            "Each interval is of 95 % by itself: one measure in twenty would seem to have changed though it did not. "
            f"Here {with_interval} have an interval."
        )
    return notes


def _tables(measures: list[dict[str, Any]]) -> dict[str, pl.DataFrame]:
    import polars as pl

    return {"measures": pl.DataFrame(to_plain(measures), infer_schema_length=None)}
