"""What must hold of the arrays of runs, among it the same examples in the same order in all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option, right_labels
from goldassay.core.naming import listing
from goldassay.data.row_keys import any_beyond
from goldassay.runs.grades import advice
from goldassay.runs.loading import Align, LackingError, Loaded, own_scores, taken, ways, who
from goldassay.runs.statuses import MISSING, NO_ANSWER, NOT_TRIED, STATUSES, Missing, Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.runs.run_parts import Columns, Gold


def align_examples(
    loaded: list[Loaded], align: Align, gold: Gold | None, missing: Missing = "auto"
) -> tuple[list[Loaded], pl.Series]:
    """All slices on the same examples in the same order, and the ids of these.

    Args:
        loaded: At least one.
        align: As for `assemble`.
        gold: The right labels, if they are given.
        missing: As for `assemble`: by "wrong" and "bounds" a slice has the examples of all, and of the right labels.

    Raises:
        InputError: A slice has no examples, one of them twice, or not those of the others.
    """
    for item in loaded:
        if item.columns.example_ids.len() == 0:
            raise InputError("there are no examples in the run", file=item.slice.file)
    _check_each_once(loaded)
    ids = loaded[0].columns.example_ids
    if align == "position":
        _check_lengths(loaded, gold)
        return loaded, ids
    if gold is not None:
        _check_numbers(loaded, gold)
    if missing in ("wrong", "bounds"):
        every = [item.columns.example_ids for item in loaded] + ([] if gold is None else [gold.example_ids])
        if not all(same(each, ids) for each in every):
            ids = pl.concat(every[::-1] if gold is not None else every).unique(maintain_order=True)
            return _filled_up(loaded, [ids] * len(loaded), STATUSES[MISSING]), ids
    if missing == "leave-out":
        for item in loaded[1:]:
            if not same(item.columns.example_ids, ids):
                ids = ids.filter(ids.is_in(item.columns.example_ids.implode()))
        if gold is not None:
            ids = ids.filter(ids.is_in(gold.example_ids.implode()))
        if ids.len() == 0:
            raise InputError("the runs have no example in common", mend="check that they are of one dataset")
    return [_ordered_like(item, ids, loaded[0], exact=missing != "leave-out") for item in loaded], ids


def with_all_attempts(loaded: list[Loaded]) -> list[Loaded]:
    """Attempts by one model, each with every item that any of them was asked; what an attempt lacks was not tried.

    Items may have unequal numbers of attempts. What an attempt was asked, and left out by the rule for what is missing,
    stays left out.
    """
    every = pl.concat([item.asked for item in loaded]).unique(maintain_order=True)
    if all(item.asked.len() == every.len() for item in loaded):
        return loaded
    asked = [every.is_in(item.columns.example_ids.implode()) | ~every.is_in(item.asked.implode()) for item in loaded]
    return _filled_up(loaded, [every.filter(own) for own in asked], STATUSES[NOT_TRIED])


def _filled_up(loaded: list[Loaded], of_each: Sequence[pl.Series], status: Status) -> list[Loaded]:
    """Slices on these examples: those that one lacks have the status, and the label and groups of the others."""
    every = [item.columns for item in loaded]

    def known(columns: list[tuple[pl.Series, pl.Series]]) -> pl.DataFrame:
        rows = pl.concat([pl.DataFrame({"id": names, "value": values}) for names, values in columns])
        return rows.drop_nulls().unique("id", keep="first", maintain_order=True)

    def on(ids: pl.Series, values: pl.DataFrame) -> pl.Series:
        return pl.DataFrame({"id": ids}).join(values, on="id", how="left", maintain_order="left")["value"]

    labels = [(each.example_ids, each.label) for each in every if each.label is not None]
    label = known(labels) if labels else None
    shared = {name for name in every[0].groups if all(name in each.groups for each in every)}
    groups = {name: known([(each.example_ids, each.groups[name]) for each in every]) for name in sorted(shared)}
    filled = []
    for item, ids in zip(loaded, of_each, strict=True):
        rows = position_of(ids, item.columns.example_ids)
        absent = rows.is_null()
        own = taken(replace(item.columns, logits=None, features=None, no_answer=None, groups={}, label=None), rows)
        of_ids = {name: on(ids, values) for name, values in groups.items()}
        filled.append(
            replace(item, columns=replace(
                own,
                example_ids=ids,
                label=None if label is None else on(ids, label),
                groups={name: values for name, values in of_ids.items() if not values.null_count()},
                score=None if own.score is None else own.score.fill_null(0.0),
                prediction=None if own.prediction is None else own.prediction.fill_null(NO_ANSWER),
                status=None if own.status is None else own.status.set(absent, status),
            ))
        )  # fmt: skip
    return filled


def _check_each_once(loaded: list[Loaded]) -> None:
    checked: pl.Series | None = None
    for item in loaded:
        if checked is None or not same(item.columns.example_ids, checked):
            check_unique(item.columns.example_ids.to_numpy(), file=item.slice.file)
            checked = item.columns.example_ids


def _check_numbers(loaded: list[Loaded], gold: Gold) -> None:
    """Refuse runs by row number that go beyond the end of the dataset: other numbers may be those of other texts, too.

    Raises:
        InputError: Some do.
    """
    checked: pl.Series | None = None
    for item in loaded:
        ids = item.columns.example_ids
        if checked is not None and same(ids, checked):
            continue
        checked = ids
        if gold.end is not None and any_beyond(ids.to_list(), gold.end):
            row_for_row = f"{option('align', 'position')} takes row for row, or " if ids.len() == gold.end else ""
            raise InputError(
                f"the run with {who(item.slice)} names rows by numbers beyond the {gold.end:,} rows of {gold.name}: "
                "it is of other rows, and the same numbers may be those of other texts",
                file=item.slice.file,
                mend=f"{row_for_row}give the dataset that was predicted with {right_labels()}; where it was mended, "
                "goldassay mend writes the runs anew, where it is given them",
            )


def _check_lengths(loaded: list[Loaded], gold: Gold | None) -> None:
    lengths = {item.columns.example_ids.len() for item in loaded}
    if gold is not None:
        lengths.add(gold.example_ids.len())
    if len(lengths) > 1:
        raise InputError(
            f"runs and gold have different numbers of examples ({listing(sorted(lengths))})",
            mend="only tables of equal length can be aligned by position",
        )


def same(a: pl.Series, b: pl.Series) -> bool:
    """Whether two columns hold the same values in the same order."""
    return a is b or (a.len() == b.len() and bool((a == b).all()))


def _ordered_like(item: Loaded, ids: pl.Series, reference: Loaded, *, exact: bool) -> Loaded:
    """Put the rows into the order of `ids`; refuse if any is missing, or, if `exact`, there beyond the reference's."""
    own = item.columns.example_ids
    if same(own, ids):
        return item
    rows = position_of(ids, own)
    missing = ids.filter(rows.is_null())
    if missing.len():
        raise LackingError(
            f"the run with {who(item.slice)} lacks {missing.len()} of the {ids.len()} examples that "
            f"{who(reference.slice)} has, first {listing(missing.head(6).to_list())}",
            file=item.slice.file,
            mend=ways(*_scores_on(item.columns, ids)),
        )
    if exact and own.len() > ids.len():
        extra = own.filter(~own.is_in(ids.implode()))
        raise LackingError(
            f"the run with {who(item.slice)} has {extra.len()} examples that {who(reference.slice)} lacks, "
            f"first {listing(extra.head(6).to_list())}",
            file=item.slice.file,
            mend=ways(*_scores_on(item.columns, ids)),
        )
    return replace(item, columns=taken(item.columns, rows))


