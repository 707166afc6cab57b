"""A dataset written anew with what was decided about its rows, and a log of every change."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.files import check_not_read, written_together
from goldassay.core.naming import did_you_mean
from goldassay.core.numbers import count
from goldassay.data.dataset import Dataset, build_dataset
from goldassay.data.decisions import (
    CHOICE,
    DECIDED,
    MEND_LINE,
    Decision,
    decided_and_noted,
    decisions_beside,
    label_choices,
    none_fits,
    place_decisions,
    read_decisions,
)
from goldassay.data.fields import name_fields
from goldassay.data.kinds import DATA_KINDS, read_items
from goldassay.data.kinds.cells import cells_of
from goldassay.data.kinds.judgments import JudgedPairs
from goldassay.data.kinds.labelled_texts import LabelledTexts
from goldassay.data.kinds.recognition import recognize
from goldassay.data.reading import read_table
from goldassay.data.roles import parse_columns
from goldassay.data.row_keys import ITEM_COLUMNS, are_positions, content_columns, item_frame, keys_of
from goldassay.data.source import name_of, read_text, text_form

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Mapping

    from goldassay.data.kinds.choices import ChoiceItems
    from goldassay.data.table import Table

CHANGES = "changes.jsonl"
# More lines of one reason are counted.
_MOST_LINES = 10
_PLACE = "goldassay row of the file"
# What changed nothing, of several rows: what is left of one is said by `_several`.
_UNPLACED = "decisions fit no row: their rows changed or are gone"
_NOTE_GONE = "notes fit no row: their rows changed or are gone"
_ALIKE = "decisions are about one of several equal rows, and no id says which: decide about these again in view"
_NOTE_ALIKE = "notes are about one of several equal rows, and no id says which"
_NOTED = "rows have only a note: nothing changes"
_NO_TEXT = "rows are marked to be rewritten, without a new text"
_SAME_TEXT = "rows are rewritten to the text that they have: nothing changes"
_SAME_LABEL = "rows are relabelled to the label that they have: nothing changes"
# The reason follows.
_BY_HAND = "items are to be relabelled by hand: "
_PARTS = "items are to be rewritten by hand: the text is no column of its own"
_SINGULAR = {
    "rows": "row", _UNPLACED: "decision fits no row: its row changed or is gone",
    _NOTE_GONE: "note fits no row: its row changed or is gone",
    _ALIKE: "decision is about one of several equal rows, and no id says which: decide about these again in view",
    _NOTE_ALIKE: "note is about one of several equal rows, and no id says which",
    _NOTED: "row has only a note: nothing changes",
    _NO_TEXT: "row is marked to be rewritten, without a new text",
    _SAME_TEXT: "row is rewritten to the text that it has: nothing changes",
    _SAME_LABEL: "row is relabelled to the label that it has: nothing changes",
    _PARTS: "item is to be rewritten by hand: the text is no column of its own",
}  # fmt: skip


@dataclass(frozen=True)
class Mended:
    """A mended dataset.

    Attributes:
        name: File name to write it under.
        content: The bytes of the file.
        changes: A dict a change: line, id, decision, column, before, after, note; of what was left for a row, why
            under "left", and the label or the texts that were wanted.
        counts: Rows by decision that were carried out.
        left: {what: how many} decisions that changed nothing, and notes, in words.
        n_decided: Rows that the file of decisions decides about: those of `counts` and those left.
        n_noted: Rows that have only a note there.
        n_before: Rows of the file.
        n_after: Rows that are left.
        dropped: Places of the rows in the file that are left out, ascending.
        rows: The rows as they were; None for items with choices.
        read: The files of the dataset and of the decisions, which are never written over.
    """

    name: str
    content: bytes
    changes: tuple[dict[str, Any], ...]
    counts: dict[str, int]
    left: dict[str, int]
    n_decided: int
    n_noted: int
    n_before: int
    n_after: int
    dropped: tuple[int, ...] = ()
    rows: TextRows | None = None
    read: tuple[Path, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "rows_before": self.n_before,
            "rows_after": self.n_after,
            "decided": self.n_decided,
            "noted": self.n_noted,
            "carried_out": self.counts,
            "left": self.left,
            "changes": list(self.changes),
        }

    def lines(self) -> list[str]:
        """What was done, a line each."""
        done = ", ".join(f"{count(n)} {word}" for word, n in self.counts.items()) or "nothing"
        return [
            f"{_several(self.n_before, 'rows')} before, {count(self.n_after)} after; carried out: {done}",
            *(f"- {_several(n, what)}{self._where(what)}" for what, n in self.left.items()),
        ]

    def _where(self, what: str) -> str:
        """The lines of the rows that were left for one reason; "" where it is no reason of single rows."""
        at = [str(each["line"]) for each in self.changes if each.get("left") == _one(what)]
        if not at:
            return ""
        more = f", and {count(len(at) - _MOST_LINES)} more in {CHANGES}" if len(at) > _MOST_LINES else ""
        return f" ({'line' if len(at) == 1 else 'lines'} {', '.join(at[:_MOST_LINES])}{more})"

    def save(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write the dataset and the log, both or neither, and return their paths.

        Raises:
            InputError: They would replace a file that was read.
            OutputError: The folder cannot be written to.
        """
        for name in (self.name, CHANGES):
            check_not_read(Path(directory) / name, self.read)
        log = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in self.changes)
        with written_together(directory) as folder:
            (folder / self.name).write_bytes(self.content)
            (folder / CHANGES).write_text(log, "utf-8")
        return [Path(directory) / self.name, Path(directory) / CHANGES]


