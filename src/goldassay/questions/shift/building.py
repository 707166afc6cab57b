"""Rows of several domains, made distinct before they are split, into train, dev and test of each.

Building a benchmark of several domains: from its files to sets, lists of ids, and what to do with them.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option, place
from goldassay.core.files import temporary_folder, written_together
from goldassay.data.dataset import Dataset
from goldassay.data.fields import normalized_texts
from goldassay.data.reading import read_dataset
from goldassay.data.roles import parse_columns
from goldassay.data.table import table_of
from goldassay.questions.shift.benchmarks import (
    FoundFile,
    Recipe,
    Rows,
    Split,
    TrainTest,
    find_files,
    load_recipe,
    read_rows,
    recipe_by_column,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_PRIORITY = {"test": 0, "dev": 1, "train": 2}


class SizeCheck(NamedTuple):
    """How many rows of a part were expected and found."""

    name: str
    expected: int
    found: int

    @property
    def equal(self) -> bool:
        """Whether these are as many."""
        return self.found == self.expected


@dataclass(frozen=True)
class BuiltSplits:
    """A benchmark's parts.

    Attributes:
        parts: {domain: {part: its rows}}, in the order of the files.
        dropped: Reason -> rows left out.
        checks: What was expected and found.
        decisions: What was decided on the way, in sentences.
    """

    parts: dict[str, dict[str, pl.DataFrame]]
    dropped: dict[str, int] = field(default_factory=dict)
    checks: list[SizeCheck] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)


def split_rows(recipe: Recipe, rows: Rows, *, seed: int = 0) -> BuiltSplits:
    """Split rows as a recipe says.

    Every text stands once in the whole benchmark (compared without case and with single spaces): official test rows go
    before dev, these before train, and earlier domains before later ones. So no text is on both sides of any of its
    comparisons. Draws depend on the seed and the domain's name alone.

    Args:
        recipe: Says rule, shares and sizes.
        rows: What was read.
        seed: Of the draws.

    Raises:
        InputError: A domain is too small to be split.
    """
    checks = _check_sizes(recipe, rows.table)
    names = list(dict.fromkeys([*recipe.domains, *(file.domain for file in recipe.files if file.domain)]))
    there = rows.table["domain"].unique(maintain_order=True).to_list()
    order = [name for name in names if name in there] or sorted(there)
    table = _distinct(rows, order)
    dropped = dict(rows.dropped)
    if rows.table.height > table.height:
        dropped["text that is there already"] = rows.table.height - table.height
    parts: dict[str, dict[str, pl.DataFrame]] = {}
    decisions: list[str] = []
    for domain in order:
        own = table.filter(pl.col("domain") == domain).sort("__row")
        if recipe.split.first is not None and own.height > recipe.split.first:
            dropped[f"beyond the first {recipe.split.first:,} of a domain"] = (
                dropped.get(f"beyond the first {recipe.split.first:,} of a domain", 0) + own.height - recipe.split.first
            )
            own = own.head(recipe.split.first)
        rng = np.random.default_rng([seed, zlib.crc32(domain.encode())])
        if recipe.split.balanced is not None:
            own, left_out = _balanced(own, recipe.split.balanced, rng)
            if left_out:
                reason = "not drawn for the balanced sample"
                dropped[reason] = dropped.get(reason, 0) + left_out
        found = _official(own, recipe.split, rng) if recipe.split.rule == "official" else _anew(own, recipe.split, rng)
        parts[domain] = {name: part.drop("__row", "__text", "part") for name, part in found.items() if part.height}
        decisions += _describe_parts(domain, own, parts[domain], recipe.split)
    return BuiltSplits(parts, dropped, checks, decisions)


def _check_sizes(recipe: Recipe, table: pl.DataFrame) -> list[SizeCheck]:
    """Every size that the recipe gives, with what was read."""
    checks: list[SizeCheck] = []
    for name, expected in recipe.sizes.items():
        domain, _, part = name.partition("/")
        rows = pl.lit(value=True)
        if part:
            rows = (pl.col("domain") == domain) & (pl.col("part") == part)
        elif domain in _PRIORITY:
            rows = pl.col("part") == domain
        else:
            rows = pl.col("domain") == domain
        found = table.filter(rows).height
        if recipe.split.first is not None:
            found = min(found, recipe.split.first)
        checks.append(SizeCheck(name, expected, found))
    return checks


def _distinct(rows: Rows, order: list[str]) -> pl.DataFrame:
    """Each text once: the first by part, then by domain, then by row."""
    text = pl.concat_str([pl.col(role) for role in rows.roles], separator="\u0001", ignore_nulls=True)
    plain = normalized_texts(rows.table.select(text).to_series())
    return (
        rows.table.with_row_index("__row")
        .with_columns(
            plain.alias("__text"),
            pl.col("part").replace_strict(_PRIORITY, default=3, return_dtype=pl.Int64).alias("__part"),
            pl.col("domain")
            .replace_strict({name: i for i, name in enumerate(order)}, return_dtype=pl.Int64)
            .alias("__d"),
        )
        .sort("__part", "__d", "__row")
        .unique("__text", keep="first", maintain_order=True)
        .drop("__part", "__d")
    )


def _balanced(own: pl.DataFrame, n_rows: int, rng: np.random.Generator) -> tuple[pl.DataFrame, int]:
    """As many rows of every label, about `n_rows` in all, and how many were left out."""
    labels = own["label"].to_numpy()
    names, counts = np.unique(labels, return_counts=True)
    each = min(n_rows // len(names), int(counts.min()))
    drawn = [rng.choice(np.flatnonzero(labels == name), each, replace=False) for name in names]
    kept = own[np.sort(np.concatenate(drawn))]
    return kept, own.height - kept.height


def _anew(own: pl.DataFrame, split: Split, rng: np.random.Generator) -> dict[str, pl.DataFrame]:
    n_test = max(1, round(split.test_share * own.height))
    n_dev = round(split.dev_share * (own.height - n_test))
    if own.height - n_test - n_dev < 1:
        raise InputError(f"the domain {own['domain'][0]!r} has {own.height} distinct rows, too few to be split")
    order = rng.permutation(own.height)
    places = {"test": order[:n_test], "dev": order[n_test : n_test + n_dev], "train": order[n_test + n_dev :]}
    return {name: own[np.sort(places[name])] for name in ("train", "dev", "test")}


def _official(own: pl.DataFrame, split: Split, rng: np.random.Generator) -> dict[str, pl.DataFrame]:
    """The parts that the files say; where test is hidden dev takes its place, and a missing dev is drawn from train."""
    train, dev, test = (own.filter(pl.col("part") == name) for name in ("train", "dev", "test"))
    if not test.height:
        test, dev = dev, test
    if not dev.height and train.height > 1 and split.dev_share:
        drawn = np.zeros(train.height, dtype=np.bool_)
        drawn[rng.choice(drawn.size, max(1, round(split.dev_share * train.height)), replace=False)] = True
        dev, train = train.filter(drawn), train.filter(~drawn)
    return {"train": train, "dev": dev, "test": test}


def _describe_parts(domain: str, own: pl.DataFrame, parts: dict[str, pl.DataFrame], split: Split) -> list[str]:
    if split.rule == "resplit":
        return []
    there = set(own["part"].to_list())
    said = []
    if "test" not in there and "test" in parts:
        said.append(f"{domain}: no test part was given, so dev is the test set.")
    if "dev" in parts and ("dev" not in there or "test" not in there):
        said.append(f"{domain}: {parts['dev'].height:,} rows were drawn from train for dev.")
    return said


# Values of a metadata column with fewer rows are no domains to train on or to test.
LEAST_ROWS = 50


@dataclass(frozen=True)
class Benchmark:
    """A benchmark that was built.

    Attributes:
        name: Of the recipe, or of dataset and column.
        recipe: How it was built.
        rows: What was read.
        splits: Its parts.
        groups: Which domains are trained on and which tested, as far as they are there.
        seed: Of the draws.
    """

    name: str
    recipe: Recipe
    rows: Rows
    splits: BuiltSplits
    groups: tuple[TrainTest, ...]
    seed: int

    @property
    def has_numbers(self) -> bool:
        """Whether its labels are numbers."""
        parts = (part for domain in self.splits.parts.values() for part in domain.values())
        return any("label" in part.columns and part["label"].dtype.is_float() for part in parts)

    def notes(self) -> list[str]:
        """What differs from what was expected, in sentences."""
        return [
            f"{check.name} has {check.found:,} rows where {check.expected:,} are expected"
            for check in self.splits.checks
            if not check.equal
        ]

    def to_dict(self) -> dict[str, Any]:
        """What was built and how, without the rows."""
        return {
            "name": self.name,
            "title": self.recipe.title,
            "metric": self.recipe.metric or None,
            "source": self.recipe.source or None,
            "seed": self.seed,
            "files": self.rows.files,
            "split": self.recipe.split.model_dump(mode="json"),
            "decisions": [*self.recipe.decisions, *self.splits.decisions],
            "dropped": self.splits.dropped,
            "checks": [{**check._asdict(), "equal": check.equal} for check in self.splits.checks],
            "sets": [
                {"domain": domain, "part": part, "file": self._file(domain, part), "n_examples": rows.height}
                for domain, parts in self.splits.parts.items()
                for part, rows in parts.items()
            ],
            "experiments": [
                {
                    "train": self._file(domain, "train"),
                    "dev": self._file(domain, "dev") if "dev" in self.splits.parts[domain] else None,
                    "in_distribution": self._file(domain, "test"),
                    "out_of_distribution": {
                        other: self._file(other, "test") for other in group.test if other != domain
                    },
                }
                for group in self.groups
                for domain in group.train
            ],
        }

    def save(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write a file a domain and part, its ids in order, and benchmark.json that tells of them.

        Raises:
            OutputError: The folder cannot be written to.
        """
        names: list[str] = []
        with written_together(directory, _written_before(Path(directory))) as folder:
            (folder / "ids").mkdir()
            for domain, parts in self.splits.parts.items():
                for part, rows in parts.items():
                    name = self._file(domain, part)
                    if self.recipe.written_as == "squad":
                        (folder / name).write_text(_squad(rows), encoding="utf-8")
                    else:
                        rows.write_ndjson(folder / name)
                    ids = "".join(f"{each}\n" for each in rows["example_id"].to_list())
                    (folder / "ids" / f"{_slug(domain)}_{part}.txt").write_text(ids, encoding="utf-8")
                    names.append(name)
            told = json.dumps(self.to_dict(), ensure_ascii=False, indent=2)
            (folder / "benchmark.json").write_text(f"{told}\n", encoding="utf-8")
        return [Path(directory) / name for name in (*names, "benchmark.json")]

    def _file(self, domain: str, part: str) -> str:
        return f"{_slug(domain)}_{part}.{'json' if self.recipe.written_as == 'squad' else 'jsonl'}"


