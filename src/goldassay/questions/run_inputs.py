"""What runs were read from: their files, the right labels, and the texts and columns of what was predicted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.core.document import Input
from goldassay.core.files import sha256_of
from goldassay.questions.inputs import describe_input, describe_runs
from goldassay.runs.traits import dataset_of

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from goldassay.data.dataset import Dataset
    from goldassay.questions.run_choice import RunChoice
    from goldassay.runs.run_parts import Slice
    from goldassay.runs.runs import Runs


def read_texts(path: str | None) -> Dataset | None:
    """The dataset at a path, or None where none was given or it has no texts (labels alone can serve as gold)."""
    return dataset_of(path)


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


def describe_paths(paths: Sequence[str | os.PathLike[str]], found: Sequence[Slice]) -> list[Input]:
    """What the report says of each path: the files that held runs, as they stood, their formats and rows."""
    described = []
    for path in map(Path, paths):
        own = [part for part in found if Path(part.file) == path or path in Path(part.file).parents]
        files = sorted({Path(part.file) for part in own})
        described.append(
            Input(
                role="runs",
                name=path.name,
                sha256=tuple(sha256_of(file) for file in files if file.is_file()),
                files=tuple(file.name if file == path else str(file.relative_to(path)) for file in files),
                format=", ".join(dict.fromkeys(part.format for part in own)),
                n_read=sum(part.n_examples for part in own),
                n_rows=sum(part.n_examples for part in own),
                dropped={},
            )
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
