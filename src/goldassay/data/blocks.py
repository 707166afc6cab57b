"""The rows of a file of any size, a block at a time, as the reader of its format gives them of the whole."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.bounds import check_pages
from goldassay.core.compiled import compiled
from goldassay.core.errors import InputError, no_such_file, option
from goldassay.core.files import seekable
from goldassay.data import source
from goldassay.data.delimited import parse_delimited
from goldassay.data.labels import class_names_in
from goldassay.data.readers import Reader, csv, jsonl, parquet, reader_for, tsv
from goldassay.data.source import check_text, decompressed, read_head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray


TR_RETURNS = "tr '\\r' '\\n'"
LONGEST_RECORD = 1 << 26
MOST_ROWS = 1 << 17
_BOM = b"\xef\xbb\xbf"
_QUOTE, _NEWLINE, _RETURN, _TAB = 34, 10, 13, 9
_MOST_COLUMNS = 1 << 12

# What a survey keeps between blocks.
_BEFORE, _N_QUOTES, _BAD, _CLOSED, _DOUBLED = 0, 1, 2, 3, 4
_BREAKS_WITHIN, _SEPARATORS_WITHIN, _RETURNS_WITHIN, _RETURN_BEFORE = 5, 6, 7, 8
# Of the reading without quotation: separators in the record, its bytes, fields of the first record, records, and
# whether fields differ in number.
_PLAIN = 9
# The same of the reading with quotation.
_STRICT = 14
_SIZE = 19


@dataclass(frozen=True)
class Block:
    """Some rows of a file, uninterpreted.

    Attributes:
        frame: The columns under their own names.
        done: Share of the file that has been read, with this block.
        class_names: As in `Table`.
    """

    frame: pl.DataFrame
    done: float
    class_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_blocks(path: Path, format_: str = "auto") -> Iterator[Block]:
    """Read a file block by block.

    Raises:
        InputError: The file cannot be read, or is of a format that is only read whole.
    """
    if not path.exists():
        raise no_such_file(path, "file")
    if path.is_dir():
        raise InputError(
            "a folder cannot be read part by part", file=path, mend=f"give its files, or leave out {option('memory')}"
        )
    reader = reader_for(path, format_)
    if reader.name == parquet.name:
        yield from _parquet(path)
    elif reader.name == jsonl.name:
        yield from _json_lines(path)
    elif reader.name in (csv.name, tsv.name):
        yield from _delimited(path, reader)
    else:
        raise InputError(
            f"a file of the format {reader.name} cannot be read part by part",
            file=path,
            mend=f"convert it to JSON lines, CSV, TSV or Parquet, or leave out {option('memory')}",
        )


def _json_lines(path: Path) -> Iterator[Block]:
    for data, line, done in _text_blocks(path, lambda block: block.rfind(b"\n") + 1):
        data = data.replace(b"\r\n", b"\n") if b"\r\n" in data else data
        if data.strip():
            with _line_moved(line):
                yield Block(jsonl.rows_of(data, path)[0], done)


def _delimited(path: Path, reader: Reader) -> Iterator[Block]:
    separator = "\t"
    if reader.name == csv.name:
        first = read_head(path).split(b"\n", 1)[0]
        separator = csv.separator_of(first)
    quoted = is_quoted((data for data, _, _ in _text_blocks(path, lambda block: block.rfind(b"\n") + 1)), separator)
    if separator != "\t" and not quoted and any(b'"' in data for data, _, _ in _text_blocks(path, len)):
        raise InputError(
            "the quotation marks are not those of RFC 4180, and such a file cannot be read part by part", file=path,
            mend=f"convert it to JSON lines or Parquet, or leave out {option('memory')}",
        )  # fmt: skip
    names: tuple[str, ...] | None = None
    header = b""
    for data, line, done in _text_blocks(path, _after_record if quoted else lambda block: block.rfind(b"\n") + 1):
        data = header + data
        header = b""
        if not data.strip(b"\r\n"):
            continue
        if names is None and b"\n" not in data.strip(b"\r\n") and done < 1:
            # A header takes what follows with it.
            header = data
            continue
        with _line_moved(line):
            parsed = parse_delimited(data, separator, path, names=names, quoted=quoted)
        names = tuple(parsed.columns.columns)
        yield Block(parsed.columns, done)


def _after_record(block: bytes) -> int:
    """Where the last record of a quoted text ends; 0 where none does."""
    bytes_ = np.frombuffer(block, np.uint8)
    breaks = np.flatnonzero(bytes_ == ord("\n"))
    outside = breaks[np.searchsorted(np.flatnonzero(bytes_ == ord('"')), breaks) % 2 == 0]
    return int(outside[-1]) + 1 if outside.size else 0


def _parquet(path: Path) -> Iterator[Block]:
    with seekable(path).open("rb") as file:
        if file.read(4) != b"PAR1":
            raise InputError(
                "a compressed Parquet file cannot be read part by part", file=path, mend="decompress it first"
            )
    try:
        names = class_names_in(pl.read_parquet_metadata(seekable(path)).get("huggingface", ""))
        check_pages(path, seekable(path))
        rows = pl.scan_parquet(seekable(path))
        total = rows.select(pl.len()).collect().item()
        begin, n = 0, 1 << 12
        while begin < total:
            frame = rows.slice(begin, n).collect()
            begin += frame.height
            yield Block(frame, begin / total, names)
            # Rows may be of any length: as many are taken next as make up a block.
            n = max(1, min(int(source.BLOCK * frame.height / max(frame.estimated_size(), 1)), MOST_ROWS))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            "the Parquet file is damaged or cut short", file=path, mend="copy or download it again"
        ) from error


def _text_blocks(path: Path, end_of: Callable[[bytes], int]) -> Iterator[tuple[bytes, int, float]]:
    """Whole records of a text, how many lines stand before them, and the share of the file that is read."""
    size = max(seekable(path).stat().st_size, 1)
    line = 0
    rest = b""
    first = True
    for block, place in decompressed(path):
        data = rest + (block.removeprefix(_BOM) if first else block)
        if first and b"\n" not in data and b"\r" in data and len(data) >= source.BLOCK:
            mend = f"convert it with: {source.rewriting(path, TR_RETURNS, 'lines-')}"
            raise InputError("lines end with carriage returns only", file=path, mend=mend)
        first = False
        end = end_of(data)
        if not end and len(data) > LONGEST_RECORD:
            raise InputError(
                f"a record is longer than {LONGEST_RECORD >> 20} MB", file=path, row=line + 1, mend="mend the file"
            )
        whole, rest = data[:end], data[end:]
        if whole:
            yield _checked(whole, path, line), line, place / size
            line += whole.count(b"\n")
    if rest:
        yield _checked(rest, path, line), line, 1.0


def _checked(data: bytes, path: Path, line: int) -> bytes:
    with _line_moved(line):
        check_text(data, path)
    return data


@contextmanager
def _line_moved(line: int) -> Iterator[None]:
    """Count lines in errors from the start of the file."""
    try:
        yield
    except InputError as error:
        if error.row is None or not line:
            raise
        raise InputError(
            error.problem, file=error.file, row=error.row + line, column=error.column, mend=error.mend
        ) from error


def is_quoted(blocks: Iterable[bytes], separator: str) -> bool:
    """Decide as `parse_delimited` does of the whole text.

    Args:
        blocks: The text, in order; no more of it is read than it takes to decide.
        separator: One ASCII character.
    """
    state = np.zeros(_SIZE, np.int64)
    state[_BEFORE] = _NEWLINE
    openings = np.zeros(_MOST_COLUMNS, np.int64)
    for block in blocks:
        _survey(np.frombuffer(block, np.uint8), ord(separator), state, openings)
        if state[_BAD]:
            return False
    # A carriage return at the very end is no line end, but whatever ends without a line feed is a record.
    _survey(np.array([0, _NEWLINE] if state[_RETURN_BEFORE] else [_NEWLINE], np.uint8), ord(separator), state, openings)
    if not state[_N_QUOTES] or state[_N_QUOTES] % 2 or state[_BAD]:
        return False
    if state[_PLAIN + 4]:
        return True
    if state[_STRICT + 4] or separator != "\t":
        return not state[_STRICT + 4]
    if state[_DOUBLED]:
        return True
    same_width = state[_PLAIN + 2] == state[_STRICT + 2]
    within = bool(state[_BREAKS_WITHIN]), bool(state[_SEPARATORS_WITHIN])
    if same_width and separator == "\t" and all(within):
        return False
    if not same_width or any(within) or state[_RETURNS_WITHIN]:
        return True
    n_records = state[_STRICT + 3]
    return bool(n_records > 1 and (openings == n_records - 1).any())


@compiled
def _survey(text: NDArray[np.uint8], separator: int, state: NDArray[np.int64], openings: NDArray[np.int64]) -> None:
    for byte in text:
        if state[_RETURN_BEFORE]:
            state[_RETURN_BEFORE] = 0
            if byte != _NEWLINE:
                state[_PLAIN + 1] += 1
                state[_STRICT + 1] += 1
                if state[_CLOSED]:
                    state[_BAD] = 1
                    return
                state[_BEFORE] = _RETURN
        if byte == _RETURN:
            # Before a line feed it is part of the line end, unless a quoted field holds both.
            if state[_N_QUOTES] % 2:
                state[_RETURNS_WITHIN] = 1
                state[_BEFORE] = byte
            else:
                state[_RETURN_BEFORE] = 1
            continue
        if state[_CLOSED]:
            # After a closing mark a field ends, or a second mark follows.
            if byte != separator and byte != _NEWLINE and byte != _QUOTE:
                state[_BAD] = 1
                return
            state[_CLOSED] = 0
        within = state[_N_QUOTES] % 2 == 1
        if byte == _QUOTE:
            if state[_BEFORE] == _QUOTE and state[_N_QUOTES] > 0:
                state[_DOUBLED] = 1
            if within:
                state[_CLOSED] = 1
            else:
                if state[_BEFORE] != separator and state[_BEFORE] != _NEWLINE and state[_BEFORE] != _QUOTE:
                    state[_BAD] = 1
                    return
                if state[_STRICT + 3] > 0 and state[_PLAIN] < openings.size:
                    openings[state[_PLAIN]] += 1
            state[_N_QUOTES] += 1
        elif byte == separator:
            state[_PLAIN] += 1
            if within:
                state[_SEPARATORS_WITHIN] = 1
            else:
                state[_STRICT] += 1
        elif byte == _NEWLINE:
            _end(state, _PLAIN)
            if within:
                state[_BREAKS_WITHIN] = 1
            else:
                _end(state, _STRICT)
        if byte != _NEWLINE:
            state[_PLAIN + 1] += 1
        if byte != _NEWLINE or within:
            state[_STRICT + 1] += 1
        state[_BEFORE] = byte


@compiled
def _end(state: NDArray[np.int64], at: int) -> None:
    """End a record; one without a byte is none."""
    if state[at + 1]:
        fields = state[at] + 1
        if state[at + 3] == 0:
            state[at + 2] = fields
        elif fields != state[at + 2]:
            state[at + 4] = 1
        state[at + 3] += 1
    state[at] = 0
    state[at + 1] = 0
