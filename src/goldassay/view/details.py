"""What a report's tables say of one row beside its columns: words, readers, training examples, copies, checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.bounds import reading
from goldassay.core.errors import InputError
from goldassay.core.numbers import count, decimal, percent
from goldassay.gate.reading import NAME, NUMBER, TEXT, TEXTS, WHOLE, WHOLES, read_table, table_schema
from goldassay.questions.artifacts.measures.matching import mark_pattern
from goldassay.questions.leakage.measures.token_relevance import word_places

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goldassay.core.document import StoredPatterns


# What the tables hold; of readers each column but the ids is one.
_KINDS = {
    "words": {"role": TEXT, "word": TEXT, "label": TEXT, "support": NUMBER, "probability": NUMBER, "lift": NUMBER},
    "readers": {"example_id": NAME, "*: *": TEXT},
    "pattern_examples": {"pattern": TEXT, "label": TEXT, "text": TEXT, "marks": WHOLES},
    "near_copies": {"example_id": NAME, "part": TEXT, "kind": TEXT, "copy_id": NAME, "label": TEXT, "text": TEXT},
    "checkpoints": {"checkpoint": NAME, "model": TEXT, "n_runs": NUMBER, "measure": TEXT},
    "examples": {"example_id": NAME},
}
# From which lift on a word is shaded darker.
STRONG = 1.8


@dataclass(frozen=True)
class Predicted:
    """What a reader of a part says of a row, and whether that is the row's label."""

    part: str
    reader: str
    label: str
    is_label: bool
    runs: str


@dataclass(frozen=True)
class Copy:
    """A copy of a row: in which part, of which kind, its texts, and whether its label is another one."""

    part: str
    kind: str
    id: str
    label: str
    text: str
    differs: bool


@dataclass(frozen=True)
class Step:
    """A checkpoint of a row's runs, and where its point is in a picture of 100 by 30."""

    checkpoint: str
    value: float
    x: float
    y: float


