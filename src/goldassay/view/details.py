"""What a report's tables say of one row beside its columns: words, readers, training examples, copies, checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.numbers import count, decimal, percent
from goldassay.core.read_errors import reading
from goldassay.gate.reading import NAME, NUMBER, TEXT, WHOLES, read_table, table_schema
from goldassay.questions.leakage.measures.token_relevance import word_places
from goldassay.view.marking import Word, pieces

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

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
            return said + (f", tells {decimal(bits)} bits" if bits is not None else "")
    return ""