def build(
    name: str | None, files: Any, by: str | None, min_rows: int, columns: str | Mapping[str, str] | None, seed: int
) -> Benchmark:
    """Build a benchmark of several domains, as `build_shift` does.

    Raises:
        InputError: As `build_shift`.
    """
    if (name is None) == (by is None):
        raise InputError(
            "neither a recipe nor a column was given" if by is None else "a recipe and a column were both given",
            mend=f"give {place('name')} or {option('by', 'COLUMN')}",
        )
    roles = parse_columns(columns) if isinstance(columns, str) else dict(columns or {})
    if by is None:
        return build_benchmark(name or "", _paths(files), seed=seed, columns=roles or None)
    if _is_paths(files):
        return build_by_column(by, _paths(files), seed=seed, columns=roles or None, least=min_rows)
    with temporary_folder() as folder:
        held = folder / f"{files.name if isinstance(files, Dataset) else 'data'}.parquet"
        table = files.examples if isinstance(files, Dataset) else _rows_of(files)
        table.write_parquet(held)
        return build_by_column(by, [held], seed=seed, columns=roles or None, least=min_rows)


def _rows_of(files: Any) -> pl.DataFrame:
    """The rows of a dataset in memory, refused by the name of the argument."""
    try:
        return table_of(files).frame
    except InputError as error:
        raise InputError(f"source: {error.problem}", row=error.row, column=error.column, mend=error.mend) from error


