"""What a dataset tells of the examples of runs: gold labels, and columns such as weights, dates and difficulties."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.bounds import reading
from goldassay.core.errors import InputError, option, right_labels
from goldassay.core.naming import listing
from goldassay.core.numbers import points
from goldassay.data.fields import cell_texts
from goldassay.data.roles import columns_named
from goldassay.data.row_keys import end_of_numbers
from goldassay.runs.key_columns import find_roles
from goldassay.runs.labels import order_labels
from goldassay.runs.run_parts import Gold
from goldassay.runs.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.runs.run_parts import Traits
    from goldassay.runs.runs import Runs


_MOST_NAMES = 12


def with_traits(runs: Runs, asked: Traits, dataset: Dataset | None) -> Runs:
    """The runs with the columns that were asked for, out of their own file or the dataset.

    Args:
        runs: As they were read, these columns among their groups.
        asked: What to take.
        dataset: What was predicted, if it is at hand.

    Raises:
        InputError: A column is not there, or a weight is no number from 0 up.
    """
    if not asked.names:
        return runs
    found = {name: values for name in asked.names if (values := _values(runs, name, dataset)) is not None}
    for name in filter(None, (asked.weight, *asked.needed)):
        if name not in found:
            others = [] if dataset is None else [each for each in dataset.examples.columns if each != "example_id"]
            there = list(dict.fromkeys((*runs.groups, *others)))
            raise InputError(
                f"neither the runs of {runs.model} nor the data that they answer have a column {name!r}",
                mend=f"there are {listing(there, _MOST_NAMES)}" if there else f"give the data with {right_labels()}",
            )
    return replace(
        runs,
        groups={name: values for name, values in runs.groups.items() if name not in found},
        traits={name: found[name] for name in (*asked.needed, *asked.known) if name in found},
        weights=weights_of(pl.Series(found[asked.weight].tolist()), asked.weight) if asked.weight else None,
        weighted_by=asked.weight,
    )


def dataset_of(given: Dataset | str | os.PathLike[str] | None) -> Dataset | None:
    """The dataset in memory, or at a path; None where none was given, or the path holds labels alone."""
    from goldassay.data.reading import read_dataset

    if not isinstance(given, (str, os.PathLike)):
        return given
    try:
        return read_dataset(given)
    except InputError:
        # Whatever ails it as a dataset, it has just served to score the runs by.
        return None


def weights_of(column: pl.Series, name: str) -> NDArray[np.float64]:
    """A column of weights as numbers.

    Raises:
        InputError: One is no number from 0 up, or all are 0.
    """
    numbers = cell_texts(column).str.strip_chars().cast(pl.Float64, strict=False)
    bad = numbers.is_null() | numbers.is_nan() | numbers.is_infinite() | (numbers < 0)
    if bad.any():
        shown = cell_texts(column.filter(bad.fill_null(value=True)))[0]
        raise InputError(
            f"{int(bad.sum())} of {len(column)} weights are no numbers from 0 up, the first is {shown!r}", column=name,
            mend=f"mend the column, or leave {option('columns', f'weight={name}')} out",
        )  # fmt: skip
    if not numbers.sum():
        raise InputError("all weights are 0", column=name, mend="give some example a weight above 0")
    return numbers.to_numpy().astype(np.float64)


def weighted(by: str, unweighted: float | None) -> str:
    """What stands behind a weighted score; "" where it is not weighted."""
    return f" weighted by {by} ({points(unweighted, 2)} unweighted)" if by else ""


def _values(runs: Runs, name: str, dataset: Dataset | None) -> NDArray[np.str_] | None:
    """The texts of a column for each example, "" where one has none; None where it is nowhere."""
    if name in runs.groups:
        return runs.groups[name].astype(np.str_)
    keyed = None if dataset is None else dataset.with_keys([name])
    if keyed is None or name not in keyed.examples.columns or name == "example_id":
        return None
    ids = pl.DataFrame({"id": pl.Series(runs.example_ids.tolist(), dtype=pl.String)})
    own = pl.DataFrame({"id": keyed.examples["example_id"].cast(pl.String), "value": cell_texts(keyed.examples[name])})
    joined = ids.join(own.unique("id", keep="first"), on="id", how="left", maintain_order="left")
    return joined["value"].fill_null("").to_numpy().astype(np.str_)


def shared_traits(
    sets: Sequence[Runs], ids: Sequence[str]
) -> tuple[dict[str, NDArray[np.str_]], NDArray[np.float64] | None]:
    """The columns and weights of examples that some set has, (N,) in the order of `ids`.

    Raises:
        InputError: Two sets give one example two weights.
    """
    place = {name: at for at, name in enumerate(ids)}
    rows = [np.array([place.get(name, -1) for name in runs.example_ids.tolist()]) for runs in sets]
    traits: dict[str, NDArray[np.str_]] = {}
    for name in dict.fromkeys(name for runs in sets for name in runs.traits):
        values = np.full(len(ids), "", dtype=object)
        for runs, at in zip(reversed(sets), reversed(rows), strict=True):
            if name in runs.traits:
                values[at[at >= 0]] = runs.traits[name][at >= 0]
        traits[name] = values.astype(np.str_)
    if all(runs.weights is None for runs in sets):
        return traits, None
    weights = np.full(len(ids), np.nan)
    for runs, at in zip(sets, rows, strict=True):
        if runs.weights is None:
            continue
        own = np.full(len(ids), np.nan)
        own[at[at >= 0]] = runs.weights[at >= 0]
        differ = int((np.abs(own - weights) > 0).sum())
        if differ:
            raise InputError(
                f"{differ} examples of {runs.dataset} have another weight for {runs.model} than for the models before",
                mend=f"give all models the same weights, or leave {option('columns', 'weight=NAME')} out",
            )
        weights = np.where(np.isnan(own), weights, own)
    return traits, weights


def rows_of(runs: Runs, dataset: Dataset, columns: Sequence[str]) -> pl.DataFrame:
    """Columns of the dataset for each example of the runs, in their order; null where the dataset lacks one."""
    wanted = dataset.examples.select(pl.col("example_id").cast(pl.String), *columns)
    ids = pl.DataFrame({"example_id": pl.Series(runs.example_ids.tolist(), dtype=pl.String)})
    return ids.join(
        wanted.unique("example_id", maintain_order=True), on="example_id", how="left", maintain_order="left"
    )


def group_names(runs: Runs, column: str, dataset: Dataset | None) -> NDArray[np.str_] | None:
    """A group name for each example, from the runs or from a column of the dataset; None where neither has it."""
    if column in runs.groups:
        return runs.groups[column].astype(np.str_)
    if dataset is not None:
        dataset = dataset.with_keys([column])
    if dataset is None or column not in dataset.examples.columns:
        parts = [group_names(runs, part.strip(), dataset) for part in column.split("+")] if "+" in column else [None]
        known = [part for part in parts if part is not None]
        return None if len(known) < len(parts) else np.array([" + ".join(key) for key in zip(*known, strict=True)])
    values = rows_of(runs, dataset, [column] if column != "example_id" else [])[column]
    if values.dtype.is_nested() or values.null_count():
        return None
    return values.cast(pl.String).to_numpy().astype(np.str_)


def known_groups(runs: Runs, dataset: Dataset | None) -> list[str]:
    """What `group_names` can be asked for."""
    others = [] if dataset is None else [name for name in dataset.examples.columns if name != "example_id"]
    return list(dict.fromkeys([*runs.groups, *others]))


def read_gold(gold: Dataset | str | os.PathLike[str]) -> Gold:
    """Take the labels and groups of a dataset, or of the file of one.

    Raises:
        InputError: The dataset has no labels, or cannot be read.
    """
    if isinstance(gold, (str, os.PathLike)):
        from goldassay.data.reading import read_dataset

        path = Path(gold)
        try:
            with columns_named("test"):
                gold = read_dataset(path)
        except InputError:
            with reading(path):
                table = _read_labels(path)
            if table is None:
                raise
            return table
    if not gold.label_names and "label" in gold.examples.columns:
        gold.labels()
    if not gold.label_names or "label" not in gold.examples.columns:
        problem = f"the dataset {gold.name} has no labels to score runs by"
        with columns_named("test"):
            raise InputError(problem, file=gold.source, mend=gold.other_label())
    return Gold(
        example_ids=gold.examples["example_id"].cast(pl.String),
        label=gold.examples["label"].cast(pl.String),
        label_names=tuple(gold.label_names),
        groups={name: gold.examples[name].cast(pl.String) for name in gold.groups},
        name=gold.name,
        left_out=", ".join(f"{n:,} rows were left out: {why}" for why, n in gold.provenance.dropped.items()),
        end=end_of_numbers(gold),
    )


def read_texts(gold: Dataset | str | os.PathLike[str]) -> dict[str, str] | None:
    """What was given to a model, by example id: the texts of a dataset, each after its role if there are several.

    None where the file holds labels, but no texts.

    Raises:
        InputError: The file is neither a dataset nor a table of labels.
    """
    from goldassay.data.reading import read_dataset

    if isinstance(gold, (str, os.PathLike)):
        try:
            dataset = read_dataset(gold)
        except InputError:
            if _read_labels(Path(gold)) is None:
                raise
            return None
    else:
        dataset = gold
    several = len(dataset.text_columns) > 1
    parts = [pl.format("{}: {}", pl.lit(n), pl.col(n)) if several else pl.col(n) for n in dataset.text_columns]
    texts = dataset.examples.select("example_id", pl.concat_str(parts, separator="\n").alias("text"))
    return dict(zip(texts["example_id"].cast(pl.String), texts["text"], strict=True))


def _read_labels(path: Path) -> Gold | None:
    """Gold from a table of ids and labels without texts, which is no dataset but all that scoring needs.

    Its other columns of names that repeat are taken as groups.
    """
    table = read_table(path) if path.is_file() else None
    roles = {} if table is None else find_roles(table.columns, {}, path)
    if table is not None and {"label_counter", "majority_label"} <= set(table.columns):
        # ChaosNLI's file for abductive NLI, whose examples are no pairs of texts.
        roles = {"example_id": "uid", "label": "majority_label"} if "uid" in table.columns else {}
    if table is None or not {"example_id", "label"} <= roles.keys() or table.height == 0:
        return None
    ids, label = table[roles["example_id"]], table[roles["label"]]
    if ids.null_count() or label.dtype.is_nested():
        return None
    # An empty cell is no label of its own, of which all answers would be wrong.
    is_blank = label.is_null() | (label.cast(pl.String).str.strip_chars() == "").fill_null(value=False)
    n_blank, n_rows = int(is_blank.sum()), table.height
    if n_blank == n_rows:
        raise InputError(f"all {n_rows:,} right labels are blank", file=path, column=label.name, mend="fill them in")
    table = table.filter(~is_blank)
    ids, label = table[roles["example_id"]], table[roles["label"]]
    others = [name for name in table.columns if name not in (ids.name, label.name)]
    groups = [name for name in others if table[name].dtype == pl.String and _repeats(table[name])]
    return Gold(
        example_ids=ids.cast(pl.String),
        label=label.cast(pl.String),
        label_names=order_labels(label.cast(pl.String).unique().to_list()),
        groups={name: table[name] for name in groups},
        name=path.name.split(".")[0],
        left_out=f"{n_blank:,} of its {n_rows:,} rows have a blank label" if n_blank else "",
    )


def _repeats(column: pl.Series) -> bool:
    return column.null_count() == 0 and 1 < column.n_unique() <= column.len() // 10