@dataclass
class Details:
    """The tables of a report that say more of a row; each may be missing, as in older reports.

    Attributes:
        folder: `tables` of the report.
    """

    folder: Path

    @cached_property
    def words(self) -> dict[str, dict[str, Word]]:
        """{role: {word: what it leans to}}."""
        found: dict[str, dict[str, Word]] = {}
        for row in self._all("words"):
            if None in row.values():
                continue
            said = f"{row['word']}: {row['label']} in {percent(row['probability'], 0)} of {count(row['support'])} texts"
            found.setdefault(row["role"], {})[row["word"]] = Word(row["label"], said, row["lift"] >= STRONG)
        return found

    def places(self, role: str, text: str) -> list[tuple[int, int, Word]]:
        """Where a text of a role has words that lean to a label."""
        known = self.words.get(role)
        if not known:
            return []
        return [(begin, end, known[word]) for word, begin, end in word_places(text) if word in known]

    def predictions(self, row: Mapping[str, Any]) -> list[Predicted]:
        """What each reader says of each part of a row; none where the report has no such table."""
        found = self._of("readers", "example_id", [str(row["example_id"])])
        if not found:
            return []
        label = row.get("label")
        told = []
        for name, says in found[0].items():
            part, _, reader = name.partition(": ")
            if not reader or says is None:
                continue
            # Of choices it says itself whether the pick is right.
            is_label = not isinstance(row.get("answer"), list) and says == label
            told.append(Predicted(part, reader, says, is_label, _runs(row, part, reader)))
        return told

    def examples(self, patterns: Sequence[str]) -> dict[str, list[tuple[str, list[tuple[str, bool, None]]]]]:
        """{pattern: (label, text in pieces) of a few training examples}."""
        found: dict[str, list[tuple[str, list[Any]]]] = {}
        for row in self._of("pattern_examples", "pattern", list(patterns)):
            marks = row["marks"] or []
            spans = list(zip(marks[::2], marks[1::2], strict=False))
            found.setdefault(row["pattern"], []).append((row["label"], pieces(row["text"] or "", spans)))
        return found

    def copies(self, row: Mapping[str, Any], label: str, texts: Sequence[str]) -> list[Copy]:
        """The copies of a row in the evaluation part and in the training part.

        Args:
            row: The row.
            label: As the page shows it.
            texts: Columns of its texts.
        """
        found = self._of("near_copies", "example_id", [str(row["example_id"])])
        named = [str(each["copy_id"]) for each in found if each["text"] is None]
        known = {str(each["example_id"]): each for each in self._of("examples", "example_id", named)}
        return [
            Copy(
                str(each["part"]), str(each["kind"]), str(each["copy_id"]), str(each["label"]),
                each["text"] if each["text"] is not None else _texts_of(known.get(str(each["copy_id"]), {}), texts),
                each["label"] != label,
            )
            for each in found
        ]  # fmt: skip

    def copies_by_kind(self) -> list[tuple[str, str, int]]:
        """How many rows have a copy: (part of the copy, kind, rows)."""
        found: dict[tuple[str, str], set[str]] = {}
        for row in self._all("near_copies"):
            found.setdefault((str(row["part"]), str(row["kind"])), set()).add(str(row["example_id"]))
        return sorted((*name, len(ids)) for name, ids in found.items())

    def steps(self, row: Mapping[str, Any]) -> list[Step]:
        """The checkpoints of a row's runs."""
        values, names = row.get("runs_over_checkpoints"), self._checkpoints
        if not isinstance(values, list) or len(values) != len(names) or len(names) < 2:
            return []
        wide = 100 / (len(names) - 1)
        return [
            Step(str(name["checkpoint"]), value, at * wide, 30 * (1 - min(1.0, max(0.0, value))))
            for at, (name, value) in enumerate(zip(names, values, strict=True))
            if value is not None
        ]

    @property
    def steps_are(self) -> str:
        """What the values at checkpoints are means of."""
        first = self._checkpoints[0] if self._checkpoints else {}
        runs = first.get("n_runs", 0)
        of = "one run" if runs == 1 else f"mean of {runs} runs"
        return f"{first.get('measure', 'score')}, {of} of {first.get('model', '')}"

    @cached_property
    def _checkpoints(self) -> list[dict[str, Any]]:
        return self._all("checkpoints")

    def _all(self, name: str) -> list[dict[str, Any]]:
        file = self.folder / f"{name}.parquet"
        if not file.is_file():
            return []
        table = read_table(file, _KINDS[name])
        return table.to_dicts() if set(_KINDS[name]) <= set(table.columns) else []

    def _of(self, name: str, column: str, values: Sequence[str]) -> list[dict[str, Any]]:
        """The rows of a table whose column has one of some values; none where the table or a column is missing."""
        file = self.folder / f"{name}.parquet"
        wanted = {each for each in _KINDS[name] if "*" not in each}
        if not values or not file.is_file() or not wanted <= set(table_schema(file, _KINDS[name])):
            return []
        known = pl.col(column).cast(pl.String)
        with reading(file):
            found = pl.scan_parquet(file).with_columns(known).filter(known.is_in(pl.Series(list(values)).implode()))
            return found.collect().to_dicts()


def _texts_of(row: Mapping[str, Any], texts: Sequence[str]) -> str:
    found = (row.get(name) for name in texts)
    return " / ".join(", ".join(map(str, each)) if isinstance(each, list) else str(each) for each in found if each)


def _runs(row: Mapping[str, Any], part: str, reader: str) -> str:
    """How many of a probe's runs are right, and the bits that they tell, where the row has them."""
    if not reader.startswith(("quick probe", "model")):
        return ""
    names = (f"{part.replace(' ', '_')}_only", "paired", "text") if part != "the whole input" else ("paired", "text")
    for name in names:
        right, bits = row.get(f"right_{name}"), row.get(f"pvi_{name}")
        if right is not None:
            said = f"right in {percent(right, 0)} of its runs"
            return said + (f", gives {decimal(bits)} bits" if bits is not None else "")
    return ""


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
