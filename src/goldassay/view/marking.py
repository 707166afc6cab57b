"""Which patterns a row holds, and where in its text."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.read_errors import reading
from goldassay.gate.reading import NAME, NUMBER, TEXT, TEXTS, WHOLE, WHOLES, table_schema
from goldassay.questions.artifacts.measures.matching import mark_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goldassay.core.document import StoredPatterns

# Of a row that holds many patterns, the strongest are marked; the others say the same words again.
MOST_PATTERNS = 8


@dataclass(frozen=True)
class Word:
    """A word that leans to a label, as a page says it."""

    label: str
    title: str
    is_strong: bool


@dataclass(frozen=True)
class Held:
    """A pattern of a row.

    Attributes:
        pattern: As people read it.
        label: The label that it gives away.
        probability: Of that label among the training examples with it.
        support: How many those are.
        spans: Where its tokens are, (begin, end) in characters.
    """

    pattern: str
    label: str
    probability: float
    support: int
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Patterns:
    """The patterns of a report; `role` names the text that they were mined in, "" where there are none."""

    folder: Path
    role: str
    tokenizer: str

    @classmethod
    def of(cls, folder: Path, mined: StoredPatterns | None) -> Patterns:
        """Those of a report's folder."""
        role = "" if mined is None else mined.applies_to or ""
        names = [folder / "tables" / f"{name}.parquet" for name in ("difficulty", "patterns")]
        held = all(each.is_file() for each in names) and _are_patterns(*names)
        tokenizer = "" if mined is None or mined.settings is None else mined.settings.tokenizer or ""
        known = tokenizer in ("treebank", "whitespace", "characters")
        return cls(folder, role if held and known else "", tokenizer)

    def held(self, rows: Sequence[Mapping[str, Any]]) -> list[tuple[Held, ...]]:
        """The strongest patterns of each row, most probable first; none where the text is not the one mined."""
        if not self.role or not rows or self.role not in rows[0]:
            return [() for _ in rows]
        from goldassay.data.tokenization import tokenize

        ids = pl.Series([str(row["example_id"]) for row in rows])
        classes, patterns = (self.folder / "tables" / f"{name}.parquet" for name in ("difficulty", "patterns"))
        with reading(classes):
            found = (
                pl.scan_parquet(classes)
                .with_columns(pl.col("example_id").cast(pl.String))
                .filter(pl.col("example_id").is_in(ids.implode()))
                .select("example_id", "pattern_ids")
                .collect()
            )
        by_row = dict(found.iter_rows())
        with reading(patterns):
            table = pl.read_parquet(patterns)
        known = found["pattern_ids"].explode().drop_nulls()
        if not known.is_between(0, table.height, closed="left").all():
            raise InputError("names patterns that patterns.parquet lacks", file=classes, mend="make the report again")
        corpus = tokenize(pl.Series([str(row[self.role]) for row in rows]), self.tokenizer)
        held = []
        for at, row in enumerate(rows):
            own = table[by_row.get(str(row["example_id"])) or []]
            strongest = own.sort("probability", "support", descending=True).head(MOST_PATTERNS)
            text, tokens = str(row[self.role]), list(corpus.sentence(at))
            marked = [
                (each, mark_pattern(text, tokens, each["tokens"], each["gaps"]))
                for each in strongest.iter_rows(named=True)
            ]
            held.append(
                tuple(
                    Held(each["pattern"], each["label"], each["probability"], each["support"],
                         mark.spans if mark.text == text else ())
                    for each, mark in marked
                )
            )  # fmt: skip
        return held


def _are_patterns(classes: Path, patterns: Path) -> bool:
    """Whether the tables have what marking needs; one without patterns of its rows has none to mark."""
    kinds = {"example_id": NAME, "pattern_ids": WHOLES}
    told = {"pattern": TEXT, "label": NAME, "probability": NUMBER, "support": WHOLE, "tokens": TEXTS, "gaps": WHOLES}
    return set(kinds) <= set(table_schema(classes, kinds)) and set(told) <= set(table_schema(patterns, told))


def pieces(
    text: str, spans: Sequence[tuple[int, int]], words: Sequence[tuple[int, int, Word]] = ()
) -> list[tuple[str, bool, Word | None]]:
    """A text in pieces: (text, whether a pattern marks it, the word that shades it).

    Args:
        text: The text.
        spans: Of patterns; they may overlap.
        words: Those that lean to a label; they do not overlap.
    """
    marks = _joined([(max(0, begin), min(end, len(text))) for begin, end in spans])
    shades = sorted(((begin, end, word) for begin, end, word in words), key=lambda each: each[0])
    ends = {0, len(text), *(place for mark in marks for place in mark)}
    ends |= {place for begin, end, _ in shades for place in (begin, end)}
    found: list[tuple[str, bool, Word | None]] = []
    at_mark, at_shade = 0, 0
    for begin, end in pairwise(sorted(ends)):
        while at_mark < len(marks) and marks[at_mark][1] <= begin:
            at_mark += 1
        while at_shade < len(shades) and shades[at_shade][1] <= begin:
            at_shade += 1
        marked = at_mark < len(marks) and marks[at_mark][0] <= begin
        word = shades[at_shade][2] if at_shade < len(shades) and shades[at_shade][0] <= begin else None
        found.append((text[begin:end], marked, word))
    return found


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans that overlap or touch as one, in order; empty ones are left out."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if begin >= end:
            continue
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found
