"""From slices to `Runs`: check that the grid is whole, align the examples, map the labels by name, stack."""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from goldassay.errors import InputError
from goldassay.runs.labels import map_names, order_labels
from goldassay.runs.runs import Runs
from goldassay.runs.slices import UNNAMED
from goldassay.runs.validation import check_unique, listing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.runs.gold import Gold
    from goldassay.runs.slices import Columns, Slice

Align = Literal["exact", "intersect", "position"]
# Predictions of more kinds than this, beside a score, are free text (answers), not labels.
_MAX_LABELS = 200


@dataclass(frozen=True)
class _Loaded:
    """A slice with its rows."""

    slice: Slice
    columns: Columns


def assemble(
    slices: Sequence[Slice],
    *,
    gold: Gold | None = None,
    fallback_gold: Gold | None = None,
    labels: Mapping[str, str] | None = None,
    label_names: tuple[str, ...] | None = None,
    align: Align = "exact",
) -> Runs:
    """Make `Runs` of the slices of one collection.

    Args:
        slices: One a run and checkpoint.
        gold: Right labels that replace those of the files.
        fallback_gold: Right labels for files that hold neither labels nor scores.
        labels: What each label name in the files stands for.
        label_names: All labels in order, where the files do not say it.
        align: "exact" refuses runs or gold that cover different examples, "intersect" keeps the examples that
            all cover, "position" takes the i-th row for the i-th example of the gold, whatever the ids say.

    Raises:
        InputError: Runs cover different checkpoints or examples, an example is there twice, labels do not
            match, or there is nothing to score by.
    """
    seeds, checkpoints, grid = _grid(slices)
    loaded = _load_all([part for row in grid for part in row], label_names, align)
    if gold is None and all(item.columns.label is None and item.columns.score is None for item in loaded):
        gold = fallback_gold
    if gold is None:
        _check_scorable(loaded)
    loaded, ids = _aligned(loaded, align, gold)
    first = loaded[0].columns
    names = _label_set(loaded, gold, label_names)
    predictions, names = _predictions(loaded, names, labels)
    right, groups, names = _gold(first, loaded, names, labels, gold, ids, align)
    shape = (len(seeds), len(checkpoints)) if len(checkpoints) > 1 else (len(seeds),)
    collection = slices[0].collection
    scores = _scores(loaded, explicit_gold=gold is not None and predictions is not None)
    return Runs.from_arrays(
        predictions=None if predictions is None else predictions.reshape(*shape, -1),
        gold=right,
        logits=_logits(loaded, shape, names, labels, given_names=label_names),
        scores=None if scores is None else scores.reshape(*shape, -1),
        seeds=_axis(seeds),
        checkpoints=None if checkpoints == [None] else _axis(checkpoints),
        label_names=names,
        example_ids=ids.to_numpy() if gold is None or align != "position" else gold.example_ids.to_numpy(),
        groups={name: values.to_numpy() for name, values in groups.items()},
        model=collection.model,
        dataset=gold.name if gold is not None and collection.dataset == UNNAMED else collection.dataset,
        condition=collection.condition,
        split=collection.split,
        train_set=collection.train_set,
    )


def _load_all(parts: Sequence[Slice], label_names: tuple[str, ...] | None, align: Align) -> list[_Loaded]:
    """The rows of all slices. What is the same in all, as ids and right labels mostly are, is held once."""
    loaded: list[_Loaded] = []
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


def _load(part: Slice, label_names: tuple[str, ...] | None, align: Align) -> _Loaded:
    """The rows of a slice; those without score or prediction are left out only if the common ones are asked for."""
    columns = part.load()
    for what, values in (("score", columns.score), ("prediction", columns.prediction)):
        if values is None or not values.null_count():
            continue
        ids = columns.example_ids.filter(values.is_null())
        if align != "intersect":
            why = f" ({columns.unscored})" if columns.unscored and what == "score" else ""
            raise InputError(
                f"{ids.len()} of {columns.example_ids.len()} examples of {_who(part)} have no {what}{why}, "
                f"first {listing(ids.head(6).to_list())}",
                file=part.file,
                column=values.name or None,
                mend="add it, or keep the examples that all runs have with align='intersect'",
            )
    present = [values.is_not_null() for values in (columns.score, columns.prediction) if values is not None]
    if present and not all(mask.all() for mask in present):
        columns = taken(columns, functools.reduce(operator.and_, present).arg_true())
    return _Loaded(part, _with_predictions(columns, label_names))