def mend_dataset(
    data: Path,
    decisions: Path | None = None,
    *,
    columns: str | None = None,
    file_format: str = "auto",
) -> Mended:
    """Carry out decisions about the rows of a dataset file.

    Args:
        data: The file.
        decisions: Their file; by default beside the dataset.
        columns: Which column plays which role, where names do not tell.
        file_format: The format of the file, where its content does not say it.

    Raises:
        InputError: The data or the decisions cannot be read, a label is unknown, or no decision fits a row.
    """
    file = decisions_beside(data) if decisions is None else decisions
    table = read_table(data, file_format)
    decided = read_decisions(file)
    roles = None if columns is None else parse_columns(columns)
    rows = _rows(table, data, roles)
    same: dict[str, list[int]] = {}
    for at, key in enumerate(rows.keys):
        same.setdefault(key, []).append(at)
    placed = place_decisions(
        decided.by_row.values(), same, rows.ids.__getitem__, are_positions=are_positions(pl.Series(rows.ids))
    )
    if (said := none_fits(placed, f"of {data.name}")) is not None:
        raise InputError(said, file=file, mend=f"name the file of this dataset with {option('decisions')}")
    n_decided, n_noted = decided_and_noted(decided.by_row.values())
    left: dict[str, int] = {}
    for found, of_decisions, of_notes in ((placed.gone, _UNPLACED, _NOTE_GONE), (placed.alike, _ALIKE, _NOTE_ALIKE)):
        n, n_notes = decided_and_noted(found)
        left |= {what: n for what, n in ((of_decisions, n), (of_notes, n_notes)) if n}
    if n := decided_and_noted(placed.by_row.values())[1]:
        left[_NOTED] = n
    if decided.torn:
        left[f"unfinished last line of {file.name} is left out: correct or remove it"] = 1
    dropped, changes, counts = [], [], dict.fromkeys(DECIDED, 0)
    for at, decision in sorted(placed.by_row.items()):
        own = rows.change(at, decision, _Line(file, decision.line))
        word = decision.decision
        told = {"line": table.line_of(rows.places[at]), "id": rows.ids[at], "decision": word}
        if isinstance(own, str):
            left[own] = left.get(own, 0) + 1
            wanted = {"label": decision.label, "texts": dict(decision.texts)}
            changes.append(
                {**told, **{name: value for name, value in wanted.items() if value}, "left": _one(own),
                 "note": decision.note}
            )  # fmt: skip
            continue
        if word == "drop":
            dropped.append(rows.places[at])
        if word in counts:
            counts[word] += 1
        changes += [{**told, **each, "note": decision.note} for each in own]
    name, content = mended_file(data, table, dropped, rows.edits)
    return Mended(
        name=name,
        content=content,
        changes=tuple(changes),
        counts={word: n for word, n in counts.items() if n},
        left=left,
        n_decided=n_decided,
        n_noted=n_noted,
        n_before=table.frame.height,
        n_after=table.frame.height - len(dropped),
        dropped=tuple(sorted(dropped)),
        rows=rows if isinstance(rows, TextRows) else None,
        read=(data, file),
    )


