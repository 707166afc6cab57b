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
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from goldassay.core.errors import InputError
from goldassay.core.nearest import did_you_mean
from goldassay.core.settings import StrictSection, parse_toml, validated

if TYPE_CHECKING:
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
    folder = files("goldassay.shift").joinpath("recipes")
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
    return files("goldassay.shift").joinpath(f"recipes/{name}.toml")


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
