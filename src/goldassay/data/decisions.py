"""What somebody decided about rows of a dataset: a file of JSON lines, appended to and never rewritten.

Rows are found again by their content in a dataset that may have been reordered or changed since.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from goldassay.core.bounds import reason
from goldassay.core.errors import InputError, has_half_pair, option
from goldassay.core.files import output_error
from goldassay.core.naming import did_you_mean
from goldassay.core.numbers import count
from goldassay.data.row_keys import copies_of
from goldassay.data.source import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path


ENDING = ".decisions.jsonl"
CHOICE = "choice "
# "note" only adds a note; "undecided" takes back what the row's line before it said.
DECIDED = ("keep", "rewrite", "relabel", "drop")
WORDS = (*DECIDED, "note", "undecided")
# More are not listed in one line.
_MOST_LABELS = 12
MEND_LINE = "correct or remove the line"
_WRITTEN = ("key", "id", "decision", "label", "texts", "note", "copies")


@dataclass(frozen=True)
class Decision:
    """What was decided about a row.

    Attributes:
        key: The row's content, see `goldassay.data.row_keys`.
        id: Its example id, which tells rows of equal content apart.
        decision: One of `WORDS`.
        label: The new label, of a relabel.
        texts: New texts of a rewrite, by column, or by `CHOICE` and the letter of a choice; a rewrite without any marks
            the row as still to be rewritten.
        note: In the user's words.
        copies: Which rows had the same content when it was decided, see `row_keys.copies_of`; "" where no other had.
        before: How the row stood before, of a decision that `after` made; not written.
        line: Where it stands in its file, from 1; 0 where it was not read. Not written.
    """

    key: str
    id: str
    decision: str
    label: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    copies: str = ""
    before: Decision | None = field(default=None, compare=False, repr=False)
    line: int = field(default=0, compare=False, repr=False)

    def to_line(self) -> bytes:
        """The line of the file."""
        told = {name: value for name in _WRITTEN if (value := getattr(self, name)) or name in _WRITTEN[:3]}
        return (json.dumps(told, ensure_ascii=True) + "\n").encode()

    def after(self, before: Decision | None) -> Decision:
        """How a row stands after this line: its last decision and, beside it, its latest note.

        A note leaves the decision, texts that are rewritten one after the other add up, and "undecided" returns to how
        the row stood before its last line.

        Args:
            before: How it stood, or None where nothing was decided yet.
        """
        blank = Decision(self.key, self.id, "undecided", copies=self.copies)
        stood = blank if before is None else before
        if self.decision == "undecided":
            return stood.before or blank
        if self.decision == "note":
            if stood.decision not in ("undecided", "note"):
                return replace(stood, note=self.note, before=stood)
            return replace(self, decision="note" if self.note else "undecided", before=stood)
        texts = {**stood.texts, **self.texts} if self.decision == stood.decision == "rewrite" else self.texts
        return replace(self, texts=texts, note=self.note or stood.note, before=stood)

    @classmethod
    def parse(cls, content: Any) -> Decision:
        """Read a line's object.

        Raises:
            ValueError: It is no decision; the message says why.
        """
        if not isinstance(content, dict):
            raise ValueError("is no object")
        for name in ("key", "id", "decision"):
            if not isinstance(content.get(name), str):
                raise ValueError(f"has no text as {name!r}")
        if content["decision"] not in WORDS:
            raise ValueError(f"has the decision {content['decision']!r}, which is none of {', '.join(WORDS)}")
        texts, label, note = content.get("texts", {}), content.get("label", ""), content.get("note", "")
        copies = content.get("copies", "")
        if not isinstance(texts, dict) or not all(
            isinstance(each, str) for each in (*texts.values(), label, note, copies)
        ):
            raise ValueError("has texts, a label, a note or copies that are no texts")
        told = (content["key"], content["id"], label, note, *texts, *texts.values())
        if any(map(has_half_pair, told)):
            # No page could show it, and no file of text could hold it.
            raise ValueError("holds half of a surrogate pair, which is no character")
        if content["decision"] == "rewrite" and (empty := [name for name, text in texts.items() if not text.strip()]):
            raise ValueError(f"rewrites {empty[0]!r} to an empty text")
        for name, value, word in (("a label", label, "relabel"), ("texts", texts, "rewrite")):
            if value and content["decision"] != word:
                raise ValueError(f"has {name}, which only a {word} has, with {content['decision']!r}")
        if content["decision"] == "relabel" and not label:
            raise ValueError("is a relabel without a label")
        return cls(content["key"], content["id"], content["decision"], label, texts, note, copies)


@dataclass(frozen=True)
class Decided:
    """The decisions of a file.

    Attributes:
        by_row: How each row stands (see `Decision.after`), by (key, id, copies), in the order of the first.
        n_lines: Lines that were read.
        torn: The bytes of an unfinished last line, which a machine that lost its power may leave; b"" without one.
    """

    by_row: Mapping[tuple[str, str, str], Decision]
    n_lines: int = 0
    torn: bytes = b""


def decided_and_noted(decisions: Iterable[Decision]) -> tuple[int, int]:
    """How many rows are decided, and how many have only a note; what was taken back counts nowhere."""
    words = [each.decision for each in decisions]
    return sum(word in DECIDED for word in words), words.count("note")


def label_choices(label: str, labels: Sequence[str]) -> str:
    """Which labels there are in place of one that is not there; of many those near it."""
    if not labels:
        return "it has no labels"
    return f"its labels are {', '.join(labels)}" if len(labels) <= _MOST_LABELS else did_you_mean(label, labels)


def decisions_beside(dataset: Path) -> Path:
    """Where decisions about a dataset are stored unless a file is named: beside it."""
    return dataset.with_name(name_of(dataset) + ENDING)


def read_decisions(path: Path, *, missing: bool = False) -> Decided:
    """Read a file of decisions. An unfinished last line is left out, and handed back.

    Args:
        path: The file.
        missing: Whether the file may be missing, so that nothing is decided yet.

    Raises:
        InputError: It cannot be read, it is a pipe, device or folder, or a line is no decision.
    """
    if path.exists() and not path.is_file():
        # A pipe may wait for ever, a device may never end, and neither can be appended to.
        raise InputError("it is no regular file", file=path, mend="name a file of decisions")
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        if missing:
            return Decided({})
        raise InputError(
            "there is no such file of decisions",
            file=path,
            mend=f"make decisions with goldassay view, or name their file with {option('decisions')}",
        ) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=path, mend="name a file of decisions") from error
    lines = content.split(b"\n")
    found: dict[tuple[str, str, str], Decision] = {}
    n_lines, torn = 0, b""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            decision = Decision.parse(json.loads(line))
        except (ValueError, RecursionError) as error:
            if number == len(lines):
                # Without its line break it was never confirmed.
                torn = line
                continue
            is_json = not isinstance(error, (json.JSONDecodeError, RecursionError))
            why = str(error) if is_json else f"is not JSON: {reason(error)}"
            raise InputError(f"the line {why}", file=path, row=number, mend=MEND_LINE) from error
        n_lines += 1
        row = decision.key, decision.id, decision.copies
        found[row] = replace(decision, line=number).after(found.get(row))
    return Decided(found, n_lines, torn)


def append_decision(path: Path, *decisions: Decision) -> None:
    """Append decisions, and return when they are on the disk.

    An unfinished last line is moved to a file of its own first, so that the new line does not continue it.

    Raises:
        OutputError: The file cannot be written; it has none of them then.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        with path.open("a+b", buffering=0) as file:
            # Two servers may append at once; each line must stay whole.
            fcntl.flock(file, fcntl.LOCK_EX)
            _end_last_line(file, path)
            size, left = file.seek(0, os.SEEK_END), b"".join(decision.to_line() for decision in decisions)
            try:
                while left:
                    left = left[file.write(left) :]
                os.fsync(file.fileno())
            except OSError:
                # The user is told that nothing was stored, so that no line may stay that a full disk still took.
                file.truncate(size)
                raise
        if is_new:
            sync_folder(path.parent)
    except OSError as error:
        raise output_error(error, path, "--decisions") from error


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk: a new file may otherwise be lost although its content is not."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _end_last_line(file: Any, path: Path) -> None:
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        return
    file.seek(size - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    last = file.read().rpartition(b"\n")[2]
    try:
        Decision.parse(json.loads(last))
    except (ValueError, RecursionError):
        with path.with_name(path.name + ".torn").open("ab") as aside:
            aside.write(last + b"\n")
            aside.flush()
            os.fsync(aside.fileno())
        file.truncate(size - len(last))
    else:
        file.write(b"\n")


@dataclass(frozen=True)
class Placed:
    """Decisions and their rows.

    Attributes:
        by_row: {row: how it stands}.
        gone: Decisions with the content of no row, or of a row with a later decision.
        alike: Decisions with the content of one of several rows, where no id says which.
    """

    by_row: dict[int, Decision] = field(default_factory=dict)
    gone: list[Decision] = field(default_factory=list)
    alike: list[Decision] = field(default_factory=list)


def place_decisions(
    decisions: Iterable[Decision],
    rows: Mapping[str, Sequence[int]],
    id_of: Callable[[int], str],
    *,
    are_positions: bool,
) -> Placed:
    """Find the row of each decision by its content and id.

    A row that alone has its content is found whatever its id is, so that a reordered file still fits. Of rows with the
    same content the id decides. Where ids are positions, these tell rows apart only while the same positions have the
    content; and a decision that was made about one of several rows never takes the last of them by its content alone.

    Args:
        decisions: In the order of their file.
        rows: {key: all rows with that content}, at least of the keys of the decisions.
        id_of: The id of a row.
        are_positions: Whether ids count the rows, see `row_keys.are_positions`.
    """
    placed = Placed()
    for decision in sorted(decisions, key=lambda each: each.line):
        same = rows.get(decision.key, ())
        if not same:
            placed.gone.append(decision)
            continue
        own = [at for at in same if id_of(at) == decision.id]
        if len(own) == 1 and (not are_positions or decision.copies == copies_of([id_of(at) for at in same])):
            at = own[0]
        elif len(same) == 1 and not decision.copies:
            at = same[0]
        else:
            placed.alike.append(decision)
            continue
        standing = placed.by_row.get(at)
        if standing is not None and standing.id == id_of(at) != decision.id:
            placed.gone.append(decision)
            continue
        if standing is not None:
            placed.gone.append(standing)
        placed.by_row[at] = decision
    return placed


def none_fits(placed: Placed, of: str) -> str | None:
    """That decisions are of another dataset, since none of them has the content of a row; None where some have.

    Args:
        placed: All of a file.
        of: Of what the rows are, such as "of this report".
    """
    n, n_notes = decided_and_noted(placed.gone)
    if placed.by_row or placed.alike or n + n_notes == 0:
        return None
    if n == 0:
        return f"it has only notes, which fit no row {of}: it is about another dataset"
    fits = "its decision fits no row" if n == 1 else f"none of its {count(n)} decisions fits a row"
    return f"{fits} {of}: it is about another dataset"
