"""Runs that stand in two files, in one as correctness and in the other as predictions: each is one run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.runs.assembly import position_of, taken
from goldassay.runs.labels import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.runs.run_parts import Columns, Slice


class Joined(NamedTuple):
    """Slices without duplicates, and between which files how many were joined."""

    slices: list[Slice]
    pairs: dict[tuple[str, str], int]


def join_duplicates(found: Sequence[Slice]) -> Joined:
    """Count each run once that stands in several files of the same examples.

    Two slices are taken for the same run where model, condition, split, training set, seed and checkpoint are the same,
    and the dataset too, unless it is merely called by the name of its file. They must then hold the same examples and
    right labels, and agree on each: those of other examples or labels are runs on other data.

    Raises:
        InputError: One file says of an example that it is right, the other that it is wrong; or it cannot be told
            since neither has right labels.
    """
    kept: dict[tuple[object, ...], list[Slice]] = {}
    pairs: dict[tuple[str, str], int] = {}
    for part in found:
        places = kept.setdefault(_who(part), [])
        for i, other in enumerate(places):
            both = None if part.file == other.file else _joined(other, part)
            if both is not None:
                places[i] = both
                between = (Path(other.file).name, Path(part.file).name)
                pairs[between] = pairs.get(between, 0) + 1
                break
        else:
            places.append(part)
    return Joined([part for places in kept.values() for part in places], pairs)


def is_copy(one: Slice, other: Slice) -> bool:
    """Whether two slices hold the same examples in the same order, with the same answers, scores and logits."""
    if one.n_examples != other.n_examples:
        return False
    a, b = one.load(), other.load()
    pairs = [(getattr(a, name), getattr(b, name)) for name in ("example_ids", "label", "prediction", "score")]
    if any((x is None) != (y is None) or (x is not None and not _same(x, y)) for x, y in pairs):
        return False
    if a.logits is None or b.logits is None:
        return a.logits is b.logits
    return np.array_equal(a.logits, b.logits, equal_nan=True)


def _who(part: Slice) -> tuple[object, ...]:
    by_file = part.collection.dataset == Path(part.file).name.split(".")[0]
    return part.collection._replace(dataset="" if by_file else part.collection.dataset), part.seed, part.checkpoint


def _joined(one: Slice, other: Slice) -> Slice | None:
    """Both as one, or None where they are of other examples, or are other runs."""
    if one.n_examples != other.n_examples:
        return None
    a, b = one.load(), other.load()
    rows = position_of(a.example_ids, b.example_ids)
    if rows.null_count():
        return None
    b = taken(b, rows)
    if a.label is not None and b.label is not None and not _same(a.label, b.label):
        return None
    kinds = [(each.score is not None, each.prediction is not None) for each in (a, b)]
    if kinds[0] == kinds[1]:
        # Of one kind, they are a run and its copy, or two runs.
        same = all(_same(x, y) for x, y in ((a.score, b.score), (a.prediction, b.prediction)) if x is not None)
        return one if same and a.logits is None and b.logits is None else None
    label = a.label if a.label is not None else b.label
    rights = [_right(each, label) for each in (a, b)]
    if rights[0] is None or rights[1] is None:
        raise InputError(
            f"{one.collection.model} is in {one.file} too, and no right labels say whether it is the same run",
            file=other.file,
            mend=f"name one of the two with {option('dataset')}, or give right labels in the file",
        )
    n_apart = int((rights[0] != rights[1]).sum())
    if n_apart:
        raise InputError(
            f"{one.collection.model} is in {one.file} too, of the same examples, but {n_apart} of "
            f"{one.n_examples} are right in one and wrong in the other",
            file=other.file,
            mend=f"name one of the two with {option('dataset')}, or remove the wrong one",
        )
    merged = replace(
        a,
        label=label,
        score=a.score if a.score is not None else b.score,
        prediction=a.prediction if a.prediction is not None else b.prediction,
        logits=a.logits if a.logits is not None else b.logits,
        label_names=a.label_names or b.label_names,
        groups=b.groups | a.groups,
    )
    return replace(one, load=lambda: merged)


def _same(a: pl.Series | None, b: pl.Series | None) -> bool:
    return a is not None and b is not None and bool(a.cast(pl.String).eq_missing(b.cast(pl.String)).all())


def _right(columns: Columns, label: pl.Series | None) -> pl.Series | None:
    """Whether each example is right, as 0 or 1; None where that cannot be told."""
    if columns.score is not None:
        return columns.score.cast(pl.Float64)
    if columns.prediction is None or label is None:
        return None
    spelled = [
        each.replace({name: canonical(name) for name in each.drop_nulls().unique()})
        for each in (columns.prediction, label)
    ]
    return (spelled[0] == spelled[1]).cast(pl.Float64)
