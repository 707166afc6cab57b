"""Runs as they are handed over in Python, and what a report says of them and of their right labels.

Whatever they are, they are read from files, so that a figure has one way through the package.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.core.document import Input
from goldassay.core.errors import InputError, option
from goldassay.core.files import sha256_of
from goldassay.core.temp_files import temporary_folder
from goldassay.questions.inputs import describe_input, describe_runs
from goldassay.runs.traits import dataset_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.data.dataset import Dataset
    from goldassay.questions.run_choice import RunChoice
    from goldassay.runs.run_parts import Slice
    from goldassay.runs.runs import Runs


@contextmanager
def run_paths(runs: Any, *, named: bool = True) -> Iterator[list[str]]:
    """Paths of runs, each of which may be NAME=PATH; what is in memory is written to files that last as long.

    Args:
        runs: A path, `Runs`, a table with a row a prediction (a frame, Arrow table, `datasets.Dataset` or list of
            dicts), {name of the dataset: one of these}, or a list of these; None for none.
        named: Whether they may have names; else runs name their dataset themselves.

    Raises:
        InputError: Something is neither a path nor runs; or what was read from them cannot be used.
    """
    if isinstance(runs, Mapping) and not named:
        raise InputError(f"{option('runs')} holds names", mend="give the runs alone, which name their dataset")
    given = _each(runs)
    if all(isinstance(source, (str, os.PathLike)) for _, source in given):
        yield [_named(name, os.fspath(source)) for name, source in given]
        return
    with temporary_folder() as folder:
        paths = [_named(name, _path(source, folder, place)) for place, (name, source) in enumerate(given, 1)]
        try:
            yield paths
        except InputError as error:
            if error.file is None or str(folder) not in error.file:
                raise
            # The file is gone when the message is read.
            raise InputError(
                f"runs in memory: {error.problem}", row=error.row, column=error.column, mend=error.mend
            ) from error


def _each(runs: Any) -> list[tuple[str, Any]]:
    """Each source with the name of its dataset, "" where none was given. A list of dicts is one table."""
    if runs is None:
        return []
    if isinstance(runs, Mapping):
        return list(runs.items())
    several = isinstance(runs, (list, tuple)) and not (runs and all(isinstance(each, Mapping) for each in runs))
    return [("", each) for each in (runs if several else [runs])]


def _named(name: str, path: str) -> str:
    return f"{name}={path}" if name else path


def _path(source: Any, folder: Path, place: int) -> str:
    from goldassay.runs.runs import Runs
    from goldassay.runs.store import write_runs

    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    if isinstance(source, Runs):
        write_runs(source, folder / f"runs-{place}")
        return str(folder / f"runs-{place}")
    from goldassay.data.frames import table_of

    file = folder / f"runs-{place}.parquet"
    table_of(source).frame.write_parquet(file)
    return str(file)


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
