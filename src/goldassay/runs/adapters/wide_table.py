"""Wide tables: a row an example, a column a run, in CSV, TSV, JSON lines or Parquet, packed or not.

Run columns are, in this order: those named pred_X, preds-X or prediction_X (predictions) and correct_X or score_X
(scores); those named X_pred and X_correct; those named seed_K or run_K; else every column whose values are all labels
of the label column, or all numbers within [0, 1]. A column named seed_K or run_K is run K of one model, named by
nothing; NAME_seed_K is run K of model NAME; any other column is a model with one run (`model="NAME*"` takes several as
runs of one). A model or a file whose name has the word hypothesis or premise saw only that; all others are taken as
paired.
Whether the values are predictions or scores is said by the prefix, or by the label column; where neither does, the
name of the file has to ("preds", "correct", "score").
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.naming import listing
from goldassay.data.fields import cell_texts
from goldassay.data.kinds import DATA_KINDS
from goldassay.data.kinds.recognition import other_kind, recognize
from goldassay.data.table import Table
from goldassay.runs.key_columns import (
    SYNONYMS,
    as_number,
    as_scores,
    find_roles,
    is_beside_the_point,
    is_large,
    key_columns,
)
from goldassay.runs.labels import canonical
from goldassay.runs.run_parts import Collection, Columns, Request, Slice, not_loaded
from goldassay.runs.runs import condition_within, condition_words
from goldassay.runs.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

NAME = "wide"
PRIORITY = 90

_PREDICTION = re.compile(
    r"(?:preds?|predictions?)[_-](?P<a>.+?)(?:PredLabel)?|(?P<b>.+?)[_-](?:preds?|prediction)", re.IGNORECASE
)
_SCORE = re.compile(r"(?:correct|scores?|acc)[_-](?P<a>.+)|(?P<b>.+)[_-](?:correct|scores?)", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:(?P<model>.+)[_-])?(?:seed|run)[_-]?(?P<seed>\d+)", re.IGNORECASE)
_KINDS = {"prediction": re.compile(r"pred", re.IGNORECASE), "score": re.compile(r"correct|score", re.IGNORECASE)}
# Columns that say something of a row whatever their values are.
_KNOWN = {*(name.lower() for names in SYNONYMS.values() for name in names)} | {
    "turn", "fold", "split", "version", "temperature", "attempts", "retries",
}  # fmt: skip


class _Run(NamedTuple):
    """One column: what it is called in the table, whose run it is, and what it holds."""

    column: str
    model: str
    seed: int | str
    kind: str


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize a table with columns of runs."""
    if not path.is_file():
        return None
    if request.listed and is_large(path) and (found := _listed(path, request)):
        return found
    table = read_table(path)
    if table is None or table.height == 0 or is_beside_the_point(table.columns, request):
        return None
    roles = find_roles(table.columns, request.columns, path)
    if "seed" in roles and "example_id" not in roles and table[roles["seed"]].n_unique() > 1:
        # A row is of one run, and does not say of which example: its columns are no runs.
        return None
    label = table[roles["label"]].cast(pl.String) if "label" in roles else None
    aside = (roles.get("example_id"), roles.get("label"), *request.kept)
    others = [name for name in table.columns if name not in aside]
    runs = _runs(table, others, label, path)
    if not runs or _rates_data(table, runs, request):
        return None
    ids = table[roles["example_id"]] if "example_id" in roles else pl.Series(range(table.height))
    groups = {name[6:]: table[name].cast(pl.String) for name in others if name.startswith("group_")}
    if "group" in roles:
        groups[roles["group"]] = table[roles["group"]].cast(pl.String)
    groups |= {name: cell_texts(table[name]).fill_null("") for name in request.kept if name in table.columns}
    return [
        _slice(
            run,
            table.height,
            path,
            partial(_load, table[run.column], run.kind, ids.cast(pl.String), label, groups, path),
        )
        for run in runs
    ]


def _listed(path: Path, request: Request) -> list[Slice] | None:
    """What `find` finds by names of columns alone, without rows; None where only values tell which columns are runs."""
    table = key_columns(path, lambda name: name.lower() in SYNONYMS["seed"] or name in request.columns.values())
    if table is None or is_beside_the_point(table.columns, request):
        return None
    roles = find_roles(table.columns, request.columns, path)
    if "seed" in roles and "example_id" not in roles and len(table.counted([roles["seed"]])) > 1:
        return None
    others = [name for name in table.columns if name not in (roles.get("example_id"), roles.get("label"))]
    is_list = {name: _is_list_value(value) for name, value in zip(others, table.first_values(others), strict=True)}
    # Of which kind a numbered column is only its values tell; a list of runs does not say it.
    runs = _named_runs(others, is_list) or [_run(name, name, "") for name in others if _NUMBERED.fullmatch(name)]
    if not runs:
        return None
    n_rows = sum(n for _, n in table.counted([]))
    return [_slice(run, n_rows, path, not_loaded) for run in runs] if n_rows else None


def _slice(run: _Run, n_examples: int, path: Path, load: Callable[[], Columns]) -> Slice:
    stem = path.name.split(".")[0]
    return Slice(
        collection=Collection(run.model, stem, "", condition_within(run.model, stem, path=path), ""),
        seed=run.seed,
        numbered="seed" not in run.column.lower(),
        checkpoint=None,
        n_examples=n_examples,
        file=str(path),
        format=NAME,
        load=load,
        condition_words=condition_words(run.model, stem, path=path),
    )


