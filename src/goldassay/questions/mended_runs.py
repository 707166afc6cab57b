"""Runs of a dataset written anew for its mended rows: what was predicted of rows that still say the same."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.entry_point import option
from goldassay.core.errors import InputError
from goldassay.core.numbers import count
from goldassay.core.temp_files import temporary_folder
from goldassay.data.mending import Mended, TextRows
from goldassay.data.reading import read_table
from goldassay.data.roles import parse_columns
from goldassay.questions.matching import sort_by_dataset
from goldassay.questions.run_choice import RunChoice, by_ids
from goldassay.questions.run_sets import Place, RunSet, find_at, find_runs, placed, unloaded_sets
from goldassay.runs.configurations import name_by_configuration
from goldassay.runs.store import write_runs

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from goldassay.runs.assembly import Align
    from goldassay.runs.runs import Runs

FOLDER = "runs"
# More sets of which the same is to be said are counted.
_MOST_NAMED = 3


@dataclass(frozen=True)
class _Kept:
    """A row that was not dropped: its id and label now, and whether its texts are those that were predicted."""

    id: str
    label: str
    is_same: bool
    is_relabelled: bool


def mend_runs(
    mended: Mended,
    paths: Sequence[str],
    directory: str | os.PathLike[str],
    *,
    columns: str | None = None,
    align: Align = "exact",
) -> tuple[list[Runs], list[str]]:
    """Make runs of a dataset runs of its mended rows.

    Rows that were dropped are left out, and so are rewritten ones, which no model has answered. Relabelled rows count
    by their new label; of runs that hold scores alone they are left out. Row numbers become those of the mended file.
    Runs of other datasets stay as they are.

    Args:
        mended: See `mend_dataset`.
        paths: Files or folders of runs, each of which may be NAME=PATH.
        directory: Where they will be written.
        columns: As for `mend_dataset`.
        align: "exact" refuses runs of a model that answer different rows; "intersect" keeps what all of them answer.

    Returns:
        The runs, a set a model, dataset, condition and checkpoint, and what is to be said of them, a line each.

    Raises:
        InputError: They cannot be read, do not answer the dataset, or lie where they would be written; or the dataset
            has items with choices.
    """
    if mended.rows is None or not mended.rows.dataset.label_names:
        what = "items" if mended.rows is None else "rows with scores in place of labels"
        raise InputError(
            f"{option('runs')}: runs of {what} are not written anew",
            mend="leave it out, and ask the models for the mended rows",
        )
    for place in map(Place.parse, paths):
        if Path(place.path).resolve().is_relative_to(Path(directory).resolve()):
            raise InputError(
                "the runs lie where the mended ones are written", file=place.path,
                mend=f"name another folder with {option('out')}",
            )  # fmt: skip
    dataset, kept = mended.rows.dataset, _kept(mended, columns)
    with placed(paths):
        found = sort_by_dataset(_sets(paths, by_ids(align)), dataset.label_names, {dataset.name: dataset})
        sets: list[Runs] = []
        said: dict[str, list[str]] = {}
        for each in found.sets[dataset.name]:
            made, line = _of_rows(each, kept)
            sets += made
            said.setdefault(line, []).append(f"{each.model} on {each.dataset}")
        for each in found.left_out:
            line = "as they were, since they answer other rows"
            try:
                sets += list(_by_checkpoint(each))
            except InputError as error:
                # Such as predictions whose labels only an audit is given, with the set that they are of.
                line = f"not written, and of other rows: {error.problem}"
            said.setdefault(line, []).append(f"{each.model} on {each.dataset}")
    return sets, [f"{_listed(names)}: {line}" for line, names in said.items()]


def write_mended_runs(sets: Sequence[Runs], directory: str | os.PathLike[str]) -> Path:
    """Write what `mend_runs` made into a folder, and return it.

    Raises:
        OutputError: The folder cannot be written to.
    """
    for runs in sets:
        write_runs(runs, directory)
    return Path(directory)


def _sets(paths: Sequence[str], align: Align) -> list[RunSet]:
    choice, places = RunChoice(align=align), list(map(Place.parse, paths))
    # As an audit names them, see `Evidence.answered`.
    if len(places) == 1 and not places[0].name:
        return unloaded_sets(find_runs([places[0].path], choice), choice)
    return unloaded_sets(name_by_configuration([part for place in places for part in find_at(place, choice)]), choice)


def _kept(mended: Mended, columns: str | None) -> dict[str, _Kept]:
    """{id as it was: the row as it is}, of the rows that are left."""
    rows = mended.rows
    assert rows is not None
    with temporary_folder() as folder:
        file = folder / mended.name
        file.write_bytes(mended.content)
        now = TextRows(read_table(file), rows.dataset.name, parse_columns(columns) if columns else None, file)
    names = ["example_id", "label", *rows.dataset.text_columns]
    before = rows.dataset.examples.select(pl.col(names).cast(pl.String)).iter_rows()
    after = dict(zip(now.places, now.dataset.examples.select(pl.col(names).cast(pl.String)).iter_rows(), strict=True))
    dropped, kept = set(mended.dropped), {}
    for place, (name, label, *texts) in zip(rows.places, before, strict=True):
        own = after.get(place - bisect_left(mended.dropped, place))
        if place not in dropped and own is not None:
            kept[name] = _Kept(own[0], own[1], list(own[2:]) == texts, own[1] != label)
    return kept


def _of_rows(runs: RunSet, kept: dict[str, _Kept]) -> tuple[list[Runs], str]:
    """A set of runs on the rows that are left, and what is to be said of it."""
    made, n_before, n_unknown = [], 0, 0
    for each in _by_checkpoint(runs):
        left = [kept.get(str(name)) for name in each.example_ids.tolist()]
        # Of scores alone nobody knows what they would be by another label.
        answered = [
            row if row is not None and row.is_same and (each.predictions is not None or not row.is_relabelled) else None
            for row in left
        ]
        at = [place for place, row in enumerate(answered) if row is not None]
        if not at:
            raise InputError(
                f"no row is left that the runs of {runs.model} on {runs.dataset} answer", file=runs.file,
                mend=f"leave {option('runs')} out, and ask the model for the mended rows",
            )  # fmt: skip
        n_before, n_unknown = each.n_examples, sum(row is not None for row in left) - len(at)
        made.append(_as_now(each.take(np.array(at)), [row for row in answered if row is not None], runs.file))
    said = f"{count(made[-1].n_examples)} of {count(n_before)} answers hold"
    if n_lacking := runs.columns().example_ids.len() - n_before:
        said += f"; {count(n_lacking)} rows that not all of its runs answer are left out"
    if n_unknown:
        said += (
            "; 1 changed row has none: ask the model for it" if n_unknown == 1
            else f"; {count(n_unknown)} changed rows have none: ask the model for these"
        )  # fmt: skip
    return made, said


def _listed(names: Sequence[str]) -> str:
    return (
        ", ".join(names) if len(names) <= _MOST_NAMED else f"{names[0]} and {count(len(names) - 1)} other sets of runs"
    )


def _by_checkpoint(runs: RunSet) -> Iterator[Runs]:
    """The runs of a set at one checkpoint after the other: not every run may have all of them."""
    for step in dict.fromkeys(part.checkpoint for part in runs.slices):
        yield runs.load() if step is None else runs.at(step, runs.n_runs).load()


def _as_now(runs: Runs, rows: Sequence[_Kept], file: str) -> Runs:
    """Runs on some rows with the ids and labels that these have now."""
    named = replace(runs, example_ids=np.array([row.id for row in rows], dtype=np.str_))
    changed = np.array([row.is_relabelled for row in rows])
    if runs.gold is None or runs.predictions is None or not changed.any():
        return named
    labels = np.array([row.label for row in rows], dtype=object)
    new = [name for name in dict.fromkeys(labels[changed].tolist()) if name not in runs.label_names]
    if new and runs.logits is not None:
        raise InputError(
            f"a row is relabelled to {new[0]!r}, for which the runs of {runs.model} have no probability", file=file,
            mend=f"leave {option('runs')} out, and ask the model for the mended rows",
        )  # fmt: skip
    names = (*runs.label_names, *new)
    gold, scores = runs.gold.copy(), runs.scores.copy()
    gold[changed] = [names.index(name) for name in labels[changed].tolist()]
    scores[..., changed] = runs.predictions[..., changed] == gold[changed]
    return replace(named, label_names=names, gold=gold, scores=scores)