def _scores_on(columns: Columns, ids: pl.Series) -> tuple[pl.Series | None, pl.Series, int]:
    """Scores of one run for `ways`: where examples are left out, those count that another run has, too."""
    own = columns.example_ids
    common = own.is_in(ids.implode())
    n_all = ids.len() + own.len() - int(common.sum())
    return own_scores(columns), common, n_all


def position_of(ids: pl.Series, among: pl.Series) -> pl.Series:
    """For each of `ids` its position in `among`, null where it is not there."""
    table = pl.DataFrame({"id": among}).with_row_index("position")
    return pl.DataFrame({"id": ids}).join(table, on="id", how="left", maintain_order="left")["position"]


def check_scores(scores: NDArray[np.float64], *, axes: str = "(R, N) or (R, T, N)") -> None:
    """Refuse scores that are not finite numbers in [0, 1], or that have no examples.

    Raises:
        InputError: The shape is wrong, nothing is there, or a value is NaN or out of range.
    """
    if scores.ndim not in (2, 3):
        raise InputError(f"scores have {scores.ndim} axes", mend=f"they must be {axes}")
    if scores.size == 0:
        raise InputError(f"there are no examples in the runs (scores have shape {scores.shape})")
    # One pass over the data tells that all is well; NaN fails both comparisons.
    if scores.min() >= 0.0 and scores.max() <= 1.0:
        return
    nan = np.isnan(scores)
    if nan.any():
        place = _place(np.argwhere(nan)[0])
        raise InputError(
            f"{int(nan.sum())} scores are not a number, the first at {place}",
            mend="leave out the runs or examples that were not scored",
        )
    bad = (scores < 0) | (scores > 1)
    first = np.argwhere(bad)[0]
    raise InputError(
        f"{int(bad.sum())} scores lie outside [0, 1], the first at {_place(first)} is {scores[tuple(first)]:g}",
        mend=advice(scores),
    )


def check_codes(codes: NDArray[Any], n_labels: int, what: str) -> None:
    """Refuse label codes that do not point into the label names.

    Raises:
        InputError: A code is below 0 or not below `n_labels`.
    """
    if codes.size and (codes.min() < 0 or codes.max() >= n_labels):
        bad = codes[(codes < 0) | (codes >= n_labels)].flat[0]
        raise InputError(
            f"{what} holds the label code {bad}, but there are {n_labels} labels (codes 0 to {n_labels - 1})",
            mend="give all labels with label_names",
        )


def check_unique(ids: NDArray[Any], *, file: str | None = None) -> None:
    """Refuse example ids that occur twice.

    Raises:
        InputError: An id is there more than once; the line holds the count and the first ids.
    """
    names = ids.tolist()
    if len(set(names)) == len(names):
        return
    column = pl.Series(names)
    again = column.filter(column.is_duplicated()).unique(maintain_order=True)
    raise InputError(
        f"{again.len()} example ids are there more than once, first {listing(again.to_list())}",
        file=file,
        mend="keep one row an example, run and checkpoint",
    )


def _place(position: NDArray[Any]) -> str:
    names = ("run", "example") if len(position) == 2 else ("run", "checkpoint", "example")
    return ", ".join(f"{name} {int(index)}" for name, index in zip(names, position, strict=True))
