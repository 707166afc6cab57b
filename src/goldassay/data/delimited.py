"""Delimited text, with or without quotation: the rule that tells which, and an exact parse of either.

Tab-separated text is read as quoted (RFC 4180) if every quotation mark stands where the standard allows one, every
record then has the same number of fields, and something shows that the marks are meant as quotation: a field that holds
a separator, a line break or a doubled mark, an empty field that is quoted, or a column quoted in every row. Otherwise
the marks are text. So they are in text whose lines are each complete by themselves, if quotation would put both tabs
and line breaks into fields: two sentences that happen to begin and end with a mark must not melt into one.

Comma-separated text is read as the csv module of Python and pandas read it: a mark at the start of a field opens a
quotation, any other is a character. Only where the records would then differ in length, and without quotation do not,
the marks are text.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.bounds import check_columns
from goldassay.core.errors import InputError
from goldassay.data.roles import is_known_column
from goldassay.data.source import rewriting

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

# How sentences on stray quotation marks begin.
QUOTATION = "Quotation marks are"
_QUOTE, _NEWLINE, _RETURN, _TAB = 34, 10, 13, 9
# So many words are no name of a column; so many rows are looked at.
_SENTENCE, _COMPARED = 5, 20
NO_HEADER = "The first line looks like a row: the columns have no names, and are #1, #2 and so on."


@dataclass(frozen=True)
class Records:
    """How a delimited text falls into records.

    Attributes:
        fields: Number of fields of each record, (N,).
        lines: Line on which each record starts, counted from 1, (N,).
        starts: Byte at which each record starts, (N,).
        ends: Byte at which each record ends, its line break not included, (N,).
        breaks_within: Whether some field holds a line break.
        separators_within: Whether some field holds a separator.
    """

    fields: NDArray[np.int64]
    lines: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    breaks_within: bool
    separators_within: bool

    @property
    def even(self) -> bool:
        """Whether all records have the same number of fields."""
        return bool((self.fields == self.fields[0]).all()) if len(self.fields) else True


@dataclass(frozen=True)
class Delimited:
    """A delimited text, parsed: String columns named by the header or `column_1`, ...; `notes` say how it was read."""

    columns: pl.DataFrame
    lines: NDArray[np.int64]
    quoted: bool
    notes: tuple[str, ...] = ()


def parse_delimited(
    data: bytes,
    separator: str,
    path: Path,
    *,
    names: tuple[str, ...] | None = None,
    extra: int = 0,
    quoted: bool | None = None,
) -> Delimited:
    """Parse delimited text exactly: every field is text, and nothing is guessed about its type.

    Args:
        data: UTF-8 text.
        separator: One ASCII character.
        path: For messages.
        names: Names of the columns of a file without a header; None when the first record is the header.
        extra: With `names`, how many further fields a record may have; they are ignored.
        quoted: Whether the text is quoted, where that was decided from more of it than this.

    Raises:
        InputError: Some row has more or fewer fields than the header, a header name stands twice, or there are no
            rows.
    """
    check_columns(path, data.split(b"\n", 1)[0].count(separator.encode()) + 1)
    plain_data = _plain_line_ends(data)
    records = _records(np.frombuffer(plain_data, np.uint8), ord(separator), np.empty(0, np.int64))
    strict_data = _line_ends_outside_quotes(data) if quoted is not False else plain_data
    strict = None
    if quoted is None:
        strict = _quoted_records(strict_data, ord(separator), records)
    elif quoted:
        bytes_ = np.frombuffer(strict_data, np.uint8)
        strict = _records(bytes_, ord(separator), np.flatnonzero(bytes_ == _QUOTE))
    notes: tuple[str, ...] = ()
    if strict is None and quoted is None and separator != "\t" and b'"' in data:
        plain = _without_blank(records)
        strict_data, strict = _quoted_anew(data, separator)
        if strict is None:
            notes = (f"{QUOTATION} part of the text: as quotation they would give rows of unequal length.",)
        else:
            other = ""
            if len(plain.fields) != len(strict.fields) or not plain.even or plain.fields[0] != strict.fields[0]:
                other = f"; as part of the text they would give {len(plain.fields)} lines, not {len(strict.fields)}"
            notes = (f"{QUOTATION} read as the csv module of Python reads them{other}.",)
    quoted = strict is not None
    if strict is None:
        data = plain_data
    else:
        data, records = strict_data, strict
    records = _without_blank(records)
    given, first = names is not None, 0
    if names is None:
        names = _header(data, records, separator, quoted, path)
        first = 0 if _is_row(names, data, records, separator, quoted) else 1
        names = names if first else tuple(f"column_{at}" for at in range(1, len(names) + 1))
    _check_even(data, records, len(names), extra, first, path, quoted, separator)
    if len(records.starts) <= first:
        raise InputError("there is a header but no row", file=path, mend="give a file with at least one example")
    frame = _parsed(data, records, first, separator, names, extra, quoted)
    return Delimited(frame, records.lines[first:], quoted, notes if first or given else (NO_HEADER, *notes))


def head_rows(head: bytes) -> list[list[str]]:
    """Rows of the first bytes of a tab-separated file without quotation, cut lines left out."""
    lines = head.replace(b"\r\n", b"\n").decode("utf-8", "replace").split("\n")
    return [line.split("\t") for line in (lines[:-1] or lines) if line]


def _plain_line_ends(data: bytes) -> bytes:
    """Make every line end a line feed, as long as carriage returns cannot be anything else."""
    if b"\r" not in data:
        return data
    if b"\n" not in data:
        return data.replace(b"\r", b"\n")
    return data.replace(b"\r\n", b"\n")


def _line_ends_outside_quotes(data: bytes) -> bytes:
    """The same, leaving alone what quotation marks enclose."""
    if b"\r" not in data or b'"' not in data:
        return _plain_line_ends(data)
    bytes_ = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(bytes_ == _QUOTE)
    returns = np.flatnonzero(bytes_ == _RETURN)
    returns = returns[np.searchsorted(quotes, returns) % 2 == 0]
    if len(returns) and b"\n" in data:
        following = bytes_[np.minimum(returns + 1, len(bytes_) - 1)]
        return np.delete(bytes_, returns[following == _NEWLINE]).tobytes()
    changed = bytes_.copy()
    changed[returns] = _NEWLINE
    return changed.tobytes()


def _quoted_records(data: bytes, sep: int, plain: Records) -> Records | None:
    """The records under the reading with quotation, or None where that is not the right reading."""
    bytes_ = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(bytes_ == _QUOTE)
    if not len(quotes) or not _strictly_quoted(bytes_, sep, quotes):
        return None
    strict = _records(bytes_, sep, quotes)
    return strict if _meant_as_quotation(bytes_, sep, quotes, plain, strict) else None


def _records(bytes_: NDArray[np.uint8], sep: int, quotes: NDArray[np.int64]) -> Records:
    separators = np.flatnonzero(bytes_ == sep)
    breaks = np.flatnonzero(bytes_ == _NEWLINE)
    all_breaks, n_separators = breaks, len(separators)
    if len(quotes):
        # A byte lies inside a quoted field if an odd number of marks precedes it; doubled marks cancel out.
        separators = separators[np.searchsorted(quotes, separators) % 2 == 0]
        breaks = breaks[np.searchsorted(quotes, breaks) % 2 == 0]
    ends = breaks
    if len(bytes_) and (not len(breaks) or breaks[-1] != len(bytes_) - 1):
        ends = np.append(breaks, len(bytes_))
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    fields = np.diff(np.searchsorted(separators, ends), prepend=0) + 1
    return Records(
        fields=fields.astype(np.int64),
        lines=(np.searchsorted(all_breaks, starts) + 1).astype(np.int64),
        starts=starts.astype(np.int64),
        ends=ends.astype(np.int64),
        breaks_within=len(breaks) < len(all_breaks),
        separators_within=len(separators) < n_separators,
    )


def _quoted_anew(data: bytes, separator: str) -> tuple[bytes, Records | None]:
    """The same fields, each between marks, as the csv module reads them; no records where rows differ in length."""
    limit = csv.field_size_limit(len(data) + 1)
    rows, lines, before = [], [], 0
    try:
        reader = csv.reader(io.StringIO(data.decode("utf-8"), newline=""), delimiter=separator)
        for row in reader:
            if row:
                rows.append(row)
                lines.append(before + 1)
            before = reader.line_num
    except csv.Error:
        return data, None
    finally:
        csv.field_size_limit(limit)
    if len({len(row) for row in rows}) > 1:
        return data, None
    marked = (separator.join('"' + field.replace('"', '""') + '"' for field in row) for row in rows)
    written = "\n".join(marked).encode()
    bytes_ = np.frombuffer(written, np.uint8)
    records = _records(bytes_, ord(separator), np.flatnonzero(bytes_ == _QUOTE))
    return written, replace(records, lines=np.array(lines, np.int64))


def _without_blank(records: Records) -> Records:
    if len(records.fields) and records.fields.max() == 1:
        # In a file of one column an empty line may be an empty field; only those at the end are none.
        filled = np.flatnonzero(records.ends > records.starts)
        keep = np.arange(len(records.fields)) <= (filled[-1] if len(filled) else -1)
    else:
        keep = records.ends > records.starts
    return Records(
        records.fields[keep],
        records.lines[keep],
        records.starts[keep],
        records.ends[keep],
        records.breaks_within,
        records.separators_within,
    )


def _strictly_quoted(bytes_: NDArray[np.uint8], sep: int, quotes: NDArray[np.int64]) -> bool:
    """Whether each mark opens a field at its start, closes it at its end, or is one of a doubled pair."""
    if len(quotes) % 2:
        return False
    allowed = np.zeros(256, bool)
    allowed[[sep, _NEWLINE, _QUOTE]] = True
    opening, closing = quotes[0::2], quotes[1::2]
    before = np.where(opening > 0, bytes_[opening - 1], _NEWLINE)
    after = np.where(closing + 1 < len(bytes_), bytes_[np.minimum(closing + 1, len(bytes_) - 1)], _NEWLINE)
    return bool(allowed[before].all() and allowed[after].all())


def _meant_as_quotation(
    bytes_: NDArray[np.uint8], sep: int, quotes: NDArray[np.int64], plain: Records, strict: Records
) -> bool:
    strict, plain = _without_blank(strict), _without_blank(plain)
    if not plain.even:
        # Where neither reading gives rows of one length, the error is told in terms of the stricter one.
        return True
    if not strict.even or sep != _TAB:
        return strict.even
    # Two marks in a row are one doubled mark, or an empty field.
    if bool((np.diff(quotes) == 1).any()):
        return True
    same_width = len(plain.fields) > 0 and strict.fields[0] == plain.fields[0]
    if same_width and sep == _TAB and strict.breaks_within and strict.separators_within:
        return False
    returns = np.flatnonzero(bytes_ == _RETURN)
    if not same_width or strict.breaks_within or strict.separators_within:
        return True
    if bool((np.searchsorted(quotes, returns) % 2 == 1).any()):
        return True
    return _some_column_is_quoted_throughout(bytes_, sep, quotes, strict)


def _some_column_is_quoted_throughout(
    bytes_: NDArray[np.uint8], sep: int, quotes: NDArray[np.int64], records: Records
) -> bool:
    # Both readings agree on the fields here, so that the field of each opening mark is its rank among separators.
    separators = np.flatnonzero(bytes_ == sep)
    opening = quotes[0::2]
    row = np.searchsorted(records.ends, opening)
    first = np.searchsorted(separators, records.starts)
    column = np.searchsorted(separators, opening) - first[row]
    # The header is often left bare by writers that quote all text.
    per_column = np.bincount(column[row > 0], minlength=int(records.fields[0]))
    return len(records.fields) > 1 and bool((per_column == len(records.fields) - 1).any())


def _header(data: bytes, records: Records, separator: str, quoted: bool, path: Path) -> tuple[str, ...]:
    if not len(records.starts):
        raise InputError("the file is empty", file=path, mend="give a file with at least one example")
    line = data[records.starts[0] : records.ends[0]].decode("utf-8")
    names = _fields(line, separator, quoted)
    if re.fullmatch(r"\W?sep=.?", names[0]):
        problem = "the first line names the separator, and is no header"
        raise InputError(problem, file=path, row=1, mend=_without_first_lines(path, 1))
    for name in names:
        if names.count(name) > 1 and name:
            raise InputError(
                f"the header names the column {name!r} twice", file=path, row=1, mend="rename one of the two"
            )
    taken = {name for name in names if name}
    return tuple(name or _free_name(i, taken) for i, name in enumerate(names, start=1))


def _without_first_lines(path: Path, n: int) -> str:
    return f"remove {'it' if n == 1 else 'them'} with: {rewriting(path, f'tail -n +{n + 1}', 'rows-')}"


def _is_row(names: tuple[str, ...], data: bytes, records: Records, separator: str, quoted: bool) -> bool:
    """Whether a first line is a row: it has a sentence where the next rows have one, and no name of a known role."""
    spans = list(zip(records.starts[1:_COMPARED].tolist(), records.ends[1:_COMPARED].tolist(), strict=True))
    rows = [_fields(data[start:end].decode("utf-8"), separator, quoted) for start, end in spans]
    if len(names) < 2 or not rows or any(map(is_known_column, names)):
        return False
    sentences = [at for at, name in enumerate(names) if len(name.split()) >= _SENTENCE]
    return any(
        2 * sum(len(row[at].split()) >= _SENTENCE for row in rows if at < len(row)) > len(rows) for at in sentences
    )


def _free_name(number: int, taken: set[str]) -> str:
    name = f"column_{number}"
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _check_even(
    data: bytes, records: Records, n_columns: int, extra: int, first: int, path: Path, quoted: bool, separator: str
) -> None:
    fields = records.fields[first:]
    bad = np.flatnonzero((fields < n_columns) | (fields > n_columns + extra))
    if not len(bad):
        return
    what = "tab" if separator == "\t" else repr(separator)
    row = int(records.lines[first + bad[0]])
    n = next((at for at, line in enumerate(data.split(b"\n")) if not line.startswith(b"#")), 0)
    if n > 1:
        raise InputError(f"the first {n} lines are comments", file=path, row=1, mend=_without_first_lines(path, n))
    if first and len(fields) > 1 and (fields == fields[0]).all():
        if n_columns == 1:
            problem = f"the first line has 1 field, and every other line {fields[0]} (separator {what})"
            raise InputError(problem, file=path, row=1, mend=f"where it is a comment, {_without_first_lines(path, 1)}")
        last = np.frombuffer(data, np.uint8)[records.ends[first:] - 1]
        if fields[0] == n_columns + 1 and not records.breaks_within and (last == ord(separator)).all():
            problem = f"every row ends in the separator {what}, and the header does not"
            written = "\\t" if separator == "\t" else separator
            command = f"sed 's/{written}$//'"
            mend = f"remove it with: {rewriting(path, command, 'rows-')}"
            raise InputError(problem, file=path, row=row, mend=mend)
    mend = (
        "mend that row"
        if quoted or separator == "\t"
        else f"mend that row, or put fields that hold {what} between quotation marks"
    )
    raise InputError(
        f"the row has {fields[bad[0]]} fields where {n_columns} are expected (separator {what})",
        file=path,
        row=row,
        mend=mend,
    )


def _parsed(
    data: bytes, records: Records, first: int, separator: str, names: tuple[str, ...], extra: int, quoted: bool
) -> pl.DataFrame:
    starts, ends = records.starts[first:].tolist(), records.ends[first:].tolist()
    schema = dict.fromkeys(names, pl.String)
    if len(names) > 1 and not extra:
        whole = bool((records.starts[first + 1 :] == records.ends[first:-1] + 1).all())
        parts = [(starts[0], ends[-1])] if whole else zip(starts, ends, strict=True)
        frame = pl.read_csv(
            b"\n".join(data[start:end] for start, end in parts),
            has_header=False,
            separator=separator,
            quote_char='"' if quoted else None,
            schema=schema,
            empty_string_is_null=False,
        )
        if frame.height == len(starts):
            return frame
    rows = (data[start:end].decode("utf-8") for start, end in zip(starts, ends, strict=True))
    return pl.DataFrame([_fields(row, separator, quoted)[: len(names)] for row in rows], schema=schema, orient="row")


def _fields(record: str, separator: str, quoted: bool) -> list[str]:
    """Fields of one record, whose quotation is known to be strict."""
    if not quoted:
        return record.split(separator)
    pieces: list[str] = []
    for piece in record.split(separator):
        if pieces and pieces[-1].count('"') % 2:
            pieces[-1] += separator + piece
        else:
            pieces.append(piece)
    return [piece[1:-1].replace('""', '"') if piece.startswith('"') else piece for piece in pieces]
