"""Tables as other tools write them: CSV, TSV, JSON lines, Parquet, each also packed with gzip or zstandard."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import polars as pl

from goldassay.core.bounds import (
    COLUMNS,
    Unpacking,
    check_columns,
    check_depth,
    check_parquet,
    check_size,
    check_texts,
    panics_unprinted,
    reason,
)
from goldassay.core.errors import InputError
from goldassay.core.naming import listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray


def parse_json(data: bytes) -> Any:
    """The value, as `json.loads` gives it.

    What pydantic's parser refuses (half of a surrogate pair, deep nesting, other encodings than UTF-8), the standard
    library decides.

    Raises:
        ValueError: It is no JSON.
        RecursionError: It is nested too deeply.
    """
    try:
        return _quick_parser()(data)
    except ValueError:
        return json.loads(data)


@cache
def _quick_parser() -> Callable[[bytes], Any]:
    """Loaded when it is first used: so many lines are parsed that an import for each would take a while."""
    from pydantic_core import from_json

    return from_json


GZIP, ZSTD, ZIP, _PARQUET = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"PAR1"
_HEAD = 1 << 16
_PIECE = 1 << 20
_TWICE = re.compile(r"_duplicated_\d+$")
_MAX_LINE = 1 << 26
_MOST_OF_CODES = 1 << 26
_MOST_CODES = 50
# Four bytes of zstandard may stand for 128 kB, so that this much unpacks to at most 64 MB.
_ZSTD_PIECE = 1 << 11


class Readable(Protocol):
    """A file, or what unpacks one."""

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; none at the end."""


def is_parquet(path: Path) -> bool:
    """Whether the file begins as Parquet files do."""
    return start_of(path, 4) == _PARQUET


@contextmanager
def looked_at(path: Path) -> Iterator[None]:
    """While many adapters look at a file: its first bytes are read from the disk once."""
    token = _LOOKED_AT.set(_Start(path))
    try:
        yield
    finally:
        _LOOKED_AT.reset(token)


class _Start:
    """The first bytes of a file, as far as they were asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.packed: bytes | None = None
        self.head: bytes | None = None


_LOOKED_AT: ContextVar[_Start | None] = ContextVar("_LOOKED_AT", default=None)
_FIRST = 1024


def start_of(path: Path, n_bytes: int) -> bytes:
    """The first bytes of a file.

    Raises:
        InputError: The file cannot be opened.
    """
    kept = _LOOKED_AT.get()
    if kept is None or kept.path is not path or n_bytes > _FIRST:
        return _first_bytes(path, n_bytes)
    if kept.packed is None:
        kept.packed = _first_bytes(path, _FIRST)
    return kept.packed[:n_bytes]


def _first_bytes(path: Path, n_bytes: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(n_bytes)
    except OSError as error:
        raise InputError(f"the file cannot be read ({error.strerror})", file=path) from error


def refuse_pickle(path: Path) -> None:
    """Refuse a pickle without opening it as one: loading it would run whatever its maker wrote.

    Raises:
        InputError: The file is a pickle (or a torch checkpoint, which holds one).
    """
    start = start_of(path, 2)
    named = path.suffix.lower() in {".pkl", ".pickle", ".pt", ".pth", ".bin", ".joblib"}
    if (len(start) == 2 and start[0] == 0x80 and 2 <= start[1] <= 5) or (named and start != b"PA"):
        raise InputError(
            "this is a pickle, which can run any code when it is opened, so it is refused",
            file=path,
            mend="save the predictions as Parquet, CSV, JSONL or .npz",
        )


def head_of(path: Path) -> bytes:
    """The first 64 kB of a file, unpacked: enough to recognize it by, without reading the rest.

    Raises:
        InputError: The file cannot be read or is cut short.
    """
    kept = _LOOKED_AT.get()
    if kept is None or kept.path is not path:
        return _read(path, _HEAD)
    if kept.head is None:
        kept.head = _read(path, _HEAD)
    return kept.head


def unpacked(path: Path, limit: int | None = None) -> bytes:
    """The file's bytes, unpacked if they are gzip or zstandard.

    Raises:
        InputError: The file cannot be read, is cut short, or unpacks to more than `limit` bytes or than bounds allow.
    """
    check_size(path, path.stat().st_size)
    counted = Unpacking(path, held=True)
    pieces, n_bytes = [], 0
    for piece in _pieces(path, _PIECE):
        counted.add(len(piece))
        n_bytes += len(piece)
        if limit is not None and n_bytes > limit:
            raise InputError(f"the file unpacks to more than {limit >> 20} MB", file=path, mend="check what it is")
        pieces.append(piece)
    return b"".join(pieces)


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file, unpacked one by one, so that the file is never in memory as a whole.

    Raises:
        InputError: The file cannot be read, is cut short, unpacks to more than bounds allow, or has a line of more than
            64 MB.
    """
    counted = Unpacking(path, held=False)
    rest = b""
    for piece in _pieces(path, _PIECE):
        counted.add(len(piece))
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
        if len(rest) > _MAX_LINE:
            raise InputError(f"a line is longer than {_MAX_LINE >> 20} MB", file=path)
    if rest:
        yield rest


