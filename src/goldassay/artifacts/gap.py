"""Do models lean on the patterns? Accuracy of runs on easy and on hard examples, and the gap between the two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import InputError
from goldassay.stats.subsets import SubsetAccuracies, accuracy_by_subset

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.runs import Runs


def difficulty_gap(
    runs: Runs,
    classes: Mapping[str, str],
    *,
    clusters: Mapping[str, int] | None = None,
    seed: int = 0,
    n_draws: int = 1000,
    level: float = 0.95,
) -> SubsetAccuracies:
    """Accuracy of runs on all examples, on easy, on hard and on any other class, and delta = easy - hard.

    Examples of the runs that have no class count among all of them only: published subsets often list just the easy
    and the hard.

    Args:
        runs: Of one model; of several checkpoints the last is taken.
        classes: Example id to class, "easy" and "hard" among them.
        clusters: Example id to the number of its cluster; examples without one count by themselves.
        seed: Of the bootstrap over examples and runs.
        n_draws: Of the bootstrap.
        level: Of the intervals.

    Returns:
        As `accuracy_by_subset` gives it; the first subset is "full". An empty subset has no accuracy, and says why.

    Raises:
        InputError: An example with a class is not among the runs' examples, or no class is easy or hard.

    Source: Liu et al. 2020.
    """
    final = runs.final()
    ids = final.example_ids.tolist()
    strange = classes.keys() - set(ids)
    if strange:
        raise InputError(
            f"{len(strange)} of {len(classes)} examples of the subsets are not among those of the runs of "
            f"{runs.model}: first {min(strange)!r}; theirs are like {ids[0]!r}",
            mend="give subsets and runs of the same test set, with the same ids",
        )
    if not {"easy", "hard"} & set(classes.values()):
        found = ", ".join(sorted(set(classes.values()))[:5])
        raise InputError(f"no example is easy or hard; the classes are {found}", mend="name the column of classes")
    of_example = np.array([classes.get(each, "") for each in ids])
    others = sorted(set(classes.values()) - {"easy", "hard"})
    masks = {"full": np.ones(len(ids), np.bool_)}
    masks |= {name: of_example == name for name in ("easy", "hard", *others)}
    together = None if clusters is None else [clusters.get(each, -1 - at) for at, each in enumerate(ids)]
    return accuracy_by_subset(final.scores, masks, clusters=together, seed=seed, n_draws=n_draws, level=level)
