"""The benchmark of Hendrycks et al. 2020: every split of its datasets, as a recipe that says how it is built.

A recipe is a file in `recipes`, named after the benchmark; one more file there is one more benchmark. It says which
files are expected and where they come from, which columns play which role, what tells the domains apart, how they are
split, and which sizes to check:

    base            another recipe, whose keys hold where this one has none
    title, task, metric, source (where the files are published), decisions (sentences)
    numbers         true where labels are numbers
    written_as      "jsonl" (by default) or "squad"
    [columns]       role = column, where names do not tell
    [labels]        label = names that stand for it; rows with others are left out and counted
    [domains]       domain = values that stand for it, in the order in which they are tried; likewise
    [split]         rule = "official" (each file says its part) or "resplit"; test_share, dev_share; first = most rows
                    of a domain that are taken; balanced = rows that are drawn of each domain, of every label equally
                    many (as many as the rarest has, where that is fewer)
    [[files]]       match = patterns, each of the last parts of a path, any case, packed or not;
                    domain or domain_column; part or part_column; optional; every (pattern must be there);
                    of, layout: of several layouts of one source the first that is whole is read;
                    reader = "dataset" (by default), "record" or "review_markup";
                    join = a second file of JSON lines, its key, the column with the domains, and what separates them;
                    one = true leaves out what is of several
    [sizes]         "domain/part", "domain" or "part" = rows, as read
    [[groups]]      train, test = domains: each of the first is trained on, all of the second are tested

Source: Hendrycks, Liu, Wallace, Dziedzic, Krishnan and Song 2020, "Pretrained Transformers Improve Out-of-Distribution
Robustness", section 2, and its released code where the paper is silent.

Finding the files that a recipe expects, and reading their rows.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import polars as pl
from pydantic import Field, model_validator

from goldassay.core.errors import InputError, no_such_file, option
from goldassay.core.files import sha256_of
from goldassay.core.naming import did_you_mean
from goldassay.core.settings import StrictSection, parse_toml, validated
from goldassay.data.column_names import PARTS as PART_NAMES
from goldassay.data.reading import read_dataset
from goldassay.data.source import is_published_as, without_packing
from goldassay.runs.tables import unpacked

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from importlib.resources.abc import Traversable

PARTS = ("train", "dev", "test")


class Join(StrictSection):
    """A second file that says which domain a row is of."""

    match: list[str]
    key: str
    column: str
    separator: str = ""
    one: bool = False


class RecipeFile(StrictSection):
    """A file, or several of one kind, that a recipe reads; see the module."""

    match: list[str] = Field(min_length=1)
    domain: str = ""
    domain_column: str = ""
    part: Literal["", "train", "dev", "test"] = ""
    part_column: str = ""
    optional: bool = False
    every: bool = False
    of: str = ""
    layout: str = ""
    reader: Literal["dataset", "record", "review_markup"] = "dataset"
    join: Join | None = None

    @property
    def source(self) -> str:
        """What the layouts that it belongs to are layouts of."""
        return self.of or self.domain


class Split(StrictSection):
    """How domains are split."""

    rule: Literal["official", "resplit"]
    test_share: float = Field(default=0.2, gt=0, lt=1)
    dev_share: float = Field(default=0.1, ge=0, lt=1)
    first: int | None = Field(default=None, ge=1)
    balanced: int | None = Field(default=None, ge=2)


class TrainTest(StrictSection):
    """Which domains are trained on, and which are tested."""

    train: list[str]
    test: list[str]


class Recipe(StrictSection):
    """How one benchmark is built; see the module."""

    title: str
    task: str
    metric: str
    source: str
    split: Split
    files: list[RecipeFile]
    groups: list[TrainTest]
    decisions: list[str] = Field(default_factory=list)
    numbers: bool = False
    written_as: Literal["jsonl", "squad"] = "jsonl"
    columns: dict[str, str] = Field(default_factory=dict)
    labels: dict[str, list[str]] = Field(default_factory=dict)
    domains: dict[str, list[str]] = Field(default_factory=dict)
    sizes: dict[str, int] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _whole(self) -> Recipe:
        for file in self.files:
            if not file.domain and not file.domain_column:
                raise ValueError(f"the file {file.match[0]} names neither domain nor domain_column")
            if self.split.rule == "official" and not file.part and not file.part_column:
                raise ValueError(f"the file {file.match[0]} says no part, which official splits need")
        known = set(self.domains) | {file.domain for file in self.files if file.domain}
        named = {domain for group in self.groups for domain in (*group.train, *group.test)}
        if self.domains and named - known:
            raise ValueError(f"the groups name {', '.join(sorted(named - known))}, which is no domain")
        return self


def recipe_names() -> list[str]:
    """Names of all benchmarks that there is a recipe for."""
    folder = files("goldassay.questions.shift").joinpath("recipes")
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def load_recipe(name: str) -> Recipe:
    """The recipe of a benchmark.

    Raises:
        InputError: There is none of that name, or its file is no recipe.
    """
    wanted = name.lower().replace("-", "_")
    if wanted not in recipe_names():
        raise InputError(f"there is no recipe {name!r}", mend=did_you_mean(wanted, recipe_names()))
    return parse_recipe(_file(wanted).read_text("utf-8"), f"recipes/{wanted}.toml")


def parse_recipe(text: str, name: str) -> Recipe:
    """A recipe out of the text of its file.

    Raises:
        InputError: It is no TOML, or says what no recipe can.
    """
    try:
        content = parse_toml(text)
    except RecursionError as error:
        raise InputError("is nested too deeply", file=name, mend="write tables of plain values") from error
    except ValueError as error:
        raise InputError(f"is not TOML: {error}", file=name) from error
    base = content.pop("base", None)
    if base is not None:
        content = _content(str(base)) | content
    return validated(Recipe, content, file=name)


def _content(name: str) -> dict[str, Any]:
    """What a recipe's file says."""
    wanted = name.lower().replace("-", "_")
    if wanted not in recipe_names():
        raise InputError(f"there is no recipe {name!r}", mend=did_you_mean(wanted, recipe_names()))
    return parse_toml(_file(wanted).read_text("utf-8"))


