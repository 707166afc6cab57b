"""Copies and near copies of each test row: the table `near_copies`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.data.near_copies import join_near_copies
from goldassay.data.row_values import normalized_texts
from goldassay.questions.overlap.measures import COUNTED, TRAINING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Copies of a row that are named: of a template there are thousands.
MOST_COPIES = 3
SAME, NEAR, HELD = "same texts", "near copy", "holds it"
MOST_CHARACTERS = 500
EVALUATION = "evaluation part"
SCHEMA = pl.Schema(
    {"example_id": pl.String(), "part": pl.String(), "kind": pl.String(), "copy_id": pl.String(), "label": pl.String(),
     "text": pl.String()}
)  # fmt: skip


def copies_within(texts: Sequence[pl.Series], ids: pl.Series, labels: pl.Series) -> pl.DataFrame:
    """A row a row and copy of it among the same rows, the same texts first; `text` is null, since the row has it.

    Copies are rows of which each text is the same without case and with single spaces, or has the same representative
    among near copies (`join_near_copies`): two pairs with one long premise are none. A row names the `MOST_COPIES` next
    after it, and after the last the first ones.

    Args:
        texts: Of the rows, (N,) each.
        ids: Of the rows, (N,).
        labels: Of the rows, (N,).
    """
    codes = [_codes(each.fill_null("")) for each in texts]
    distinct, near = (_joint([each[kind] for each in codes]) for kind in (0, 1))
    pairs = np.concatenate([_followers(distinct), _followers(near)])
    if not pairs.size:
        return pl.DataFrame(schema=SCHEMA)
    rows, others = np.unique(pairs, axis=0).T
    same = distinct[rows] == distinct[others]
    order = np.lexsort(((others - rows) % distinct.size, ~same, rows))
    rows, others, same = rows[order], others[order], same[order]
    kept = np.arange(rows.size) - np.searchsorted(rows, rows) < MOST_COPIES
    rows, others, same = rows[kept], others[kept], same[kept]
    names = ids.cast(pl.String)
    return pl.DataFrame(
        {
            "example_id": names[rows],
            "part": pl.Series([EVALUATION], dtype=pl.String).new_from_index(0, rows.size),
            "kind": pl.Series(np.where(same, SAME, NEAR).tolist(), dtype=pl.String),
            "copy_id": names[others],
            "label": labels.cast(pl.String)[others],
            "text": pl.Series([None] * rows.size, dtype=pl.String),
        },
        schema=SCHEMA,
    )


def copies_in_training(
    places: pl.DataFrame | None, texts: Sequence[pl.Series], ids: pl.Series, labels: pl.Series
) -> pl.DataFrame:
    """A row a test row and training row that holds it, as the search for overlap found them, with its texts.

    Args:
        places: The table `overlap_places`; None where overlap was not asked. Its rows are of the training part, from 1.
        texts: Of the training rows, (M,) each.
        ids: Of the training rows, (M,).
        labels: Of the training rows, (M,).
    """
    if places is None:
        return pl.DataFrame(schema=SCHEMA)
    held = places.filter((pl.col("place") == TRAINING) & pl.col("kind").is_in(COUNTED))
    held = held.with_columns(kind=pl.when(pl.col("kind") == NEAR).then(pl.col("kind")).otherwise(pl.lit(HELD)))
    held = held.filter(pl.col("row").is_between(1, len(ids))).unique(["id", "row"], keep="first", maintain_order=True)
    held = held.group_by("id", maintain_order=True).head(MOST_COPIES)
    rows = (held["row"] - 1).to_list()
    # An item without a passage has an empty one.
    told = [each[rows].replace("", None) for each in texts]
    shown = pl.select(pl.concat_str(told, separator=" / ", ignore_nulls=True)).to_series()
    return pl.DataFrame(
        {
            "example_id": held["id"],
            "part": held["place"],
            "kind": held["kind"],
            "copy_id": ids.cast(pl.String)[rows],
            "label": labels.cast(pl.String)[rows],
            "text": shown.str.slice(0, MOST_CHARACTERS),
        },
        schema=SCHEMA,
    )


def _codes(texts: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A code of each text as it is compared, and of its representative, (N,) each."""
    frame = pl.DataFrame({"text": normalized_texts(texts)}).with_row_index("at")
    first_of = frame.select(pl.col("at").min().over("text")).to_series().to_numpy()
    firsts = np.flatnonzero(first_of == np.arange(first_of.size))
    code = np.searchsorted(firsts, first_of)
    near = join_near_copies(frame["text"][firsts].to_list(), np.bincount(code, minlength=firsts.size))
    return code, near[code]


def _joint(codes: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """A code of each row of codes, (N,)."""
    found = codes[0]
    for each in codes[1:]:
        found = np.unique(found * (int(each.max(initial=0)) + 1) + each, return_inverse=True)[1].astype(np.int64)
    return found


def _followers(groups: NDArray[np.integer]) -> NDArray[np.int64]:
    """(row, other): for each row of a group the next ones in it, after the last the first ones again, (M, 2)."""
    order = np.argsort(groups, kind="stable")
    sizes = np.unique(groups, return_counts=True)[1]
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    size, place = np.repeat(sizes, sizes), np.arange(groups.size)
    found = [
        np.stack([order[has], order[starts[has] + (place[has] - starts[has] + step) % size[has]]], axis=1)
        for step in range(1, MOST_COPIES + 1)
        if (has := size > step).any()
    ]
    return np.concatenate(found).astype(np.int64) if found else np.empty((0, 2), np.int64)
