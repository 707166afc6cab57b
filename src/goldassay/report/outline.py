"""What a report says, apart from how it looks: sections, tables, cells.

The page and the Markdown file are two renderings of the same outline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

QUESTIONS = {
    "artifacts": ("Artifacts", "Which surface patterns give the label away?"),
    "leakage": ("Leakage", "How much of the label can be read from a part of the input?"),
    "instability": ("Instability", "Would the score come out the same with another seed?"),
    "shift": ("Shift", "Does the score hold on another distribution?"),
}
# Asked by name alone: no audit has it.
FURTHER_QUESTIONS = {"comparison": ("Comparison", "Is one model better than the other, or was it luck?")}


@dataclass(frozen=True)
class Cell:
    """One cell: what is shown, what it sorts by, and whether it is text out of the dataset.

    Attributes:
        text: As shown.
        sort: The number it sorts by; None sorts by the text.
        code: It comes from the data, and is set apart as such.
        aside: Shown smaller beside it: an interval, a reason.
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


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        caption: What it shows.
        columns: Their names; numbers are right-aligned.
        rows: One cell a column each.
        file: The name of the full table beside the report, if there is one.
        grouped_by: The column whose values each keep some rows where a long table is cut.
        note: A sentence that it is read with.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    file: str | None = None
    grouped_by: int | None = None
    note: str = ""

    @property
    def numeric(self) -> tuple[bool, ...]:
        """For each column, whether it holds numbers (where any are defined)."""
        return tuple(any(row[i].sort is not None for row in self.rows) for i in range(len(self.columns)))


@dataclass(frozen=True)
class Part:
    """A picture by its name, and the table behind it; `folded` where the table only spells the picture out."""

    figure: str | None
    table: Table
    folded: bool = False


@dataclass(frozen=True)
class Bar:
    """A share drawn as a bar, with a mark where it would be expected; `series` is its color."""

    name: str
    share: float
    expected: float
    series: int


@dataclass(frozen=True)
class Card:
    """A group of examples, told on a card of its own.

    Attributes:
        title: What sets the group apart.
        lead: How it is named among the others: its number, its size.
        bars: Label shares.
        words: Words out of the dataset that tell it from the rest, each with a number beside it.
        patterns: Likewise of word patterns.
        facts: Names and values.
        examples: Texts out of the dataset, each with its label.
    """

    title: str
    lead: str
    bars: tuple[Bar, ...] = ()
    words: tuple[Cell, ...] = ()
    patterns: tuple[Cell, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    examples: tuple[Cell, ...] = ()


@dataclass(frozen=True)
class Section:
    """A section: heading, the question it answers, its verdict, notes, pictures with tables, explanation.

    Attributes:
        key: Its anchor, and the name of its explanation's template.
        title: Its heading.
        question: The question it answers, or what it lists.
        verdict: The document's verdict on it, if it is one of the four questions.
        notes: Sentences before the pictures.
        findings: What was found, in plain sentences, the most important first.
        parts: Pictures and the tables behind them, in order.
        cards: Groups of examples, each told on a card.
        small: Further tables, narrow enough to stand side by side.
        reason: Why there is nothing to show, if there is nothing.
        explained: Whether there is a "How this is computed".
    """

    key: str
    title: str
    question: str
    verdict: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    cards: tuple[Card, ...] = ()
    small: tuple[Table, ...] = ()
    reason: str = ""
    explained: bool = False

    @property
    def tables(self) -> tuple[Table, ...]:
        """Every table that has rows, in reading order."""
        return tuple(table for table in (*(part.table for part in self.parts), *self.small) if table.rows)


def questions_of(document: Any) -> dict[str, tuple[str, str]]:
    """The questions that a report answers: those its document names, else all four; of shift by what was measured."""
    asked = document.get("questions") if isinstance(document, Mapping) else None
    known = QUESTIONS | FURTHER_QUESTIONS
    chosen = {key: value for key, value in known.items() if isinstance(asked, (list, tuple)) and key in asked}
    chosen = chosen or QUESTIONS
    if "shift" in chosen and mapping(document, "shift").get("kind") == "detection":
        chosen = chosen | {"shift": ("Shift", "Does the model know when it has left its own distribution?")}
    return chosen


def mapping(value: Any, *keys: str) -> Mapping[str, Any]:
    """The object found under `keys`, or an empty one where there is none, or where it does not apply."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or value.get("applies") is False:
        return {}
    return value


def records(value: Any) -> list[Mapping[str, Any]]:
    """The list of objects, or an empty list where there is none."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, (list, tuple)) else []


def why_absent(value: Any, default: str = "not measured") -> str:
    """Why a part of the document has nothing to show; empty where it has."""
    if isinstance(value, Mapping) and value and value.get("applies") is not False:
        return ""
    return str(value.get("reason") or default) if isinstance(value, Mapping) else default


def text(value: Any) -> Cell:
    """Our own words, or a dash."""
    return Cell("—" if value is None or value == "" else str(value))


def data(value: Any, unfolds: tuple[Cell, ...] = (), variants: tuple[str, ...] = ()) -> Cell:
    """A text out of the dataset: never trusted, always set apart."""
    return Cell("—") if value is None else Cell(str(value), code=True, unfolds=unfolds, variants=variants)


def marked(value: Any, marks: Any, aside: str = "") -> Cell:
    """A text out of the dataset to be read as such, with parts of it set off."""
    spans = [tuple(span) for span in marks if isinstance(span, (list, tuple)) and len(span) == 2] if marks else []
    whole = [(begin, end) for begin, end in spans if isinstance(begin, int) and isinstance(end, int)]
    return Cell(str(value), prose=True, marks=tuple(whole), aside=aside)
