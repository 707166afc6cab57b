"""What a report holds, which every renderer shows and none computes; and the cells of its tables as texts.

The verdicts as a small picture for a README: drawn here, so that showing it needs no service.

An audit as a section of a dataset card: metadata that the Hugging Face hub reads, a badge, and how to reproduce it.

The metadata hold what the audit knows and nothing else: neither language nor licence, which are their owner's to say.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from goldassay.core.errors import one_line
from goldassay.core.numbers import (
    bounds,
    count,
    decimal,
    number,
    percent,
    points,
    ratio_digits,
    signed_points,
    small,
    squared_points,
)
from goldassay.core.report_seal import DIGESTS, mapping, records, texts
from goldassay.core.results import WORDS, Result, Verdict, severity, to_plain
from goldassay.core.sections import Reproduction, Section, Subject, VerdictCard
from goldassay.core.settings import FILE_NAME
from goldassay.report.charts.svg import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import polars as pl

    from goldassay.core.charts import Chart
    from goldassay.core.document import Issue
    from goldassay.core.sections import Column, PrintedTable, Row, Table


R = TypeVar("R", bound=Result)
# Keys of every document; those of the questions stand between them, in the order in which they were measured.
_FIRST = (
    "schema",
    "schema_version",
    "goldassay_version",
    "command",
    "title",
    "questions",
    "verdicts",
    "issues",
    "figures",
    "dataset",
    "inputs",
)
_LAST = ("settings", "environment", "timing", "digest", DIGESTS)


@dataclass(frozen=True)
class ReportContent:
    """A plain document, the tables behind it, and what is shown of it, in reading order.

    Attributes:
        document: What `report.json` holds, plain data under the schema "goldassay.report", version 2; and under
            "timing" what `timing.json` holds.
        answers: What each question found, typed.
        tables: Full tables by name, written next to the page as Parquet and CSV.
        sections: What is shown, in reading order.
        cards: The verdict on each question.
        intervals: What the intervals on the cards are; "" where there is none.
        limits: From which size on a flaw would have been found, by question without one; "" where there is none.
        unasked: Questions that nothing was given for, a sentence each that says what to add.
        subject: What the report is about.
        issues: What is wrong, the gravest first; None where it was not listed.
        first: Rows to look at before anything else; None where no question names any.
        reproduction: How to get an audit again; None for other reports.
        paper_tables: Tables for papers, with our intervals, for `goldassay.report.paper`.
        printed_tables: Those of the papers that the questions are from, laid out of our figures, likewise.
        charts: The page's charts by name, as data.
        paper_charts: Charts for papers by the name of their file, as data.
        behind: The examples behind the verdict on each question, the most telling ones first; see `rows`.
        runs: Files of runs that were made for it.
        places: The dataset files that it was made of, by role; timing.json stores where they are, seen from the
            report's folder, so that its rows can be found again.
        result: What was measured, as the question's own type, where it has one.
        judged: The verdict on each question; `verdicts` is their plain form.
    """

    document: Mapping[str, Any]
    tables: Mapping[str, pl.DataFrame] = field(default_factory=lambda: MappingProxyType({}))
    sections: tuple[Section, ...] = ()
    cards: tuple[VerdictCard, ...] = ()
    intervals: str = ""
    limits: str = ""
    unasked: tuple[str, ...] = ()
    subject: Subject = field(default_factory=Subject)
    issues: tuple[Issue, ...] | None = None
    first: Table | None = None
    reproduction: Reproduction | None = None
    paper_tables: tuple[Table, ...] = ()
    printed_tables: tuple[PrintedTable, ...] = ()
    charts: Mapping[str, Chart] = field(default_factory=lambda: MappingProxyType({}))
    paper_charts: Mapping[str, Chart] = field(default_factory=lambda: MappingProxyType({}))
    behind: Mapping[str, pl.DataFrame] = field(default_factory=lambda: MappingProxyType({}))
    runs: tuple[Path, ...] = ()
    places: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))
    result: Any = None
    answers: Mapping[str, Result] = field(default_factory=lambda: MappingProxyType({}))
    judged: Mapping[str, Verdict] = field(default_factory=lambda: MappingProxyType({}))

    def answer(self, kind: type[R]) -> R | None:
        """The result of a question by its class; None where the report has none."""
        return next((each for each in self.answers.values() if isinstance(each, kind)), None)

    @property
    def verdicts(self) -> dict[str, dict[str, Any]]:
        """The verdict on each question, as `report.json` holds it."""
        return {question: verdict.to_dict() for question, verdict in self.judged.items()}

    @property
    def overall(self) -> str:
        """How many of several verdicts name a flaw, are unresolved, not measurable or sound.

        "" for one verdict, which its card has; of a question without a verdict what it found first.
        """
        if not self.cards and self.issues is not None:
            return next((each.sentences[0] for each in self.sections if each.sentences), "")
        words = [card.verdict for card in self.cards if card.judged and card.verdict in WORDS]
        flaws = len([word for word in words if severity(word) >= severity("caution")])
        counts = [(flaws, "flaw" if flaws == 1 else "flaws")]
        counts += [(words.count(word), word) for word in ("unresolved", "not measurable", "sound")]
        return ", ".join(f"{n} {word}" for n, word in counts if n) if len(words) > 1 else ""

    @property
    def beneath(self) -> str:
        """What is read below the cards in small type: what the intervals are, and what was not asked."""
        return " ".join(each for each in (self.intervals, *self.unasked) if each)

    def to_dict(self) -> dict[str, Any]:
        """The document as plain data, top-level keys in a fixed order, NaN as None."""
        plain = to_plain(self.document)
        first, last = ({key: plain[key] for key in keys if key in plain} for keys in (_FIRST, _LAST))
        return first | {key: value for key, value in plain.items() if key not in last} | last


# Of each kind: its text from value and digits, what its interval is multiplied by, its usual decimals.
_KINDS: dict[str, tuple[Callable[[Any, int], str], float, int]] = {
    "count": (lambda value, _: count(value), 1.0, 0),
    "decimal": (decimal, 1.0, 2),
    "points": (points, 100.0, 1),
    "difference": (signed_points, 100.0, 1),
    "percent": (percent, 100.0, 1),
    "probability": (lambda value, _: small(value), 1.0, 3),
    "ratio": (decimal, 1.0, 2),
    "variance": (lambda value, _: squared_points(value), 10_000.0, 4),
}


@dataclass(frozen=True)
class Cell:
    """One cell: what is shown, what it sorts by, and whether it is text out of the dataset.

    Attributes:
        text: As shown.
        sort: The number it sorts by; None sorts by the text.
        code: It comes from the data, and is set apart as such.
        aside: Shown smaller after it: an interval, a reason.
        unfolds: Longer texts out of the dataset that a reader may open, such as example sentences.
        prose: It comes from the data and is to be read as text, line by line.
        marks: Parts of the text to set off, (begin, end) in characters, ascending and apart from each other.
        variants: Texts out of the dataset that stand for the same, opened with `unfolds`.
    """

    text: str
    sort: float | None = None
    code: bool = False
    aside: str = ""
    unfolds: tuple[Cell, ...] = ()
    prose: bool = False
    marks: tuple[tuple[int, int], ...] = ()
    variants: tuple[str, ...] = ()

    @property
    def pieces(self) -> tuple[tuple[str, bool], ...]:
        """The text in pieces, each with whether it is marked."""
        found, at = [], 0
        for begin, end in self.marks:
            if at <= begin < end <= len(self.text):
                found += [(self.text[at:begin], False), (self.text[begin:end], True)]
                at = end
        return tuple(piece for piece in (*found, (self.text[at:], False)) if piece[0])


def rows_of(table: Table) -> tuple[tuple[Cell, ...], ...]:
    """The cells of a table, row by row."""
    return tuple(tuple(cell_of(column, row) for column in table.columns) for row in table.rows)


def are_numeric(rows: tuple[tuple[Cell, ...], ...], n_columns: int) -> tuple[bool, ...]:
    """For each column, whether it has numbers (where any are defined)."""
    return tuple(any(row[i].sort is not None for row in rows) for i in range(n_columns))


def cell_of(column: Column, row: Row) -> Cell:
    """The cell of one column in one row."""
    value = row.get(column.key)
    aside = str(row.get(column.aside) or "")
    if column.kind in _KINDS:
        shown, scale, usual = _KINDS[column.kind]
        digits = usual if column.digits is None else column.digits
        if column.kind == "ratio":
            digits = ratio_digits(value)
        text = column.absent if number(value) is None else shown(value, digits)
        return Cell(text, number(value), aside=_bounds(column, row, digits, scale) or aside)
    if column.kind == "interval":
        return Cell(_bounds(column, row, 1 if column.digits is None else column.digits, 100.0) or column.absent)
    if value is None or (value == "" and column.kind == "text"):
        return Cell(column.absent, number(row.get(column.sort)), aside=aside)
    if column.kind == "text":
        return Cell(str(value), number(row.get(column.sort)), aside=aside)
    if column.kind == "prose":
        return Cell(str(value), code=True, prose=True, aside=aside, marks=_spans(row.get(column.marks)))
    opened, variants = records(row.get(column.unfolds)), texts(row.get(column.variants))
    return Cell(
        str(value),
        number(row.get(column.sort)),
        code=True,
        aside=aside,
        unfolds=tuple(_opened(each) for each in opened),
        variants=variants,
    )


def _bounds(column: Column, row: Row, digits: int, scale: float) -> str:
    return bounds(row.get(column.low), row.get(column.high), digits, scale) if column.low else ""


def _opened(example: Mapping[str, Any]) -> Cell:
    return Cell(
        str(example.get("text")),
        prose=True,
        marks=_spans(example.get("marks")),
        aside=str(example.get("aside") or ""),
    )


def _spans(marks: Any) -> tuple[tuple[int, int], ...]:
    """The parts to set off, without what is no pair of places."""
    if not isinstance(marks, (list, tuple)):
        return ()
    pairs = [tuple(span) for span in marks if isinstance(span, (list, tuple)) and len(span) == 2]
    return tuple((begin, end) for begin, end in pairs if isinstance(begin, int) and isinstance(end, int))


# White on each of these is read by everyone: contrast 4.5 or more. The mark tells the verdict without the color.
_SHOWN = {
    "sound": ("#146c4b", "✓"),
    "caution": ("#855b00", "!"),
    "unsound": ("#a8231b", "✕"),
    "unresolved": ("#4a5a78", "?"),
    "not measurable": ("#59626b", "–"),
}
_NAME = ("goldassay", "#1c2126")
_HEIGHT, _PAD = 20, 6
_NARROW = frozenset("filjrt !")


def render_badge(report: ReportContent) -> str:
    """An SVG of one line: the tool's name, and each question in the color of its verdict with its mark.

    The widths of texts are set, not measured, so that it looks the same with every font.
    """
    parts = [_NAME] + [
        (f"{question} {_SHOWN[word][1]}", _SHOWN[word][0]) for question, word in _verdicts(report).items()
    ]
    shapes, at = [], 0.0
    for text, color in parts:
        width = round(sum(4.3 if letter in _NARROW else 7.2 for letter in text)) + 2 * _PAD
        shapes.append(
            f'<rect x="{at:g}" width="{width}" height="{_HEIGHT}" fill="{color}"/>'
            f'<text x="{at + _PAD:g}" y="14" textLength="{width - 2 * _PAD}">{escape(text)}</text>'
        )
        at += width + 1
    at -= 1
    label = escape(badge_text(report))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{at:g}" height="{_HEIGHT}" viewBox="0 0 {at:g} {_HEIGHT}" '
        f'role="img" aria-label="{label}"><title>{label}</title>'
        f'<clipPath id="r"><rect width="{at:g}" height="{_HEIGHT}" rx="4"/></clipPath>'
        '<g clip-path="url(#r)" fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f"{''.join(shapes)}</g></svg>\n"
    )


def badge_text(report: ReportContent) -> str:
    """The same in words, for those who do not see it."""
    return "goldassay: " + ", ".join(f"{question} {word}" for question, word in _verdicts(report).items())


def _verdicts(report: ReportContent) -> dict[str, str]:
    return {card.key: card.verdict if card.verdict in _SHOWN else "not measurable" for card in report.cards}


BADGE = "badge.svg"
# The hub's own classes of sizes: each up to, but not with, its number of rows.
_SIZES = (
    (1e3, "n<1K"),
    (1e4, "1K<n<10K"),
    (1e5, "10K<n<100K"),
    (1e6, "100K<n<1M"),
    (1e7, "1M<n<10M"),
    (1e8, "10M<n<100M"),
    (1e9, "100M<n<1B"),
    (1e10, "1B<n<10B"),
    (1e11, "10B<n<100B"),
    (1e12, "100B<n<1T"),
)


def front_matter(report: ReportContent) -> str:
    """The YAML block at the top of a dataset card.

    Under the hub's own keys: a readable name, the class of size, the task, tags. Under `goldassay`: version, verdicts,
    and the figure that decided each with its bounds, as fractions.
    """
    document = report.to_dict()
    dataset = mapping(document, "dataset")
    rows = sum(report.subject.sizes.values())
    metadata: dict[str, Any] = {
        "pretty_name": one_line(dataset.get("name") or "unnamed"),
        "size_categories": [next((name for above, name in _SIZES if rows < above), "n>1T")],
        "task_categories": ["text-classification"],
    }
    if {"premise", "hypothesis"} <= {str(name) for name in dataset.get("text_columns") or ()}:
        metadata["task_ids"] = ["natural-language-inference"]
    metadata["tags"] = ["goldassay", "benchmark-audit"]
    metadata["goldassay"] = {
        "version": one_line(document.get("goldassay_version")),
        **{card.key: _judged(report.judged.get(card.key)) for card in report.cards},
    }
    return "---\n" + "\n".join(_yaml(metadata)) + "\n---"


def badge_line(report: ReportContent) -> str:
    """The Markdown that shows the badge."""
    return f"![{badge_text(report)}]({BADGE})"


def reproduction(document: Mapping[str, Any], how: Reproduction) -> list[str]:
    """How to get the same figures: the command, settings, versions, seeds, and hashes of the files read."""
    version = one_line(document.get("goldassay_version"))
    blocks = ["## How to reproduce"]
    if how.command is None:
        blocks.append("The data were handed over in memory, so that no command names them; in Python:")
        blocks.append(_fenced("python", how.python))
    else:
        blocks.append(f"With goldassay {version}, from files with these SHA-256:")
        blocks.append(_hashes(document))
        blocks.append(_fenced("console", f"$ {how.command}"))
    if how.settings:
        blocks += [f"with this `{FILE_NAME}`:", _fenced("toml", how.settings)]
    else:
        blocks.append("with every setting at its default.")
    blocks.append("- " + "\n- ".join([*how.seeds, _versions(document)]))
    return blocks


def _judged(verdict: Verdict | None) -> dict[str, Any]:
    headline = None if verdict is None else verdict.headline
    ends = {} if headline is None else {"value": headline.value, "low": headline.low, "high": headline.high}
    return {
        "verdict": "not measurable" if verdict is None else verdict.verdict,
        **({} if headline is None else {"measure": one_line(headline.label)}),
        **{key: round(value, 4) for key, value in ends.items() if math.isfinite(value)},
    }


def _yaml(value: Mapping[str, Any], indent: str = "") -> list[str]:
    lines = []
    for key, each in value.items():
        if isinstance(each, dict):
            lines += [f"{indent}{key}:", *_yaml(each, indent + "  ")]
        elif isinstance(each, list):
            # Words of the hub's own lists, which YAML takes as they are.
            lines += [f"{indent}{key}:", *(f"{indent}- {item}" for item in each)]
        else:
            lines.append(f"{indent}{key}: {_scalar(each)}")
    return lines


def _scalar(value: Any) -> str:
    """A JSON text is a YAML text; angle brackets and ampersands are escaped for whoever shows the block as it is."""
    text = json.dumps(value, ensure_ascii=False)
    for character in "<>&`":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _hashes(document: Mapping[str, Any]) -> str:
    lines = []
    for source in records(document.get("inputs")):
        files, hashes = source.get("files") or [], source.get("sha256") or []
        lines += [f"{digest}  {one_line(name)}" for name, digest in zip(files, hashes, strict=False)]
    return _fenced("text", "\n".join(dict.fromkeys(lines)))


def _versions(document: Mapping[str, Any]) -> str:
    environment = mapping(document, "environment")
    packages = mapping(environment, "packages")
    parts = [f"{name} {one_line(version)}" for name, version in packages.items()]
    return ", ".join([*parts, f"Python {one_line(environment.get('python'))}"])


def _fenced(language: str, text: str) -> str:
    """A block of code, fenced by more backticks than it holds in a row."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
