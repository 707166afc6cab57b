"""Scores of a model repository on the Hugging Face hub, .eval_results/*.yaml: one a benchmark, and no examples.

`read_results` reads them. As data they are refused, since nothing can be audited without examples.

Source: Hugging Face Hub documentation, Evaluation Results.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.errors import InputError, no_such_file
from goldassay.core.naming import listing
from goldassay.data.readers import CERTAIN, LAST_RESORT, NO
from goldassay.data.readers.eval_yaml import parse_yaml
from goldassay.data.source import read_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from goldassay.data.table import Table

name = "eval-results"

FOLDER = ".eval_results"
_FIELDS = {
    "dataset": ("dataset", "id"), "task": ("dataset", "task_id"), "revision": ("dataset", "revision"),
    "date": ("date",), "verify_token": ("verifyToken",), "source_url": ("source", "url"),
    "source_name": ("source", "name"), "source_user": ("source", "user"), "source_org": ("source", "org"),
    "evaluation_framework": ("evaluation_framework",), "notes": ("notes",),
}  # fmt: skip
_REQUIRED = ("dataset", "task")
_SCHEMA = {
    "model": pl.String,
    **dict.fromkeys(_REQUIRED, pl.String),
    "value": pl.Float64,
    **dict.fromkeys((each for each in _FIELDS if each not in _REQUIRED), pl.String),
    "file": pl.String,
}


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """A file in the folder of such scores, that folder, or a repository that holds it."""
    if path.is_dir():
        return CERTAIN if path.name == FOLDER else LAST_RESORT if _files(path) else NO
    return CERTAIN if _files(path) else NO


def read(path: Path) -> Table:
    """Refuse what holds no example.

    Raises:
        InputError: Always.
    """
    problem, mend = describe(path)
    raise InputError(problem, file=path, mend=mend)


def describe(path: Path) -> tuple[str, str]:
    """What a file or folder of scores holds, and what to do; two empty texts where it holds none.

    Raises:
        InputError: A file is not as the hub's documentation has it.
    """
    from goldassay.data.hub import NAME

    if not _files(path):
        return "", ""
    rows = read_results(path).unique(("dataset", "task", "value"), maintain_order=True).to_dicts()
    scores = listing([f"{each['dataset']} {each['task']} {each['value']:g}" for each in rows], 3)
    where = str(rows[0]["dataset"]) if rows else ""
    audit = f"audit the benchmark itself with goldassay audit {where}, or " if NAME.fullmatch(where) else ""
    return f"holds scores of whole benchmarks ({scores}), and no examples", f"{audit}give the logs of the evaluation"


def read_results(path: str | os.PathLike[str]) -> pl.DataFrame:
    """Read the scores of a model: a file, its folder .eval_results, a repository, or a folder of several.

    Returns:
        A row an entry: model (the name of the repository's folder), dataset, task, value (as the file gives it),
        revision, date, verify_token, source_url, source_name, source_user, source_org, evaluation_framework, notes,
        file; null where an entry does not say it.

    Raises:
        InputError: There is no such file, or an entry lacks a field that the hub requires, or has one of another kind.
    """
    place = Path(path)
    if not place.exists():
        raise no_such_file(place)
    return pl.DataFrame([row for file in _files(place) for row in _rows(file)], schema=_SCHEMA)


def _files(place: Path) -> list[Path]:
    below = [place] if place.name == FOLDER else [place / FOLDER, *place.glob(f"*/{FOLDER}")]
    files = [place] if place.is_file() else sorted(file for folder in below for file in folder.glob("*"))
    return [file for file in files if file.parent.name == FOLDER and file.suffix in (".yaml", ".yml")]


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    entries = parse_yaml(read_text(file)[0], file)
    if not isinstance(entries, list) or not entries:
        raise InputError("is no list of results", file=file, mend="write - dataset: {id: OWNER/NAME, task_id: TASK}")
    for number, entry in enumerate(entries, 1):
        found = {column: _field(entry, keys, number, file) for column, keys in _FIELDS.items()}
        lacking = [".".join(_FIELDS[each]) for each in _REQUIRED if found[each] is None]
        if found["source_url"] is None and isinstance(entry, dict) and entry.get("source"):
            lacking.append("source.url")
        if lacking:
            raise InputError(f"result {number} lacks {lacking[0]}", file=file, mend=f"write {lacking[0]} into it")
        value = entry.get("value")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise InputError(
                f"the value of result {number} is {value!r}", file=file, mend="write a number, as in value: 0.5"
            )
        yield {"model": file.parent.parent.name or None, **found, "value": float(value), "file": str(file)}


def _field(entry: Any, keys: tuple[str, ...], number: int, file: Path) -> str | None:
    """A text of an entry; a date that YAML made of one is its text again."""
    value = entry
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    if value is None or isinstance(value, str):
        return value
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    where = ".".join(keys)
    raise InputError(f"{where} of result {number} is {value!r}", file=file, mend=f"write a text, or leave {where} out")