def _check_scorable(loaded: Sequence[_Loaded]) -> None:
    for item in loaded:
        if item.columns.label is None and item.columns.score is None and item.columns.example_ids.len():
            model, dataset, *_ = item.slice.collection
            raise InputError(
                f"the runs of {model} on {dataset} have predictions but no gold labels to score them by",
                file=item.slice.file,
                mend="give gold, or per-example scores",
            )


def _grid(slices: Sequence[Slice]) -> tuple[list[Any], list[Any], list[list[Slice]]]:
    seeds = ordered({part.seed for part in slices})
    checkpoints = ordered({part.checkpoint for part in slices})
    by_place: dict[tuple[Any, Any], Slice] = {}
    for part in slices:
        other = by_place.setdefault((part.seed, part.checkpoint), part)
        if other is not part:
            where = "" if part.checkpoint is None else f", checkpoint {part.checkpoint}"
            one_format = f", or read one format with format='{part.format}'" if part.format != other.format else ""
            raise InputError(
                f"the run with seed {part.seed}{where} is there twice",
                file=part.file,
                mend=f"the other stands in {other.file}: remove one of them{one_format}",
            )
    for seed in seeds:
        lacking = [step for step in checkpoints if (seed, step) not in by_place]
        if lacking:
            raise InputError(
                f"runs have different checkpoints: seed {seed} lacks {len(lacking)} that others have: "
                f"{listing(lacking)}",
                mend="choose one with checkpoint=NAME, or each run's last with checkpoint='last'",
            )
    return seeds, checkpoints, [[by_place[seed, step] for step in checkpoints] for seed in seeds]


def _with_predictions(columns: Columns, label_names: tuple[str, ...] | None) -> Columns:
    """Add the predictions that the logits make, by name, so that they can be mapped like any other."""
    order = columns.label_names or label_names
    if columns.prediction is not None or columns.logits is None or order is None:
        return columns
    if columns.logits.shape[-1] != len(order):
        raise InputError(
            f"logits have {columns.logits.shape[-1]} classes, but there are {len(order)} labels",
            mend="name the class of each logit, in order, with label_names=[...]",
        )
    predicted = pl.Series(order, dtype=pl.String).gather(columns.logits.argmax(axis=-1))
    return replace(columns, prediction=predicted)


def ordered(values: set[Any]) -> list[Any]:
    """Seeds or checkpoints in their order: none, numbers ascending, then names."""
    return sorted(values, key=lambda value: (isinstance(value, str), value is not None, value))


def _axis(values: list[Any]) -> NDArray[Any]:
    if all(isinstance(value, int) for value in values):
        return np.array(values, dtype=np.int64)
    return np.array([str(value) for value in values], dtype=np.str_)


def _aligned(loaded: list[_Loaded], align: Align, gold: Gold | None) -> tuple[list[_Loaded], pl.Series]:
    for item in loaded:
        if item.columns.example_ids.len() == 0:
            raise InputError("there are no examples in the run", file=item.slice.file)
    _check_each_once(loaded)
    ids = loaded[0].columns.example_ids
    if align == "position":
        _check_lengths(loaded, gold)
        return loaded, ids
    if align == "intersect":
        for item in loaded[1:]:
            if not _same(item.columns.example_ids, ids):
                ids = ids.filter(ids.is_in(item.columns.example_ids.implode()))
        if gold is not None:
            ids = ids.filter(ids.is_in(gold.example_ids.implode()))
        if ids.len() == 0:
            raise InputError("the runs have no example in common", mend="check that they are of one dataset")
    return [_ordered_like(item, ids, loaded[0], exact=align == "exact") for item in loaded], ids


def _check_each_once(loaded: list[_Loaded]) -> None:
    checked: pl.Series | None = None
    for item in loaded:
        if checked is None or not _same(item.columns.example_ids, checked):
            check_unique(item.columns.example_ids.to_numpy(), file=item.slice.file)
            checked = item.columns.example_ids