def _file(name: str) -> Traversable:
    return files("goldassay.questions.shift").joinpath(f"recipes/{name}.toml")


def recipe_by_column(dataset: str, column: str, *, test_share: float = 0.2, dev_share: float = 0.1) -> Recipe:
    """A recipe for any dataset whose column tells domains apart: each value is one, split anew.

    Args:
        dataset: What it is called.
        column: Its column.
        test_share: Of each domain.
        dev_share: Of what is left.
    """
    return Recipe(
        title=f"{dataset} by {column}",
        task="",
        metric="",
        source="",
        split=Split(rule="resplit", test_share=test_share, dev_share=dev_share),
        files=[RecipeFile(match=["*"], domain_column=column)],
        groups=[],
    )


_REVIEW = re.compile(r"<review>(.*?)</review>", re.DOTALL)
_FIELD = re.compile(r"<(\w+)>\s*(.*?)\s*</\1>", re.DOTALL)
_SHOWN = 3
_NO_TEXTS = ("example_id", "domain", "part", "label", "answers", "candidates")
# What a rating is written as: "5.0" and "5" are one label.
_WHOLE = r"^(-?\d+)\.0+$"


@dataclass(frozen=True)
class FoundFile:
    """A file that a recipe expects, with what it is."""

    path: Path
    entry: RecipeFile
    joined: Path | None = None


@dataclass(frozen=True)
class Rows:
    """What was read.

    Attributes:
        table: example_id, domain, part (null where the file does not say), label (String, Float64, or absent), one
            String column a text role, and for questions `answers`, perhaps `candidates`.
        roles: The texts' roles in order.
        dropped: Reason -> rows left out.
        files: What was read: name, sha256, rows.
    """

    table: pl.DataFrame
    roles: tuple[str, ...]
    dropped: dict[str, int]
    files: list[dict[str, Any]]


class _Read(NamedTuple):
    """Rows of one file, the roles of their texts, and what the reader itself left out by reason."""

    table: pl.DataFrame
    roles: tuple[str, ...]
    left_out: Mapping[str, int] = MappingProxyType({})


