"""What is audited: a training part and an evaluation part with the same labels.

Runs as they are handed over in Python, and what a report says of them and of their right labels.

Whatever they are, they are read from files, so that a figure has one way through the package.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.document import Input
from goldassay.core.errors import InputError, option
from goldassay.core.files import sha256_of, temporary_folder
from goldassay.core.naming import split_named_path
from goldassay.core.numbers import count
from goldassay.data.facts import check_same_labels, require_classes
from goldassay.data.fields import VALUES, value_codes
from goldassay.data.reading import Source, open_source
from goldassay.data.roles import (
    columns_named,
    is_called_answer,
    is_free_answer,
    own_roles,
    parse_columns,
    without_classes,
)
from goldassay.data.source import name_of
from goldassay.data.splits import columns_to_split_by, known_columns, split_disjoint
from goldassay.questions.example_clusters import NONE, example_clusters
from goldassay.questions.provenance import NO_TEST_PART
from goldassay.readers.conditions import coarsening
from goldassay.readers.probes import MAX_CELLS
from goldassay.runs.traits import dataset_of
from goldassay.stats.clusters import N_FOLDS, Clusters, connected_rows, deal_evenly

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.core.settings import Settings
    from goldassay.data.dataset import Dataset
    from goldassay.questions.run_choice import RunChoice
    from goldassay.runs.run_parts import Slice
    from goldassay.runs.runs import Runs


# Of more rows a share is set apart: five times the readers would take minutes.
MOST_BY_FOLDS = 100_000


@dataclass(frozen=True)
class Inputs:
    """What readers learn from and what they read.

    Attributes:
        train: The training part, or all rows.
        test: The evaluation part; the same rows where there is none.
        decisions: How that came about, in sentences.
        whole: Where a part was set apart of the training data: all rows, those that teach first.
    """

    train: Dataset
    test: Dataset
    decisions: tuple[str, ...]
    whole: Dataset | None = None


def load_inputs(
    train: Any,
    test: Any,
    *,
    columns: str | Mapping[str, str] | None,
    label_names: Sequence[str] | None,
    file_format: str,
    settings: Settings,
    same_texts: bool = True,
) -> Inputs:
    """Read the training and the evaluation part, and say how the latter came about.

    Where no evaluation set is given: the data's own test part, else its dev part, else all rows, each to be read by
    other rows (`deal_folds`). Of more than 100,000 rows, and where a network is to be trained, a share is split off
    such that no sentence is in both parts.

    Raises:
        InputError: A file cannot be read, there are no labels or only one class, the two parts differ in their text
            columns (with `same_texts`), or the evaluation part has labels that the training part lacks.
    """
    reading = {"columns": own_roles(columns, "train"), "label_names": label_names}
    source = _load(train, reading, file_format, "train", "train")
    parts = source.parts
    decisions: list[str] = []
    training = parts.get("train", source) if len(parts) > 1 else source
    whole = None
    if test is not None:
        with columns_named("test"):
            evaluation = _load(test, {**reading, "columns": own_roles(columns, "test")}, file_format, "test", "test")
            evaluation.labels()
        if len(evaluation.parts) > 1 and "test" in evaluation.parts:
            evaluation = evaluation.parts["test"]
            decisions.append("Only the test part of the evaluation set is used.")
        if training is not source:
            decisions.append("Only the train part of the training data is used; the evaluation set was given.")
    elif training is not source:
        name = "test" if "test" in parts else "dev"
        if name not in parts:
            raise InputError(
                f"has the parts {', '.join(sorted(parts))} but neither test nor dev",
                file=source.source,
                mend=f"name an evaluation set with {option('test', 'FILE')}",
            )
        evaluation = parts[name]
        decisions.append(f"The data's own {name} part is the evaluation set.")
    else:
        require_classes(source)
        if len(source) <= min(MOST_BY_FOLDS, MAX_CELLS // len(source.label_names)) and settings.leakage.model is None:
            said = f"{NO_TEST_PART}: each of the {count(len(source))} rows is scored once, by readers that learned from"
            return Inputs(source, source, (f"{said} other rows ({N_FOLDS} folds, seed {settings.seed}).",))
        by = columns_to_split_by(settings.data.split_by)
        training, evaluation = split_disjoint(source, share=settings.data.test_share, seed=settings.seed, by=by)
        whole = replace(source, examples=pl.concat([training.examples, evaluation.examples]))
        together = " and ".join(evaluation.provenance.kept_together)
        besides = f"; {together} were kept together" if together else ""
        decisions.append(
            f"{NO_TEST_PART}: {len(evaluation):,} of {len(source):,} rows were split off (seed "
            f"{settings.seed}) such that no sentence is in both parts{besides}."
        )
    require_classes(training)
    # What reads one text alone may be tried on data that have no other.
    if same_texts and training.text_columns != evaluation.text_columns:
        raise InputError(
            f"its texts are {', '.join(evaluation.text_columns)}, those of the training data "
            f"{', '.join(training.text_columns)}",
            file=evaluation.source,
            mend=f"make the roles equal with {option('columns-of', 'test')}",
        )
    check_same_labels(training, evaluation)
    return Inputs(training, evaluation, tuple(decisions), whole)


def deal_folds(dataset: Dataset, clusters: Clusters, settings: Settings) -> NDArray[np.int64]:
    """The fold of each row, (N,): whole clusters, and with them rows that are to stay together.

    Args:
        dataset: All rows.
        clusters: Of these rows.
        settings: Where each row counts by itself, rows that share a text stay together all the same; `split_by` adds
            columns of which no value may be in two folds, and "none" parts groups.

    Raises:
        InputError: A column is not there, or all rows hang together.
    """
    by, codes = columns_to_split_by(settings.data.split_by), clusters.codes
    if settings.data.clusters == NONE or by == ():
        codes = example_clusters(replace(dataset, cluster_columns=()) if by == () else dataset).codes
    keyed = dataset.with_keys(by or ())
    known_columns(keyed, by or ())
    columns = [value_codes(keyed.examples[name]) for name in by or ()]
    units = connected_rows(np.stack([codes, *columns], axis=1))
    if units.max() == 0:
        raise InputError(
            "there are no folds of rows that share nothing: all rows hang together",
            file=dataset.source,
            mend=f"name fewer columns with {option('split_by')}, or give a test file of its own",
        )
    return deal_evenly(units, dataset.labels(), N_FOLDS, settings.seed)


def load_elsewhere(sources: Any, train: Dataset, test: Dataset, **reading: Any) -> dict[str, Dataset]:
    """Read sets of other distributions, by name.

    Their labels are those of the training part or coarser ones, see `coarsening`. Texts that stand in the training
    part or in the test part are no reason to refuse a set unless all of them do: they are left out of what is measured.

    Args:
        sources: {name: path, `Dataset` or frame}, or several of these under names of their own; a path may be
            NAME=FILE.
        train: The training part.
        test: The evaluation part.
        reading: `columns` and `file_format`, as for `load_inputs`.

    Raises:
        InputError: A set cannot be read, has the name of another, other texts or labels, or no text of its own.
    """
    found: dict[str, Dataset] = {}
    for name, source in named_sources(sources):
        try:
            dataset = _read_elsewhere(name, source, **reading)
            _check_elsewhere(dataset, train)
        except InputError as error:
            raise _of_elsewhere(error, name or (source if isinstance(source, str) else "")) from error
        if dataset.name in (test.name, *found):
            other = "the test part" if dataset.name == test.name else "another set"
            raise InputError(
                f"{option('elsewhere')} names a set {dataset.name!r}, as {other} is called",
                file=dataset.source,
                mend=f"give it another name: {option('elsewhere', 'NAME=FILE')}",
            )
        _check_own_texts(dataset, train, test)
        found[dataset.name] = dataset
    return found


def named_sources(sources: Any) -> list[tuple[str, Any]]:
    """Each of several sets with its name, "" where none was given; a list of dicts is one set, a tuple (name, set)."""
    if sources is None:
        return []
    if isinstance(sources, Mapping):
        return list(sources.items())
    several = isinstance(sources, (list, tuple)) and not all(isinstance(each, dict) for each in sources)
    return [each if isinstance(each, tuple) else ("", each) for each in (sources if several else [sources])]


def input_names(*sets: Any) -> list[str]:
    """What `--columns-of` calls the inputs of a command: train, test, and sets that have names of their own."""
    found = [input_name(name, each) for given in sets for name, each in named_sources(given)]
    return ["train", "test", *(name for name in found if name)]


def input_name(name: str, source: Any) -> str:
    """What one of several sets is called: its own name, that before the sign of equality, or that of its file."""
    if name or not isinstance(source, (str, os.PathLike)):
        return name
    given, place = split_named_path(os.fspath(source))
    return given or name_of(Path(place))


def _read_elsewhere(name: str, source: Any, *, columns: Any, file_format: str) -> Dataset:
    called = input_name(name, source)
    with columns_named(called):
        dataset = _load(source, {"columns": own_roles(columns, called)}, file_format, name or "elsewhere", "the set")
        dataset.labels()
    if len(dataset.parts) > 1 and "test" in dataset.parts:
        dataset = dataset.parts["test"]
    return replace(dataset, name=name) if name else dataset


def _check_elsewhere(dataset: Dataset, train: Dataset) -> None:
    if dataset.text_columns != train.text_columns:
        raise InputError(
            f"its texts are {', '.join(dataset.text_columns)}, those of the training data "
            f"{', '.join(train.text_columns)}",
            file=dataset.source,
            mend=f"make the roles equal with {option('columns-of', dataset.name)}",
        )
    other = [name for name in dataset.label_names if name not in train.label_names]
    if other and coarsening(train.label_names, dataset.label_names) is None:
        raise InputError(
            f"it has labels that the training data lack ({', '.join(other[:5])}; they have "
            f"{', '.join(train.label_names[:5])})",
            file=dataset.source,
            mend=f"give a set of the same task; {dataset.other_label()}",
        )


def _check_own_texts(dataset: Dataset, train: Dataset, test: Dataset) -> None:
    from goldassay.questions.shift.measures.generalization import shared_texts

    texts = dataset.joined_texts()
    in_test, in_train = (shared_texts(part.joined_texts(), texts) for part in (test, train))
    if (in_test | in_train).all():
        where = (
            "in the test part"
            if in_test.all()
            else "in the training part"
            if in_train.all()
            else "in one of both parts"
        )
        raise InputError(
            f"every text of the set {dataset.name!r} of {option('elsewhere')} is {where}",
            file=dataset.source,
            mend="give texts of another distribution",
        )


def _of_elsewhere(error: InputError, name: str) -> InputError:
    """The error with the option that named the set."""
    said = f"{option('elsewhere')} {name}: {error.problem}" if name else f"{option('elsewhere')}: {error.problem}"
    return InputError(said, file=error.file, row=error.row, column=error.column, mend=error.mend)


def _load(source: Any, reading: Mapping[str, Any], file_format: str, name: str, argument: str) -> Dataset:
    columns = reading.get("columns")
    opened = source if isinstance(source, Source) else open_source(source, argument, file_format, name, columns)
    found = opened.labelled(**reading)
    _require_read(found, parse_columns(columns) if isinstance(columns, str) else columns or {})
    return found


def _require_read(dataset: Dataset, named: Mapping[str, str]) -> None:
    """Refuse data of which choices or answers are not read: verdicts on the rest would be on another task.

    Args:
        dataset: As it was read.
        named: The columns of roles that were given.

    Raises:
        InputError: With the columns, and the roles to give.
    """
    columns = dataset.unread.choices
    if not columns:
        return
    frame, label = dataset.examples, dataset.provenance.roles.get("label")
    if not label and any(is_free_answer(frame[name]) for name in columns):
        raise without_classes(frame, dataset.place or dataset.source, {*dataset.text_columns, "example_id", "split"})
    known, label = label, label or next((name for name in columns if is_called_answer(name)), "label")
    one, more = len(columns) == 1, len(columns) > 4
    listed = ", ".join(map(repr, columns[:4])) + (f" and {len(columns) - 4} more" if more else "")
    kept = {role: name for role, name in named.items() if role != VALUES}
    # Without the column of the labels there is nothing to audit.
    labelled = not known and label in columns
    others = [name for name in columns if name != label]
    ignored = [*kept.pop("ignore", "").split("+"), *(others if labelled else columns)[:12]]
    roles = {**kept, **({"label": label} if labelled else {}), "ignore": "+".join(ignored).removeprefix("+")}
    mend = f"leave out what does not matter with {option('columns', ','.join(map('='.join, roles.items())))}"
    given = option("columns", f"choices={'+'.join(others[:12])},answer={label}")
    if len(others) == 1 and _is_plain_text(frame[others[0]]):
        mend += f", or write each text in {others[0]!r} as a list of choices"
    elif others:
        mend += f", or audit {'lists of texts' if one else 'them'} as choices with {given}"
    raise InputError(
        f"the column{'' if one else 's'} {listed} look{'s' if one else ''} like choices, responses or answers and "
        f"{'has' if one else 'have'} no role",
        file=dataset.source,
        mend=mend,
    )


def _is_plain_text(values: pl.Series) -> bool:
    """Whether no value can be a list or an object."""
    if values.dtype != pl.String:
        return False
    return not values.str.strip_chars_start().str.contains(r"^[\[{]").any()


def describe_input(role: str, dataset: Dataset, decisions: tuple[str, ...] = ()) -> Input:
    """What the report says of one input: where it came from, what was decided, what was dropped."""
    provenance = dataset.provenance
    return Input(
        role=role,
        name=dataset.name,
        sha256=tuple(file.sha256 for file in provenance.files),
        files=tuple(file.name for file in provenance.files),
        n_rows=len(dataset),
        n_read=provenance.n_read,
        format=provenance.format,
        roles=dict(provenance.roles),
        decisions=(*provenance.decisions, *decisions),
        dropped=dict(provenance.dropped),
    )


def majority_share(dataset: Dataset) -> float:
    """Share of the most frequent label."""
    counts = np.bincount(dataset.labels())
    return float(counts.max() / counts.sum())


def _holds_runs(file: Path, folder: Path) -> bool:
    """Whether a file is where runs are looked for: not in a folder whose name begins with a dot or an underscore."""
    inside = file.relative_to(folder).parts
    return file.is_file() and not any(part.startswith((".", "_")) for part in inside)


def describe_runs(path: str | os.PathLike[str], align: str = "exact", grades: str | None = None) -> Input:
    """What the report says of runs that were handed in: their files, as they stood, how they were aligned and read."""
    place = Path(path)
    files = [place] if place.is_file() else sorted(file for file in place.rglob("*") if _holds_runs(file, place))
    return Input(
        role="runs",
        name=place.name,
        sha256=tuple(sha256_of(file) for file in files),
        files=tuple(file.name if place.is_file() else str(file.relative_to(place)) for file in files),
        align=align if align != "exact" else None,
        grades=grades,
    )


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
    from goldassay.data.table import table_of

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
