"""Runs of several models put side by side: the same examples in the same order, seeds matched where asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.errors import InputError, option, right_labels
from goldassay.questions.example_clusters import AUTO, NONE, clusters_of
from goldassay.runs.missing import on_same_items
from goldassay.runs.traits import group_names, known_groups
from goldassay.stats.clusters import LARGEST_SHARE, connected_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.runs.runs import Runs
    from goldassay.runs.statuses import Missing


# What clusters by texts are called.
SHARED_TEXTS = "shared-text"


def side_by_side(sets: Sequence[Runs], names: Sequence[str], missing: Missing) -> tuple[list[Runs], list[str]]:
    """All sets on the same examples, in the order of the first.

    Args:
        sets: Runs (R, N), one set a model.
        names: What to call them in messages.
        missing: What is done with examples that a model lacks; see `on_same_items`.

    Returns:
        The sets, and a sentence on what was left out.

    Raises:
        InputError: They cover different examples, or right labels differ.
    """
    aligned, notes = on_same_items(sets, names, missing)
    first = aligned[0]
    for taken, name in zip(aligned[1:], names[1:], strict=True):
        differ = _gold_differs(first, taken)
        if differ:
            raise InputError(
                f"the right labels of {differ:,} of the {first.n_examples:,} examples differ between {names[0]} and "
                f"{name}",
                mend=f"give runs on one dataset, or its labels with {right_labels()}",
            )
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
        matched.append(runs.of_runs(rows))
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
    own = option("columns", f"group={column}")
    wanted = f"name a column of the runs with {own}, or give the dataset that has it with {right_labels()}"
    there = f"there are {', '.join(known)}" if known else wanted
    raise InputError(f"neither the runs nor the dataset have a group {column!r} for each example", mend=there)


def related_examples(sets: Sequence[Runs]) -> list[str]:
    """What to bear in mind where examples of these runs are taken for independent that a group may relate."""
    columns = list(dict.fromkeys(name for runs in sets for name, names in runs.groups.items() if _relates(names)))
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
    """Whether some examples share a name, and none so many that clusters of them would be too few to say anything."""
    n_each = np.unique(names, return_counts=True)[1]
    return 1 < n_each.max() <= LARGEST_SHARE * len(names)


def _gold_differs(a: Runs, b: Runs) -> int:
    if a.gold is None or b.gold is None or not a.label_names or not b.label_names:
        return 0
    labels = [np.array(runs.label_names)[gold] for runs, gold in ((a, a.gold), (b, b.gold))]
    return int((labels[0] != labels[1]).sum())
