"""Open a report for looking through its rows: the report, its rows, the dataset it was made of, the decisions."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.core.document import TIMING_NAME, Document
from goldassay.core.errors import InputError, OutputError, option
from goldassay.core.files import check_place, sha256_of
from goldassay.core.numbers import count
from goldassay.core.report_seal import mapping
from goldassay.data.decisions import (
    Decided,
    Decision,
    Placed,
    decided_and_noted,
    decisions_beside,
    none_fits,
    read_decisions,
)
from goldassay.data.mending import keys_in
from goldassay.gate.reading import read_report
from goldassay.view.details import Details
from goldassay.view.rows import NONE_WHOLE, RUN, RowTable
from goldassay.view.selecting import Selector, State, parse_state

if TYPE_CHECKING:
    from collections.abc import Sequence


# A smaller share of rows says that a file is another dataset; texts such as "yes" are in many.
_FEW = 0.05


@dataclass
class Workbench:
    """A report that is looked through.

    Attributes:
        title: Of the report.
        folder: Of the report.
        document: What report.json has.
        table: Its rows.
        selector: Selects of them.
        decisions: The file that decisions are appended to; None where there is none, so that nothing can be decided.
        details: What other tables say of single rows.
        dataset: The file that was evaluated, where it is found.
        locked: Why nothing can be decided although there is a file; "" where it can be appended to.
        notes: What a user has to know about the dataset and the decisions, in sentences.
        placed: The decisions of the file and their rows, when it was last read.
    """

    title: str
    folder: Path
    document: Document
    table: RowTable
    selector: Selector
    decisions: Path | None
    details: Details
    dataset: Path | None = None
    dataset_note: str = ""
    notes: tuple[str, ...] = ()
    locked: str = ""
    placed: Placed = field(default_factory=Placed)
    _read: tuple[int, int] = (-1, -1)

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels that a row can be given, as `mend` judges: those of some row, or of an item's choices."""
        known = self.document.label_names
        return known if "choices" in self.table.schema else tuple(name for name in known if name in self.table.labels)

    @property
    def missing(self) -> dict[str, str]:
        """{column: why it, or some of its values, are not there}, of what the audit says."""
        found = self.document.suspect
        why = found.why_not if found is not None else "Only goldassay audit looks for suspect labels."
        told = {"suspect": why, "suspicion": why, RUN: self.table.runs_note}
        if self.table.runs_note == NONE_WHOLE:
            told |= {"runs": NONE_WHOLE, "runs_right": NONE_WHOLE, RUN: ""}
        return {name: each for name, each in told.items() if each}

    def state(self, query: str) -> State:
        """Read the part of an address after its question mark.

        Raises:
            InputError: See `parse_state`.
        """
        return parse_state(query, self.selector.values, self.table.numbers, self.selector.sortable, self.missing)

    def refresh(self) -> None:
        """Read the decisions again if their file changed: another tab or server may have appended to it.

        Raises:
            InputError: A line is no decision.
        """
        if self.decisions is None:
            return
        try:
            status = self.decisions.stat()
            now = (status.st_mtime_ns, status.st_size)
        except OSError:
            now = (0, 0)
        if now == self._read:
            return
        decided = read_decisions(self.decisions, missing=True)
        self.placed = self.table.place(decided.by_row.values())
        self._read = now
        self.notes = self._with_own(_describe_decisions(self.decisions, decided, self.placed))

    def _with_own(self, said: Sequence[str] = ()) -> tuple[str, ...]:
        return tuple(note for note in (self.locked, self.dataset_note, *said) if note)

    def remember(self, row: int, decision: Decision) -> None:
        """Take a decision that was just appended, without reading the whole file again."""
        self.table.decided[row] = decision
        if self.decisions is None:
            return
        status = self.decisions.stat()
        # Where the file grew by more than this line, another server appended to it: the next page reads it.
        if status.st_size == max(self._read[1], 0) + len(decision.to_line()):
            self._read = (status.st_mtime_ns, status.st_size)


def open_workbench(
    report: str | os.PathLike[str],
    dataset: str | None = None,
    decisions: str | os.PathLike[str] | None = None,
    *,
    deciding: bool = True,
) -> Workbench:
    """Open a report folder.

    Args:
        report: The folder, or its report.json.
        dataset: The dataset file that was evaluated, where it is no longer where it was.
        decisions: The file of decisions; by default beside the dataset.
        deciding: Whether decisions are going to be appended to it.

    Raises:
        InputError: The folder is no report, is incomplete, or was mixed with another; it has no table of rows; a line
            of decisions cannot be read; or none of them fits a row.
        OutputError: The file of decisions is a folder, or within one that is not there and cannot be made.
    """
    stored = read_report(report)
    if stored.parsed.judgments and not (stored.folder / "tables" / "examples.parquet").exists():
        by_item = stored.folder / "tables" / "judged_items.csv"
        look = (
            f"open {by_item}: the verdicts of each judge on each item, in either order"
            if by_item.exists()
            else "make it again with goldassay audit, which writes the verdicts on each item into a table"
        )
        raise InputError(
            "a report on judgments has verdicts, and no texts to look through", file=stored.folder, mend=look
        )
    if stored.parsed.board and not (stored.folder / "tables" / "examples.parquet").exists():
        raise InputError(
            "a board has answers, and no texts to look through", file=stored.folder,
            mend=f"audit the items, give the answers with {option('runs', 'ANSWERS')}, and open that report",
        )  # fmt: skip
    table = RowTable.open(
        stored.folder / "tables" / "examples.parquet", stored.parsed.text_columns, has_texts=stored.parsed.has_texts
    )
    if not table.texts:
        if dataset is not None or decisions is not None:
            raise InputError(
                "the report was made without texts, so that nothing can be decided", file=stored.folder,
                mend=f"audit again without {option('no-texts')}",
            )  # fmt: skip
        bare = "The report was made with --no-texts: rows have their ids alone, and nothing can be decided."
        bench = Workbench(
            stored.title, stored.folder, stored.parsed, table, Selector(table), None, Details(stored.folder / "tables"),
            dataset_note=bare,
        )  # fmt: skip
        bench.notes = bench._with_own()
        return bench
    place, note = _dataset(stored.parsed, stored.folder, dataset, table)
    file = Path(decisions) if decisions is not None else None if place is None else decisions_beside(place)
    locked = ""
    if file is not None:
        if (decisions is not None or file.is_file()) and real(file).is_relative_to(real(stored.folder)):
            raise InputError(
                "decisions inside a report are lost with it", file=file, mend="move the file beside the dataset"
            )
        locked = _why_locked(file) if deciding else ""
    details = Details(stored.folder / "tables")
    bench = Workbench(stored.title, stored.folder, stored.parsed, table, Selector(table), file, details, place, note)
    bench.locked = locked
    bench.notes = bench._with_own()
    if file is not None and os.path.lexists(file):
        bench.refresh()
        # Beside the dataset they are its own, whose rows may all be mended by now.
        if decisions is not None and (said := none_fits(bench.placed, "of this report")) is not None:
            raise InputError(said, file=file, mend=f"name the file of this dataset with {option('decisions')}")
    return bench


