"""Names of labels as codes: which labels there are, what was predicted, what is right, and logits in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.entry_point import option, right_labels
from goldassay.core.errors import InputError
from goldassay.core.naming import listing
from goldassay.runs.alignment import position_of, same
from goldassay.runs.labels import map_names, order_labels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from goldassay.runs.loading import Align, Loaded
    from goldassay.runs.run_parts import Columns, Gold
    from goldassay.runs.runs import Runs

# Predictions of more kinds than this, beside a score, are free text (answers), not labels.
_MAX_LABELS = 200


def label_set(loaded: list[Loaded], gold: Gold | None, given: tuple[str, ...] | None) -> tuple[str, ...]:
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
            mend=f"say which label each stands for with {option('labels')}",
        )
    labels = loaded[0].columns.label
    return () if labels is None else order_labels(labels.unique().to_list())


def predictions_of(
    loaded: list[Loaded], names: tuple[str, ...], labels: Mapping[str, str] | None
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
            codes = [column.cast(known).to_physical().to_numpy() for column in present]
            return np.stack(codes, dtype=np.int64), names
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
    return np.stack(renamed, dtype=np.int64), names


def gold_of(
    first: Columns,
    loaded: list[Loaded],
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
            if item.columns.label is not None and not same(item.columns.label, label):
                differ = ids.filter(item.columns.label != label)
                raise InputError(
                    f"runs disagree on the right label of {differ.len()} examples, "
                    f"first {listing(differ.head(6).to_list())}",
                    file=item.slice.file,
                    mend=f"give the right ones with {right_labels()}",
                )
    else:
        return None, groups, names
    met = label.unique().sort().to_list()
    mapped = map_names(met, names, labels if gold is None else None, what="gold labels")
    names = names + order_labels(set(mapped.values()) - set(names))
    codes = label.replace(mapped).cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64)
    return codes, groups, names


def contradicted(loaded: list[Loaded], runs: Runs, labels: Mapping[str, str] | None) -> int:
    """The most examples of one file whose own right label is another one than that of the runs.

    Labels of a file are compared by name, as predictions are: neutral is no contradiction of non-entailment. A file
    whose labels have no name in common with the right ones says nothing.

    Args:
        loaded: The files, in the order of the runs' examples.
        runs: With right labels that were given.
        labels: What each label name in the files stands for.
    """
    assert runs.gold is not None
    right = pl.Series([runs.label_names[code] for code in runs.gold.tolist()], dtype=pl.String)
    most, before = 0, None
    for item in loaded:
        own = item.columns.label
        if own is None or (before is not None and same(own, before)):
            continue
        before = own
        try:
            mapped = map_names(own.unique().sort().to_list(), runs.label_names, labels, what="labels of the runs")
        except InputError:
            continue
        most = max(most, int((own.cast(pl.String).replace(mapped) != right).sum()))
    return most


def _gold_rows(ids: pl.Series, gold: Gold) -> pl.Series:
    rows = position_of(ids, gold.example_ids)
    missing = ids.filter(rows.is_null())
    if missing.len():
        same_length = (
            f"{option('align', 'position')} takes row for row, " if ids.len() == gold.example_ids.len() else ""
        )
        left_out = f" ({gold.left_out})" if gold.left_out else ""
        check = "fill in the labels" if gold.left_out else "check that it is the same dataset"
        raise InputError(
            f"{missing.len()} of {ids.len()} examples are not in the gold of {gold.name}{left_out}, "
            f"first {listing(missing.head(6).to_list())}",
            mend=f"{check}; {same_length}{option('missing', 'leave-out')} or "
            f"{option('align', 'intersect')} keeps the common examples",
        )
    beyond = gold.example_ids.len() - ids.len()
    return rows if beyond >= 0 else rows.head(gold.example_ids.len())


def scores_of(loaded: list[Loaded], *, explicit_gold: bool) -> NDArray[np.float64] | None:
    """Scores as the files give them; gold that was given explicitly goes before them."""
    columns = [item.columns.score for item in loaded]
    present = [column for column in columns if column is not None]
    if explicit_gold or len(present) < len(columns):
        return None
    return np.stack([column.to_numpy() for column in present], dtype=np.float64, casting="unsafe")


def logits_of(
    loaded: list[Loaded],
    shape: tuple[int, ...],
    names: tuple[str, ...],
    labels: Mapping[str, str] | None,
    *,
    given_names: tuple[str, ...] | None,
) -> NDArray[Any] | None:
    """All logits (runs, [checkpoints,] N, K) in the order of the labels; None where not all slices have them.

    None too where nothing says which class a logit belongs to and nothing needs it, or where predictions were
    collapsed to the classes of the gold after the argmax: the logits have no such form.

    Raises:
        InputError: Their classes differ in number, or are not known though predictions rest on them.
    """
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
        there = order if order is not None and len(order) != n_classes else names
        raise InputError(
            f"logits have {n_classes} classes, but there are {len(there)} labels: {listing(there, 8)}",
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
            "the order of the logits' classes is not known",
            mend="name them in that order, as in "
            + option("label_names", ",".join(names or map(str, range(n_classes)))),
        )
    mapped = list(map_names(order, names, labels).values())
    if sorted(mapped) == sorted(names):
        return np.ascontiguousarray(stacked[..., [mapped.index(name) for name in names]])
    # Predictions were collapsed to the classes of the gold after the argmax; the logits have no such form.
    return None