def _check_lengths(loaded: list[_Loaded], gold: Gold | None) -> None:
    lengths = {item.columns.example_ids.len() for item in loaded}
    if gold is not None:
        lengths.add(gold.example_ids.len())
    if len(lengths) > 1:
        raise InputError(
            f"runs and gold have different numbers of examples ({listing(sorted(lengths))})",
            mend="only tables of equal length can be aligned by position",
        )


def _who(part: Slice) -> str:
    return f"seed {part.seed}" + ("" if part.checkpoint is None else f", checkpoint {part.checkpoint},")


def _same(a: pl.Series, b: pl.Series) -> bool:
    return a is b or (a.len() == b.len() and bool((a == b).all()))


def _ordered_like(item: _Loaded, ids: pl.Series, reference: _Loaded, *, exact: bool) -> _Loaded:
    """Put the rows into the order of `ids`; refuse if any is missing, or, if `exact`, there beyond the reference's."""
    own = item.columns.example_ids
    if _same(own, ids):
        return item
    rows = position_of(ids, own)
    missing = ids.filter(rows.is_null())
    if missing.len():
        raise InputError(
            f"the run with {_who(item.slice)} lacks {missing.len()} of the {ids.len()} examples that "
            f"{_who(reference.slice)} has, first {listing(missing.head(6).to_list())}",
            file=item.slice.file,
            mend="give the missing ones, or keep the common ones with align='intersect'",
        )
    if exact and own.len() > ids.len():
        extra = own.filter(~own.is_in(ids.implode()))
        raise InputError(
            f"the run with {_who(item.slice)} has {extra.len()} examples that {_who(reference.slice)} lacks, "
            f"first {listing(extra.head(6).to_list())}",
            file=item.slice.file,
            mend="give the missing ones, or keep the common ones with align='intersect'",
        )
    return replace(item, columns=taken(item.columns, rows))


def position_of(ids: pl.Series, among: pl.Series) -> pl.Series:
    """For each of `ids` its position in `among`, null where it is not there."""
    table = pl.DataFrame({"id": among}).with_row_index("position")
    return pl.DataFrame({"id": ids}).join(table, on="id", how="left", maintain_order="left")["position"]


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
        groups={name: values.gather(rows) for name, values in columns.groups.items()},
    )


def _label_set(loaded: list[_Loaded], gold: Gold | None, given: tuple[str, ...] | None) -> tuple[str, ...]:
    """The labels in order: the gold's, else those given, else those the files name, else those they hold."""
    if gold is not None:
        return gold.label_names
    if given is not None:
        return given
    named = {item.columns.label_names for item in loaded} - {None}
    if len(named) == 1 and all(item.columns.label_names is not None for item in loaded):
        return named.pop() or ()
    if len(named) > 1 and len({frozenset(names or ()) for names in named}) > 1:
        raise InputError(
            "runs name different labels: " + " and ".join(listing(names or (), 8) for names in sorted(named, key=str)),
            mend="map them with `labels`",
        )
    labels = loaded[0].columns.label
    return () if labels is None else order_labels(labels.unique().to_list())


def _predictions(
    loaded: list[_Loaded], names: tuple[str, ...], labels: Mapping[str, str] | None
) -> tuple[NDArray[np.int64] | None, tuple[str, ...]]:
    """All predictions as codes (runs x checkpoints, N), and the label set with what was met beyond it."""
    columns = [item.columns.prediction for item in loaded]
    present = [column for column in columns if column is not None]
    if len(present) < len(columns):
        return None, names
    try:
        # All names are known: the common case, and the quick one.
        known = pl.Enum(names) if labels is None and names else None
        if known is not None:
            return np.stack([column.cast(known).to_physical().to_numpy() for column in present]).astype(np.int64), names
    except pl.exceptions.PolarsError:
        pass
    met = pl.concat([column.unique() for column in present]).unique().sort().to_list()
    if len(met) > _MAX_LABELS and all(item.columns.score is not None for item in loaded):
        return None, names
    file = loaded[0].slice.file
    mapped = map_names(met, names, labels, file=file)
    beyond = order_labels(set(mapped.values()) - set(names))
    names = names + beyond if names else order_labels(mapped.values())
    known = pl.Enum(names)
    renamed = [column.replace(mapped).cast(known).to_physical().to_numpy() for column in present]
    return np.stack(renamed).astype(np.int64), names


