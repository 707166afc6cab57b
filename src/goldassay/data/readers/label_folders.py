"""One text a file in a folder a label, as IMDb is published: train/pos/0_9.txt, or pos/0_9.txt."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import polars as pl

from goldassay.data.column_names import PARTS
from goldassay.data.readers import CERTAIN, LIKELY, NO
from goldassay.data.source import check_text
from goldassay.data.table import InputFile, Table

if TYPE_CHECKING:
    from pathlib import Path

name = "label-folders"

# IMDb keeps reviews without a label beside the labelled ones.
_UNLABELLED = "unsup"
_RATED = re.compile(r"^\d+_(\d+)$")


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """A folder with at least two folders of text files, directly or below parts."""
    if not path.is_dir():
        return NO
    for _, folder in _parts(path):
        labels = {label.name.lower() for label in _labels(folder)}
        if {"pos", "neg"} <= labels:
            return CERTAIN
        if len(labels) > 1:
            return LIKELY
    return NO


def read(path: Path) -> Table:
    """Read one row a file: id (its path), label (its folder), text, and IMDb's rating from the file's name."""
    rows: list[dict[str, str | None]] = []
    digest, size = hashlib.sha256(), 0
    for part, folder in _parts(path):
        for label in _labels(folder):
            for file in sorted(label.glob("*.txt"), key=_natural):
                data = file.read_bytes()
                check_text(data, file)
                digest.update(data)
                size += len(data)
                rated = _RATED.match(file.stem)
                rows.append(
                    {
                        "id": file.relative_to(path).with_suffix("").as_posix(),
                        "split": part,
                        "label": label.name,
                        "rating": rated.group(1) if rated else None,
                        "text": data.decode("utf-8"),
                    }
                )
    frame = pl.DataFrame(rows, schema=dict.fromkeys(("id", "split", "label", "rating", "text"), pl.String))
    empty = [column for column in ("split", "rating") if frame[column].null_count() == frame.height]
    decision = "Labels are the names of the folders; the fingerprint is that of all texts in order."
    entry = InputFile(path.resolve().name, digest.hexdigest(), size)
    return Table(frame.drop(empty), name, (entry,), (decision,))


def _parts(path: Path) -> list[tuple[str | None, Path]]:
    folders = [folder for folder in sorted(path.iterdir()) if folder.is_dir()]
    parts: list[tuple[str | None, Path]] = [
        (PARTS[folder.name.lower()], folder) for folder in folders if folder.name.lower() in PARTS
    ]
    return [part for part in parts if _labels(part[1])] or [(None, path)]


def _labels(folder: Path) -> list[Path]:
    return [
        label
        for label in sorted(folder.iterdir())
        if label.is_dir() and label.name.lower() != _UNLABELLED and next(label.glob("*.txt"), None)
    ]


def _natural(file: Path) -> tuple[int, str]:
    number = re.match(r"\d+", file.stem)
    return (int(number.group()) if number else -1, file.stem)