def keys_in(data: Path, roles: Mapping[str, str]) -> list[str]:
    """The key of each row of a dataset file.

    Args:
        data: The file.
        roles: Which column plays which role; columns that the file lacks are left out.

    Raises:
        InputError: It cannot be read.
    """
    table = read_table(data)
    known = set(table.frame.columns)
    # Several columns of one role are joined by a plus sign, which may also be in a name.
    there = {role: name for role, name in roles.items() if name in known or set(name.split("+")) <= known}
    return _rows(table, data, there or None).keys


def _rows(table: Table, data: Path, roles: dict[str, str] | None) -> _Items | TextRows:
    """The rows by the kind that they are of.

    Raises:
        InputError: They are judgments, or cannot be read.
    """
    frame, roles = name_fields(table.frame, roles)
    if frame.width > table.frame.width:
        raise InputError(
            "a field within objects cannot be mended", file=data, column=frame.columns[table.frame.width],
            mend="give it a column of its own",
        )  # fmt: skip
    found = recognize(table, roles, DATA_KINDS, str(data))
    readable = [name for name, match in found.matches.items() if match and name != JudgedPairs.name]
    match = found.best(readable) if readable else None
    if match is None and found.matches[JudgedPairs.name]:
        raise InputError(
            "it has judgments, whose rows are verdicts and no texts to mend", file=data,
            mend="give the file of the items that were judged",
        )  # fmt: skip
    if match is None or match.kind.name == LabelledTexts.name:
        return TextRows(table, name_of(data), roles, data)
    items = read_items(match, table, name_of(data), roles or {}, source=str(data))
    return _Items(items, table, {match.kind.aliases.get(role, role): name for role, name in (roles or {}).items()})


class TextRows:
    """Rows of a labelled set of texts.

    Attributes:
        dataset: The rows that were read.
        places: Where each of them is in the file, from 0.
    """

    def __init__(self, table: Table, name: str, roles: Any, path: Path) -> None:
        self.dataset: Dataset = build_dataset(table, roles, name, path=path, places=_PLACE)
        examples = self.dataset.examples
        self.frame, self.path = table.frame, path
        self.places: list[int] = examples[_PLACE].to_list()
        self.keys = keys_of(examples, content_columns(self.dataset))
        self.ids = examples["example_id"].cast(pl.String).to_list()
        used = set(examples["label"]) if "label" in examples.columns else set()
        self.labels = tuple(label for label in self.dataset.label_names if label in used)
        self.edits: dict[str, dict[int, Any]] = {}
        self._raw_labels: dict[str, Any] = {}

    def change(self, at: int, decision: Decision, line: _Line) -> list[dict[str, Any]] | str:
        """Change a row, and return what is to be logged; or why nothing is done, of several rows."""
        roles, place = self.dataset.provenance.roles, self.places[at]
        if decision.decision == "relabel":
            # How the file writes a label is known from its rows alone.
            if decision.label not in self.labels:
                raise line.error(
                    f"relabels a row to {decision.label!r}, which is the label of no row of {self.path.name}",
                    label_choices(decision.label, self.labels),
                )
            if decision.label == self.dataset.examples["label"][at]:
                return _SAME_LABEL
            return [self._set(place, roles["label"], self._raw(decision.label))]
        if decision.decision == "rewrite":
            if not decision.texts:
                return _NO_TEXT
            strange = [name for name in decision.texts if name not in self.dataset.text_columns]
            if strange:
                raise line.error(
                    f"rewrites {strange[0]!r}, which is no text of {self.path.name}",
                    did_you_mean(strange[0], self.dataset.text_columns),
                )
            new = {roles[name]: text for name, text in decision.texts.items()}
            new = {column: text for column, text in new.items() if self.frame[column][place] != text}
            return [self._set(place, column, text) for column, text in new.items()] or _SAME_TEXT
        return _only_logged(decision)

    def _raw(self, label: str) -> Any:
        """How the file writes a label: as most of its rows with it do."""
        if label not in self._raw_labels:
            own = self.dataset.examples.filter(pl.col("label") == label)[_PLACE]
            raw = self.frame[self.dataset.provenance.roles["label"]][own.to_list()]
            self._raw_labels[label] = raw.value_counts(sort=True).row(0)[0]
        return self._raw_labels[label]

    def _set(self, place: int, column: str, value: Any) -> dict[str, Any]:
        self.edits.setdefault(column, {})[place] = value
        return {"column": column, "before": self.frame[column][place], "after": value}