def _why_locked(file: Path) -> str:
    """Why no decisions can be appended to a file, in a sentence; rows are shown all the same.

    Raises:
        OutputError: It is no place for a file at all.
    """
    try:
        check_place(file, "--decisions")
    except OutputError as error:
        if file.is_dir() or not file.parent.is_dir():
            raise
        return f"Nothing can be decided here: {error}."
    return ""


def _dataset(document: Document, folder: Path, given: str | None, table: RowTable) -> tuple[Path | None, str]:
    """Where the evaluated dataset is, and what is to be said of it.

    Raises:
        InputError: What was given is not there, is no dataset, or has hardly any row of the report.
    """
    evaluated = next(iter((*document.inputs_of("test"), *document.inputs)), None)
    digests = set() if evaluated is None else set(evaluated.sha256)
    name_it = f"name it with {option('test', 'FILE')}, or a file with {option('decisions', 'FILE')}, to decide."
    if given is not None:
        place = Path(given)
        if not place.exists():
            raise InputError("there is no such dataset", file=place, mend="name the file that was evaluated")
    else:
        stored = _stored_place(folder, "test") or _stored_place(folder, "train")
        if stored is None or not stored.exists():
            return None, f"The dataset is not where it was: {name_it}"
        place = stored
    can_differ = given is not None or (bool(digests) and place.is_file())
    if not can_differ or (place.is_file() and sha256_of(place) in digests):
        return place, ""
    try:
        roles = {} if evaluated is None or evaluated.roles is None else evaluated.roles
        keys = keys_in(place, {name: str(column) for name, column in roles.items()})
    except InputError as error:
        if given is not None:
            raise
        return None, f"{place.name}, where the dataset was, cannot be read by now ({error.problem}): {name_it}"
    n, n_all = table.n_among(set(keys)), table.n_rows
    has = f"has {count(n)} of the {count(n_all)} rows of this report"
    if n < max(1, _FEW * min(n_all, len(keys))):
        if given is not None:
            raise InputError(f"{has}: it is another dataset", file=place, mend="name the file that was evaluated")
        return None, f"{place.name}, where the dataset was, {has}: it is another dataset by now: {name_it}"
    what = "changed since the audit" if given is None else "is not as it was audited"
    if n == n_all:
        return place, f"{place.name} {what}, but has all rows of this report." if digests else ""
    return place, (
        f"{place.name} {what}: it {has}, and {count(n_all - n)} changed or are gone. Rows are shown as the report has "
        "them, and mend says which decisions fit none."
    )


def _stored_place(folder: Path, role: str) -> Path | None:
    try:
        timing = json.loads((folder / TIMING_NAME).read_bytes())
    except (OSError, ValueError):
        return None
    place = mapping(timing, "places").get(role) if isinstance(timing, dict) else None
    return real(folder / place) if isinstance(place, str) and place else None


def real(path: Path) -> Path:
    """A path without links. `Path.resolve` fails where one leads to itself; whoever opens the file says so."""
    return Path(os.path.realpath(path))


def _describe_decisions(file: Path, decided: Decided, placed: Placed) -> list[str]:
    said = []
    n_all, n_all_notes = decided_and_noted(decided.by_row.values())
    for found, one, several in (
        (placed.gone, "fits no row of this report: its row changed or is gone. It is kept.",
         "fit no row of this report: their rows changed or are gone. They are kept."),
        (placed.alike, "is about one of several equal rows, and no id says which: decide about these again.",
         "are about one of several equal rows, and no id says which: decide about these again."),
    ):  # fmt: skip
        for n, n_of, word in zip(decided_and_noted(found), (n_all, n_all_notes), ("decision", "note"), strict=True):
            if n:
                of = f"The {word}" if n_of == 1 else f"{count(n)} of {count(n_of)} {word}s"
                said.append(f"{of} in {file.name} {one if n == 1 else several}")
    if decided.torn:
        said.append(
            f"The last line of {file.name} is unfinished and left out; the next decision moves it to {file.name}.torn."
        )
    return said