def _is_paths(files: Any) -> bool:
    several = files if isinstance(files, (list, tuple)) else [files]
    return files is None or all(isinstance(each, (str, os.PathLike)) for each in several)


def _paths(files: Any) -> list[str | os.PathLike[str]]:
    if files is None:
        return []
    return [files] if isinstance(files, (str, os.PathLike)) else list(files)


def build_benchmark(
    name: str, places: Sequence[str | os.PathLike[str]], *, seed: int = 0, columns: dict[str, str] | None = None
) -> Benchmark:
    """Build the benchmark of a recipe from the files as they are published.

    Raises:
        InputError: There is no such recipe, a file is missing (the line says where it comes from), or cannot be read.
    """
    recipe = load_recipe(name)
    if not places:
        raise InputError(
            f"{recipe.title}: no files were given",
            mend=f"get them from {recipe.source}, and name them with {option('source')}",
        )
    rows = read_rows(recipe, find_files(recipe, places), columns)
    splits = split_rows(recipe, rows, seed=seed)
    there = {domain for domain, parts in splits.parts.items() if "test" in parts}
    groups = [
        TrainTest(
            train=[domain for domain in group.train if "train" in splits.parts.get(domain, {}) and domain in there],
            test=[domain for domain in group.test if domain in there],
        )
        for group in recipe.groups
    ]
    kept = tuple(group for group in groups if group.train and len(group.test) > 1)
    if not kept:
        raise InputError(
            f"{recipe.title}: there are rows of {', '.join(there) or 'no domain'} alone, and a shift is from one to "
            "another",
            mend=f"get the other files from {recipe.source}",
        )
    return Benchmark(name, recipe, rows, splits, kept, seed)