def _read(path: Path, n_bytes: int) -> bytes:
    pieces, left = [], n_bytes
    for piece in _pieces(path, min(n_bytes, _PIECE)):
        pieces.append(piece[:left])
        left -= len(piece)
        if left <= 0:
            break
    return b"".join(pieces)


def _pieces(path: Path, size: int) -> Iterator[bytes]:
    """The file's bytes in pieces of at most `size`, unpacked if they are gzip or zstandard."""
    start = start_of(path, 4)
    try:
        with path.open("rb") as raw:
            if start[:2] == GZIP:
                yield from _until_end(gzip.GzipFile(fileobj=raw), size)
            elif start == ZSTD:
                yield from _unpack_zstandard(raw)
            else:
                yield from _until_end(raw, size)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError("the packed file is damaged or cut short", file=path, mend="copy it again") from error
    except OSError as error:
        raise InputError(f"the file cannot be read ({error.strerror or error})", file=path) from error


def _until_end(file: Readable, size: int) -> Iterator[bytes]:
    while piece := file.read(size):
        yield piece


def _unpack_zstandard(raw: BinaryIO) -> Iterator[bytes]:
    """The frames of a file one by one. A reader over all of them would take one that is cut short for the end."""
    import zstandard

    frame = None
    try:
        for packed in _until_end(raw, _ZSTD_PIECE):
            rest = packed
            while rest:
                frame = frame or zstandard.ZstdDecompressor().decompressobj()
                yield frame.decompress(rest)
                rest = frame.unused_data
                frame = None if frame.eof else frame
    except zstandard.ZstdError as error:
        raise EOFError(str(error)) from error
    if frame is not None:
        raise EOFError("the last frame has no end")


def take(file: Readable, n_bytes: int) -> bytes:
    """Up to `n_bytes` of a file, in pieces: asked for at once, a high limit would be set aside in memory."""
    pieces = []
    while n_bytes > 0 and (piece := file.read(min(n_bytes, _PIECE))):
        pieces.append(piece)
        n_bytes -= len(piece)
    return b"".join(pieces)


def read_table(path: Path) -> pl.DataFrame | None:
    """Read a table, its format known by its content; None if it is not a table.

    CSV and TSV values stay strings (a label "01" is not 1). A tab-separated file is read without quoting,
    since sentences hold single quotation marks, unless its header is quoted.

    Raises:
        InputError: The file is damaged, or a line of it is not like the others.
    """
    if is_parquet(path):
        try:
            with panics_unprinted():
                check_parquet(path, path)
                table = pl.read_parquet(path)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError(
                "the Parquet file is damaged or cut short", file=path, mend="write or copy it again"
            ) from error
        check_texts(path, table)
        return table
    if start_of(path, 4) == ZIP:
        return None
    data = unpacked(path)
    head = data[:_HEAD].lstrip(b"\xef\xbb\xbf").lstrip()
    if not head:
        raise InputError("the file is empty", file=path, mend="leave it out")
    if b"\0" in head:
        return None
    if head.startswith(b"{"):
        return _read_json_lines(data, path)
    if head.startswith(b"["):
        return _read_json_array(data, path)
    separator, quoted = separated_by(head)
    return None if separator is None else _read_separated(data, path, separator, quoted=quoted)


def separated_by(head: bytes) -> tuple[str | None, bool]:
    """What separates the columns of a table, by its first line, and whether its values may be quoted."""
    first = head.split(b"\n", 1)[0]
    if b"\t" in first:
        return "\t", first.count(b'"') > 0
    return ("," if b"," in first else None), True


def _read_json_array(data: bytes, path: Path) -> pl.DataFrame | None:
    """The objects of a JSON array as rows, without fields of lists of objects or texts, such as conversations."""
    check_depth(data, path)
    try:
        records = parse_json(data.removeprefix(b"\xef\xbb\xbf"))
    except ValueError as error:
        raise InputError(
            f"the file is no whole JSON ({reason(error)})", file=path, mend="write or copy it again"
        ) from error
    if not isinstance(records, list) or not records or not all(isinstance(record, dict) for record in records):
        return None
    long = {name for record in records for name, value in record.items() if _is_long(value)}
    return _table_of([{name: value for name, value in each.items() if name not in long} for each in records], path)


def codes_in(path: Path) -> pl.DataFrame | None:
    """A prediction a line, or each in a JSON array, in the order of the examples; None where the file holds else.

    Of predictions there are few different ones, each a word or a number.
    """
    data = unpacked(path, _MOST_OF_CODES).removeprefix(b"\xef\xbb\xbf")
    try:
        values = parse_json(data) if data.lstrip().startswith(b"[") else data.decode().split("\n")
    except ValueError:
        return None
    if not isinstance(values, list) or not all(isinstance(each, (str, int, float)) for each in values):
        return None
    # An empty line at the end is none.
    texts = pl.Series(
        "prediction", [str(each).strip() for each in values[: -1 if values and values[-1] == "" else None]]
    )
    return pl.DataFrame({"example_id": range(len(texts)), "prediction": texts}) if are_codes(texts) else None