def find_files(recipe: Recipe, places: Sequence[str | os.PathLike[str]]) -> list[FoundFile]:
    """The files that a recipe expects, among files and folders.

    Raises:
        InputError: A place is not there, or a file is missing; the line says what is expected and where it comes from.
    """
    candidates: list[Path] = []
    for place in map(Path, places):
        if not place.exists():
            raise no_such_file(place)
        candidates.append(place)
        if place.is_dir():
            candidates += sorted(place.rglob("*"))
    sources = dict.fromkeys(entry.source for entry in recipe.files)
    found: list[FoundFile] = []
    for source in sources:
        entries = [entry for entry in recipe.files if entry.source == source]
        layouts = dict.fromkeys(entry.layout for entry in entries)
        tried = [_of_layout([entry for entry in entries if entry.layout == layout], candidates) for layout in layouts]
        whole = next((files for files, missing in tried if not missing), None)
        if whole is None:
            best = min((missing for _, missing in tried), key=len)
            raise InputError(
                f"{recipe.title}: there is no {' or '.join(best[0].match[:_SHOWN])} among the files given",
                mend=f"get it from {recipe.source}, and give its folder with {option('source')}",
            )
        found += whole
    return found


def _of_layout(entries: Sequence[RecipeFile], candidates: Sequence[Path]) -> tuple[list[FoundFile], list[RecipeFile]]:
    """The files of one layout, and what of it is missing."""
    found, missing = [], []
    for entry in entries:
        paths = [[path for path in candidates if is_published_as(path, pattern)] for pattern in entry.match]
        joined = None
        if entry.join is not None:
            others = [
                path for path in candidates if any(is_published_as(path, pattern) for pattern in entry.join.match)
            ]
            joined = others[0] if others else None
        if not any(paths) or (entry.every and not all(paths)) or (entry.join is not None and joined is None):
            if not entry.optional:
                wanted = entry.join.match if entry.join is not None and any(paths) else entry.match
                missing.append(entry.model_copy(update={"match": wanted}))
            continue
        distinct = dict.fromkeys(path.resolve() for group in paths for path in group)
        found += [FoundFile(path, entry, joined) for path in distinct]
    return found, missing


def read_rows(recipe: Recipe, found: Sequence[FoundFile], columns: dict[str, str] | None = None) -> Rows:
    """Read every file, and say of each row its domain, part and label; rows of no domain or label are left out.

    Args:
        recipe: What is built.
        found: Its files.
        columns: {role: column} that goes before the recipe's.

    Raises:
        InputError: A file cannot be read, or lacks a column.
    """
    tables, dropped, described = [], dict[str, int](), []
    roles: tuple[str, ...] = ()
    several = len(found) > 1
    for file in found:
        read = _READERS[file.entry.reader]
        table, roles, left_out = read(file, recipe, {**recipe.columns, **(columns or {})})
        described.append(_describe(file.path, table.height + sum(left_out.values())))
        for reason, count in left_out.items():
            dropped[reason] = dropped.get(reason, 0) + count
        if file.joined is not None:
            described.append(_describe(file.joined, None))
        table = _kept(table, recipe, dropped)
        if several:
            # Numbers of rows, which are ids where there are no others, are those of one file.
            prefix = f"{without_packing(file.path.name).rpartition('.')[0] or file.path.name}/"
            table = table.with_columns(pl.lit(prefix).add(pl.col("example_id")).alias("example_id"))
        tables.append(table)
    whole = pl.concat(tables, how="diagonal")
    if whole["example_id"].n_unique() < whole.height:
        number = pl.int_range(pl.len()).cast(pl.String)
        whole = whole.with_columns(
            pl.when(pl.col("example_id").is_duplicated())
            .then(pl.concat_str("example_id", pl.lit("#"), number))
            .otherwise("example_id")
            .alias("example_id")
        )
    if not whole.height:
        raise InputError(f"{recipe.title}: no row is of a domain of it", mend="check that these are the right files")
    return Rows(whole, roles, dropped, described)


