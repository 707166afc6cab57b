"""A folder with a file or a folder a part, known by their names: train.tsv, dev.tsv, test.tsv, or shards of them."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.naming import listing
from goldassay.data.column_names import PARTS
from goldassay.data.readers import LIKELY, NO, reader_for
from goldassay.data.source import bare_name
from goldassay.data.table import Table, stacked

if TYPE_CHECKING:
    from pathlib import Path

name = "split-folder"

# In order of preference where a folder holds the same parts in several formats, as SNLI's does.
_ENDINGS = ("parquet", "arrow", "jsonl", "ndjson", "tsv", "tab", "csv", "txt", "json")
_TABLES = ("parquet", "jsonl", "ndjson", "tsv", "csv")
_SHARD = re.compile(r"-\d{5}-of-\d{5}$")


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """A folder with data files of which some name says train, dev or test, or with folders called so."""
    return LIKELY if path.is_dir() and _files(path) else NO


def read(path: Path) -> Table:
    """Read all parts; several files of one part are joined in order of their names."""
    tables: dict[str, Table] = {}
    shown: list[str] = []
    parts = _files(path)
    for part, files in parts.items():
        read_ones = [reader_for(file).read(file) for file in files]
        tables[part] = read_ones[0] if len(read_ones) == 1 else _joined(read_ones, [_rest(file) for file in files])
        shown.extend(f"{file.name} as {part}" for file in files)
    said = [f"Files are read as parts: {', '.join(shown)}."]
    taken = {file for files in parts.values() for file in files}
    others = [file.name for file in sorted(path.iterdir()) if file.is_file() and file not in taken]
    others = [each for each in others if not each.startswith(".")]
    said += [f"Other files are passed over: {listing(others, 5)}."] if others else []
    return stacked(tables, name, tuple(said))


def _files(path: Path) -> dict[str, list[Path]]:
    """Part to its files, of the one format that gives most parts."""
    by_ending: dict[str, dict[str, list[Path]]] = defaultdict(lambda: defaultdict(list))
    for folder in (path, path / "data"):
        if by_ending or not folder.is_dir():
            continue
        for file in sorted(folder.iterdir()):
            stem, _, ending = bare_name(file).rpartition(".")
            part = _part(stem)
            if part and ending in _ENDINGS and file.is_file():
                by_ending[ending][part].append(file)
        # As MMLU's: a folder a part, with a file a subject.
        apart = [] if by_ending else [item for item in folder.iterdir() if item.is_dir() and item.name.lower() in PARTS]
        for file in (file for item in sorted(apart) for file in sorted(item.iterdir())):
            ending = bare_name(file).rpartition(".")[2]
            if ending in _TABLES and file.is_file():
                by_ending[ending][PARTS[file.parent.name.lower()]].append(file)
    if not by_ending:
        return {}
    best = max(by_ending, key=lambda ending: (len(by_ending[ending]), -_ENDINGS.index(ending)))
    order = {"train": 0, "dev": 1, "test": 2}
    chosen = by_ending[best]
    return {part: chosen[part] for part in sorted(chosen, key=lambda part: (order.get(part, 3), part))}


def _part(stem: str) -> str | None:
    words = [word for word in re.split(r"[^a-z0-9]+", _SHARD.sub("", stem)) if word]
    for word in words:
        if word in PARTS:
            rest = [other for other in words[words.index(word) + 1 :] if other in {"matched", "mismatched"}]
            return "_".join([PARTS[word], *rest])
    return None


def _rest(file: Path) -> str:
    """A file's name without its part, ending and numbers: what its rows are about, "" where that is all of it."""
    stem = _SHARD.sub("", bare_name(file).rpartition(".")[0])
    words = [word for word in re.split(r"[^A-Za-z0-9]+", stem) if word and not word.isdigit()]
    return "_".join(word for word in words if word.lower() not in PARTS)


def _joined(tables: list[Table], about: list[str]) -> Table:
    """The rows of several files of one part; their names are groups where each is about something else."""
    frames = [table.frame for table in tables]
    if all(about) and len(set(about)) == len(about) and not any("file" in frame.columns for frame in frames):
        frames = [frame.with_columns(pl.lit(name).alias("file")) for frame, name in zip(frames, about, strict=True)]
    frame = pl.concat(frames, how="diagonal_relaxed")
    files = tuple(file for table in tables for file in table.files)
    return Table(frame, tables[0].format, files, tables[0].decisions, tables[0].class_names, tables[0].roles)