def _runs(table: pl.DataFrame, others: list[str], label: pl.Series | None, path: Path) -> list[_Run]:
    if named := _named_runs(others, {name: _is_list(table[name]) for name in others}):
        return named
    numbered = [name for name in others if _NUMBERED.fullmatch(name)]
    labels = None if label is None else {canonical(name) for name in label.drop_nulls().unique().to_list()}
    if numbered:
        return [_run(name, name, _kind(table, numbered, labels, path)) for name in numbered]
    # Such as an epoch of 1 in all rows, which is no system that is always right.
    free = [name for name in others if name.lower() not in _KNOWN]
    by_value = [(name, _kind_by_value(table[name], labels)) for name in free] if labels is not None else []
    return [_run(name, name, kind) for name, kind in by_value if kind is not None]


def _rates_data(table: pl.DataFrame, runs: Sequence[_Run], request: Request) -> bool:
    """Whether the one column of scores says something of rows of data, as SICK's `relatedness_score` from 1 to 5."""
    if request.columns or request.grades or [run.kind for run in runs] != ["score"]:
        return False
    scores = table[runs[0].column].cast(pl.Float64, strict=False)
    if bool(scores.drop_nulls().is_between(0, 1).all()):
        return False
    try:
        return bool(other_kind(recognize(Table(table, ""), {}, DATA_KINDS, ""), ())[0])
    except InputError:
        # Rows of two kinds of data.
        return True


def run_columns(table: pl.DataFrame) -> list[str]:
    """The columns of a table that are runs by their names alone."""
    named = _named_runs(table.columns, {name: _is_list(table[name]) for name in table.columns})
    return [run.column for run in named] or [name for name in table.columns if _NUMBERED.fullmatch(name)]


def _named_runs(names: Sequence[str], is_list: Mapping[str, bool]) -> list[_Run]:
    for style in ("a", "b"):
        named = [(name, kind, found) for name in names for kind, found in (_named(name, style),) if found]
        if runs := [_run(name, found, kind) for name, kind, found in named if not is_list[name]]:
            return runs
    return []


def _named(name: str, style: str) -> tuple[str, str | None]:
    """What a column holds and whose it is by its name: of style "a" it begins, of style "b" it ends with the kind."""
    for kind, pattern in (("prediction", _PREDICTION), ("score", _SCORE)):
        match = pattern.fullmatch(name)
        if match:
            return kind, match[style]
    return "", None


def _is_list(column: pl.Series) -> bool:
    return column.dtype.is_nested() or _is_list_value(next(iter(column.drop_nulls().head(1).to_list()), None))


def _is_list_value(value: Any) -> bool:
    return isinstance(value, (list, dict)) or (isinstance(value, str) and value.startswith(("[", "{")))


def _run(column: str, name: str, kind: str) -> _Run:
    match = _NUMBERED.fullmatch(name)
    if match:
        return _Run(column, match["model"] or "model", as_number(match["seed"]), kind)
    return _Run(column, name, 0, kind)


def _kind(table: pl.DataFrame, names: list[str], labels: set[str] | None, path: Path) -> str:
    kinds = {_kind_by_value(table[name], labels) for name in names} if labels is not None else {None}
    if len(kinds) == 1 and None not in kinds:
        return str(kinds.pop())
    numbers = [table[name].cast(pl.Float64, strict=False) for name in names]
    if any(column.null_count() or bool((column > 1).any()) for column in numbers):
        return "prediction"
    if any(bool(((column != 0) & (column != 1)).any()) for column in numbers):
        return "score"
    by_name = [kind for kind, pattern in _KINDS.items() if pattern.search(path.name)]
    if len(by_name) == 1:
        return by_name[0]
    raise InputError(
        f"the columns {names[0]}, ... hold 0 and 1, which may be labels or correctness",
        file=path,
        mend="name the columns pred_NAME or correct_NAME",
    )


def _kind_by_value(column: pl.Series, labels: set[str] | None) -> str | None:
    # A run with gaps is still a run: it is listed, and refused with their count when it is read.
    if column.dtype.is_nested() or column.null_count() > column.len() // 2:
        return None
    column = column.drop_nulls()
    met = {canonical(value) for value in column.unique().cast(pl.String).to_list()}
    if labels is not None and met <= labels:
        return "prediction"
    numbers = column.cast(pl.Float64, strict=False)
    if numbers.null_count() == 0 and bool(numbers.is_between(0, 1).all()):
        return "score"
    return None


def _load(
    column: pl.Series, kind: str, ids: pl.Series, label: pl.Series | None, groups: dict[str, pl.Series], path: Path
) -> Columns:
    if label is not None and label.null_count():
        missing = ids.filter(label.is_null())
        raise InputError(
            f"{missing.len()} labels are missing, first of example {listing(missing.head(6).to_list())}",
            file=path,
            column=label.name,
            mend="fill them in, or leave out these rows",
        )
    if kind == "score":
        return Columns(example_ids=ids, label=label, score=as_scores(column, path), groups=groups)
    return Columns(example_ids=ids, label=label, prediction=column.cast(pl.String), groups=groups)
