"""A folder that `datasets` has saved: one dataset, or one for each part."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from goldassay.core.errors import InputError
from goldassay.data.labels import class_names_of
from goldassay.data.readers import CERTAIN, NO, arrow
from goldassay.data.table import InputFile, Table, stacked

name = "saved-dataset"


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """A folder with the library's state or list of parts."""
    if not path.is_dir():
        return NO
    return CERTAIN if (path / "state.json").is_file() or (path / "dataset_dict.json").is_file() else NO


def read(path: Path) -> Table:
    """Read all parts; integer labels take the names that the dataset's info gives."""
    parts = path / "dataset_dict.json"
    if not parts.is_file():
        return _saved(path)
    names = _json(parts).get("splits", [])
    if not names:
        raise InputError("the saved dataset lists no part", file=parts, mend="save the dataset again")
    return stacked({str(part): _saved(path / str(part)) for part in names}, name)


def _saved(folder: Path) -> Table:
    state = _json(folder / "state.json")
    frames: list[pl.DataFrame] = []
    files: list[InputFile] = []
    class_names: dict[str, tuple[str, ...]] = {}
    for item in state.get("_data_files", []):
        table = arrow.read(folder / Path(item["filename"]).name)
        frames.append(table.frame)
        files.extend(table.files)
        class_names.update(table.class_names)
    if not frames:
        raise InputError("the saved dataset has no data files", file=folder, mend="save the dataset again")
    info = folder / "dataset_info.json"
    if info.is_file():
        class_names.update(class_names_of(_json(info)))
    return Table(pl.concat(frames), name, tuple(files), class_names=class_names)


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise InputError("the saved dataset lacks this file", file=path, mend="save the dataset again") from error
    except ValueError as error:
        raise InputError("the file is not valid JSON", file=path, mend="save the dataset again") from error
    return value if isinstance(value, dict) else {}