def _kept(table: pl.DataFrame, recipe: Recipe, dropped: dict[str, int]) -> pl.DataFrame:
    """The rows with a domain, a label and a text."""

    def keep(table: pl.DataFrame, rows: pl.Expr, reason: str) -> pl.DataFrame:
        kept = table.filter(rows)
        if table.height > kept.height:
            dropped[reason] = dropped.get(reason, 0) + table.height - kept.height
        return kept

    strange = "of another domain, or of several" if recipe.domains else "without a value for their domain"
    table = keep(table, pl.col("domain").is_not_null(), strange)
    if recipe.labels:
        names = {name.lower(): label for label, names in recipe.labels.items() for name in names}
        plain = pl.col("label").cast(pl.String).str.replace(_WHOLE, "$1").str.to_lowercase()
        table = table.with_columns(plain.replace_strict(names, default=None).alias("label"))
    if "label" in table.columns:
        table = keep(table, pl.col("label").is_not_null(), "without a label that counts")
    texts = [name for name in table.columns if name not in _NO_TEXTS]
    return keep(table, pl.all_horizontal([pl.col(name).str.strip_chars() != "" for name in texts]), "without a text")


def _describe(path: Path, rows: int | None) -> dict[str, Any]:
    digest = sha256_of(path) if path.is_file() else None
    return {"name": path.name, "sha256": digest, "rows": rows}


def _read_dataset(file: FoundFile, recipe: Recipe, columns: dict[str, str]) -> _Read:
    if file.entry.join is not None and file.joined is not None:
        return _read_joined(file.path, file.joined, file.entry.join, recipe, columns)
    dataset = read_dataset(file.path, columns=columns or None)
    # A column that was taken for a role is there under that name.
    roles = {column: "example_id" if role == "id" else role for role, column in dataset.provenance.roles.items()}
    taken = {column: role for column, role in roles.items() if role in dataset.examples.columns}
    column = taken.get(file.entry.domain_column or "", file.entry.domain_column)
    table = dataset.with_keys([column] if column else []).examples
    if column and column not in table.columns:
        shown = ", ".join(name for name in table.columns[:12] if name != "example_id")
        raise InputError("there is no such column", file=file.path, column=column, mend=f"it has {shown}")
    domain = _domains(pl.col(column), recipe) if column else pl.lit(file.entry.domain)
    part: pl.Expr = pl.lit(file.entry.part or None, dtype=pl.String)
    if file.entry.part_column:
        named = pl.col(file.entry.part_column).str.to_lowercase()
        part = named.replace_strict(PART_NAMES, default=None)
    table = table.with_columns(domain.cast(pl.String).alias("__domain"), part.alias("__part"))
    chosen = [pl.col("example_id").cast(pl.String), pl.col("__domain").alias("domain"), pl.col("__part").alias("part")]
    if "label" in table.columns:
        chosen.append(pl.col("label"))
    return _Read(table.select(*chosen, *dataset.text_columns), dataset.text_columns, dataset.provenance.dropped)


def _domains(values: pl.Expr, recipe: Recipe) -> pl.Expr:
    """The domain that a value stands for; the value itself where the recipe names none."""
    if not recipe.domains:
        return values.cast(pl.String)
    names = {name.lower(): domain for domain, names in recipe.domains.items() for name in names}
    return values.cast(pl.String).str.strip_chars().str.to_lowercase().replace_strict(names, default=None)


def _read_joined(path: Path, other: Path, join: Join, recipe: Recipe, columns: dict[str, str]) -> _Read:
    """JSON lines of reviews, and of what is reviewed, which says the domain."""
    meta = _json_lines(other, (join.key, join.column))
    values = pl.col(join.column)
    if meta.schema[join.column] == pl.String:
        values = values.str.split(join.separator) if join.separator else values.cast(pl.List(pl.String))
    named = values.list.eval(pl.element().str.strip_chars()).list
    hits = [named.eval(pl.element().is_in(names)).list.any() for names in recipe.domains.values()]
    first: pl.Expr = pl.lit(None, dtype=pl.String)
    for name, hit in reversed(list(zip(recipe.domains, hits, strict=True))):
        first = pl.when(hit).then(pl.lit(name)).otherwise(first)
    if join.one:
        first = pl.when(pl.sum_horizontal(hits) == 1).then(first).otherwise(None)
    domains = meta.select(pl.col(join.key), first.alias("domain")).unique(join.key, keep="first", maintain_order=True)
    wanted = dict.fromkeys((join.key, *columns.values()))
    table = _json_lines(path, tuple(wanted))
    ids = pl.col(columns["example_id"]) if "example_id" in columns else pl.int_range(pl.len())
    table = table.with_columns(ids.cast(pl.String).alias("__id")).join(
        domains, on=join.key, how="left", maintain_order="left"
    )
    roles = tuple(role for role in columns if role not in ("example_id", "label"))
    chosen = table.select(
        pl.col("__id").alias("example_id"),
        "domain",
        pl.lit(None, dtype=pl.String).alias("part"),
        pl.col(columns["label"]).cast(pl.String).alias("label"),
        *[pl.col(columns[role]).cast(pl.String).fill_null("").alias(role) for role in roles],
    )
    return _Read(chosen, roles)