def build_by_column(
    column: str,
    places: Sequence[str | os.PathLike[str]],
    *,
    seed: int = 0,
    columns: dict[str, str] | None = None,
    least: int = LEAST_ROWS,
) -> Benchmark:
    """Build a benchmark of any dataset whose column tells domains apart; values with few rows are left out.

    Raises:
        InputError: The column is not there, or fewer than two values have rows enough.
    """
    if not places:
        raise InputError("no files were given", mend=f"name the dataset with {option('source', 'FILE')}")
    files = [Path(place) for place in places]
    first = read_dataset(files[0], columns=columns or None)
    recipe = recipe_by_column(first.name, column)
    rows = read_rows(recipe, [FoundFile(file, recipe.files[0]) for file in files], columns)
    counts = rows.table["domain"].value_counts()
    kept = counts.filter(pl.col("count") >= least)["domain"].to_list()
    if len(kept) < 2:
        most = ", ".join(f"{row[0]} {row[1]}" for row in counts.sort("count", descending=True).head(4).iter_rows())
        raise InputError(
            f"{len(kept)} of its values with {least} rows or more are not enough ({most})",
            file=files[0],
            column=column,
            mend=f"choose a column of domains, or a smaller {option('min-rows')}",
        )
    few = rows.table.height - int(rows.table["domain"].is_in(kept).sum())
    if few:
        rows.dropped[f"of a value of {column} with fewer than {least} rows"] = few
    rows = Rows(rows.table.filter(pl.col("domain").is_in(kept)), rows.roles, rows.dropped, rows.files)
    splits = split_rows(recipe, rows, seed=seed)
    order = list(splits.parts)
    return Benchmark(f"{first.name}_by_{column}", recipe, rows, splits, (TrainTest(train=order, test=order),), seed)


def _written_before(directory: Path) -> list[str]:
    """Files of the benchmark that stood there before: domains that are no longer there would be taken for its own."""
    try:
        told = json.loads((directory / "benchmark.json").read_text(encoding="utf-8"))
        names = [str(each["file"]) for each in told["sets"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    own = [name for name in names if Path(name).name == name]
    return [*own, *(f"ids/{Path(name).stem}.txt" for name in own)]


def _slug(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "unnamed"


def _squad(rows: pl.DataFrame) -> str:
    """Questions as a SQuAD file, those of one passage together."""
    passages: dict[str, dict[str, Any]] = {}
    for row in rows.iter_rows(named=True):
        question = {"id": row["example_id"], "question": row["question"], "answers": row["answers"]}
        passage = passages.setdefault(row["context"], {"context": row["context"], "qas": []})
        passage["qas"].append(question)
        # Of the passage, not of the question: where they begin and end.
        if row.get("candidates"):
            passage["candidates"] = row["candidates"]
    paragraphs = list(passages.values())
    data = {"version": "1.1", "data": [{"title": "", "paragraphs": paragraphs}]}
    # On several lines, as a whole: a single line would be taken for JSON lines.
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"