class _Items:
    """Items with choices, and preferences.

    They are dropped; relabelled where the file says in one place which option is right; and their question or prompt,
    passage and options are rewritten where each is a text of its own.
    """

    def __init__(self, items: ChoiceItems, table: Table, roles: Mapping[str, str]) -> None:
        self._cells = cells_of(items, table, roles)
        self.frame, self.places, self.kind = table.frame, self._cells.places, items.kind
        rows = item_frame(items)
        self.keys, self.ids = keys_of(rows, ITEM_COLUMNS), rows["example_id"].to_list()
        self._texts = {name: rows[name].to_list() for name in ("question", "passage")}
        self._choices = rows["choices"].to_list()
        self.edits: dict[str, dict[int, Any]] = {}

    def change(self, at: int, decision: Decision, line: _Line) -> list[dict[str, Any]] | str:
        """As `TextRows.change`."""
        if decision.decision == "rewrite":
            return self._rewrite(at, decision, line)
        if decision.decision != "relabel":
            return _only_logged(decision)
        known = [chr(ord("A") + place) for place, text in enumerate(self._choices[at]) if text.strip()]
        if decision.label not in known:
            raise line.error(
                f"relabels the item {decision.id} to {decision.label!r}, which is none of its {self.kind.options}",
                f"its {self.kind.options} are {', '.join(known)}",
            )
        cells = self._cells
        # Letters that are drawn for a pair are others in another file: what is not preferred there is meant.
        if cells.has_letters and cells.n_right[at] == 1 and decision.label == cells.labels[at]:
            return _SAME_LABEL
        found = cells.answered(at, decision.label)
        return _BY_HAND + found if isinstance(found, str) else self._set(at, found)

    def _rewrite(self, at: int, decision: Decision, line: _Line) -> list[dict[str, Any]] | str:
        new: dict[str, Any] = {}
        choices = self._choices[at]
        letters = {f"{CHOICE}{chr(ord('A') + place)}": place for place in range(len(choices))}
        options = {letters[name]: text for name, text in decision.texts.items() if name in letters}
        if changed := {place: text for place, text in options.items() if text != choices[place]}:
            found = self._cells.reworded(at, changed, choices)
            if found is None:
                return _PARTS
            new |= found
        for name, text in decision.texts.items():
            if name in letters:
                continue
            if name not in self._texts:
                raise line.error(
                    f"rewrites {name!r} of an item", "a question, a passage and choices (choice A) can be rewritten"
                )
            shown = self._texts[name][at]
            found = self._cells.rewritten(at, name, shown, text)
            if found is None:
                return _PARTS
            new |= found if text != shown else {}
        if not new:
            return _SAME_TEXT if decision.texts else _NO_TEXT
        return self._set(at, new)

    def _set(self, at: int, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        place = self.places[at]
        new = {column: _plain(value) for column, value in values.items()}
        for column, value in new.items():
            self.edits.setdefault(column, {})[place] = value
        return [
            {"column": column, "before": _plain(self.frame[column][place]), "after": value}
            for column, value in new.items()
        ]


@dataclass(frozen=True)
class _Line:
    """Where a decision is, for messages."""

    file: Path
    number: int

    def error(self, problem: str, hint: str) -> InputError:
        """What is wrong with the line; the hint says what may be meant."""
        return InputError(f"the line {problem}", file=self.file, row=self.number, mend=f"{MEND_LINE}; {hint}")


def _several(n: int, what: str) -> str:
    """A number and what it counts, in the singular where it is one."""
    return f"{count(n)} {_one(what) if n == 1 else what}"


def _one(what: str) -> str:
    return _SINGULAR.get(what) or what.replace("items are", "item is", 1)


def _plain(value: Any) -> Any:
    """A cell as JSON has it."""
    return value.to_list() if isinstance(value, pl.Series) else value


def _only_logged(decision: Decision) -> list[dict[str, Any]]:
    if decision.decision == "drop" or (decision.decision in ("keep", "note") and decision.note):
        return [{}]
    return []


def mended_file(
    path: Path, table: Table, dropped: Collection[int], edits: Mapping[str, Mapping[int, Any]]
) -> tuple[str, bytes]:
    """The name and the bytes of a mended file.

    JSON Lines keep every line that is not decided about as it is, and CSV, TSV and Parquet their format; texts keep
    their byte order mark, line breaks and compression. What has another format becomes JSON Lines.

    Args:
        path: The file.
        table: As it was read.
        dropped: Rows that go.
        edits: {column: {row: new value}}.

    Raises:
        InputError: A column cannot be written in the file's format.
    """
    stem = name_of(path)
    if table.format == "jsonl" and table.lines is not None:
        form = text_form(path)
        return f"{stem}.jsonl{form.ending}", form.put(_lines(path, table, set(dropped), edits))
    frame = _edited(table.frame, edits)[[row for row in range(table.frame.height) if row not in set(dropped)]]
    content = io.BytesIO()
    try:
        if table.format == "parquet":
            frame.write_parquet(content)
            return f"{stem}.parquet", content.getvalue()
        if table.format in ("csv", "tsv"):
            form = text_form(path)
            if table.format == "csv":
                frame.write_csv(content, line_terminator=form.line_break)
            else:
                breaks = frame.select(pl.any_horizontal(pl.col(pl.String).str.contains("[\t\n\r]")).any()).item()
                frame.write_csv(
                    content, separator="\t", quote_style="necessary" if breaks else "never",
                    line_terminator=form.line_break,
                )  # fmt: skip
            return f"{stem}.{table.format}{form.ending}", form.put(content.getvalue())
        frame.write_ndjson(content)
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"the mended rows cannot be written as {table.format}: {error}", file=path, mend="convert the file to JSONL"
        ) from error
    return f"{stem}.jsonl", content.getvalue()


