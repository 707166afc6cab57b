"""The same examples in the same order in all runs, or a refusal that names those that are not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.entry_point import option, right_labels
from goldassay.core.errors import InputError
from goldassay.data.row_keys import any_beyond
from goldassay.runs.loading import Align, Loaded, taken, who
from goldassay.runs.validation import check_unique, listing

if TYPE_CHECKING:
    from goldassay.runs.gold import Gold


def align_examples(loaded: list[Loaded], align: Align, gold: Gold | None) -> tuple[list[Loaded], pl.Series]:
    """All slices on the same examples in the same order, and the ids of these.

    Args:
        loaded: At least one.
        align: As for `assemble`.
        gold: The right labels, if they are given.

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
    if align == "intersect":
        for item in loaded[1:]:
            if not same(item.columns.example_ids, ids):
                ids = ids.filter(ids.is_in(item.columns.example_ids.implode()))
        if gold is not None:
            ids = ids.filter(ids.is_in(gold.example_ids.implode()))
        if ids.len() == 0:
            raise InputError("the runs have no example in common", mend="check that they are of one dataset")
    return [_ordered_like(item, ids, loaded[0], exact=align == "exact") for item in loaded], ids


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
        raise InputError(
            f"the run with {who(item.slice)} lacks {missing.len()} of the {ids.len()} examples that "
            f"{who(reference.slice)} has, first {listing(missing.head(6).to_list())}",
            file=item.slice.file,
            mend=f"give the missing ones, or keep the common ones with {option('align', 'intersect')}",
        )
    if exact and own.len() > ids.len():
        extra = own.filter(~own.is_in(ids.implode()))
        raise InputError(
            f"the run with {who(item.slice)} has {extra.len()} examples that {who(reference.slice)} lacks, "
            f"first {listing(extra.head(6).to_list())}",
            file=item.slice.file,
            mend=f"give the missing ones, or keep the common ones with {option('align', 'intersect')}",
        )
    return replace(item, columns=taken(item.columns, rows))


def position_of(ids: pl.Series, among: pl.Series) -> pl.Series:
    """For each of `ids` its position in `among`, null where it is not there."""
    table = pl.DataFrame({"id": among}).with_row_index("position")
    return pl.DataFrame({"id": ids}).join(table, on="id", how="left", maintain_order="left")["position"]
