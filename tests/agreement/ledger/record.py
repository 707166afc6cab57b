"""What a run gave, as plain JSON: verdicts, figures, digests of tables, key paths of documents, what an error names.

Sentences are not kept, since words may change; numbers have 12 significant digits, in tables nine.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

# Keys and columns of what differs by the clock, or from machine to machine: of these only the names are kept.
_VOLATILE = frozenset(
    {"checksum", "cpu_seconds", "digest", "digests", "environment", "evaluation_id", "finished", "goldassay_version",
     "retrieved_timestamp", "schema_version", "seconds", "started"}
)  # fmt: skip
_FILE = re.compile(
    r"[\w./~+=,-]*\w\.(?:jsonl|json|csv|tsv|txt|parquet|arrow|npz|npy|toml|eval|gz|zst|png|tar|html)\b[\w.]*"
)
_ROW = re.compile(r"\b(?:row|line)s? (\d[\d,]*)")
_QUOTED = re.compile(r"(?<!\w)'([^']*)'(?!\w)")
_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]+)")
# Numbers of few values are kept as they are.
_FEW = 3


def rounded(value: float, digits: int = 12) -> Any:
    """A number with so many significant digits: a whole one as it is, none that JSON lacks."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    number = float(value)
    return repr(float(f"{number:.{digits}g}") + 0.0) if math.isfinite(number) else repr(number)


def digest_of(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def table_record(frame: pl.DataFrame) -> dict[str, Any]:
    """Columns in their order, height, a digest of each column's sorted values, and one of the sorted rows.

    The last is the same for any order of rows and columns, and for any names of these.
    """
    cells = {
        name: [_cell(None if name in _VOLATILE else value) for value in frame[name].to_list()] for name in frame.columns
    }
    values = {name: digest_of(sorted(own)) for name, own in cells.items()}
    ordered = [cells[name] for name in sorted(cells, key=values.__getitem__)]
    rows = sorted("\t".join(row) for row in zip(*ordered, strict=True))
    return {"columns": frame.columns, "height": frame.height, "rows": digest_of(rows), "values": values}


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return str(rounded(value, 9))
    if isinstance(value, dict):
        return str({key: _cell(each) for key, each in sorted(value.items())})
    if isinstance(value, list | tuple | np.ndarray | pl.Series):
        return str([_cell(each) for each in value])
    return str(value)


def report_record(document: dict[str, Any]) -> dict[str, Any]:
    """Verdicts and figures of a `report.json`, and its key paths with their numbers."""
    figures: dict[str, Any] = {}
    for row in document.get("figures", []):
        of = ", ".join(f"{key}={value}" for key, value in sorted(row.get("of", {}).items()))
        name = f"{row['id']} ({of})"
        while name in figures:
            name += "'"
        figures[name] = {key: rounded(row[key]) if key != "reason" else row[key]
                         for key in ("value", "low", "high", "n", "reason") if key in row}  # fmt: skip
    verdicts = {question: {key: verdict[key] for key in ("verdict", "at_most") if key in verdict}
                for question, verdict in document.get("verdicts", {}).items()}  # fmt: skip
    rest = {key: value for key, value in document.items() if key != "figures"}
    keys = paths_of({"figures": document.get("figures", [])}, numbers=False)
    return {"verdicts": verdicts, "figures": figures, "keys": paths_of(rest) | keys}


def paths_of(document: Any, *, names: bool = False, numbers: bool = True) -> dict[str, Any]:
    """Key paths of a document, lists collapsed to [], each with its numbers, or a digest of many.

    Args:
        document: Plain JSON.
        names: Keep texts without a space, too.
        numbers: Keep more than the paths.
    """
    found: dict[str, list[Any]] = {}
    for path, value in _leaves(document, ""):
        kept = found.setdefault(path, [])
        is_name = names and isinstance(value, str) and " " not in value
        if numbers and value is not None and (is_name or isinstance(value, bool | int | float)):
            kept.append(value)
    return {
        path: [each if isinstance(each, str) else rounded(each) for each in kept]
        if len(kept) <= _FEW
        else {"n": len(kept), "content": digest_of(map(_cell, kept))}
        for path, kept in sorted(found.items())
    }


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, each in value.items():
            below = f"{path}.{key}" if path else str(key)
            if key in _VOLATILE:
                yield below, None
            else:
                yield from _leaves(each, below)
    elif isinstance(value, list | tuple) and len(value):
        for each in value:
            yield from _leaves(each, f"{path}[]")
    else:
        yield path, None if isinstance(value, dict | list | tuple) else value


def file_record(path: Path) -> Any:
    """What a written file holds, by its ending."""
    match path.suffix:
        case ".json":
            document = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(document, dict) and "figures" in document:
                return report_record(document)
            return {"keys": paths_of(document, names=True)}
        case ".parquet":
            return table_record(pl.read_parquet(path))
        case ".jsonl":
            return table_record(pl.read_ndjson(path, infer_schema_length=None))
        case ".csv" | ".tsv":
            # Beside a table of the same name it is the same in print.
            if path.with_suffix(".parquet").exists():
                return "written"
            separator = "\t" if path.suffix == ".tsv" else ","
            return table_record(pl.read_csv(path, separator=separator, infer_schema=False))
        case ".npz":
            with np.load(path) as arrays:
                return {name: plain(arrays[name]) for name in sorted(arrays.files)}
        case ".html":
            text = path.read_text(encoding="utf-8")
            return {tag: len(re.findall(rf"<{tag}\b", text)) for tag in ("section", "table", "tr", "figure", "canvas")}
        case _:
            return "written"


def error_record(said: str, *, below: Path) -> dict[str, Any]:
    """What the message of an error names; its words are for the reader, and are not compared.

    Args:
        said: What was written.
        below: The folder of the run, which is left out of paths.
    """
    line = (said.strip().splitlines() or [""])[-1].removeprefix("goldassay: ").replace(f"{below}/", "")
    found = {"files": _FILE.findall(line), "rows": _ROW.findall(line), "quoted": _QUOTED.findall(line),
             "options": _OPTION.findall(line)}  # fmt: skip
    return {**{name: sorted(set(values)) for name, values in found.items()}, "line": line}


def plain(value: Any) -> Any:
    """Any result of a public function as plain JSON."""
    if isinstance(value, pl.DataFrame):
        return table_record(value)
    if isinstance(value, np.ndarray):
        return {"shape": list(value.shape), "content": digest_of(_cell(each) for each in value.ravel().tolist())}
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int | float | np.number):
        return rounded(value)  # type: ignore[arg-type]
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "verdicts") and hasattr(value, "tables"):
        tables = {name: table_record(table) for name, table in value.tables.items()}
        return {"report": report_record(value.to_dict()), "figures": list(value.figures.columns), "tables": tables}
    if hasattr(value, "to_dict"):
        return paths_of(_json_of(value.to_dict()), names=True)
    if dataclasses.is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value) if each.repr}
    names = [name for name in dir(type(value)) if not name.startswith("_")]
    return {name: plain(each) for name in names if not callable(each := getattr(value, name))}


def _json_of(document: Any) -> Any:
    return json.loads(
        json.dumps(document, default=lambda each: each.tolist() if hasattr(each, "tolist") else str(each))
    )