def _lines(path: Path, table: Table, dropped: set[int], edits: Mapping[str, Mapping[int, Any]]) -> bytes:
    assert table.lines is not None
    lines = read_text(path)[0].split(b"\n")
    row_of = {int(line) - 1: row for row, line in enumerate(table.lines)}
    changed: dict[int, dict[str, Any]] = {}
    for column, cells in edits.items():
        for row, value in cells.items():
            changed.setdefault(row, {})[column] = value
    kept = []
    for number, line in enumerate(lines):
        own = row_of.get(number)
        if own is None or own not in changed:
            kept += [line] if own is None or own not in dropped else []
            continue
        if own in dropped:
            continue
        content = json.loads(line)
        strange = [column for column in changed[own] if column not in content]
        if strange:
            raise InputError(
                f"the field {strange[0]!r} is inside another one and cannot be changed", file=path, row=number + 1,
                mend="change the row by hand",
            )  # fmt: skip
        # A list or an object was read as its JSON.
        told = {
            column: json.loads(value) if isinstance(content[column], list | dict) and isinstance(value, str) else value
            for column, value in changed[own].items()
        }
        new = json.dumps({**content, **told}, ensure_ascii=False).encode("utf-8")
        kept.append(new + b"\r" if line.endswith(b"\r") else new)
    return b"\n".join(kept)


def _edited(frame: pl.DataFrame, edits: Mapping[str, Mapping[int, Any]]) -> pl.DataFrame:
    columns = []
    for name, cells in edits.items():
        values = frame[name].to_list()
        for place, value in cells.items():
            values[place] = value
        columns.append(pl.Series(name, values, dtype=frame.schema[name]))
    return frame.with_columns(columns)
