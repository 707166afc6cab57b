"""Where the studies' sets lie in a folder of data, and where they come from; `sources.toml` is the list."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from goldassay.core.errors import InputError
from goldassay.data import read_dataset
from goldassay.runs.specimen import write_specimen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goldassay.data import Dataset
    from goldassay.papers.recipe import Scale

# A made-up set needs no file: `specimen/train` is the training part of a specimen that is written on the spot.
SPECIMEN = "specimen/"
SPECIMEN_ROWS = 2_000


@dataclass(frozen=True)
class Source:
    """A set of somebody else's.

    Attributes:
        files: Where it may lie in the folder of data; the first that is there is read.
        origin: Where the official files come from.
    """

    files: tuple[str, ...]
    origin: str

    def find(self, data: Path | None) -> Path | None:
        """The file that is there, if any is."""
        if data is None:
            return None
        return next((data / name for name in self.files if (data / name).exists()), None)


@cache
def known_sources() -> Mapping[str, Source]:
    """All of the list, by name."""
    listed = tomllib.loads(files("goldassay.papers").joinpath("sources.toml").read_text("utf-8"))
    return {name: Source(tuple(entry["files"]), entry["origin"]) for name, entry in listed.items()}


def lacking_sets(scale: Scale, data: Path | None) -> dict[str, str]:
    """Of a study's sets and files those that are not there, each with where it is looked for and comes from.

    Raises:
        InputError: There is no such folder.
    """
    if data is not None and not data.is_dir():
        problem = "is no folder" if data.exists() else "there is no such folder"
        raise InputError(problem, file=data, mend="give the folder of the datasets with --data")
    found = {}
    for name, place in {**scale.sets, **scale.files}.items():
        if place.startswith(SPECIMEN):
            continue
        source = known_sources()[place]
        if source.find(data) is None:
            found[name] = f"{' or '.join(source.files)}, from {source.origin}"
    return found


def read_sets(scale: Scale, data: Path | None, folder: Path, seed: int) -> dict[str, Dataset]:
    """The study's sets that are there, under the names that tables give them.

    Args:
        scale: Says which.
        data: The folder with others' files.
        folder: Of the study; the specimen is written into it.
        seed: Of the specimen.

    Raises:
        InputError: A file cannot be read.
    """
    read = {}
    if any(place.startswith(SPECIMEN) for place in scale.sets.values()):
        write_specimen(folder / "specimen", size=SPECIMEN_ROWS, seed=seed, test_size=SPECIMEN_ROWS // 10)
    for name, place in scale.sets.items():
        if place.startswith(SPECIMEN):
            file: Path | None = folder / "specimen" / f"{place.removeprefix(SPECIMEN)}.jsonl"
        else:
            file = known_sources()[place].find(data)
        if file is not None:
            read[name] = replace(read_dataset(file), name=name)
    return read
