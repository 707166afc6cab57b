"""The documents of a shard, a block at a time, and the fields of a document that hold its text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.bounds import check_pages
from goldassay.core.errors import InputError, option
from goldassay.data.column_names import FREE_ANSWERS, normalized
from goldassay.data.languages import UNSPACED
from goldassay.data.reading import read_table
from goldassay.data.source import decompressed
from goldassay.kernels.json_lines import line_ends
from goldassay.questions.overlap.search.corpus import OVERLAP, PIECE, CorpusFile, Shard
from goldassay.questions.overlap.search.sought import LEAST_WORDS

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


TEXT_FIELD = "text"
# What is read where no field is named: the text, and conversations under the names that they commonly have.
USUAL_FIELDS = (TEXT_FIELD, "messages", "conversations", "conversation", "turns")


class Pairs(list[tuple[str, Any]]):
    """The names and values of an object of JSON, as they stand there: a name may stand there twice."""


def fields_of(field: str) -> tuple[str, ...]:
    """Names of fields that are joined by "+"; where none is named the usual ones, conversations among them.

    Raises:
        InputError: A name is empty.
    """
    names = tuple(name.strip() for name in field.split("+"))
    if not all(names):
        raise InputError(f"{option('field')}: {field!r} names no field", mend="write question+answer")
    return USUAL_FIELDS if names == (TEXT_FIELD,) else names


def describe_fields(fields: Sequence[str]) -> str:
    """The fields in words; of the usual ones the first."""
    return " + ".join(map(repr, fields[:1] if tuple(fields) == USUAL_FIELDS else fields))


class Wanted(NamedTuple):
    """Names and paths of fields, as loops over bytes take them.

    Attributes:
        names: Bytes of all names, one after the other.
        starts: Where each begins, one more at the end, (P + 1,).
        paths: The first name of each path, one more at the end, (W + 1,).
        fields: The field of each path, from 0, (W,): one with dots is a name or a path.
    """

    names: NDArray[np.uint8]
    starts: NDArray[np.int64]
    paths: NDArray[np.int64]
    fields: NDArray[np.int64]

    @classmethod
    def of(cls, fields: Sequence[str]) -> Wanted:
        """Those of some fields."""
        found = [
            (number, path)
            for number, name in enumerate(fields)
            for path in dict.fromkeys([(name,), tuple(name.split("."))])
        ]
        names = [name.encode() for _, path in found for name in path]
        return cls(
            np.frombuffer(b"".join(names), np.uint8),
            np.cumsum([0, *map(len, names)]),
            np.cumsum([0, *(len(path) for _, path in found)]),
            np.array([number for number, _ in found]),
        )


def text_of(row: Pairs, fields: Sequence[str]) -> str:
    """The texts of all wanted fields, joined by line breaks.

    Of a name that stands there twice one reader takes the first text, another one the last: both are searched.
    """
    return "\n".join(text for name in fields for text in _texts_in(row, name))


def _texts_in(row: Pairs, field: str) -> Iterator[str]:
    path = tuple(field.split("."))
    for name, value in row:
        if name == field:
            yield from texts_below(value)
        elif len(path) > 1 and name == path[0]:
            yield from texts_below(value, path[1:])


def texts_below(value: Any, path: Sequence[str] = ()) -> Iterator[str]:
    """All texts below a value, in order, but for empty ones; of objects those to which a path leads.

    A path that meets a text before its end takes it: nothing is left unread for a name too many.
    """
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, (Pairs, Mapping)):
        for name, below in value.items() if isinstance(value, Mapping) else value:
            if not path or name == path[0]:
                yield from texts_below(below, path[1:])
    elif isinstance(value, Iterable) and not isinstance(value, bytes):
        for each in value:
            yield from texts_below(each, path)


def unread_texts(rows: Sequence[Pairs], fields: Sequence[str], n_rows: int) -> dict[str, int]:
    """Names beside the wanted fields that hold texts of 8 words, answers last, and the bytes of these.

    What stands in the wanted fields of its row as well, as a prompt beside its conversation, is read.

    Args:
        rows: The first rows that may have such texts.
        fields: Those that are read.
        n_rows: How many such rows there are: the bytes are projected to all of them.
    """
    read = _top_level(fields)
    found: dict[str, int] = {}
    for row in rows:
        own = text_of(row, fields)
        for name, value in row:
            texts = () if name in read else tuple(text for text in texts_below(value) if _is_long(text))
            if n_bytes := sum(len(text.encode("utf-8", "replace")) for text in texts if text.strip() not in own):
                found[name] = found.get(name, 0) + n_bytes
    return {name: found[name] * n_rows // len(rows) for name in _answers_last(found)}


def _answers_last(names: Iterable[str]) -> list[str]:
    """Fields in their order, but answers behind their questions, where they are looked for."""
    return sorted(names, key=lambda name: normalized(name) in FREE_ANSWERS)


def _top_level(fields: Sequence[str]) -> set[str]:
    return {path for name in fields for path in (name, name.split(".")[0])}


def _is_long(text: str) -> bool:
    return len(text.split()) + len(re.findall(UNSPACED, text)) // 2 >= LEAST_WORDS


def _unread_of(rows: pl.LazyFrame, fields: Sequence[str]) -> dict[str, int]:
    """The same of a table, by the first of the rows that have such texts."""
    read, texts = _top_level(fields), []
    for name, kind in rows.collect_schema().items():
        if kind == pl.Binary and name not in read and _is_utf8(rows, name):
            rows = rows.with_columns(pl.col(name).cast(pl.String))
    for name, kind in rows.collect_schema().items():
        column = None if name in read else texts_of_column(pl.col(name), kind)
        texts += [] if column is None else [column]
    if not texts:
        return {}
    is_long = [column.str.contains(pattern) for column in texts for pattern in _LONG_TEXTS]
    flagged = rows.filter(pl.any_horizontal(each.fill_null(value=False) for each in is_long))
    n_rows = flagged.select(pl.len()).collect().item()
    sample = flagged.head(SAMPLED_ROWS).collect().iter_rows(named=True) if n_rows else ()
    return unread_texts([Pairs(row.items()) for row in sample], fields, n_rows)


def _is_utf8(rows: pl.LazyFrame, name: str) -> bool:
    """Whether all bytes of a column are texts, unlike pictures."""
    try:
        rows.select(pl.col(name).cast(pl.String).str.len_bytes().sum()).collect()
    except pl.exceptions.ComputeError:
        return False
    return True


def is_text(kind: pl.DataType | None) -> bool:
    """Whether a column has texts; such as are stored once each are texts."""
    return kind in (pl.String, pl.Categorical, pl.Enum)


def texts_of_column(column: pl.Expr, kind: pl.DataType | None, path: Sequence[str] = ()) -> pl.Expr | None:
    """Of each value of a column what `texts_below` finds, joined by line breaks, or null; None where none can be.

    Args:
        column: The column, or what stands in it.
        kind: What it holds.
        path: As of `texts_below`.
    """
    if is_text(kind):
        return _or_null(column.cast(pl.String))
    if isinstance(kind, pl.Array):
        return texts_of_column(column.arr.to_list(), pl.List(kind.inner), path)
    if isinstance(kind, pl.List):
        below = texts_of_column(pl.element(), _plain(kind.inner), path)
        return None if below is None else _or_null(column.list.eval(below).list.join("\n", ignore_nulls=True))
    if isinstance(kind, pl.Struct):
        each = [
            texts_of_column(column.struct.field(field.name), _plain(field.dtype), path[1:])
            for field in kind.fields
            if not path or field.name == path[0]
        ]
        parts = [part for part in each if part is not None]
        return _or_null(pl.concat_str(parts, separator="\n", ignore_nulls=True)) if parts else None
    return None


def unread_below(kind: pl.DataType | None, path: Sequence[str] = ()) -> Iterator[tuple[str, ...]]:
    """Names that lead to binary or maps below a column, which may hold text, but for pictures and sound of the hub.

    Args:
        kind: What the column holds.
        path: As of `texts_below`.
    """
    # Maps came with a later version than the oldest that is taken.
    if kind == pl.Binary or isinstance(kind, getattr(pl, "Map", ())):
        yield ()
    elif isinstance(kind, (pl.List, pl.Array)):
        yield from unread_below(_plain(kind.inner), path)
    elif isinstance(kind, pl.Struct) and {field.name for field in kind.fields} != {"bytes", "path"}:
        for field in kind.fields:
            if not path or field.name == path[0]:
                yield from ((field.name, *below) for below in unread_below(_plain(field.dtype), path[1:]))


def _or_null(texts: pl.Expr) -> pl.Expr:
    return pl.when(texts != "").then(texts)


def _plain(kind: Any) -> pl.DataType:
    return kind() if isinstance(kind, type) else kind


# Small enough to stay in the processor's cache while it is split and searched.
BLOCK = 1 << 21
LONGEST_LINE = 1 << 28
# For a line that is longer than what its block has left.
_SPARE = 1 << 16
_BOM = b"\xef\xbb\xbf"
# Byte order marks; that of UTF-32 begins as that of UTF-16 does.
_MARKS = {
    b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16",
}  # fmt: skip
_BREAK = 10
# Rows of a shard in which texts are looked for that are not read.
SAMPLED_ROWS = 100
# What a column has where it may hold a text of 8 words: as many words, or two characters for each.
_LONG_TEXTS = (rf"(?:\S+\s+){{{LEAST_WORDS - 1}}}\S", rf"(?s)(?:{UNSPACED}.*?){{{2 * LEAST_WORDS}}}")
# Rows of a table that are taken at a time.
_ROWS = 1 << 12
# Bytes of a file by which its encoding is judged.
_HEAD = 1 << 16
# So many bytes that are no UTF-8 are no slip.
_MANY = 10


@dataclass(frozen=True)
class Documents:
    """Some documents of a shard; lines are there until the next ones are asked for.

    Attributes:
        data: Bytes, with a zero behind the last.
        begins: Where each begins, (D,).
        ends: Where each ends, (D,).
        offset: Of the first byte, from the start of the unpacked file; -1 where documents are rows.
        are_lines: Whether they are lines of JSON; else they are texts.
        done: How far into the file, as it lies, they reach.
        columns: Of rows, the names of all columns.
        n_with: Of rows, how many have each wanted field.
        unread: Of a table, the columns with texts that are not read, and the bytes of these.
    """

    data: NDArray[np.uint8]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    offset: int
    are_lines: bool
    done: int
    columns: tuple[str, ...] = ()
    n_with: tuple[int, ...] = ()
    unread: Mapping[str, int] = field(default_factory=dict)

    def of(self, number: int) -> bytes:
        """The bytes of one document."""
        return self.data[self.begins[number] : self.ends[number]].tobytes()


def read_documents(file: CorpusFile, shard: Shard, fields: Sequence[str]) -> Iterator[Documents]:
    """The documents that begin in a shard.

    Raises:
        InputError: The file is damaged or no UTF-8, or a line is longer than 256 MB.
        OSError: It cannot be read.
    """
    if file.form in ("jsonl", "text") and shard.begin == 0:
        _check_encoding(file)
    if file.form == "parquet":
        yield from _rows(file.path, file.size, fields)
    elif file.form == "table":
        frame = read_table(file.path).frame
        own = fields_of_table(frame, fields)
        for rows in _rows(file.path, file.size, own, frame.lazy()):
            yield rows if own == tuple(fields) else replace(rows, n_with=())
    elif file.form == "text":
        yield from _pieces(file, shard)
    elif file.is_packed:
        yield from _lines(decompressed(file.path), 0, None, file.path)
    else:
        yield from _lines_between(file.path, shard)


def fields_of_table(frame: pl.DataFrame, fields: Sequence[str]) -> tuple[str, ...]:
    """The fields of a table, all its texts where none was named and it has none of the usual ones."""
    if tuple(fields) != USUAL_FIELDS or not set(fields).isdisjoint(frame.columns):
        return tuple(fields)
    texts = [name for name, kind in frame.schema.items() if texts_of_column(pl.col(name), kind) is not None]
    return tuple(_answers_last(texts))


def _check_encoding(file: CorpusFile) -> None:
    """Refuse what is no UTF-8: nothing would be found in UTF-16, in images or in archives.

    Single bytes that are none are passed over, as of a text that was cut or of two encodings in one file.

    Raises:
        InputError: A tenth of the beginning is no UTF-8, or is zeros; or ten characters, one in a thousand, and half of
            those beyond ASCII, as in Latin-1, where each letter with an accent would part a word.
    """
    if file.is_packed:
        head = next(iter(decompressed(file.path)), (b"", 0))[0][:_HEAD]
    else:
        with file.path.open("rb") as stream:
            head = stream.read(_HEAD)
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            raise InputError(
                f"it is no UTF-8 but {name}", file=file.path, mend=f"iconv -f {name} -t UTF-8 makes UTF-8 of it"
            )
    told = head.decode("utf-8", "replace")
    broken, others = told.count("\N{REPLACEMENT CHARACTER}"), len(told) - len(told.encode("ascii", "ignore"))
    is_another = broken >= _MANY and 1000 * broken > len(told) and 2 * broken > others
    if is_another or 10 * (broken + told.count("\0")) > len(told) > 0:
        raise InputError("it is no UTF-8", file=file.path, mend="write it as UTF-8")


def _lines_between(path: Path, shard: Shard) -> Iterator[Documents]:
    """The lines that begin in a range of bytes: a line at its border belongs to the range where it begins."""
    with path.open("rb") as stream:
        begin = shard.begin
        if begin:
            stream.seek(begin - 1)
            begin = _after_break(stream, begin - 1)
        if begin >= shard.end:
            return
        stream.seek(begin)

        def blocks() -> Iterator[tuple[bytes, int]]:
            while block := stream.read(BLOCK):
                yield block, stream.tell()

        yield from _lines(blocks(), begin, shard.end, path)


def _after_break(stream: IO[bytes], place: int) -> int:
    """The first byte after the next line break; the end of the file where there is none."""
    while block := stream.read(BLOCK):
        at = block.find(b"\n")
        if at >= 0:
            return place + at + 1
        place += len(block)
    return place


def _lines(blocks: Iterator[tuple[bytes, int]], offset: int, end: int | None, path: Path) -> Iterator[Documents]:
    """Whole lines of a stream that begins at `offset`, up to the last that begins before `end`.

    All blocks go through one buffer: memory that is asked for anew each time took half of the whole search.
    """
    buffer, places = np.empty(BLOCK + _SPARE, np.uint8), np.empty(BLOCK + _SPARE, np.int64)
    filled = reached = 0
    first = offset == 0
    for block, reached in blocks:
        if first and block.startswith(_BOM):
            # White space of the same length: places in the file stay what they are.
            block = b" " * len(_BOM) + block[len(_BOM) :]
        first = False
        size = filled + len(block)
        if size >= buffer.size:
            buffer = np.concatenate([buffer[:filled], np.empty(size, np.uint8)])
            places = np.empty(buffer.size, np.int64)
        buffer[filled:size] = np.frombuffer(block, np.uint8)
        n = line_ends(buffer, filled, size, places)
        filled = size
        is_last = False
        if end is not None and offset + filled >= end:
            # The last line may reach beyond the range, and what follows it belongs to the next.
            last = int(np.searchsorted(places[:n], max(end - 1 - offset, 0)))
            is_last = last < n
            n = min(last + 1, n)
        if n:
            yield _as_lines(buffer, places[:n], offset, reached if end is None else min(reached, end))
            whole = int(places[n - 1]) + 1
            buffer[: filled - whole] = buffer[whole:filled].copy()
            filled -= whole
            offset += whole
        if is_last:
            return
        if filled > LONGEST_LINE:
            raise InputError(f"a line is longer than {LONGEST_LINE >> 20} MB", file=path, mend="mend the file")
    if filled:
        buffer[filled] = _BREAK
        yield _as_lines(buffer, np.array([filled]), offset, reached)


def _as_lines(buffer: NDArray[np.uint8], ends: NDArray[np.int64], offset: int, done: int) -> Documents:
    begins = np.concatenate([[0], ends[:-1] + 1])
    data = buffer[: ends[-1] + 1]
    # As all other texts: the loops that read words are compiled once more for what may be written to.
    data.flags.writeable = False
    return Documents(data, begins, ends, offset, are_lines=True, done=done)


def _pieces(file: CorpusFile, shard: Shard) -> Iterator[Documents]:
    """A text as documents of 1 MiB that begin after a line break, and overlap by 64 KiB."""
    if file.is_packed:
        stream = decompressed(file.path)
        yield from _cut(stream, 0, None)
        return
    with file.path.open("rb") as opened:
        opened.seek(max(shard.begin - 1, 0))

        def blocks() -> Iterator[tuple[bytes, int]]:
            while block := opened.read(BLOCK):
                yield block, opened.tell()

        yield from _cut(blocks(), max(shard.begin - 1, 0), None if shard.end >= file.size else shard.end)


def _cut(blocks: Iterator[tuple[bytes, int]], offset: int, end: int | None) -> Iterator[Documents]:
    """Pieces of a stream whose first byte is at `offset`: 0, or the one before the first piece's place."""
    data, over = b"", False
    number = -(-offset // PIECE)
    done = offset
    while True:
        place = number * PIECE
        if end is not None and place >= end:
            return
        while not over and offset + len(data) < place + PIECE + 2 * OVERLAP + 8:
            block, done = next(blocks, (b"", done))
            over = not block
            data += block
        begin = _piece_start(data, place - offset) if place else len(_BOM) * data.startswith(_BOM)
        if place and over and begin + OVERLAP >= len(data):
            # The piece before it reaches to the end.
            return
        following = _piece_start(data, place + PIECE - offset)
        last = over and following + OVERLAP >= len(data)
        stop = len(data) if last else _character_start(data, following + OVERLAP)
        if begin < stop:
            bytes_ = np.frombuffer(data[begin:stop] + b"\0", np.uint8)
            yield Documents(
                bytes_, np.array([0]), np.array([stop - begin]), offset + begin, are_lines=False, done=done
            )  # fmt: skip
        if last:
            return
        number += 1
        dropped = number * PIECE - 1 - offset
        data, offset = data[dropped:], offset + dropped


def _piece_start(data: bytes, place: int) -> int:
    """The first place from `place` on that follows a line break within 64 KiB, else that begins a character."""
    at = data.find(b"\n", max(place - 1, 0), place + OVERLAP)
    return at + 1 if at >= 0 else _character_start(data, place)


def _character_start(data: bytes, place: int) -> int:
    while place < len(data) and data[place] & 0xC0 == 0x80:
        place += 1
    return min(place, len(data))


def _rows(path: Path, size: int, fields: Sequence[str], rows: pl.LazyFrame | None = None) -> Iterator[Documents]:
    """The texts of a Parquet file, or of the rows of a table, each row's fields joined by a line break.

    Binary is read where all of it is UTF-8 without zeros: in UTF-16, pictures or packed texts nothing would be found.
    """
    binary: list[str] = []
    try:
        if rows is None:
            check_pages(path, path)
            rows = pl.scan_parquet(path)
        schema = rows.collect_schema()
        binary = [name for name in dict.fromkeys(fields) if schema.get(name) == pl.Binary]
        rows = rows.with_columns(pl.col(binary).cast(pl.String))
        schema = rows.collect_schema()
        names = tuple(schema.names())
        paths = [(name, ()) if name in schema else (name.split(".")[0], tuple(name.split(".")[1:])) for name in fields]
        columns = [texts_of_column(pl.col(name), schema.get(name), path_) for name, path_ in paths]
        wanted = [column for column in columns if column is not None]
        others = [name for name in fields if name in schema]
        if others and not wanted:
            raise InputError(
                f"the column {others[0]!r} holds {str(schema[others[0]]).lower()}, and no text",
                mend="write it as text, or name another column",
            )
        if not wanted:
            there = f"the columns are {', '.join(map(repr, names[:8]))}"
            named = [name for name, kind in schema.items() if texts_of_column(pl.col(name), kind) is not None]
            if not named:
                raise InputError(f"no column holds text; {there}", mend="give texts")
            named = list(_unread_of(rows, fields)) or named
            raise InputError(
                f"there is no text in {describe_fields(fields)}; {there}",
                mend=f"name its text, as in {option('field', '+'.join(named))}",
            )
        for name, path_ in paths:
            for below in unread_below(schema.get(name), path_):
                raise InputError(
                    f"{'.'.join((name, *below))!r} holds binary or a map, which may be text",
                    mend=f"write it as text, or name the texts beside it with {option('field', 'NAME.NAME')}",
                )
        unread = _unread_of(rows, fields)
        texts = pl.concat_str(wanted, separator="\n", ignore_nulls=True)
        has = [
            column is not None or (name in schema and not path_)
            for column, (name, path_) in zip(columns, paths, strict=True)
        ]
        zeros = [pl.col(name).str.contains("\0", literal=True) for name in binary]
        rows = rows.select(texts.alias("text"), pl.any_horizontal(pl.lit(False), *zeros).alias("has_zeros"))
        total = rows.select(pl.len()).collect().item()
        begin = 0
        # Else polars reads many row groups ahead and takes two to four times the memory; it has no other way to say so.
        os.environ.setdefault("POLARS_ROW_GROUP_PREFETCH_SIZE", "1")
        # Slices would have a row group decoded anew for each.
        for batch in rows.collect_batches(chunk_size=_ROWS, maintain_order=True):
            if batch["has_zeros"].any():
                raise _no_text_in(binary, path)
            column = batch["text"].fill_null("")
            edges = np.concatenate([[0], np.cumsum(column.str.len_bytes().to_numpy().astype(np.int64))])
            at = 0
            while at < len(column):
                # At least one row, and else as many as a block has room for.
                end = max(int(np.searchsorted(edges, edges[at] + BLOCK, side="right")) - 1, at + 1)
                data = column[at:end].str.join("").item().encode() + b"\0"
                own = edges[at : end + 1] - edges[at]
                n_with = tuple((end - at) * int(each) for each in has)
                begin += end - at
                yield Documents(
                    np.frombuffer(data, np.uint8), own[:-1], own[1:], -1, are_lines=False, done=size * begin // total,
                    columns=names, n_with=n_with, unread=unread,
                )  # fmt: skip
                at = end
    except pl.exceptions.DuplicateError as error:
        raise InputError(
            f"two columns have one name ({str(error).partition(chr(10))[0]})",
            file=path,
            mend="give each a name of its own, as rename_columns of pyarrow does",
        ) from error
    except (pl.exceptions.PolarsError, OSError) as error:
        if binary and "invalid utf8" in str(error):
            raise _no_text_in(binary, path) from error
        raise InputError(
            "the Parquet file is damaged or cut short", file=path, mend="copy or download it again"
        ) from error


def _no_text_in(binary: Sequence[str], path: Path) -> InputError:
    return InputError(
        f"the binary of {' + '.join(map(repr, binary))} is no UTF-8",
        file=path,
        mend="decode it and write it as text, or name another column",
    )
