"""Where the studies' sets lie in a folder of data, and where they come from; `sources.toml` is the list."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.numbers import count
from goldassay.data import read_dataset
from goldassay.data.languages import ENGLISH, strange_language
from goldassay.data.published_files import find_published
from goldassay.runs.specimen import write_specimen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goldassay.data import Dataset
    from goldassay.papers.recipe import Scale

# A made-up set needs no file: `specimen/train` is the training part of a specimen that is written on the spot.
SPECIMEN = "specimen/"
# Nor does one that a study makes up itself.
PLANTED = "planted"
_LANGUAGE = "language"
# How far a size may lie from one that is printed in thousands.
_NEAR = 0.1


def is_made_up(place: str) -> bool:
    """Whether a set comes from nowhere, and is made on the spot."""
    return place == PLANTED or place.startswith(SPECIMEN)


@dataclass(frozen=True)
class Source:
    """A set of somebody else's.

    Attributes:
        files: Where it may lie in the folder of data; the first that is there is read.
        origin: Where the official files come from.
        rows: How many rows the whole file may have; any number if there are none.
        near: About how many it has.
        language: Of its texts.
        languages: That its column of languages has, if it has one.
    """

    files: tuple[str, ...]
    origin: str
    rows: tuple[int, ...] = ()
    near: int | None = None
    language: str = ENGLISH
    languages: tuple[str, ...] = ()

    def find(self, data: Path | None) -> Path | None:
        """The file that is there, if any is."""
        return None if data is None else find_published(data, self.files)

    @property
    def wanted(self) -> str:
        """What it needs, in a few words."""
        return f"needs {' or '.join(self.files)}, from {self.origin}"

    def unfit(self, dataset: Dataset) -> str | None:
        """Why what was read is not the published set, in a few words; None where it may be."""
        read, kept = dataset.provenance.n_read, len(dataset)
        if self.rows and read not in self.rows and kept not in self.rows:
            return f"it has {count(read)} rows, the published one {' or '.join(map(count, self.rows))}"
        if self.near is not None and abs(read - self.near) > _NEAR * self.near:
            return f"it has {count(read)} rows, the published one about {count(self.near)}"
        there: set[str] = set()
        if _LANGUAGE in dataset.groups:
            there = set(dataset.examples[_LANGUAGE].cast(pl.String).unique().to_list())
        if self.languages and there != set(self.languages):
            said = ", ".join(sorted(there)) if there else "none"
            return f"its column of languages has {said}, not {', '.join(self.languages)}"
        for code in self.languages or (self.language,):
            part = dataset
            if self.languages:
                part = dataset.take((dataset.examples[_LANGUAGE].cast(pl.String) == code).to_numpy())
            for role in dataset.text_columns:
                strange = strange_language(part.texts(role), code)
                if strange is not None:
                    return f"the texts of its {role} are {strange}, where they should be {code!r}"
        return None


@cache
def known_sources() -> Mapping[str, Source]:
    """All of the list, by name."""
    listed = tomllib.loads(files("goldassay.papers").joinpath("sources.toml").read_text("utf-8"))
    return {
        name: Source(
            files=tuple(entry["files"]),
            origin=entry["origin"],
            rows=tuple(entry.get("rows", ())),
            near=entry.get("near"),
            language=entry.get("language", ENGLISH),
            languages=tuple(entry.get("languages", ())),
        )
        for name, entry in listed.items()
    }


def lacking_sets(scale: Scale, data: Path | None, without: Sequence[str] = ()) -> dict[str, str]:
    """Of a study's sets and files those that are not there or are left out, each with what it needs.

    Raises:
        InputError: There is no such folder.
    """
    if data is not None and not data.is_dir():
        problem = "is no folder" if data.exists() else "there is no such folder"
        raise InputError(problem, file=data, mend="give the folder of the datasets with --data")
    found = {}
    for name, place in {**scale.sets, **scale.files}.items():
        if name in without:
            found[name] = f"left out with {option('without')}"
        elif not is_made_up(place):
            source = known_sources()[place]
            if source.find(data) is None:
                found[name] = source.wanted
    return found


def read_sets(
    scale: Scale, data: Path | None, folder: Path, seed: int, absent: dict[str, str] | None = None
) -> dict[str, Dataset]:
    """The study's sets that are there, under the names that tables give them.

    Args:
        scale: Says which.
        data: The folder with others' files.
        folder: Of the study; the specimen is written into it.
        seed: Of the specimen.
        absent: Names of sets that are not read; at a strict size those that are not what was published are added, each
            with why.

    Raises:
        InputError: A file cannot be read.
    """
    read, absent = {}, {} if absent is None else absent
    if any(place.startswith(SPECIMEN) for place in scale.sets.values()):
        size, test_size = scale.specimen_rows
        write_specimen(folder / "specimen", size=size, seed=seed, test_size=test_size)
    for name, place in scale.sets.items():
        if name in absent or place == PLANTED:
            continue
        if place.startswith(SPECIMEN):
            read[name] = replace(read_dataset(folder / "specimen" / f"{place.removeprefix(SPECIMEN)}.jsonl"), name=name)
            continue
        source = known_sources()[place]
        file = source.find(data)
        if file is not None:
            dataset = read_dataset(file)
            unfit = source.unfit(dataset) if scale.strict else None
            if unfit is None:
                read[name] = replace(dataset, name=name)
            else:
                absent[name] = f"{file}: {unfit}; {source.wanted}"
    return read
