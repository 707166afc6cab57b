"""Which runs a long table holds, of its key columns alone: what a list of runs needs, in little memory.

Parquet and CSV are scanned in pieces, of which only the key columns are kept; of JSON lines one is parsed at a time. A
table of a gigabyte takes a few hundred megabytes, not five times its size.
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.bounds import check_columns, check_depth, check_parquet, panics_unprinted, reason
from goldassay.core.errors import InputError
from goldassay.data.column_names import names_of
from goldassay.data.fields import RIGHT_WORDS, WRONG_WORDS
from goldassay.runs.tables import (
    GZIP,
    ZIP,
    ZSTD,
    head_of,
    is_parquet,
    lines_of,
    read_table,
    refuse_column_twice,
    separated_by,
    start_of,
    unpacked,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from goldassay.runs.run_parts import Request

# The columns of a table of runs by role: other names that tools give them.
SYNONYMS: dict[str, tuple[str, ...]] = {
    role: names_of(role, "runs")
    for role in (
        *("example_id", "prediction", "score", "logits", "features", "label"),
        *("seed", "checkpoint", "model", "dataset", "split", "condition", "train_set", "status", "output", "trial"),
    )
}

# No table of a user has such columns.
_COUNT, _FIRST = "goldassay:rows", "goldassay:first"
# Smaller tables are read at once, which is quicker than scanning them.
_SMALL = 1 << 20
_NUMBER = re.compile(r"-?[0-9]{1,18}")
# Rows that tell of what kind a column is.
_HEAD = 1000


@dataclass(frozen=True)
class KeyColumns:
    """A table, known by its key columns.

    Attributes:
        columns: Names of all columns.
        path: Of the file.
    """

    columns: list[str]
    path: Path
    _rows: pl.LazyFrame
    _first: Mapping[str, Any] | None = None

    def first_values(self, names: Sequence[str]) -> list[Any]:
        """The first value of each of these columns, nulls left out; None where the first rows have none.

        Raises:
            InputError: The table is damaged.
        """
        if self._first is not None:
            return [self._first[name] for name in names]
        try:
            with panics_unprinted():
                rows = self._rows.select(names).head(_HEAD).collect()
        except pl.exceptions.PolarsError:
            table = read_table(self.path)
            rows = pl.DataFrame() if table is None else table.select(names)
        return [next(iter(column.drop_nulls().head(1).to_list()), None) for column in rows.iter_columns()]

    def counted(self, names: Sequence[str]) -> list[tuple[dict[str, Any], int]]:
        """Each combination of values of these columns, in the order in which they appear, and its number of rows.

        Raises:
            InputError: The table is damaged.
        """
        rows = self._rows if _COUNT in self._rows.collect_schema() else self._rows.with_columns(pl.lit(1).alias(_COUNT))
        try:
            return _collected(rows, names)
        except pl.exceptions.PolarsError:
            # The whole table is read with better messages, or it can be read as a whole only.
            table = read_table(self.path)
            if table is None:
                return []
            return _collected(table.lazy().with_columns(pl.lit(1).alias(_COUNT)), names)

    def repeats(self, names: Sequence[str], of: str) -> list[tuple[dict[str, Any], list[int]]]:
        """Each combination of values of these columns, and how many rows it has for each value of another column."""
        rows = self._rows if _COUNT in self._rows.collect_schema() else self._rows.with_columns(pl.lit(1).alias(_COUNT))
        try:
            return _repeated(rows, names, of)
        except pl.exceptions.PolarsError:
            table = read_table(self.path)
            return [] if table is None else _repeated(table.lazy().with_columns(pl.lit(1).alias(_COUNT)), names, of)


def _repeated(rows: pl.LazyFrame, names: Sequence[str], of: str) -> list[tuple[dict[str, Any], list[int]]]:
    key = list(dict.fromkeys((*names, of)))
    first = rows.select(*key, _COUNT).with_row_index(_FIRST)
    each = first.group_by(key).agg(pl.col(_COUNT).sum(), pl.col(_FIRST).min())
    if names:
        each = each.group_by(names).agg(pl.col(_COUNT), pl.col(_FIRST).min()).sort(_FIRST).drop(_FIRST)
    else:
        each = each.select(pl.col(_COUNT).implode())
    with panics_unprinted():
        found = each.collect(engine="streaming").to_dicts()
    return [(row, row.pop(_COUNT)) for row in found]


def _collected(rows: pl.LazyFrame, names: Sequence[str]) -> list[tuple[dict[str, Any], int]]:
    if names:
        first = rows.select(*names, _COUNT).with_row_index(_FIRST)
        rows = first.group_by(names).agg(pl.col(_COUNT).sum(), pl.col(_FIRST).min()).sort(_FIRST).drop(_FIRST)
    else:
        rows = rows.select(pl.col(_COUNT).sum())
    with panics_unprinted():
        found = rows.collect(engine="streaming").to_dicts()
    return [(row, row.pop(_COUNT)) for row in found if row[_COUNT]]


def is_large(path: Path) -> bool:
    """Whether a table is scanned for its key columns where it is only listed."""
    return path.stat().st_size > _SMALL


def key_columns(path: Path, is_key: Callable[[str], bool]) -> KeyColumns | None:
    """The table at a path, as `read_table` recognizes it; None if it is none.

    Args:
        path: Of the file.
        is_key: Whether a column of this name may be asked for.

    Raises:
        InputError: The file is damaged, or has too many columns.
    """
    if is_parquet(path):
        check_parquet(path, path)
        rows = pl.scan_parquet(path)
        return KeyColumns(rows.collect_schema().names(), path, rows)
    start = start_of(path, 4)
    if start == ZIP:
        return None
    head = head_of(path).lstrip(b"\xef\xbb\xbf").lstrip()
    if not head:
        raise InputError("the file is empty", file=path, mend="leave it out")
    if b"\0" in head:
        return None
    if head.startswith(b"["):
        # An array is parsed as a whole.
        table = read_table(path)
        return None if table is None else KeyColumns(table.columns, path, table.lazy())
    if head.startswith(b"{"):
        return _of_json_lines(path, is_key)
    separator, quoted = separated_by(head)
    if separator is None:
        return None
    is_packed = start == ZSTD or start[:2] == GZIP
    rows = pl.scan_csv(
        unpacked(path) if is_packed else path,
        separator=separator,
        quote_char='"' if quoted else None,
        infer_schema=False,
        encoding="utf8",
    )
    try:
        names = rows.collect_schema().names()
    except pl.exceptions.PolarsError:
        table = read_table(path)
        return None if table is None else KeyColumns(table.columns, path, table.lazy())
    check_columns(path, len(names))
    refuse_column_twice(names, path)
    return KeyColumns(names, path, rows)


def _of_json_lines(path: Path, is_key: Callable[[str], bool]) -> KeyColumns | None:
    first: dict[str, Any] = {}
    is_key = functools.cache(is_key)
    # By values and their types, since 1 equals true.
    met: dict[tuple[Any, ...], tuple[dict[str, Any], int]] = {}
    for number, line in enumerate(lines_of(path), start=1):
        if not line.strip():
            continue
        check_depth(line, path, number - 1)
        try:
            record = json.loads(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
        except ValueError as error:
            if number == 1:
                return None
            raise InputError(
                f"the line is not JSON ({reason(error)})", file=path, row=number, mend="write or copy the file again"
            ) from error
        if not isinstance(record, dict):
            raise InputError("the line is not a JSON object", file=path, row=number)
        if not record.keys() <= first.keys():
            first.update({name: first.get(name) for name in record})
            check_columns(path, len(first))
        if number <= _HEAD:
            first.update({name: value for name, value in record.items() if first[name] is None})
        keys = {name: value for name, value in record.items() if is_key(name)}
        known = tuple((name, type(value), _hashable(value)) for name, value in keys.items())
        met[known] = keys, met.get(known, (keys, 0))[1] + 1
    rows = [{**keys, _COUNT: n} for keys, n in met.values()]
    return KeyColumns(list(first), path, pl.DataFrame(rows, infer_schema_length=None, strict=False).lazy(), first)


def _hashable(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, (list, dict)) else value


def find_roles(names: list[str], given: dict[str, str], path: Path | None) -> dict[str, str]:
    """Say which column plays which role.

    Raises:
        InputError: A column that was named is not there, or a role does not exist.
    """
    for role, name in given.items():
        if role not in SYNONYMS and role != "group":
            raise InputError(f"there is no role {role!r}", mend=f"roles are {', '.join(SYNONYMS)}")
        if name not in names:
            raise InputError("there is no such column", file=path, column=name, mend=f"it has {', '.join(names[:12])}")
    lower = {name.lower(): name for name in reversed(names)}
    taken = set(given.values())
    roles = dict(given)
    for role, synonyms in SYNONYMS.items():
        if role not in roles:
            found = next((lower[s] for s in synonyms if s in lower and lower[s] not in taken), None)
            if found is not None:
                roles[role] = found
    return roles


def as_number(value: Any) -> int | str:
    """A seed or checkpoint as a whole number where it is one, else as a name."""
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
    # Arrays hold whole numbers of 64 bits; what is larger is a name.
    return int(text) if _NUMBER.fullmatch(text) else text


def as_scores(column: pl.Series, path: Path) -> pl.Series:
    """A column of scores as numbers; true and false, passed and failed are 1 and 0, and what is missing stays missing.

    Raises:
        InputError: A value is neither a number nor true or false.
    """
    if column.dtype == pl.String:
        plain = column.str.strip_chars().str.to_lowercase()
        column = plain.replace({**dict.fromkeys(RIGHT_WORDS, "1"), **dict.fromkeys(WRONG_WORDS, "0")})
    numbers = column.cast(pl.Float64, strict=False)
    lost = numbers.is_null() & column.is_not_null()
    if lost.any():
        row = int(lost.arg_max() or 0)
        raise InputError(
            f"{int(lost.sum())} scores are not numbers, the first is {column[row]!r}",
            file=path,
            column=column.name,
            mend="leave them empty if these examples were not scored",
        )
    return numbers


def is_beside_the_point(names: list[str], request: Request) -> bool:
    """Whether a table that was merely found in a folder has none of the named columns, nor others that runs have."""
    if request.outright or not request.columns:
        return False
    known = {synonym for role in ("prediction", "score", "logits") for synonym in SYNONYMS[role]}
    return not set(request.columns.values()) & set(names) and not known & {name.lower() for name in names}


def column_of_names(table: pl.DataFrame, key: Sequence[str], taken: Collection[str]) -> str | None:
    """The column of few names in which all rows that share a key differ; None where there is none.

    Of the texts of several answers to one example few stand beside most examples, and these are no names.

    Args:
        table: Rows of which some share a key.
        key: The columns that name an example.
        taken: Columns with a role.
    """
    n_keys = table.select(pl.struct(key).n_unique()).item()
    for name in table.columns:
        values = table[name]
        if name in key or name in taken or values.dtype != pl.String or values.null_count():
            continue
        is_few = 2 <= values.n_unique() <= 2 * table.height / n_keys
        if is_few and not table.select(*key, name).is_duplicated().any():
            return name
    return None
