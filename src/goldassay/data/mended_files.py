"""The bytes of a dataset file after some rows were dropped and some cells replaced; all else stays as it was."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.errors import InputError
from goldassay.data.reading import name_of
from goldassay.data.source import read_text, text_form

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from goldassay.data.table import Table


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
        new = json.dumps({**content, **changed[own]}, ensure_ascii=False).encode("utf-8")
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
