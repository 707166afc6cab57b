"""Where the studies' sets lie in a folder of data, and where they come from; `sources.toml` is the list.

Printed cells beside which nothing of ours is, and why: what was not run needs something that is not there.

Several sets as one, to train on or to be tested with.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.extensions import extensions
from goldassay.core.numbers import count
from goldassay.data.languages import ENGLISH, strange_language
from goldassay.data.reading import read_dataset
from goldassay.data.source import find_published
from goldassay.data.table import Provenance
from goldassay.runs.specimen import write_specimen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from goldassay.data.dataset import Dataset
    from goldassay.lab.papers.recipe import Comparison, NotRun, Scale

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


def known_sources() -> Mapping[str, Source]:
    """All of the list, and those that other distributions add, by name."""
    own = _listed()
    return {**own, **extensions("goldassay.sources", taken=own)}


@cache
def _listed() -> Mapping[str, Source]:
    listed = tomllib.loads(files("goldassay.lab.papers").joinpath("sources.toml").read_text("utf-8"))
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


NOT_RUN = "not_run"
_SETS, _MODEL, _SPLIT = ("dataset", "train"), "model", "split"
_METRIC, _SIZE = "metric", "examples"


def with_reasons(comparison: Comparison, not_run: Iterable[NotRun]) -> Comparison:
    """Say in each printed cell without a figure of ours what it would need, as far as that is known.

    The column `not_run` is added where any cell has a reason; printed rows that are not shown else are shown then.
    """
    cells = comparison.cells
    if comparison.unmatched is not None:
        cells = pl.concat([cells, comparison.unmatched], how="diagonal_relaxed")
    listed = list(not_run)
    rows = cells.to_dicts()
    reasons = [_reason({**comparison.of, **row}, listed) for row in rows]
    if not any(reasons):
        return comparison
    cells = cells.with_columns(pl.Series(NOT_RUN, reasons, pl.String))
    n_shown = comparison.cells.height
    shown = pl.int_range(pl.len()) < n_shown
    return replace(comparison, cells=cells.filter(shown | pl.col(NOT_RUN).is_not_null()), unmatched=None)


def _reason(row: Mapping[str, Any], not_run: Iterable[NotRun]) -> str | None:
    """Of a cell that has a printed figure alone."""
    if row.get("printed") is None or row.get("ours") is not None:
        return None
    sets = {str(row[key]) for key in _SETS if row.get(key) is not None}
    if row.get(_SPLIT) is not None and row.get(_METRIC) == _SIZE:
        # Of a file, which no training of others brings.
        split = str(row[_SPLIT])
        files = {f"{name} {split}" for name in sets} | (sets if split == "test" else set())
        return next((f"needs {name}" for each in not_run for name in each.needs if name in files), None)
    if row.get(_SPLIT) is not None:
        sets = {f"{name} {row[_SPLIT]}" for name in sets} | sets
    sets |= {f"{name} train" for name in sets}
    model = row.get(_MODEL)
    found = [
        each
        for each in not_run
        if (not sets or not sets.isdisjoint((each.test, each.train))) and (model is None or each.model == model)
    ]
    if not found:
        return None
    # A test set says more of a cell than what it is trained on.
    return next((each.why for each in found if each.test in sets), found[0].why)


def join_sets(name: str, sets: dict[str, Dataset]) -> Dataset:
    """The rows of all sets one after the other; ids carry the name of their set.

    Some may lack a label that others have, as parts of a test set do.

    Raises:
        InputError: The sets have other texts, or labels that the one with most of them has not.
    """
    first = max(sets.values(), key=lambda each: len(each.label_names))
    for key, each in sets.items():
        if each.text_columns != first.text_columns or not set(each.label_names) <= set(first.label_names):
            raise InputError(
                f"{key} has {', '.join(each.text_columns)} and labels {', '.join(each.label_names)}, not those of "
                f"{first.name}",
                file=each.source,
                mend="join sets of one kind",
            )
    columns = ["example_id", *first.text_columns, "label"]
    parts = [
        each.examples.select(columns).with_columns(pl.lit(f"{key}/").add(pl.col("example_id")).alias("example_id"))
        for key, each in sets.items()
    ]
    files = tuple(file for each in sets.values() for file in each.provenance.files)
    return replace(
        first,
        examples=pl.concat(parts),
        name=name,
        groups=(),
        provenance=Provenance(files=files, format="joined", n_read=sum(part.height for part in parts)),
    )
