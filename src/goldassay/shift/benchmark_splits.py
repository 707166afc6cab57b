"""Rows of several domains, made distinct before they are split, into train, dev and test of each."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.data.row_values import normalized_text

if TYPE_CHECKING:
    from goldassay.shift.benchmark_files import Rows
    from goldassay.shift.benchmarks import Recipe, Split

_PRIORITY = {"test": 0, "dev": 1, "train": 2}


@dataclass(frozen=True)
class BuiltSplits:
    """A benchmark's parts.

    Attributes:
        parts: {domain: {part: its rows}}, in the order of the files.
        dropped: Reason -> rows left out.
        checks: What was expected and found: name, expected, found.
        decisions: What was decided on the way, in sentences.
    """

    parts: dict[str, dict[str, pl.DataFrame]]
    dropped: dict[str, int] = field(default_factory=dict)
    checks: list[dict[str, str | int]] = field(default_factory=list)
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
        decisions += _said(domain, own, parts[domain], recipe.split)
    return BuiltSplits(parts, dropped, checks, decisions)


def _check_sizes(recipe: Recipe, table: pl.DataFrame) -> list[dict[str, str | int]]:
    """Every size that the recipe gives, with what was read."""
    checks: list[dict[str, str | int]] = []
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
        checks.append({"name": name, "expected": expected, "found": found})
    return checks


def _distinct(rows: Rows, order: list[str]) -> pl.DataFrame:
    """Each text once: the first by part, then by domain, then by row."""
    text = pl.concat_str([pl.col(role) for role in rows.roles], separator="\u0001", ignore_nulls=True)
    plain = [normalized_text(each) for each in rows.table.select(text).to_series().to_list()]
    return (
        rows.table.with_row_index("__row")
        .with_columns(
            pl.Series("__text", plain, dtype=pl.String),
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
    parts = {name: own.filter(pl.col("part") == name) for name in ("train", "dev", "test")}
    if not parts["test"].height:
        parts["test"], parts["dev"] = parts["dev"], parts["test"]
    if not parts["dev"].height and parts["train"].height > 1 and split.dev_share:
        n_dev = max(1, round(split.dev_share * parts["train"].height))
        drawn = np.zeros(parts["train"].height, dtype=np.bool_)
        drawn[rng.choice(drawn.size, n_dev, replace=False)] = True
        parts["dev"], parts["train"] = parts["train"].filter(drawn), parts["train"].filter(~drawn)
    return parts


def _said(domain: str, own: pl.DataFrame, parts: dict[str, pl.DataFrame], split: Split) -> list[str]:
    if split.rule == "resplit":
        return []
    there = set(own["part"].to_list())
    said = []
    if "test" not in there and "test" in parts:
        said.append(f"{domain}: no test part was given, so dev is the test set.")
    if "dev" in parts and ("dev" not in there or "test" not in there):
        said.append(f"{domain}: {parts['dev'].height:,} rows were drawn from train for dev.")
    return said
