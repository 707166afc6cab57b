"""What is read is bounded, so that no file fills the memory or the disk, and what a reader raises becomes one line.

Bounds are variables of the environment and no settings of a file, so that they hold in every command, and a repository
that somebody sends cannot lift them.

| variable | bounds | default |
|---|---|---|
| GOLDASSAY_MAX_BYTES | bytes of one file in memory, unpacked; of a pipe on disk | 4GB |
| GOLDASSAY_MAX_RATIO | how many times its size a packed file, or a table's texts, may have, above 1 GB | 200 |
| GOLDASSAY_MAX_COLUMNS | columns of a table | 10000 |
| GOLDASSAY_MAX_MEMBERS | members of an archive | 100000 |
| GOLDASSAY_MAX_DEPTH | how deep JSON may be nested | 200 |

Parsers of foreign formats fail in ways that nobody can list: polars panics (an exception outside `Exception`), JSON
overruns the stack, numbers overflow. A file is at fault far more often than we are, so that each such failure is an
`InputError` that names the file. `GOLDASSAY_DEBUG=1` lets the engine's own error through.

Whether the pages of a Parquet file hold as many values as its columns do.

The table engine sets memory aside for as many values as a page's header states, and a damaged count ends the process:
nothing can be caught. The headers are a few bytes a page, so that they are read here first: a child process that reads
the file for trial would read all of it twice, and begin with the engine's own start.

Format: Apache Parquet, parquet.thrift, in Thrift's compact protocol.

What reading a damaged archive raises.
"""

from __future__ import annotations

import mmap
import os
import re
import shlex
import sys
import tempfile
import zipfile
import zlib
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import BoundError, GoldassayError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BytesIO

    import polars as pl


