"""What was read: the files of runs and of right labels, as they stood."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.questions.inputs import describe_input, describe_runs
from goldassay.questions.run_sets import describe_paths

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from goldassay.data import Dataset
    from goldassay.questions.run_choice import RunChoice
    from goldassay.runs import Runs
    from goldassay.runs.slices import Slice

__all__ = ["describe_inputs", "describe_reading"]


def describe_inputs(
    paths: Sequence[str | os.PathLike[str]],
    found: Sequence[Slice],
    choice: RunChoice,
    texts: Mapping[str, Dataset | None] | None = None,
) -> list[dict[str, Any]]:
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
            describe_input("gold", dataset) if dataset is not None else {**describe_runs(str(gold)), "role": "gold"}
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
        "seeds": [str(seed) for seed in runs.seeds],
        "group_columns": list(runs.groups),
        "label_names": list(runs.label_names or ()),
    }
