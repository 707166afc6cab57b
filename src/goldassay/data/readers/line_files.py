"""A file of texts and one of labels, a line each: train_text.txt beside train_labels.txt, as in TweetEval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.data.column_names import PARTS
from goldassay.data.readers import CERTAIN, NO
from goldassay.data.source import read_text
from goldassay.data.table import InputFile, Table, stacked

if TYPE_CHECKING:
    from pathlib import Path


name = "line-files"

_TEXT, _LABELS = "_text.txt", "_labels.txt"
# A code and its name a line, in the folder or the one above it.
_NAMES = "mapping.txt"


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """A folder with such a pair of files, or with folders of them."""
    return CERTAIN if path.is_dir() and _tasks(path) else NO


def read(path: Path) -> Table:
    """Read one row a line; the rows of several folders have the folder's name as group."""
    tasks = {folder.name: _of_folder(folder) for folder in _tasks(path)}
    if len(tasks) == 1:
        return next(iter(tasks.values()))
    said = f"Each folder is a group of rows: {', '.join(tasks)}."
    return stacked(tasks, name, (said,), "topic")


def _tasks(path: Path) -> list[Path]:
    if _pairs(path):
        return [path]
    return [folder for folder in sorted(path.iterdir()) if folder.is_dir() and _pairs(folder)]


def _pairs(folder: Path) -> dict[str, tuple[Path, Path]]:
    """The files of texts and of labels of each part."""
    found = {}
    for texts in sorted(folder.glob(f"*{_TEXT}")):
        stem = texts.name.removesuffix(_TEXT)
        labels = folder / f"{stem}{_LABELS}"
        if labels.is_file():
            found[PARTS.get(stem.lower(), stem)] = (texts, labels)
    order = ("train", "dev", "test")
    return {part: found[part] for part in sorted(found, key=lambda part: (*order, part).index(part))}


def _of_folder(folder: Path) -> Table:
    places = (folder / _NAMES, folder.parent / _NAMES)
    named = next((place for place in places if place.is_file()), None)
    lines = [] if named is None else [line.split("\t", 1) for line in _lines(named)[0] if "\t" in line]
    names = {code.strip(): label.strip() for code, label in lines}
    parts = {}
    for part, (texts, labels) in _pairs(folder).items():
        rows, entry = _lines(texts)
        codes, other = _lines(labels)
        if len(rows) != len(codes):
            raise InputError(
                f"{len(codes)} labels for {len(rows)} texts of {texts.name}", file=labels, mend="give a label a line"
            )
        frame = pl.DataFrame(
            {
                "id": [f"{folder.name}/{part}/{line}" for line in range(1, len(rows) + 1)],
                "text": rows,
                "label": [names.get(code.strip(), code.strip()) for code in codes],
            }
        )
        lines_of = np.arange(1, len(rows) + 1, dtype=np.int64)
        parts[part] = Table(frame, name, (entry, other), lines=lines_of, path=texts)
    shown = f"Each line is a row; the labels of {next(iter(parts))}{_TEXT} stand in {next(iter(parts))}{_LABELS}."
    decisions = (shown, f"The labels are named by {_NAMES}.") if names else (shown,)
    return stacked(parts, name, decisions)


def _lines(path: Path) -> tuple[list[str], InputFile]:
    data, entry = read_text(path)
    return data.decode("utf-8").replace("\r\n", "\n").removesuffix("\n").split("\n"), entry