_UNITS = {"": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
_VALUE = re.compile(r"(\d{1,15})\s*([KMGT]B|)", re.IGNORECASE)
# What unpacks to less than this is no bomb, however well it is packed.
_HARMLESS = 1 << 30
_PIECE = 1 << 20


@dataclass(frozen=True)
class Bound:
    """A bound on what is read.

    Attributes:
        variable: Of the environment, that lifts it.
        default: What holds without it.
    """

    variable: str
    default: int

    def limit(self) -> int:
        """What holds now.

        Raises:
            InputError: The variable is no number, such as 8GB or 20000.
        """
        text = os.environ.get(self.variable, "")
        if not text:
            return self.default
        found = _VALUE.fullmatch(text.strip())
        if found is None or int(found[1]) == 0:
            raise InputError(f"{self.variable} is {text!r}, no bound", mend="write a number such as 20000 or 8GB")
        return int(found[1]) * _UNITS[found[2].upper()]

    def refusal(self, problem: str, path: str | os.PathLike[str], row: int | None = None) -> BoundError:
        """The error for a file beyond the bound, which names what lifts it."""
        return BoundError(problem, file=path, row=row, mend=f"if that is meant, set {self.variable} higher")


BYTES = Bound("GOLDASSAY_MAX_BYTES", 4 << 30)
RATIO = Bound("GOLDASSAY_MAX_RATIO", 200)
COLUMNS = Bound("GOLDASSAY_MAX_COLUMNS", 10_000)
MEMBERS = Bound("GOLDASSAY_MAX_MEMBERS", 100_000)
DEPTH = Bound("GOLDASSAY_MAX_DEPTH", 200)


class Unpacking:
    """Counts what a packed file unpacks to, piece by piece."""

    def __init__(self, path: Path, *, held: bool) -> None:
        """Begin to count.

        Args:
            path: The packed file.
            held: Whether all pieces are in memory together; what is streamed is bounded by its ratio alone.
        """
        self._path = path
        self._limit = BYTES.limit() if held else None
        self._n_bytes = 0

    def add(self, n_bytes: int) -> None:
        """Count a piece.

        Raises:
            InputError: The file unpacks to more than it may.
        """
        self._n_bytes += n_bytes
        _check_ratio(self._path, self._n_bytes)
        if self._limit is not None and self._n_bytes > self._limit:
            raise BYTES.refusal(f"the file unpacks to more than {shown(self._limit)}", self._path)


def _check_ratio(path: Path, n_bytes: int) -> None:
    ratio = RATIO.limit()
    if n_bytes > max(_HARMLESS, max(path.stat().st_size, 1) * ratio):
        raise RATIO.refusal(f"the file unpacks to more than {ratio} times its size", path)


def check_size(path: Path, n_bytes: int) -> None:
    """Refuse what would be in memory as a whole and is too large.

    Raises:
        InputError: It is beyond the bound.
    """
    limit = BYTES.limit()
    if n_bytes > limit:
        raise BYTES.refusal(f"it takes {shown(n_bytes)} of memory, more than {shown(limit)}", path)


def check_parquet(path: Path, source: Path | BytesIO) -> None:
    """Refuse a Parquet file that says of itself that it is too large: a value that repeats takes no space in it.

    Pages that state other counts than their column are refused here as well: the table engine would end the process.

    Args:
        path: Of the file.
        source: The file, or its content.

    Raises:
        InputError: It has too many columns, or so many cells that 8 bytes each are beyond the bound, or is damaged.
    """
    import polars as pl

    check_size(path, _CELL * check_pages(path, source))
    rows = pl.scan_parquet(source)
    n_columns = len(rows.collect_schema())
    check_columns(path, n_columns)
    check_size(path, _CELL * n_columns * int(rows.select(pl.len()).collect().item()))


def check_texts(path: Path, frame: pl.DataFrame) -> None:
    """Refuse a table whose texts are too long together: where texts repeat, a file and its table hold each only once.

    Whatever is made of the texts, such as tokens, is made of each row.

    Raises:
        InputError: They have more bytes than one file may have in memory, or so many times those of the file.
    """
    import polars as pl

    n_bytes = 0
    for column in frame:
        texts = column.explode(empty_as_null=True) if isinstance(column.dtype, pl.List) else column
        if texts.dtype in (pl.Categorical, pl.Enum):
            # As strings they would be copied for each row.
            met = texts.alias("text").value_counts(name="n")
            lengths = met["text"].cast(pl.String).str.len_bytes().cast(pl.Int64) * met["n"].cast(pl.Int64)
        elif texts.dtype == pl.String:
            lengths = texts.str.len_bytes()
        else:
            continue
        n_bytes += int(lengths.cast(pl.Int64).sum() or 0)
    check_size(path, n_bytes)
    if path.is_file():
        _check_ratio(path, n_bytes)


def check_columns(path: str | os.PathLike[str], n_columns: int) -> None:
    """Refuse a table of too many columns.

    Raises:
        InputError: It is beyond the bound.
    """
    limit = COLUMNS.limit()
    if n_columns > limit:
        raise COLUMNS.refusal(f"the table has {n_columns:,} columns, more than {limit:,}", path)


def check_keys(data: bytes, path: Path, n_lines: int) -> None:
    """Refuse lines of JSON that have different keys each, such as {"id of the row": ...}: each key becomes a column.

    Keys of nested objects count too. Of more than 8 MB eight pieces are looked at, and the keys that they have once
    stand for as many times as many.

    Args:
        data: Lines of JSON.
        path: Of the file.
        n_lines: How many lines they are.

    Raises:
        InputError: There are too many keys, or so many that their cells, of 8 bytes, are beyond what memory may hold.
    """
    step = max(len(data) // _N_PIECES, _KEYS_PIECE)
    counts: Counter[bytes] = Counter()
    n_read = 0
    for begin in range(0, len(data), step):
        piece = data[begin : begin + _KEYS_PIECE]
        n_read += len(piece)
        counts.update(_KEY.findall(piece))
    n_once = sum(n == 1 for n in counts.values())
    n_keys = len(counts) + (int(n_once * (len(data) / n_read - 1)) if n_once > _MANY_ONCE else 0)
    check_columns(path, n_keys)
    if n_keys > _MANY_KEYS:
        check_size(path, _CELL * n_keys * n_lines)


def check_members(path: Path, n_members: int) -> None:
    """Refuse an archive of too many members.

    Raises:
        InputError: It is beyond the bound.
    """
    limit = MEMBERS.limit()
    if n_members > limit:
        raise MEMBERS.refusal(f"the archive has {n_members:,} members, more than {limit:,}", path)


def check_depth(data: bytes, path: Path, row: int = 0) -> None:
    """Refuse lines of JSON that are nested too deeply: compiled parsers take for ever, or end the process.

    Args:
        data: The lines.
        path: Of the file.
        row: How many lines of the file come before them.

    Raises:
        InputError: A line is beyond the bound.
    """
    limit = DEPTH.limit()
    # Most lines have not so many brackets at all; counting them costs a second for a gigabyte.
    if data.count(b"[") + data.count(b"{") <= limit:
        return
    begin = 0
    while begin < len(data):
        end = data.find(b"\n", begin + _PIECE) + 1 or len(data)
        piece = data[begin:end]
        for number, line in _bracketed(piece, limit):
            if _depth(line) > limit:
                raise DEPTH.refusal(f"the JSON is nested more than {limit} deep", path, row + number)
        row += piece.count(b"\n")
        begin = end


def shown(n_bytes: int) -> str:
    """A number of bytes for people."""
    return f"{n_bytes / (1 << 30):.3g} GB" if n_bytes >= 1 << 29 else f"{n_bytes / (1 << 20):.3g} MB"


_KEY = re.compile(rb'"([^"\\]{0,200})"\s*:')
_N_PIECES, _KEYS_PIECE = 8, 1 << 20
_MANY_ONCE, _MANY_KEYS = 500, 200
_CELL = 8
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_BRACKET = re.compile(rb"[\[{]|[\]}]")


def _bracketed(lines: bytes, limit: int) -> Iterator[tuple[int, bytes]]:
    """The lines with more opening brackets than a limit, with their numbers; few have so many, even of long texts."""
    import numpy as np

    content = np.frombuffer(lines, np.uint8)
    brackets = np.flatnonzero((content == ord("[")) | (content == ord("{")))
    ends = np.append(np.flatnonzero(content == ord("\n")), len(lines))
    for at in np.flatnonzero(np.diff(np.searchsorted(brackets, ends), prepend=0) > limit).tolist():
        yield at + 1, lines[ends[at - 1] + 1 if at else 0 : ends[at]]


def _depth(text: bytes) -> int:
    depth = deepest = 0
    for found in _BRACKET.finditer(_STRING.sub(b'""', text)):
        depth += 1 if found[0] in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


# Those that no file causes: they end the command or the generator.
_NOT_OF_THE_FILE = (GoldassayError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError, BrokenPipeError)
_PANIC = "PanicException"
_LONGEST = 200


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what an engine raises while it reads a file into an `InputError` that names the file.

    Args:
        path: The file or folder.

    Raises:
        InputError: Anything but our own errors, an interruption and a lack of memory was raised.
    """
    try:
        yield
    except _NOT_OF_THE_FILE:
        raise
    except PermissionError as error:
        mend = f"allow it with: chmod u+rX {shlex.quote(str(closed(Path(path))))}"
        raise InputError("it may not be read", file=path, mend=mend) from error
    except OSError as error:
        raise InputError(f"it cannot be read ({described(error)})", file=path, mend="check the path") from error
    except RecursionError as error:
        mend = f"write it flatter, see {DEPTH.variable} in the settings"
        raise InputError("it cannot be read (nested too deeply)", file=path, mend=mend) from error
    except BaseException as error:
        # Panics of the table engine are no `Exception`; all else that is none, such as a test's time limit, ends the
        # command and is of no file.
        of_file = isinstance(error, Exception) or type(error).__name__ == _PANIC
        if not of_file or os.environ.get("GOLDASSAY_DEBUG"):
            raise
        raise InputError(
            f"it cannot be read ({described(error)})",
            file=path,
            mend="write or copy it again, or name its format if it is another",
        ) from error


def closed(path: Path) -> Path:
    """The first folder above a path that may not be looked into; the path itself where there is none."""
    return next((each for each in reversed(path.parents) if each.is_dir() and not os.access(each, os.X_OK)), path)


@contextmanager
def panics_unprinted() -> Iterator[None]:
    """Drop what a compiled engine prints to standard error before it raises: pages of its own stack.

    What is printed meanwhile by others, such as a progress bar, is printed afterwards if nothing is raised.
    """
    sys.stderr.flush()
    with tempfile.TemporaryFile() as kept:
        screen = os.dup(2)
        os.dup2(kept.fileno(), 2)
        try:
            yield
        except BaseException:
            kept.truncate(0)
            raise
        finally:
            os.dup2(screen, 2)
            kept.seek(0)
            os.write(screen, kept.read())
            os.close(screen)


@contextmanager
def standard_error_kept() -> Iterator[None]:
    """Give standard error back at the end: Ctrl-C may strike after `panics_unprinted` took it, before its own end."""
    screen = os.dup(2)
    try:
        yield
    finally:
        os.dup2(screen, 2)
        os.close(screen)


def described(error: BaseException) -> str:
    """Kind and message of an error, in one line."""
    told = _in_words(error)
    if told is not None:
        return told
    message = reason(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def reason(error: BaseException) -> str:
    """The message of an error alone, in one line."""
    told = _in_words(error)
    if told is not None:
        return told
    message = " ".join(str(error).split())
    return message if len(message) <= _LONGEST else f"{message[: _LONGEST - 1]}…"


def _in_words(error: BaseException) -> str | None:
    """What is wrong, where Python's own words name no bound that a user can lift; None for all other errors."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if "set_int_max_str_digits" in str(error):
        return f"a number has more than {sys.get_int_max_str_digits()} digits, which PYTHONINTMAXSTRDIGITS bounds"
    return None


_MAGIC = b"PAR1"
_BOOLEANS, _BYTE, _WHOLE, _DOUBLE, _TEXT, _LISTS, _MAP, _STRUCT = (1, 2), 3, (4, 5, 6), 7, 8, (9, 10), 11, 12
# Fields of the format's structures.
_ROW_GROUPS, _COLUMNS, _METADATA = 4, 1, 3
_N_VALUES, _N_BYTES, _FIRST_PAGES = 5, 7, (9, 11)
_UNPACKED, _PACKED, _DICTIONARY, _DATA = 2, 3, 7, (5, 8)
# Of a page with data: values, and in the newer form values that are null, rows, and bytes of both kinds of levels.
_COUNTS = (1, 2, 3, 5, 6)


class _DamageError(Exception):
    """A header contradicts the file's own list of columns, or cannot be read."""


def check_pages(path: Path, source: Path | BytesIO) -> int:
    """Hold the counts of a Parquet file's pages against its columns; how many values there are together.

    Args:
        path: Of the file.
        source: The file, or its content.

    Raises:
        InputError: A count is below 0 or beyond that of its column, or a page does not lie within the file.
        OSError: It cannot be opened.
    """
    try:
        return _opened(source)
    except _DamageError as error:
        raise InputError(
            "the Parquet file is damaged or cut short", file=path, mend="write or copy it again"
        ) from error


def _opened(source: Path | BytesIO) -> int:
    if not isinstance(source, Path):
        with source.getbuffer() as view:
            return _count(view)
    if not source.stat().st_size:
        return 0
    with (
        source.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        memoryview(content) as view,
    ):
        return _count(view)


def _count(data: memoryview) -> int:
    if data[-4:] != _MAGIC:
        # Cut short or encrypted, which the engine says.
        return 0
    length = int.from_bytes(data[-8:-4], "little")
    try:
        groups = _Compact(data, len(data) - 8 - length).struct().get(_ROW_GROUPS, [])
        return sum(_values_of(chunk[_METADATA], data) for group in groups for chunk in group[_COLUMNS])
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise _DamageError(str(error)) from error


def _values_of(column: dict[int, Any], data: memoryview) -> int:
    """Values of a column within a row group."""
    at = min(column[field] for field in _FIRST_PAGES if column.get(field))
    end = at + column[_N_BYTES]
    wanted, met = column[_N_VALUES], 0
    while at < end:
        header = _Compact(data, at)
        page = header.struct()
        counts = [page[_UNPACKED], page[_PACKED], *_counts(page.get(_DICTIONARY, {}), (1,))]
        for kind in _DATA:
            counts += _counts(page.get(kind, {}), _COUNTS if kind == _DATA[1] else (1,))
            met += page.get(kind, {}).get(1, 0)
        if min(counts) < 0 or met > wanted:
            raise _DamageError(f"a page at byte {at} states wrong counts")
        at = header.at + page[_PACKED]
    if met != wanted or at > len(data):
        raise _DamageError(f"{met} values of {wanted} are there")
    return wanted


def _counts(header: dict[int, Any], fields: tuple[int, ...]) -> list[int]:
    return [header[field] for field in fields if field in header]


class _Compact:
    """Reads values of Thrift's compact protocol one after another; a structure is {number of a field: value}."""

    def __init__(self, data: memoryview, at: int) -> None:
        if at < 0:
            raise IndexError("a structure begins before the file")
        self._data = data
        self.at = at

    def struct(self) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            kind = head & 15
            field = field + (head >> 4) if head >> 4 else self._whole()
            fields[field] = kind == 1 if kind in _BOOLEANS else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in _WHOLE:
            return self._whole()
        if kind == _STRUCT:
            return self.struct()
        if kind in _LISTS:
            head = self._byte()
            n = head >> 4
            return [self._value(head & 15) for _ in range(self._unsigned() if n == 15 else n)]
        if kind == _MAP:
            n = self._unsigned()
            kinds = self._byte() if n else 0
            return [(self._value(kinds >> 4), self._value(kinds & 15)) for _ in range(n)]
        if kind in (*_BOOLEANS, _BYTE):
            return self._byte()
        if kind not in (_TEXT, _DOUBLE):
            raise LookupError(f"no type {kind}")
        # What a text says is not asked for.
        length = 8 if kind == _DOUBLE else self._unsigned()
        self.at += length
        return None

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def _unsigned(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
        return value | byte << shift

    def _whole(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)


# Of a zip that is cut short or changed, of a member that is encrypted (RuntimeError) or packed in a way that is not
# known (NotImplementedError), and of what stands in a member (ValueError, EOFError).
ARCHIVE_DAMAGE = (
    zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError, ValueError,
)  # fmt: skip
