"""What readers of a part of the input tell of each row, out of an audit's report."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option, right_labels
from goldassay.core.numbers import count
from goldassay.gate.reading import NAME, NUMBERS, read_report, read_table
from goldassay.questions.leakage.partial_input import READER_BITS
from goldassay.stats.clusters import cluster_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray


_MEND = "make the report again with goldassay audit or goldassay leakage measure"


@dataclass(frozen=True)
class ShortcutBits:
    """What the readers of one part tell.

    Attributes:
        path: Of the report.
        title: Likewise.
        part: Such as "hypothesis": the one that was named, else the part that tells most bits.
        ids: Of the rows, (N,).
        labels: Their gold labels, (N,) text; None where the report does not have them.
        bits: Of each reader, (R, N).
        clusters: What rows share, by the report's rule, (N,); None where each counts by itself.
        others: The bits of the other parts, {part: (R, N)}.
    """

    path: str
    title: str
    part: str
    ids: tuple[str, ...]
    labels: tuple[str, ...] | None
    bits: NDArray[np.float64]
    clusters: NDArray[np.int64] | None
    others: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)


def reported_bits(report: str | os.PathLike[str] | None, part: str | None) -> ShortcutBits | None:
    """The bits to discount by, as a command was told; None where no report was named.

    Raises:
        InputError: As `read_bits`, or a part is named without a report.
    """
    if report is not None:
        return read_bits(report, part)
    if part is not None:
        raise InputError(
            f"{option('discount_part', part)} is given without a report to discount by",
            mend=f"name the report of an audit with {option('discount', 'REPORT')}",
        )
    return None


def read_bits(report: str | os.PathLike[str], part: str | None = None) -> ShortcutBits:
    """Read what readers of each part tell, from a report's folder.

    Args:
        report: The folder, or its report.json.
        part: The part to discount, such as "premise"; by default the one that tells most.

    Raises:
        InputError: It is no report, or has no readers of a part, or none of the part that is named.
    """
    stored = read_report(report)
    file = stored.folder / "tables" / "examples.parquet"
    if not file.is_file():
        raise InputError("the report has no table of examples", file=file, mend=_MEND)
    table = read_table(file, {"example_id": NAME, "label": NAME, f"{READER_BITS}*": NUMBERS})
    parts = [name for name in table.columns if name.startswith(READER_BITS)]
    if not parts or "example_id" not in table.columns:
        raise InputError("the report does not say what readers of a part tell of each row", file=file, mend=_MEND)
    found = {name.removeprefix(READER_BITS).removesuffix("_only"): _rectangle(table[name], file) for name in parts}
    if part is not None and part not in found:
        raise InputError(
            f"{option('discount_part', part)}: the report has no readers of that part", file=file,
            mend=f"its parts are {', '.join(found)}",
        )  # fmt: skip
    best = part or max(found, key=lambda name: float(found[name].mean()))
    return ShortcutBits(
        os.fspath(report),
        stored.title,
        best,
        tuple(table["example_id"].cast(pl.String).to_list()),
        tuple(table["label"].cast(pl.String).to_list()) if "label" in table.columns else None,
        found[best],
        _clusters(table, stored.parsed.cluster_columns),
        {name: bits for name, bits in found.items() if name != best},
    )


def _rectangle(column: pl.Series, file: Path) -> NDArray[np.float64]:
    """A column of lists as (R, N)."""
    lengths = column.list.len()
    if column.null_count() or column.is_empty() or lengths.n_unique() > 1 or not lengths[0]:
        raise InputError(f"the column {column.name!r} has no bits of the same readers for each row", file=file,
                         mend=_MEND)  # fmt: skip
    found = column.explode().cast(pl.Float64).fill_null(float("nan")).to_numpy().reshape(len(column), -1).T
    if not np.isfinite(found).all():
        raise InputError(f"the column {column.name!r} has values that are no numbers", file=file, mend=_MEND)
    return found


def _clusters(table: pl.DataFrame, columns: object) -> NDArray[np.int64] | None:
    """Rows that share a value of the columns by which the report joined them, as far as they are in the table."""
    known = [name for name in columns if name in table.columns] if isinstance(columns, (list, tuple)) else []
    if not known:
        return None
    codes = {name: table[name].cast(pl.String).rank("dense").fill_null(0).cast(pl.Int64).to_numpy() for name in known}
    return cluster_rows(codes, table.height, chosen=True).codes_if_any


# A few labels may have been mended since.
_MOST_OTHER_LABELS = 0.01
# Labels of which fewer differ when rows are drawn at random do not tell one set from another.
_LEAST_BY_CHANCE = 0.05
_SAME_ITEMS = "name the report of an audit whose evaluation part the runs answer"


@dataclass(frozen=True)
class Answered:
    """The rows that a system answers, by name, and its right labels of them; None where it holds none."""

    names: Sequence[str]
    labels: Sequence[str | None] | None


@dataclass(frozen=True)
class Matched:
    """What rows of a report systems answer.

    Attributes:
        other: Names of rows that have another right label than in the report: they are left out.
        by_name_alone: Whether no right labels tell, for some system, that its rows are those of the report.
    """

    other: frozenset[str]
    by_name_alone: bool


def match_rows(told: ShortcutBits, systems: Sequence[Answered]) -> Matched:
    """Hold the rows of systems against those of a report.

    Raises:
        InputError: Rows have other labels, in more than a hundredth of the rows; or they are called by their numbers,
            which rows of any set have, and there are no labels that tell, or another number of rows and other labels.
    """
    other: set[str] = set()
    by_name_alone = False
    labels = None if told.labels is None else dict(zip(told.ids, told.labels, strict=True))
    numbers = _last_number(told.ids)
    # Most systems answer the same rows.
    for each in [own for at, own in enumerate(systems) if not at or own != systems[at - 1]]:
        last = _last_number(each.names) if numbers is not None else None
        found = None if labels is None else _other_labels(labels, each, told.path)
        if found is None:
            if last is not None:
                who = "the report holds" if labels is None else "the runs hold"
                raise InputError(
                    f"{option('discount')}: rows are called by their numbers and {who} no right labels that tell one "
                    "set of rows from another, so that nothing says whether the runs are of the report's rows",
                    file=told.path,
                    mend="make the report again with goldassay audit" if labels is None
                    else f"give the runs with their right labels, or what they predict with {right_labels()}",
                )  # fmt: skip
            by_name_alone = True
            continue
        if found and last is not None and last != numbers:
            raise InputError(
                f"{option('discount')}: rows are called by their numbers, the runs end at {last} and the report at "
                f"{numbers}, and {count(len(found))} rows have another right label: they are of another set, or of it "
                "before it was mended", file=told.path,
                mend=f"give the runs that goldassay mend wrote anew with them, or {_SAME_ITEMS}",
            )  # fmt: skip
        other |= found
    return Matched(frozenset(other), by_name_alone)


def _other_labels(labels: Mapping[str, str], system: Answered, path: str) -> set[str] | None:
    """Names of rows with another right label than in the report; None where labels do not tell rows apart.

    Where they have other names, each is taken for the one that it goes with most often: rows of another set, which only
    share their numbers, go with none.

    Raises:
        InputError: More than a hundredth of the labels differ.
    """
    if system.labels is None:
        return None
    of_run = {name: label for name, label in zip(system.names, system.labels, strict=True) if label is not None}
    names = [name for name in labels if name in of_run]
    if not names:
        return None
    here, there = [labels[name] for name in names], [of_run[name] for name in names]
    differs = _differ(here, there)
    order = np.random.default_rng(0).permutation(len(names)).tolist()
    if sum(_differ(here, [there[at] for at in order])) < _LEAST_BY_CHANCE * len(names):
        return None
    if sum(differs) > _MOST_OTHER_LABELS * len(names):
        raise InputError(
            f"{option('discount')}: {count(sum(differs))} of {count(len(names))} rows have another right label in the "
            "runs than in the report", file=path,
            mend="audit the data that the runs were scored by",
        )  # fmt: skip
    return {name for name, is_other in zip(names, differs, strict=True) if is_other}


def _differ(here: Sequence[str], there: Sequence[str]) -> list[bool]:
    """Which labels are others."""
    if set(here) <= set(there):
        return [one != other for one, other in zip(here, there, strict=True)]
    return min(_go_with_another(here, there), _go_with_another(there, here), key=sum)


def _go_with_another(one: Sequence[str], other: Sequence[str]) -> list[bool]:
    """Where a label does not have the other one that it has most often."""
    most: dict[str, tuple[int, str]] = {}
    for (own, its), n in Counter(zip(one, other, strict=True)).items():
        most[own] = max(most.get(own, (0, "")), (n, its))
    return [most[own][1] != its for own, its in zip(one, other, strict=True)]


def _last_number(names: Sequence[str]) -> int | None:
    """The largest of names of which half or more are numbers; None where fewer are."""
    numbers = [int(name) for name in names if name.isdecimal()]
    return max(numbers, default=None) if 2 * len(numbers) >= len(names) else None