def _json_lines(path: Path, names: tuple[str, ...]) -> pl.DataFrame:
    """Some fields of JSON lines, packed or not, without reading the others into memory."""
    try:
        lazy = pl.scan_ndjson(path, infer_schema_length=1000)
        there = lazy.collect_schema().names()
        missing = [name for name in names if name not in there]
        if missing:
            raise InputError(
                "there is no such field", file=path, column=missing[0], mend=f"it has {', '.join(there[:12])}"
            )
        return lazy.select(names).collect(engine="streaming")
    except pl.exceptions.PolarsError as error:
        said = str(error).splitlines()[0]
        raise InputError(f"is no JSON lines, or is cut short ({said})", file=path, mend="get it anew") from error


def _read_record(file: FoundFile, recipe: Recipe, columns: dict[str, str]) -> _Read:  # noqa: ARG001
    """ReCoRD's JSON: passages with their entities, which are the candidates, and queries each with its answers."""
    try:
        articles = json.loads(unpacked(file.path))["data"]
        rows = [
            {
                "example_id": str(query["id"]),
                "source": str(article["source"]),
                "context": str(article["passage"]["text"]),
                "question": str(query["query"]),
                "answers": [
                    {"text": str(answer["text"]), "answer_start": int(answer["start"])} for answer in query["answers"]
                ],
                # Their last character is part of them.
                "candidates": [
                    [int(entity["start"]), int(entity["end"]) + 1] for entity in article["passage"]["entities"]
                ],
            }
            for article in articles
            for query in article["qas"]
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"is no file of ReCoRD ({error!r})", file=file.path, mend="get it anew") from error
    table = pl.DataFrame(rows, infer_schema_length=None)
    domain = _domains(pl.col("source"), recipe)
    chosen = table.select(
        "example_id",
        domain.alias("domain"),
        pl.lit(file.entry.part, dtype=pl.String).alias("part"),
        "context",
        "question",
        "answers",
        pl.col("candidates").cast(pl.List(pl.List(pl.Int64))),
    )
    return _Read(chosen, ("context", "question"))


def _read_markup(file: FoundFile, recipe: Recipe, columns: dict[str, str]) -> _Read:
    """Reviews between tags, in a folder a domain and a file a label: books/positive.review."""
    text = unpacked(file.path).decode("utf-8", "replace")
    label = file.path.name.split(".")[0]
    rows = [
        {
            "example_id": f"{file.path.parent.name}/{label}/{number}",
            "domain": file.path.parent.name,
            "label": label,
            "text": dict(_FIELD.findall(review)).get(columns.get("text", "review_text"), ""),
        }
        for number, review in enumerate(_REVIEW.findall(text))
    ]
    if not rows:
        raise InputError("there are no reviews between <review> and </review>", file=file.path, mend="get it anew")
    table = pl.DataFrame(rows).with_columns(pl.lit(None, dtype=pl.String).alias("part"))
    table = table.with_columns(_domains(pl.col("domain"), recipe).alias("domain"))
    return _Read(table.select("example_id", "domain", "part", "label", "text"), ("text",))


_READERS: dict[str, Callable[[FoundFile, Recipe, dict[str, str]], _Read]] = {
    "dataset": _read_dataset,
    "record": _read_record,
    "review_markup": _read_markup,
}
