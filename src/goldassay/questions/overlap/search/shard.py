"""One shard of a corpus: the look at bytes, the exact look where it finds something, and what is kept of both."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.kernels import json_lines, ngram_search
from goldassay.kernels.json_lines import BLANK, EMPTY, NO_FIELD
from goldassay.kernels.ngram_search import BY_HAND, CANDIDATE, INVALID, N_STATES, NOTHING, RING
from goldassay.kernels.words import words_of
from goldassay.questions.overlap.search.confirmation import Confirmation, ItemMatch, with_near_copies
from goldassay.questions.overlap.search.corpus import CorpusFile, Shard, reason_of
from goldassay.questions.overlap.search.reading import (
    SAMPLED_ROWS,
    Documents,
    Pairs,
    Wanted,
    read_documents,
    text_of,
    texts_below,
    unread_texts,
)
from goldassay.questions.overlap.search.sought import LEAST_WORDS, NearCopy, Sought

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


# Places that are kept of each item.
MOST_PLACES = 5
# Broken lines that are named by their number.
MOST_NAMED = 3
# Fields of a document that are named.
_MOST_FIELDS = 8
# Characters of documents that wait for the exact look: one after the other they find its tables in the cache, which are
# not there in the midst of the look at bytes.
_MOST_WAITING = 1 << 22
# Bytes of the next range that are read at a time for what runs across its border.
_AHEAD = 1 << 14
# Bytes of it that are read at most: lines without the field have no words, and a file of them would be read to its end.
_MOST_AHEAD = 1 << 20
# What a document may be whose text can be read.
_READABLE = (NOTHING, CANDIDATE, BY_HAND)
MATCHES: dict[str, Any] = {
    "item": pl.Int64, "file": pl.Int64, "row": pl.Int64, "offset": pl.Int64, "coverage": pl.Float64,
    "question": pl.Float64, "answer": pl.Float64, "answered": pl.Boolean, "part": pl.Float64, "part_name": pl.String,
    "longest": pl.Int64, "near": pl.Float64, "near_question": pl.Float64, "near_answer": pl.Float64, "rank": pl.Float64,
    "listed": pl.Boolean, "excerpt": pl.String, "marks": pl.List(pl.Int64),
}  # fmt: skip


@dataclass
class ShardResult:
    """What one shard has.

    Attributes:
        file: Number of its file.
        n_documents: Documents with text.
        n_without_text: Documents without any of the fields, or with empty ones.
        n_unread: Documents without any of the fields: their text is elsewhere.
        n_emptied: Documents whose fields are empty, and others hold texts.
        n_unread_bytes: Bytes of these.
        n_lines: Lines or rows, blank ones too.
        n_bytes: Bytes that were scanned, unpacked.
        n_broken: Lines that are no JSON objects.
        broken: The first of them, from 0 in the shard.
        fields: Those of the first document, and of the first one without text.
        unread: Others that hold texts of 8 words, and the bytes of these, {name: bytes}.
        has_letters: Whether a text has any, or a document without text something else.
        n_with: Lines or rows that have each wanted field; as a name that is written without escapes.
        n_found: Of each item the documents from 20 % on, {item: n}.
        n_holding: Of each item those with 80 %.
        rivals: Of items whose question stands in some document with rivals of the answer a bit for each, {item: bits}.
        matches: The best places of each item; rows are counted from the shard's first.
        windows: Numbers of the n-grams that were found and count.
        error: Why the rest could not be read.
    """

    file: int
    n_documents: int = 0
    n_without_text: int = 0
    n_unread: int = 0
    n_emptied: int = 0
    n_unread_bytes: int = 0
    n_lines: int = 0
    n_bytes: int = 0
    n_broken: int = 0
    broken: list[int] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    unread: dict[str, int] = field(default_factory=dict)
    has_letters: bool = False
    n_with: list[int] = field(default_factory=list)
    n_found: dict[int, int] = field(default_factory=dict)
    n_holding: dict[int, int] = field(default_factory=dict)
    rivals: dict[int, int] = field(default_factory=dict)
    matches: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=MATCHES))
    windows: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    error: str = ""


def scan_shard(
    confirmation: Confirmation,
    file: CorpusFile,
    shard: Shard,
    fields: Sequence[str],
    reached: Callable[[int], None] = lambda _: None,
) -> ShardResult:
    """Search the documents that begin in a shard; a file that is damaged is read as far as it goes."""
    found = ShardResult(shard.file)
    collected = _Collected(confirmation)
    wanted, n_with = Wanted.of(fields), np.zeros(len(fields), np.int64)
    tables = confirmation.sought.tables.arguments()
    ring, state = np.zeros(RING, np.uint64), np.zeros(N_STATES, np.uint64)
    before = _RowsBefore(confirmation.sought.n - 1)
    sample: list[Pairs] = []
    n_beside = 0

    def seek(
        block: Documents, n_with: NDArray[np.int64], beside: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        status, rows = np.empty(block.ends.size, np.int64), np.empty((block.ends.size, 2), np.int64)
        if block.are_lines:
            json_lines.seek_lines(block.data, block.ends, *wanted, *tables, ring, state, status, rows, n_with, beside)
        else:
            ngram_search.seek_texts(block.data, block.begins, block.ends, *tables, ring, state, status, rows)
            # Rows of a table without text are no more documents than lines of JSON are.
            status[block.begins == block.ends] = EMPTY
        for number in np.flatnonzero(rows[:, 1]).tolist():
            collected.add_across(before.words_about(block, number, rows[:, 0], fields))
        before.keep(block, rows[:, 0])
        return status, rows[:, 0]

    try:
        for block in read_documents(file, shard, fields):
            if file.form == "text":
                # Pieces of a text overlap: what runs across their border stands within one of them.
                state[:] = 0
                before.clear()
            beside = np.zeros(block.ends.size, np.int64)
            status = seek(block, n_with, beside)[0]
            near = _near_copies(confirmation.sought, block, status, fields)
            is_looked_at = (status == CANDIDATE) | (status == BY_HAND) | (status == INVALID)
            is_looked_at[list(near)] = True
            for number in np.flatnonzero(is_looked_at).tolist():
                text = _text_of(block, number, fields)
                if text is None:
                    status[number] = INVALID
                    continue
                if text == "" and status[number] == BY_HAND:
                    status[number] = NO_FIELD
                else:
                    status[number] = CANDIDATE
                    offset = block.offset + int(block.begins[number]) if block.offset >= 0 else -1
                    row = found.n_lines + number if block.are_lines or block.offset < 0 else -1
                    collected.add(text, shard.file, row, offset, near.get(number, ()))
            if block.n_with:
                n_with += block.n_with
            # Of nearly every corpus the first document has some.
            numbers = np.flatnonzero((status != INVALID) & (status != BLANK)).tolist()
            found.has_letters = found.has_letters or any(_has_letters(block, at, fields) for at in numbers)
            has_more = np.flatnonzero(beside)
            n_beside += has_more.size
            sample += [_object(block.of(at)) or Pairs() for at in has_more[: SAMPLED_ROWS - len(sample)].tolist()]
            found.unread = found.unread or dict(block.unread)
            _count(found, block, status)
            reached(block.done)
        if file.form == "jsonl" and not file.is_packed:
            # An n-gram belongs to the range where it begins, though it may end in the next one.
            n_words, at, last = 0, shard.end, min(file.size, shard.end + _MOST_AHEAD)
            while at < last and n_words < confirmation.sought.n:
                for block in read_documents(file, Shard(shard.file, at, min(at + _AHEAD, file.size)), fields):
                    others = np.zeros(block.ends.size, np.int64)
                    n_words += int(np.abs(seek(block, np.zeros_like(n_with), others)[1]).sum())
                at += _AHEAD
    except (InputError, OSError) as error:
        found.error = reason_of(error)
    found.n_with = n_with.tolist()
    found.unread = found.unread or unread_texts(sample, fields, n_beside)
    collected.finish(found)
    return found


class _RowsBefore:
    """The rows before the one at hand, as far back as an n-gram may reach: items may be cut into rows.

    A row of fewer words than an n-gram has none, and all rows of an item together have all of it. So n-grams are sought
    across the borders of rows, too, and count for the union over documents. That is exact whatever the rows are cut to,
    needs no second look at the bytes and does not depend on blocks or ranges; and a corpus that really consists of
    short sentences raises no alarm, as a limit on their share would.

    Args:
        n_words: How many words of an n-gram may lie before the row at hand.
    """

    def __init__(self, n_words: int) -> None:
        self._n_words = n_words
        self._rows: list[tuple[bytes, bool]] = []

    def clear(self) -> None:
        """Nothing comes before the next row."""
        self._rows.clear()

    def keep(self, block: Documents, n_words: NDArray[np.int64]) -> None:
        """Keep the last rows of a block, unread: nearly always nobody asks for them."""
        kept: list[tuple[bytes, bool]] = []
        lacking = self._n_words
        for at in np.flatnonzero(n_words)[::-1].tolist():
            if lacking <= 0:
                break
            if n_words[at] < 0:
                lacking = 0
                break
            lacking -= int(n_words[at])
            kept.append((block.of(at), block.are_lines))
        earlier = self._rows[-lacking:] if lacking > 0 else []
        self._rows = [*earlier, *reversed(kept)]

    def words_about(
        self, block: Documents, number: int, n_words: NDArray[np.int64], fields: Sequence[str]
    ) -> list[str]:
        """The last words before a row, and its first ones."""
        own = words_of(_text_of(block, number, fields) or "")[: self._n_words]
        found: list[str] = []
        for at in np.flatnonzero(n_words[:number])[::-1].tolist():
            if n_words[at] < 0:
                return found + own
            found = words_of(_text_of(block, at, fields) or "") + found
            if len(found) >= self._n_words:
                break
        for raw, are_lines in reversed(self._rows):
            if len(found) >= self._n_words:
                break
            found = words_of(_text_in(raw, fields, are_lines=are_lines) or "") + found
        return found[-self._n_words :] + own


def notices(sought: Sought, texts: Sequence[str]) -> list[bool]:
    """Whether the look at bytes finds something that is sought in each text, or leaves it to Python."""
    encoded = [text.encode("utf-8", "replace") for text in texts]
    edges = np.concatenate([[0], np.cumsum(list(map(len, encoded)))]).astype(np.int64)
    status, rows = np.empty(len(encoded), np.int64), np.empty((len(encoded), 2), np.int64)
    data = np.frombuffer(b"".join(encoded) + b"\0", np.uint8)
    ring, state = np.zeros(RING, np.uint64), np.zeros(N_STATES, np.uint64)
    ngram_search.seek_texts(data, edges[:-1], edges[1:], *sought.tables.arguments(), ring, state, status, rows)
    return [each in (CANDIDATE, BY_HAND) for each in status.tolist()]


def _near_copies(
    sought: Sought, block: Documents, status: NDArray[np.int64], fields: Sequence[str]
) -> dict[int, list[NearCopy]]:
    """Of which items documents of a block are near copies, {document: items}."""
    if sought.near is None:
        return {}
    if not block.are_lines:
        return sought.near.search(block.data, block.begins, block.ends, partial(_text_of, block, fields=fields))
    # JSON may write a character in six, and a surrogate pair in twelve.
    is_short = (block.ends - block.begins <= 3 * sought.near.most_bytes) & np.isin(status, _READABLE)
    numbers = np.flatnonzero(is_short).tolist()
    texts = [_text_of(block, number, fields) or "" for number in numbers]
    encoded = [text.encode("utf-8", "replace") for text in texts]
    edges = np.concatenate([[0], np.cumsum(list(map(len, encoded)))]).astype(np.int64)
    found = sought.near.search(
        np.frombuffer(b"".join(encoded) + b"\0", np.uint8), edges[:-1], edges[1:], texts.__getitem__
    )
    return {numbers[at]: copies for at, copies in found.items()}


def _text_of(block: Documents, number: int, fields: Sequence[str]) -> str | None:
    """The text of a document as Python reads it; None where it is no JSON object or no UTF-8."""
    return _text_in(block.of(number), fields, are_lines=block.are_lines)


def _text_in(raw: bytes, fields: Sequence[str], *, are_lines: bool) -> str | None:
    if not are_lines:
        # A text that is not UTF-8 is searched nevertheless: what can be read of it is.
        return raw.decode("utf-8", "replace")
    row = _object(raw)
    return None if row is None else text_of(row, fields)


def _has_letters(block: Documents, number: int, fields: Sequence[str]) -> bool:
    text = _text_of(block, number, fields)
    if not text and block.are_lines:
        row = _object(block.of(number))
        return row is None or any(map(str.isalpha, "".join(texts_below(row))))
    return any(map(str.isalpha, text or ""))


def _object(raw: bytes) -> Pairs | None:
    """An object of JSON; None where the line is none or no UTF-8."""
    try:
        row = json.loads(raw, object_pairs_hook=Pairs)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, Pairs) else None


def _count(found: ShardResult, block: Documents, status: NDArray[np.int64]) -> None:
    broken = np.flatnonzero(status == INVALID)
    is_unread = status == NO_FIELD
    lacking = np.flatnonzero(is_unread | (status == EMPTY))
    found.broken += (found.n_lines + broken[: max(0, MOST_NAMED - len(found.broken))]).tolist()
    found.n_broken += broken.size
    found.n_without_text += lacking.size
    found.n_unread += int(is_unread.sum())
    if block.are_lines:
        is_empty = np.flatnonzero(status == EMPTY)
        # One with a text elsewhere stands for all of its block.
        has_more = any(map(_has_text, map(block.of, is_empty[:MOST_NAMED].tolist())))
        found.n_emptied += is_empty.size if has_more else 0
    found.n_unread_bytes += int((block.ends - block.begins)[is_unread].sum())
    if block.columns:
        found.fields = list(block.columns[:_MOST_FIELDS])
    elif block.are_lines and (not found.fields or found.n_without_text == lacking.size > 0):
        first = np.flatnonzero((status != INVALID) & (status != BLANK))[:1].tolist()
        names = [name for at in (*first, *lacking[:1].tolist()) for name in _names(block.of(at))]
        found.fields = list(dict.fromkeys([*found.fields, *names]))[: 2 * _MOST_FIELDS]
    found.n_documents += status.size - broken.size - lacking.size - int((status == BLANK).sum())
    found.n_lines += status.size
    found.n_bytes += int(block.ends[-1]) if block.ends.size else 0


def _names(raw: bytes) -> list[str]:
    """The first fields of an object; none where it is no JSON after all, which nobody had looked at as a whole."""
    return list(dict.fromkeys(name for name, _ in _object(raw) or ()))[:_MOST_FIELDS]


def _has_text(raw: bytes) -> bool:
    """Whether some field of an object holds a text of 8 words."""
    return any(len(text.split()) >= LEAST_WORDS for text in texts_below(_object(raw) or Pairs()))


class _Collected:
    """What the documents of a shard have, in as much memory as the items need."""

    def __init__(self, confirmation: Confirmation) -> None:
        self._confirmation = confirmation
        self._found: dict[int, int] = {}
        self._holding: dict[int, int] = {}
        self._rivals: dict[int, int] = {}
        self._best: dict[int, list[tuple[tuple[float, int, int], ItemMatch, int]]] = {}
        self._windows = np.zeros(confirmation.sought.window_text.size, bool)
        self._waiting: list[tuple[str, int, int, int, Sequence[NearCopy]]] = []
        self._n_waiting = 0

    def add(self, text: str, file: int, row: int, offset: int, near: Sequence[NearCopy] = ()) -> None:
        """Search one document, exactly, before long; it may be a near copy of items."""
        self._waiting.append((text, file, row, offset, near))
        self._n_waiting += len(text)
        if self._n_waiting >= _MOST_WAITING:
            self._look()

    def add_across(self, words: list[str]) -> None:
        """N-grams of words on both sides of a border between documents: they count for the union alone."""
        self._windows[self._confirmation.windows(words)] = True

    def _look(self) -> None:
        for text, file, row, offset, near in self._waiting:
            confirmed = self._confirmation.confirm(text)
            if confirmed is not None:
                self._windows[confirmed.windows] = True
                for item, bits in confirmed.rivals.items():
                    self._rivals[item] = self._rivals.get(item, 0) | bits
            matches = () if confirmed is None else confirmed.matches
            for match in with_near_copies(matches, near, text) if near else matches:
                self._found[match.item] = self._found.get(match.item, 0) + 1
                if match.holds:
                    self._holding[match.item] = self._holding.get(match.item, 0) + 1
                best = self._best.setdefault(match.item, [])
                best.append(((-match.rank, row, offset), match, file))
                if len(best) > MOST_PLACES:
                    best.sort(key=lambda each: each[0])
                    best.pop()
        self._waiting.clear()
        self._n_waiting = 0

    def finish(self, found: ShardResult) -> None:
        """Hand over what was collected."""
        self._look()
        found.n_found, found.n_holding, found.rivals = self._found, self._holding, self._rivals
        found.windows = np.flatnonzero(self._windows)
        rows = [
            {
                "item": item, "file": file, "row": place[1], "offset": place[2], "coverage": match.coverage,
                "question": match.question, "answer": match.answer, "answered": match.answered, "part": match.part,
                "part_name": match.part_name, "longest": match.longest, "near": match.near,
                "near_question": match.near_question, "near_answer": match.near_answer, "rank": match.rank,
                "listed": match.listed,
                "excerpt": match.excerpt, "marks": list(match.marks),
            }
            for item, best in sorted(self._best.items())
            for place, match, file in sorted(best, key=lambda each: each[0])
        ]  # fmt: skip
        found.matches = pl.DataFrame(rows, schema=MATCHES)