def _gold(
    first: Columns,
    loaded: list[_Loaded],
    names: tuple[str, ...],
    labels: Mapping[str, str] | None,
    gold: Gold | None,
    ids: pl.Series,
    align: Align,
) -> tuple[NDArray[np.int64] | None, dict[str, pl.Series], tuple[str, ...]]:
    """Right labels as codes, groups, and the label set with what was met beyond it."""
    groups = dict(first.groups)
    if gold is not None:
        rows = _gold_rows(ids, gold) if align != "position" else None
        label = gold.label if rows is None else gold.label.gather(rows)
        groups.update({name: v if rows is None else v.gather(rows) for name, v in gold.groups.items()})
    elif first.label is not None:
        label = first.label
        for item in loaded[1:]:
            if item.columns.label is not None and not _same(item.columns.label, label):
                differ = ids.filter(item.columns.label != label)
                raise InputError(
                    f"runs disagree on the right label of {differ.len()} examples, "
                    f"first {listing(differ.head(6).to_list())}",
                    file=item.slice.file,
                    mend="give the right ones with gold=DATASET",
                )
    else:
        return None, groups, names
    met = label.unique().sort().to_list()
    mapped = map_names(met, names, labels if gold is None else None, what="gold labels")
    names = names + order_labels(set(mapped.values()) - set(names))
    codes = label.replace(mapped).cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64)
    return codes, groups, names


def _gold_rows(ids: pl.Series, gold: Gold) -> pl.Series:
    rows = position_of(ids, gold.example_ids)
    missing = ids.filter(rows.is_null())
    if missing.len():
        same_length = "align='position' takes row for row, " if ids.len() == gold.example_ids.len() else ""
        raise InputError(
            f"{missing.len()} of {ids.len()} examples are not in the gold of {gold.name}, "
            f"first {listing(missing.head(6).to_list())}",
            mend=f"check that it is the same dataset; {same_length}align='intersect' keeps the common examples",
        )
    beyond = gold.example_ids.len() - ids.len()
    return rows if beyond >= 0 else rows.head(gold.example_ids.len())


def _scores(loaded: list[_Loaded], *, explicit_gold: bool) -> NDArray[np.float64] | None:
    """Scores as the files give them; gold that was given explicitly goes before them."""
    columns = [item.columns.score for item in loaded]
    present = [column for column in columns if column is not None]
    if explicit_gold or len(present) < len(columns):
        return None
    return np.stack([column.to_numpy() for column in present]).astype(np.float64)


def _logits(
    loaded: list[_Loaded],
    shape: tuple[int, ...],
    names: tuple[str, ...],
    labels: Mapping[str, str] | None,
    *,
    given_names: tuple[str, ...] | None,
) -> NDArray[Any] | None:
    arrays = [item.columns.logits for item in loaded]
    present = [array for array in arrays if array is not None]
    if len(present) < len(arrays):
        return None
    widths = {array.shape[-1] for array in present}
    if len(widths) > 1:
        raise InputError(f"runs have logits of {listing(sorted(widths))} classes", mend="read them one by one")
    order = loaded[0].columns.label_names or given_names
    n_classes = present[0].shape[-1]
    if n_classes < len(names) or n_classes != len(order or range(n_classes)):
        raise InputError(
            f"logits have {n_classes} classes, but there are {max(len(names), len(order or ()))} labels: "
            f"{listing(names if len(names) >= len(order or ()) else order or (), 8)}",
            file=loaded[0].slice.file,
            mend="give each example one logit a label",
        )
    stacked = np.stack(present).reshape(*shape, present[0].shape[0], -1)
    if order is None:
        has_predictions = all(item.columns.prediction is not None for item in loaded)
        has_scores = all(item.columns.score is not None for item in loaded)
        if has_predictions or has_scores:
            # Which class a logit belongs to is unknown, and nothing needs it.
            return None
        raise InputError(
            "the order of the logits' classes is not known", mend="name them in order with label_names=[...]"
        )
    mapped = list(map_names(order, names, labels).values())
    if sorted(mapped) == sorted(names):
        return np.ascontiguousarray(stacked[..., [mapped.index(name) for name in names]])
    # Predictions were collapsed to the classes of the gold after the argmax; the logits have no such form.
    return None
