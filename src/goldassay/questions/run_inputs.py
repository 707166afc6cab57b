"""What runs were read from: their files, the right labels, and the texts and columns of what was predicted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.questions.inputs import describe_input, describe_runs
from goldassay.questions.run_sets import describe_paths
from goldassay.runs.traits import dataset_of

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.core.document import Input
    from goldassay.data.dataset import Dataset
    from goldassay.questions.run_choice import RunChoice
    from goldassay.runs.run_parts import Slice
    from goldassay.runs.runs import Runs


def read_texts(path: str | None) -> Dataset | None:
    """The dataset at a path, or None where none was given or it has no texts (labels alone can serve as gold)."""
    return dataset_of(path)


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


def describe_inputs(
    paths: Sequence[str | os.PathLike[str]],
    found: Sequence[Slice],
    choice: RunChoice,
    texts: Mapping[str, Dataset | None] | None = None,
) -> list[Input]:
    """The report's inputs: each path of runs, and each file of right labels.

    Args:
        paths: As they were given.
        found: What was found there, and taken.
        choice: How it was read.
        texts: {path: dataset} of the files of right labels, as far as they were read as datasets.
    """
    described = describe_paths(paths, found)
    for gold in {id(each) if not isinstance(each, str) else each: each for each in choice.gold.values()}.values():
        dataset = (texts or {}).get(gold) if isinstance(gold, str) else gold
        described.append(
            describe_input("gold", dataset) if dataset is not None else replace(describe_runs(str(gold)), role="gold")
        )
    return described


def describe_reading(runs: Runs, found: Sequence[Slice]) -> dict[str, Any]:
    """What one set of runs was read from and what it has, for the table of what was read.

    Args:
        runs: The set.
        found: What was found at the paths.
    """
    parts = [part for part in found if part.collection.dataset == runs.dataset] or list(found)
    return {
        "format": ", ".join(dict.fromkeys(part.format for part in parts)),
        "graded": not bool(((runs.scores == 0) | (runs.scores == 1)).all()),
        "n_checkpoints": runs.n_checkpoints,
        "seeds": tuple(str(seed) for seed in runs.seeds),
        "group_columns": tuple(runs.groups),
        "label_names": tuple(runs.label_names or ()),
    }
