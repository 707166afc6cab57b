"""From two reports to what changed: verdicts, measures with intervals of their change, patterns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from goldassay.errors import InputError
from goldassay.intervals import Interval, difference_interval
from goldassay.places import under
from goldassay.results import to_plain
from goldassay.studies.diff.figures import figures_of
from goldassay.studies.diff.matching import match_figures
from goldassay.studies.diff.pairing import shared_examples
from goldassay.studies.diff.patterns import compare_patterns
from goldassay.studies.diff.standing import check_comparable, same_test_set, warnings_of
from goldassay.version import __version__

if TYPE_CHECKING:
    import os

    import polars as pl

    from goldassay.studies.diff.figures import Measured
    from goldassay.studies.diff.pairing import Examples

SCHEMA, SCHEMA_VERSION = "goldassay.diff", 1
# What a comparison may write; of an earlier one in the same folder nothing is left.
_TABLES = ("measures", "patterns_gone", "patterns_new", "patterns_turned", "patterns_stayed")
_FILES = ("figures/diff_changes.svg", *(f"tables/{name}.{kind}" for name in _TABLES for kind in ("parquet", "csv")))
QUESTIONS = ("artifacts", "leakage", "instability", "shift", "comparison")
_SEVERITY = {"sound": 0, "caution": 1, "unsound": 2}

PAIRED = "paired by test example"
UNPAIRED = "unpaired"
SAME = "the same figure"


@dataclass(frozen=True)
class ReportDiff:
    """What changed from one report to another, able to show itself as a page, as Markdown and as JSON.

    Attributes:
        document: Plain data under the schema "goldassay.diff", version 1.
        tables: Full tables by name: measures, and patterns where both reports have any.
    """

    document: Mapping[str, Any]
    tables: Mapping[str, pl.DataFrame] = field(default_factory=lambda: MappingProxyType({}))

    def to_json(self) -> str:
        """The document as JSON."""
        import json

        text = json.dumps(self.document, ensure_ascii=False, allow_nan=False, indent=2)
        return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"

    def to_html(self) -> str:
        """One page that needs nothing else."""
        from goldassay.report.diff import render_page

        return render_page(self.document, tuple(self.tables))

    def to_markdown(self) -> str:
        """Markdown that pastes into a pull request."""
        from goldassay.report.diff import render_markdown

        return render_markdown(self.document)

    def summary(self) -> str:
        """A few lines for a terminal."""
        from goldassay.report.diff import render_summary

        return render_summary(self.document)

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Write diff.html, diff.json, diff.md, tables/ and figures/, all or nothing, and return the path of the page.

        An earlier comparison in the same folder is replaced, with the tables that this one has not.

        Raises:
            InputError: The folder is that of one of the two reports, whose own tables lie there.
            OutputError: The folder cannot be made or written to, or the disk is full.
        """
        from goldassay.files import written_together
        from goldassay.report.diff import draw_changes
        from goldassay.report.saving import write_page

        for side in ("before", "after"):
            report = Path(self.document[side]["path"])
            if Path(directory).resolve() == report.parent.resolve():
                raise InputError(f"is the folder of {report}", file=directory, mend="choose another with -o")
        texts = {"diff.html": self.to_html(), "diff.json": self.to_json(), "diff.md": self.to_markdown()}
        texts |= {f"figures/{name}.svg": picture.standalone for name, picture in draw_changes(self.document).items()}
        with written_together(directory, instead_of=_FILES) as folder:
            write_page(texts, self.tables, folder)
        return Path(directory) / "diff.html"


def diff_reports(before: str | os.PathLike[str], after: str | os.PathLike[str]) -> ReportDiff:
    """Compare two reports: files or folders, of the same command, before and after something was mended.

    The interval of a change is paired where both audits lie in their folders and evaluate on the same test file, else
    from the two intervals as of independent samples; each row says which, and where the reports hold neither, that
    there is none.

    Raises:
        InputError: A report cannot be read or was edited, or the two are not about the same thing.
    """
    from goldassay.report.reading import read_report

    one, other = read_report(before), read_report(after)
    check_comparable(one, other)
    examples = shared_examples(one, other)
    pairs, gone, new = match_figures(figures_of(one), figures_of(other))
    if all(first.measure.question == "facts" for first, _ in pairs):
        raise InputError(
            f"it has no measure in common with {one.path}",
            file=other.path,
            mend="compare two reports of the same command",
        )
    measures = [_change(first, second, examples) for first, second in pairs]
    patterns = compare_patterns(one, other)
    document = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "goldassay_version": __version__,
        "title": f"{one.title}: what changed" if one.title == other.title else "What changed between two reports",
        "before": one.describe(),
        "after": other.describe(),
        "warnings": warnings_of(one, other),
        "notes": _notes(measures, same_test_set(one, other)),
        "verdicts": _verdicts(one.document, other.document),
        "measures": measures,
        "only_before": [_alone(figure) for figure in gone],
        "only_after": [_alone(figure) for figure in new],
        "patterns": patterns,
    }
    tables = _tables(measures)
    if patterns is not None:
        tables |= {f"patterns_{name}": getattr(patterns, name) for name in ("gone", "new", "turned", "stayed")}
    return ReportDiff(to_plain(document), {name: table for name, table in tables.items() if table.height})


def _change(one: Measured, other: Measured, examples: Examples | None) -> dict[str, Any]:
    measure = one.measure
    interval, method = _interval(one, other, examples)
    low, high = (interval.low, interval.high) if interval else (math.nan, math.nan)
    return {
        "question": measure.question,
        "measure": measure.name,
        "of": ", ".join(_both(one.of.get(name), other.of.get(name)) for name in measure.place.names),
        "unit": measure.unit,
        "before": one.value, "before_low": one.low, "before_high": one.high,
        "after": other.value, "after_low": other.low, "after_high": other.high,
        "difference": other.value - one.value, "low": low, "high": high,
        "method": method,
        "change": _word(measure.better, other.value - one.value, low, high),
    }  # fmt: skip


def _interval(one: Measured, other: Measured, examples: Examples | None) -> tuple[Interval | None, str]:
    if one.measure.unit != "examples" and (one.value, one.low, one.high) == (other.value, other.low, other.high):
        # Numbers that agree to the last digit are of the same data: there is no change to be unsure of.
        return None, SAME
    if examples is not None and one.measure.paired_by:
        paired = examples.interval(one, other)
        if paired is not None:
            return paired, PAIRED
    bounds = [Interval(each.low, each.high) for each in (one, other)]
    if any(math.isnan(each.low + each.high) for each in bounds):
        return None, "a count" if one.measure.unit == "examples" else "the reports hold none"
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


def _alone(figure: Measured) -> dict[str, Any]:
    return {
        "question": figure.measure.question, "measure": figure.measure.name, "of": ", ".join(figure.of.values()),
        "unit": figure.measure.unit, "value": figure.value, "low": figure.low, "high": figure.high,
    }  # fmt: skip


def _verdicts(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = []
    for question in QUESTIONS:
        first, second = (under(document, f"verdicts.{question}") for document in (one, other))
        if isinstance(first, Mapping) and isinstance(second, Mapping):
            words = first["verdict"], second["verdict"]
            found.append({"question": question, "before": first, "after": second, "moved": _moved(*words)})
    return found


def _moved(before: str, after: str) -> str:
    if before == after:
        return "same"
    if before in _SEVERITY and after in _SEVERITY:
        return "better" if _SEVERITY[after] < _SEVERITY[before] else "worse"
    if "not measurable" in (before, after):
        return "now measured" if before == "not measurable" else "no longer measurable"
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
