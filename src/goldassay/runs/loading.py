"""The rows of slices, loaded: whole, and with the predictions that logits make."""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import polars as pl

from goldassay.core.entry_point import option
from goldassay.core.errors import InputError
from goldassay.runs.validation import listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.runs.run_parts import Columns, Slice

Align = Literal["exact", "intersect", "position"]


@dataclass(frozen=True)
class Loaded:
    """A slice with its rows."""

    slice: Slice
    columns: Columns


def load_all(parts: Sequence[Slice], label_names: tuple[str, ...] | None, align: Align) -> list[Loaded]:
    """The rows of all slices. What is the same in all, as ids and right labels mostly are, is held once."""
    loaded: list[Loaded] = []
    for part in parts:
        item = _load(part, label_names, align)
        loaded.append(replace(item, columns=_sharing(item.columns, loaded[0].columns)) if loaded else item)
    return loaded


def _sharing(columns: Columns, first: Columns) -> Columns:
    def shared(own: pl.Series, other: pl.Series | None) -> pl.Series:
        return other if other is not None and own.equals(other, check_dtypes=True) else own

    return replace(
        columns,
        example_ids=shared(columns.example_ids, first.example_ids),
        label=None if columns.label is None else shared(columns.label, first.label),
        groups={name: shared(values, first.groups.get(name)) for name, values in columns.groups.items()},
    )


def _load(part: Slice, label_names: tuple[str, ...] | None, align: Align) -> Loaded:
    """The rows of a slice; those without score or prediction are left out only if the common ones are asked for."""
    columns = part.load()
    for what, values in (("score", columns.score), ("prediction", columns.prediction)):
        if values is None or not values.null_count():
            continue
        ids = columns.example_ids.filter(values.is_null())
        if align != "intersect":
            why = f" ({columns.unscored})" if columns.unscored and what == "score" else ""
            raise InputError(
                f"{ids.len()} of {columns.example_ids.len()} examples of {who(part)} have no {what}{why}, "
                f"first {listing(ids.head(6).to_list())}",
                file=part.file,
                column=values.name or None,
                mend=f"add it, or keep the examples that all runs have with {option('align', 'intersect')}",
            )
    if part.unfinished and align != "intersect":
        raise InputError(
            f"the run with {who(part)} is unfinished: {part.unfinished}",
            file=part.file,
            mend=f"run it to its end, or take what is there with {option('align', 'intersect')}",
        )
    present = [values.is_not_null() for values in (columns.score, columns.prediction) if values is not None]
    if present and not all(mask.all() for mask in present):
        columns = taken(columns, functools.reduce(operator.and_, present).arg_true())
    return Loaded(part, _withpredictions_of(_without_numbers(part, columns), label_names))


def _without_numbers(part: Slice, columns: Columns) -> Columns:
    """Where labels are numbers, as of a regression, what counts is the score of each answer: there are no codes.

    Raises:
        InputError: There is no score.
    """
    if columns.label_names != () or columns.label is None or not columns.label.dtype.is_float():
        return columns
    if columns.score is None:
        raise InputError(
            f"the labels of {who(part)} are numbers, and its answers have no score within [0, 1]",
            file=part.file,
            mend="correlations of such runs are measured by goldassay shift generalization",
        )
    return replace(columns, label=None, prediction=None)


def _withpredictions_of(columns: Columns, label_names: tuple[str, ...] | None) -> Columns:
    """Add the predictions that the logits make, by name, so that they can be mapped like any other."""
    order = columns.label_names or label_names
    if columns.prediction is not None or columns.logits is None or order is None:
        return columns
    if columns.logits.shape[-1] != len(order):
        raise InputError(
            f"logits have {columns.logits.shape[-1]} classes, but there are {len(order)} labels",
            mend=f"name the class of each logit, in order, with {option('label_names', 'NAME,NAME,...')}",
        )
    predicted = pl.Series(order, dtype=pl.String).gather(columns.logits.argmax(axis=-1))
    return replace(columns, prediction=predicted)


def taken(columns: Columns, rows: pl.Series) -> Columns:
    """The rows at these positions, in this order."""

    def take(values: pl.Series | None) -> pl.Series | None:
        return None if values is None else values.gather(rows)

    return replace(
        columns,
        example_ids=columns.example_ids.gather(rows),
        label=take(columns.label),
        prediction=take(columns.prediction),
        score=take(columns.score),
        logits=None if columns.logits is None else columns.logits[rows.to_numpy()],
        features=None if columns.features is None else columns.features[rows.to_numpy()],
        groups={name: values.gather(rows) for name, values in columns.groups.items()},
        no_answer=take(columns.no_answer),
        # They are of all examples that were scored.
        thresholds=columns.thresholds if rows.len() == columns.example_ids.len() else None,
    )


def who(part: Slice) -> str:
    """A slice in the words of a message."""
    return f"seed {part.seed}" + ("" if part.checkpoint is None else f", checkpoint {part.checkpoint},")
