"""Runs of several models put side by side: the same examples in the same order, seeds matched where asked."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.entry_point import option, right_labels
from goldassay.core.errors import InputError
from goldassay.questions.example_clusters import AUTO, NONE, clusters_of
from goldassay.questions.run_inputs import group_names, known_groups, rows_of
from goldassay.stats.clusters import connected_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.data import Dataset
    from goldassay.runs import Runs


def side_by_side(sets: Sequence[Runs], names: Sequence[str], intersect: bool) -> tuple[list[Runs], list[str]]:
    """All sets on the same examples, in the order of the first.

    Args:
        sets: Runs (R, N), one set a model.
        names: What to call them in messages.
        intersect: Keep the examples that all cover; else they must cover the same.

    Returns:
        The sets, and a sentence on what was left out.

    Raises:
        InputError: They cover different examples, or right labels differ.
    """
    first = sets[0]
    for other, name in zip(sets[1:], names[1:], strict=True):
        first = _common(first, other, names[0], name, intersect)
    aligned = [first]
    for other, name in zip(sets[1:], names[1:], strict=True):
        taken = _in_order(other, first)
        differ = _gold_differs(first, taken)
        if differ:
            raise InputError(
                f"the right labels of {differ:,} of the {first.n_examples:,} examples differ between {names[0]} and "
                f"{name}",
                mend=f"give runs on one dataset, or its labels with {right_labels()}",
            )
        aligned.append(taken)
    left = sum(runs.n_examples - first.n_examples for runs in sets)
    both = "both" if len(sets) == 2 else "all"
    notes = [f"Compared on the {first.n_examples:,} examples that {both} cover; left out are {left:,}."] if left else []
    return aligned, notes


def by_seed(sets: Sequence[Runs], names: Sequence[str]) -> list[Runs]:
    """All sets with their runs in the order of the first's seeds.

    Raises:
        InputError: A seed is only on one side.
    """
    first = sets[0].seeds.tolist()
    matched = [sets[0]]
    for runs, name in zip(sets[1:], names[1:], strict=True):
        seeds = runs.seeds.tolist()
        if set(seeds) != set(first):
            only = sorted(map(str, set(seeds) ^ set(first)))
            raise InputError(
                f"runs of {names[0]} and {name} cannot be matched by seed: {len(only)} seeds are only on one side, "
                f"first {', '.join(only[:6])}",
                mend=f"leave out {option('matched')}",
            )
        rows = [seeds.index(seed) for seed in first]
        # Only scores and seeds are looked at from here on.
        matched.append(
            dataclasses.replace(runs, scores=runs.scores[rows], seeds=runs.seeds[rows], predictions=None, logits=None)
        )
    return matched


def cluster_names(sets: Sequence[Runs], columns: str, dataset: Dataset | None) -> NDArray[Any] | None:
    """A name for each example of what it shares with others, from the runs or from the dataset.

    Args:
        sets: Runs on the same examples.
        columns: Groups of the runs or columns of the dataset, separated by commas; examples with equal values in one
            of several belong together. Or `auto` or `none`, see `example_clusters`.
        dataset: The examples, if it is at hand.

    Returns:
        (N,), or None where each example counts by itself.

    Raises:
        InputError: Neither has such a column; the line names those that are there.
    """
    if columns == NONE:
        return None
    if columns == AUTO:
        if dataset is None:
            raise InputError(
                "without texts it is not known which examples share one", mend=f"give them with {right_labels()}"
            )
        return clusters_of(dataset, sets[0].example_ids)
    names = list(dict.fromkeys(name.strip() for name in columns.split(",")))
    values = [_group_values(sets, name, dataset) for name in names]
    if len(values) == 1:
        return values[0]
    return connected_rows(np.stack([np.unique(each, return_inverse=True)[1] for each in values], axis=1))


def _group_values(sets: Sequence[Runs], column: str, dataset: Dataset | None) -> NDArray[np.str_]:
    for runs in sets:
        names = group_names(runs, column, dataset)
        if names is not None:
            return names
    known = list(dict.fromkeys(name for runs in sets for name in known_groups(runs, dataset)))
    there = f"there are {', '.join(known)}" if known else f"give the dataset that has it with {right_labels()}"
    raise InputError(f"neither the runs nor the dataset have a group {column!r} for each example", mend=there)


def related_examples(sets: Sequence[Runs], dataset: Dataset | None) -> list[str]:
    """What to bear in mind where examples are taken for independent that a group, or a shared text, may relate.

    Args:
        sets: Runs on the same examples.
        dataset: Holds the texts of the examples, if it is at hand.
    """
    columns = list(dict.fromkeys(name for runs in sets for name, names in runs.groups.items() if _relates(names)))
    if dataset is not None:
        columns += _shared_texts(sets[0], dataset)
    if not columns:
        return []
    shown = columns[:MOST_COLUMNS]
    of_one = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
    options = " or ".join(f"--clusters {name}" for name in shown)
    return [
        f"All examples are taken for independent; those of one {of_one} may not be, and then the interval is too "
        f"narrow: {options} takes them together."
    ]


# More columns than these are metadata, and no sentence.
MOST_COLUMNS = 3


def _relates(names: NDArray[Any]) -> bool:
    return 1 < len(np.unique(names)) < len(names)


def _shared_texts(runs: Runs, dataset: Dataset) -> list[str]:
    """Text columns of which most examples share theirs with another, as the hypotheses of one premise do."""
    rows = rows_of(runs, dataset, dataset.text_columns)
    shared = rows.select(pl.col(*dataset.text_columns).is_duplicated().mean()).row(0, named=True)
    return [name for name, share in shared.items() if share > 0.5]


def _common(a: Runs, b: Runs, name_a: str, name_b: str, intersect: bool) -> Runs:
    """A on the examples that B covers as well."""
    ids = pl.DataFrame({"id": a.example_ids.tolist()}).with_row_index("a")
    others = pl.DataFrame({"id": b.example_ids.tolist()})
    both = ids.join(others, on="id", how="semi", maintain_order="left")
    missing = (a.n_examples - both.height, b.n_examples - both.height)
    if not any(missing):
        return a
    if not intersect or both.height == 0:
        lacking = ids.join(others, on="id", how="anti") if missing[0] else others.join(ids, on="id", how="anti")
        raise InputError(
            f"the models were scored on different examples: {name_b} lacks {missing[0]:,} of {name_a}'s "
            f"{a.n_examples:,}, {name_a} lacks {missing[1]:,} of {name_b}'s {b.n_examples:,}, first "
            f"{', '.join(lacking['id'].head(6).to_list())}",
            mend=f"give the missing ones, or keep the common ones with {option('align', 'intersect')}"
            if both.height
            else "check that both are of one dataset",
        )
    return a.take(both["a"].to_numpy()) if missing[0] else a


def _in_order(runs: Runs, first: Runs) -> Runs:
    """The runs on the first's examples, in their order."""
    if np.array_equal(runs.example_ids, first.example_ids):
        return runs
    own = pl.DataFrame({"id": runs.example_ids.tolist()}).with_row_index("row")
    wanted = pl.DataFrame({"id": first.example_ids.tolist()})
    return runs.take(wanted.join(own, on="id", how="left", maintain_order="left")["row"].to_numpy())


def _gold_differs(a: Runs, b: Runs) -> int:
    if a.gold is None or b.gold is None or not a.label_names or not b.label_names:
        return 0
    labels = [np.array(runs.label_names)[gold] for runs, gold in ((a, a.gold), (b, b.gold))]
    return int((labels[0] != labels[1]).sum())
