"""Reading a board: a table, a folder of lists of solved items, or runs of several models on one dataset."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.document import Input
from goldassay.core.errors import SHELL, InputError, entry_point, no_such_file, option
from goldassay.core.files import sha256_of
from goldassay.data.column_names import names_of, normalized
from goldassay.data.fields import VALUES
from goldassay.data.kinds.recognition import look_at
from goldassay.data.reading import read_table
from goldassay.data.roles import naming
from goldassay.data.source import name_of
from goldassay.data.table import Table, rows_of_lists, table_of
from goldassay.questions.answered.degenerate import Given, given_by
from goldassay.questions.board.scores import BoardScores, ItemTraits, in_common, traits_of_items
from goldassay.questions.discount.question import answered_by
from goldassay.questions.discount.reading import Answered
from goldassay.questions.example_clusters import AUTO, NONE, clusters_of, named_columns
from goldassay.questions.inputs import describe_inputs, read_texts, run_paths
from goldassay.questions.leakage.measures.single_sentence import PAIRED, TEXT
from goldassay.questions.run_sets import find_runs, placed, unloaded_sets
from goldassay.runs.adapters.long_table import with_settings
from goldassay.runs.configurations import asked_apart
from goldassay.runs.finding import find_in_own_format, kind_at
from goldassay.runs.grades import parse_grades
from goldassay.runs.kinds.board_tables import Cells, read_cells
from goldassay.runs.kinds.boards import read_solved
from goldassay.runs.missing import describe_attempts, describe_labels
from goldassay.runs.runs import Runs
from goldassay.runs.statuses import MISSING, STATUSES, Missing
from goldassay.runs.traits import dataset_of, read_gold, shared_traits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from goldassay.questions.run_choice import RunChoice

_MOST_NAMES = 8
# Of a folder, looked at for boards.
_MOST_FILES = 20
# Roles that runs do not have.
_BOARD_ROLES = {"system", "item", "answer"}
_TABLE = re.compile(r"\.(csv|tsv|parquet|pq|jsonl|ndjson)(\.(gz|zst))?$", re.IGNORECASE)


def read_board(table: Any, choice: RunChoice, clusters: str = AUTO) -> BoardScores:
    """The board in whatever was given.

    Args:
        table: A path or several, a table in memory, or one that was read; or `Runs` and lists of these.
        choice: How it is read.
        clusters: "auto" joins runs' examples by their texts, where these are known, and of tables nothing; "none"; or
            columns.

    Raises:
        InputError: It cannot be read, is no board, or lies on several datasets.
    """
    scale, missing = parse_grades(choice.grades), choice.rule
    by = () if clusters in (AUTO, NONE) else named_columns(clusters)
    alone = table[0] if isinstance(table, (list, tuple)) and len(table) == 1 else table
    if isinstance(alone, (str, os.PathLike)):
        place = Path(alone)
        cells, unread = _in_place(place, choice, by, scale)
        if cells is None and not {*_BOARD_ROLES, "ignore"}.isdisjoint(choice.columns):
            raise unread or InputError(
                "the columns hold no scores of systems, nor answers that are among the right ones", file=place,
                mend="give a row for each system and item, or where each system has a column scores from 0 to 1 or the "
                f"right answers; {_name_columns(place)}",
            )  # fmt: skip
        if cells is not None:
            described = _described(place)
            return _of_cells(cells, name_of(place), described, choice, scale)
        try:
            return _of_runs(table, choice, clusters, missing)
        except InputError as error:
            if choice.columns or "no runs were recognized" not in error.problem:
                raise
            if unread is not None and _TABLE.search(place.name):
                raise unread from error
            _refuse_several(place, choice, by, scale)
            rows, write = kind_at(place)
            raise InputError(
                "no board and no runs were recognized here" + (f", but {rows}" if rows else ""),
                file=place,
                mend=f"write {write}" if rows else _name_columns(place),
            ) from error
    elif not _holds_runs(alone):
        asked = choice.traits.names
        given = alone if isinstance(alone, Table) else table_of(alone)
        file = str(given.path or "the table")
        cells = read_cells(given.frame, choice.columns, by, scale, file, choice.dataset, given.lines, asked)
        if cells is not None:
            described = _described(given.path) if given.path else Input("board", "table in memory", (), ())
            return _of_cells(cells, name_of(given.path) if given.path else "board", described, choice, scale)
    return _of_runs(table, choice, clusters, missing)


def _name_columns(place: Path) -> str:
    """The option that names the columns of a board.

    Raises:
        InputError: The place holds no table.
    """
    named = naming(read_table(place).frame, "system", "item", "score")
    given = re.match(r"perhaps (--columns .*?); ", named)
    if given and entry_point() == SHELL:
        return f"perhaps goldassay board {shlex.quote(str(place))} {given[1]}; {named[given.end() :]}"
    return named if named.startswith("perhaps") else f"{named}; {look_at(str(place))}"


def _refuse_several(place: Path, choice: RunChoice, by: tuple[str, ...], scale: tuple[float, float] | None) -> None:
    """Refuse a folder of tables that are boards each.

    Raises:
        InputError: One of its first files is a board.
    """
    for file in sorted(place.iterdir())[:_MOST_FILES] if place.is_dir() else ():
        if file.is_file() and _TABLE.search(file.name) and _in_place(file, choice, by, scale)[0] is not None:
            board = f"goldassay.rank_systems({str(file)!r})"
            if entry_point() == SHELL:
                board = f"goldassay board {shlex.quote(str(file))}"
            raise InputError(
                "each table of the folder is a board of its own", file=place, mend=f"give one, as in: {board}"
            )


def _holds_runs(given: Any) -> bool:
    return isinstance(given, Runs) or (
        isinstance(given, (list, tuple)) and any(isinstance(each, (Runs, str, os.PathLike)) for each in given)
    )


def _in_place(
    place: Path, choice: RunChoice, by: tuple[str, ...], scale: tuple[float, float] | None
) -> tuple[Cells | None, InputError | None]:
    """The board of a table's file or of a folder of lists; None where it holds runs, or nothing that is known.

    Beside it why the file is no table: logs of evaluations are none, and what is neither is refused where runs are
    read.
    """
    if not place.exists():
        raise no_such_file(place)
    if place.is_dir():
        return read_solved(place), None
    if ".json" in place.name and _BOARD_ROLES.isdisjoint(choice.columns) and find_in_own_format(place):
        # A log of a tool may hold an array that is a table, too.
        return None, None
    try:
        read = read_table(place, choice.format)
    except InputError as error:
        return None, error
    # A row of a system may hold the results of all items.
    if not choice.columns and {normalized(name) for name in read.frame.columns}.isdisjoint(names_of("item", "board")):
        read = rows_of_lists(read)
    if not choice.columns and with_settings(read.frame, {})[0].columns != read.frame.columns:
        # A system that was asked in several ways has a run in each.
        return None, None
    if not choice.columns and not {normalized(name) for name in read.frame.columns}.isdisjoint(
        names_of("trial", "runs")
    ):
        # Items may have unequal numbers of attempts.
        return None, None
    asked = choice.traits.names
    if choice.keys is not None:
        read, _ = choice.keys.hold_table(read)
    return read_cells(read.frame, choice.columns, by, scale, str(place), choice.dataset, read.lines, asked), None


def _described(place: Path) -> Input:
    files = [place] if place.is_file() else sorted(file for file in place.rglob("*.json") if file.is_file())
    shown = tuple(file.name if place.is_file() else str(file.relative_to(place)) for file in files)
    return Input("board", name_of(place), tuple(map(sha256_of, files)), shown)


def _of_cells(
    cells: Cells,
    name: str,
    described: Input,
    choice: RunChoice,
    scale: tuple[float, float] | None,
) -> BoardScores:
    asked = choice.traits
    traits = traits_of_items(cells, asked, dataset_of(choice.gold_of(choice.dataset or "")), described.name)
    described = replace(described, n_rows=int(cells.items.size))
    notes = cells.notes if scale is None else [*cells.notes, _describe_scale(scale)]
    answered = [Answered(cells.items.tolist(), cells.labels)] * len(cells.systems)
    board = in_common(
        name, cells.systems, cells.scores, cells.items, cells.clusters, (described,), notes, choice.rule, answered,
        cells.absent, traits,
    )  # fmt: skip
    return replace(board, cells=cells, given=tuple(_given(cells)))


def _given(cells: Cells) -> Iterator[Given]:
    """What each system of a table gave, in its first run."""
    items = pl.Series("item", cells.items.tolist(), dtype=pl.String)
    right = None if cells.labels is None else pl.Series(cells.labels, dtype=pl.String)
    for at, name in enumerate(cells.systems):
        written = cells.outputs[at] if cells.outputs else None
        yield Given.of(
            name,
            items,
            texts=None if written is None else written.texts,
            choices=cells.answers[at] if cells.answers else None,
            right=right,
            prompts=None if written is None else written.prompts,
            scores=pl.Series(cells.scores[at][0]).fill_nan(None),
        )


def _of_runs(table: Any, choice: RunChoice, clusters: str, missing: Missing) -> BoardScores:
    """Systems are the models that have runs of the whole input on one dataset."""
    # What a system lacks is seen beside the others: its own runs are read by what they have.
    if VALUES in choice.columns:
        raise InputError("these are runs, and what values mean is said of a table's", mend=f"leave out {option('map')}")
    choice = replace(choice, checkpoint=choice.checkpoint or "last", missing="wrong")
    with run_paths(table, named=False) as paths, placed(paths):
        found = find_runs(paths, choice)
        sets = [each for each in unloaded_sets(found, choice) if each.condition in (PAIRED, TEXT)]
        datasets = list(dict.fromkeys(each.dataset for each in sets))
        if len(datasets) > 1:
            more = f" and {len(datasets) - _MOST_NAMES} more" if len(datasets) > _MOST_NAMES else ""
            raise InputError(
                f"there are runs on {len(datasets)} datasets: {', '.join(datasets[:_MOST_NAMES])}{more}",
                mend=f"choose one, as in {option('dataset', datasets[0])}",
            )
        loaded = [(each.model, each.load().final()) for each in sets]
        given = [
            replace(given_by(runs, dict(each.outputs()).get(str(runs.seeds[0]))), system=each.model)
            for each, (_, runs) in zip(sets, loaded, strict=True)
        ]
        inputs = describe_inputs(paths, found, choice)
    items = list(dict.fromkeys(str(each) for _, runs in loaded for each in runs.example_ids.tolist()))
    place = {name: at for at, name in enumerate(items)}
    scores, absent = [], []
    for _, runs in loaded:
        at = [place[str(each)] for each in runs.example_ids.tolist()]
        cells = np.full((runs.scores.shape[0], len(items)), np.nan)
        cells[:, at] = np.where(runs.scored, runs.scores, np.nan)
        lacks = np.ones(cells.shape, dtype=np.bool_)
        lacks[:, at] = runs.status == STATUSES[MISSING]
        scores.append(cells)
        absent.append(lacks)
    notes = [
        f"{model} has {len(runs.seeds)} runs: its score is their mean." for model, runs in loaded if len(runs.seeds) > 1
    ]
    notes += [
        said for model, runs in loaded for said in [*describe_labels(runs, model), *describe_attempts(runs, model)]
    ]
    names = np.array(items, dtype=np.str_)
    scales = dict.fromkeys(runs.grades for _, runs in loaded if runs.grades is not None)
    notes += [_describe_scale(scale) for scale in scales]
    joined = _clusters(loaded, names, choice, clusters) if loaded else None
    models = [model for model, _ in loaded]
    values, weights = shared_traits([runs for _, runs in loaded], items)
    traits = ItemTraits(values, weights, choice.traits.weight)
    board = in_common(
        datasets[0] if datasets else "board", models, scores, names, joined, inputs, notes, missing,
        [answered_by(runs) for _, runs in loaded], absent, traits,
    )  # fmt: skip
    return replace(board, asked=tuple(asked_apart(runs.configuration for _, runs in loaded)), given=tuple(given))


def rows_answered(scores: BoardScores, choice: RunChoice) -> tuple[Answered, ...]:
    """What tells which rows systems answer: by the dataset that was given, where a table has no right answers.

    Raises:
        InputError: The dataset cannot be read, or has no labels.
    """
    gold = choice.gold_of(choice.dataset or "")
    if gold is None or all(each.labels is not None for each in scores.answered):
        return scores.answered
    right = read_gold(gold)
    known = dict(zip(right.example_ids.cast(pl.String), right.label.cast(pl.String), strict=True))
    return tuple(
        each if each.labels is not None else Answered(each.names, tuple(known.get(name) for name in each.names))
        for each in scores.answered
    )


def _describe_scale(scale: tuple[float, float]) -> str:
    return f"A point is a hundredth of the scale of grades from {scale[0]:g} to {scale[1]:g}."


def _clusters(
    loaded: list[tuple[str, Runs]], items: NDArray[np.str_], choice: RunChoice, by: str
) -> NDArray[np.int64] | None:
    """What examples share, by the texts that were predicted, where they are known."""
    if by == NONE:
        return None
    gold = choice.gold_of(loaded[0][1].dataset)
    texts = read_texts(gold) if gold is None or isinstance(gold, str) else gold
    if texts is None and by != AUTO:
        raise InputError(
            f"{option('clusters', by)}: the columns of the data that were predicted are not at hand",
            mend=f"give these with {option('test', 'FILE')}",
        )
    return clusters_of(texts, items, by)