def are_codes(texts: pl.Series) -> bool:
    """Whether texts are predictions alone: few different words or numbers."""
    distinct = texts.unique()
    return 1 < len(distinct) <= min(_MOST_CODES, len(texts) // 2) and bool(distinct.str.contains(r"^\S{1,30}$").all())


def _is_long(value: object) -> bool:
    """A list that holds anything but numbers, truths and blanks."""
    return isinstance(value, list) and any(each is not None and not isinstance(each, (int, float)) for each in value)


def _read_json_lines(data: bytes, path: Path) -> pl.DataFrame | None:
    check_depth(data, path)
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    records = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = parse_json(line)
        except ValueError as error:
            if number == 1:
                return None
            raise InputError(
                f"the line is not JSON ({reason(error)})", file=path, row=number, mend="write or copy the file again"
            ) from error
        if not isinstance(record, dict):
            raise InputError("the line is not a JSON object", file=path, row=number)
        records.append(record)
    return _table_of(records, path)


def _table_of(records: list[dict[str, Any]], path: Path) -> pl.DataFrame | None:
    names = set().union(*records)
    if len(records) == 1 and len(names) > COLUMNS.limit() and all(_is_number(each) for each in records[0].values()):
        # Numbers by name, such as the no-answer probabilities beside predictions, and no row of so many columns.
        return None
    check_columns(path, len(names))
    # What a cell takes while columns are made of objects, measured.
    check_size(path, 50 * len(names) * len(records))
    return pl.DataFrame(records, infer_schema_length=None, strict=False) if records else None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _read_separated(data: bytes, path: Path, separator: str, *, quoted: bool) -> pl.DataFrame:
    check_columns(path, data.split(b"\n", 1)[0].count(separator.encode()) + 1)
    try:
        table = pl.read_csv(
            data,
            separator=separator,
            quote_char='"' if quoted else None,
            infer_schema=False,
            encoding="utf8",
        )
    except pl.exceptions.PolarsError as error:
        raise _unreadable(data, path, error) from error
    refuse_column_twice(table.columns, path)
    return table


def refuse_column_twice(names: list[str], path: Path) -> None:
    """Refuse a table whose header has a name twice; polars numbers such columns instead.

    Raises:
        InputError: A name is there twice.
    """
    twice = [name for name in names if _TWICE.sub("", name) in set(names) - {name}]
    if twice:
        raise InputError(
            "the column is there twice", file=path, column=_TWICE.sub("", twice[0]), mend="give it another name"
        )


def _unreadable(data: bytes, path: Path, error: Exception) -> InputError:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as invalid:
        row = data.count(b"\n", 0, invalid.start) + 1
        return InputError("the text is not UTF-8", file=path, row=row, mend="save the file as UTF-8")
    reason = " ".join(str(error).split("Consider")[0].split())[:120].rstrip(" .")
    return InputError(f"the table cannot be read ({reason})", file=path, mend="give each line the same columns")


def _decoded(column: pl.Series, path: Path | str) -> pl.Series:
    """Lists of numbers written as text."""
    try:
        return column.str.json_decode(pl.List(pl.Float64))
    except pl.exceptions.ComputeError as error:
        for text in column.drop_nulls():
            try:
                pl.Series([text]).str.json_decode(pl.List(pl.Float64))
            except pl.exceptions.ComputeError:
                raise InputError(
                    f"{text[:60]!r} is no list of finite numbers",
                    file=path,
                    column=column.name,
                    mend="write them as [0.5, -1.2]",
                ) from None
        raise InputError("the lists of numbers cannot be read", file=path, column=column.name) from error


def logits_array(column: pl.Series, path: Path | str) -> NDArray[Any]:
    """A column of lists of K numbers as (N, K).

    Raises:
        InputError: The lists differ in length, are empty, or hold anything but numbers.
    """
    return _array(column, path, "logits", "classes", "give each example one logit a class")


def features_array(column: pl.Series, path: Path | str) -> NDArray[Any]:
    """A column of lists of D numbers as (N, D).

    Raises:
        InputError: As for `logits_array`.
    """
    return _array(column, path, "features", "dimensions", "give the features of one layer")


def _array(column: pl.Series, path: Path | str, what: str, of: str, mend: str) -> NDArray[Any]:
    if column.dtype == pl.String:
        column = _decoded(column, path)
    if isinstance(column.dtype, pl.Array):
        column = column.arr.to_list()
    if not isinstance(column.dtype, pl.List) or not column.dtype.inner.is_numeric():
        raise InputError(f"the {what} are not lists of numbers", file=path, column=column.name)
    widths = column.list.len()
    if widths.null_count():
        raise InputError(
            f"{widths.null_count()} of {column.len()} rows have no {what}",
            file=path,
            column=column.name,
            mend="leave out the rows without",
        )
    if widths.n_unique() != 1 or widths[0] == 0:
        raise InputError(
            f"rows have {what} of {listing(widths.unique().sort().to_list())} {of}",
            file=path,
            column=column.name,
            mend=mend,
        )
    flat: NDArray[Any] = column.list.explode().to_numpy()
    return flat.reshape(column.len(), int(widths[0]))
