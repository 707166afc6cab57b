"""From slices to `Runs`: check that the grid is whole, align the examples, map names of labels to codes, stack."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option, right_labels
from goldassay.core.naming import listing
from goldassay.runs.alignment import align_examples, check_scores, position_of, same, with_all_attempts
from goldassay.runs.choosing import by_place, refuse_retried
from goldassay.runs.configurations import check_one
from goldassay.runs.label_codes import (
    are_codes,
    describe_learned,
    describe_unanswered,
    learned_labels,
    mend_codes,
    mend_order,
    refuse_contradicted,
    without_gold,
)
from goldassay.runs.labels import map_names, order_labels
from goldassay.runs.loading import Align, Loaded, load_all, rule_of, taken
from goldassay.runs.run_parts import UNNAMED, Columns, Gold, Slice
from goldassay.runs.runs import Runs
from goldassay.runs.statuses import NOT_TRIED, STATUSES, Missing, codes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


__all__ = ["Align", "assemble", "ordered", "position_of", "taken"]

# Predictions of more kinds than this, beside a score, are free text (answers), not labels.
_MAX_LABELS = 200


def assemble(
    slices: Sequence[Slice],
    *,
    gold: Gold | None = None,
    fallback_gold: Gold | None = None,
    labels: Mapping[str, str] | None = None,
    label_names: tuple[str, ...] | None = None,
    align: Align = "exact",
    missing: Missing = "auto",
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
        missing: What is done with answers without a score, and with examples that a run lacks; see `Missing`.

    Raises:
        InputError: Runs have different configurations, cover different checkpoints or examples, an example is there
            twice, labels do not match, or there is nothing to score by.
    """
    check_one(slices)
    refuse_retried(slices)
    seeds, checkpoints, grid = _grid(slices)
    rule = rule_of(missing, align)
    parts = [part for row in grid for part in row]
    loaded = load_all(parts, label_names, rule, gold)
    are_trials = len(seeds) > 1 and all(part.is_trial for part in slices)
    if are_trials and len(checkpoints) == 1 and align != "position":
        loaded = with_all_attempts(loaded)
    asked, answered = [item.asked for item in loaded], [item.columns.example_ids for item in loaded]
    if gold is None and all(item.columns.label is None and item.columns.score is None for item in loaded):
        gold = fallback_gold
    remarks: list[str] = []
    if gold is None:
        _check_scorable(loaded)
        loaded, remarks = _with_gold(loaded)
    loaded, ids = align_examples(loaded, align, gold, rule)
    first = loaded[0].columns
    names = label_set(loaded, gold, label_names)
    rows = None if gold is None or align == "position" else _gold_rows(ids, gold)
    wanted = first.label if gold is None else gold.label if rows is None else gold.label.gather(rows)
    if gold is not None:
        remarks += describe_unanswered(ids.len(), gold.example_ids.len(), gold.name, gold.left_out)
        if labels is None:
            loaded, learned = _in_words_of(gold, loaded, wanted, label_names)
            remarks += learned
    predictions, names = predictions_of(loaded, names, labels, wanted)
    right, groups, names = gold_of(first, loaded, names, labels, gold, ids, rows)
    shape = (len(seeds), len(checkpoints)) if len(checkpoints) > 1 else (len(seeds),)
    collection = slices[0].collection
    scores = scores_of(loaded, explicit_gold=gold is not None and predictions is not None)
    codes = _statuses(loaded, shape)
    if scores is not None:
        scores = _of_attempts(scores.reshape(*shape, -1), codes)
        _check_scale(loaded, scores)
    made = Runs.from_arrays(
        predictions=None if predictions is None else predictions.reshape(*shape, -1),
        gold=right,
        logits=logits_of(loaded, shape, names, labels, given_names=label_names, right=wanted),
        scores=scores,
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
    own = slices[0]
    # The grid is laid out run by run, and a run's last checkpoint is its score.
    thresholds = [found[-1].columns.thresholds for found in _by_run(loaded, len(checkpoints))]
    if all(each is not None for each in thresholds):
        made = replace(made, thresholds=tuple(each for each in thresholds if each is not None))
    made = replace(
        made,
        configuration=own.configuration,
        base_model=own.base_model,
        grades=own.grades,
        status_codes=codes,
        reported=tuple(found[-1].columns.reported for found in _by_run(loaded, len(checkpoints))),
        trials=are_trials,
        dealt=are_trials and any(part.is_dealt for part in slices),
        left_out=_left_out(asked, answered, ids) if rule == "leave-out" else {},
        unrecorded=tuple(each for each in STATUSES if any(_is_unrecorded(item, each) for item in loaded)),
        numbered=any(part.numbered for part in slices),
        keyed=gold is None and all(part.keyed for part in slices),
        remarks=tuple(dict.fromkeys(remarks)),
    )
    return made if gold is None else replace(made, contradicted=contradicted(loaded, made, labels))


def _statuses(loaded: Sequence[Loaded], shape: tuple[int, ...]) -> NDArray[np.int8] | None:
    """The status of every answer (R,[T,]N); None where all are scored, and nothing else is told of them."""
    found = np.stack([codes_of(item.columns.status) for item in loaded if item.columns.status is not None])
    return found.reshape(*shape, -1) if found.any() else None


def _of_attempts(scores: NDArray[np.float64], codes: NDArray[np.int8] | None) -> NDArray[np.float64]:
    """The scores with the mean of an item's attempts for each that was not tried: so the mean is that of the items."""
    if codes is None or not (not_tried := codes == NOT_TRIED).any():
        return scores
    n = (~not_tried).sum(axis=0)
    return np.where(not_tried, (scores * ~not_tried).sum(axis=0) / np.maximum(n, 1), scores)


def _is_unrecorded(item: Loaded, status: str) -> bool:
    """Whether files of the form do not record a status; a table does by a column of its own, where it holds any."""
    own, said = item.columns.status, item.slice.unrecorded
    holds = own is not None and said == Slice.unrecorded and own.str.ends_with(status).any()
    return status in said and not holds and status not in item.columns.recorded


def _left_out(asked: Sequence[pl.Series], answered: Sequence[pl.Series], ids: pl.Series) -> dict[str, bool]:
    every = pl.concat(list(asked)).unique(maintain_order=True)
    left = every.filter(~every.is_in(ids.implode()))
    by_any = left.is_in(pl.concat(list(answered)).implode())
    return dict(zip(left.to_list(), by_any.to_list(), strict=True))


def _by_run(loaded: Sequence[Loaded], n_checkpoints: int) -> list[Sequence[Loaded]]:
    return [loaded[at : at + n_checkpoints] for at in range(0, len(loaded), n_checkpoints)]


def _check_scale(loaded: Sequence[Loaded], scores: NDArray[np.float64]) -> None:
    """Refuse scores outside [0, 1], and name the first file that holds such.

    Raises:
        InputError: There are some.
    """
    try:
        check_scores(scores)
    except InputError as error:
        outside = (
            item.slice.file
            for item in loaded
            if item.columns.score is not None and not item.columns.score.drop_nulls().is_between(0, 1).all()
        )
        raise InputError(error.problem, file=next(outside, None), mend=error.mend) from error


def _check_scorable(loaded: Sequence[Loaded]) -> None:
    for item in loaded:
        if item.columns.label is None and item.columns.score is None and item.columns.example_ids.len():
            model, dataset, *_ = item.slice.collection
            raise InputError(
                f"the runs of {model} on {dataset} have predictions but no gold labels to score them by",
                file=item.slice.file,
                mend=f"give {right_labels()}, or per-example scores",
            )


def _grid(slices: Sequence[Slice]) -> tuple[list[Any], list[Any], list[list[Slice]]]:
    seeds = ordered({part.seed for part in slices})
    checkpoints = ordered({part.checkpoint for part in slices})
    placed = by_place(slices)
    for seed in seeds:
        lacking = [step for step in checkpoints if (seed, step) not in placed]
        if lacking:
            raise InputError(
                f"runs have different checkpoints: seed {seed} lacks {len(lacking)} that others have: "
                f"{listing(lacking)}",
                mend=f"choose one that all have, or each run's last with {option('checkpoint', 'last')}",
            )
    return seeds, checkpoints, [[placed[seed, step] for step in checkpoints] for seed in seeds]


def ordered(values: set[Any]) -> list[Any]:
    """Seeds or checkpoints in their order: none, numbers ascending, then names."""
    return sorted(values, key=lambda value: (isinstance(value, str), value is not None, value))


def _axis(values: list[Any]) -> NDArray[Any]:
    if all(isinstance(value, int) for value in values):
        return np.array(values, dtype=np.int64)
    return np.array([str(value) for value in values], dtype=np.str_)


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
            mend=f"name the label of each with {option('labels')}",
        )
    labels = loaded[0].columns.label
    return () if labels is None else order_labels(labels.unique().to_list())


def _with_gold(loaded: list[Loaded]) -> tuple[list[Loaded], list[str]]:
    """The slices without the rows whose own right label says that there is none, and how many these are."""
    kept, remarks = [], []
    for item in loaded:
        label = item.columns.label
        blank = None if label is None else without_gold(label, item.columns.prediction)
        if label is not None and blank is not None and blank.any():
            mark = label.filter(blank)[0]
            remarks.append(f"{int(blank.sum()):,} rows have no right label ({mark}) and do not count")
            item = replace(item, columns=taken(item.columns, (~blank).arg_true()))
        kept.append(item)
    return kept, remarks


def _in_words_of(
    gold: Gold, loaded: list[Loaded], right: pl.Series | None, label_names: tuple[str, ...] | None
) -> tuple[list[Loaded], list[str]]:
    """The slices with codes replaced by the labels of the gold that their own right labels have, and what was done.

    Raises:
        InputError: Names that were given in order contradict a file's own right labels.
    """
    renamed, remarks = [], []
    for item in loaded:
        columns = item.columns
        found = None
        if columns.label is not None and right is not None:
            found = learned_labels(columns.label, right, gold.label_names)
        if found is not None and label_names is not None:
            raise refuse_contradicted(found, label_names, gold.name, item.slice.file)
        if found is not None and are_codes(found):
            item = replace(item, columns=_renamed(columns, found))
            remarks.append(describe_learned(found, gold.name))
        renamed.append(item)
    return renamed, remarks


def _renamed(columns: Columns, found: Mapping[str, str]) -> Columns:
    """A file's labels and predictions by other names; predictions made of its logits, where it has none."""
    order, logits, prediction = columns.label_names, columns.logits, columns.prediction
    if order is None and logits is not None and {*map(str, range(logits.shape[-1]))} == found.keys():
        order = tuple(map(str, range(logits.shape[-1])))
        if prediction is None:
            prediction = pl.Series(order, dtype=pl.String).gather(logits.argmax(axis=-1))
    return replace(
        columns,
        label=None if columns.label is None else columns.label.replace(found),
        prediction=None if prediction is None else prediction.replace(found),
        label_names=None if order is None else tuple(found.get(name, name) for name in order),
    )


def predictions_of(
    loaded: list[Loaded], names: tuple[str, ...], labels: Mapping[str, str] | None, right: pl.Series | None = None
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
    mapped = map_names(
        met, names, labels, file=file, mend=partial(mend_codes, met, names, present, right, file, labels)
    )
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
    rows: pl.Series | None,
) -> tuple[NDArray[np.int64] | None, dict[str, pl.Series], tuple[str, ...]]:
    """Right labels as codes, groups, and the label set with what was met beyond it."""
    groups = dict(first.groups)
    if gold is not None:
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
        ways = []
        if ids.len() == gold.example_ids.len():
            ways.append(f"{option('align', 'position')} takes row for row")
        if missing.len() < ids.len():
            ways.append(f"{option('missing', 'leave-out')} or {option('align', 'intersect')} keeps the common examples")
        left_out = f" ({gold.left_out})" if gold.left_out else ""
        gold_ids = listing(gold.example_ids.head(3).to_list())
        check = "fill in the labels" if gold.left_out else "check that it is the same dataset"
        raise InputError(
            f"{missing.len()} of {ids.len()} examples are not in the gold of {gold.name}{left_out}, "
            f"first {listing(missing.head(6).to_list())}",
            mend="; ".join([check, ", ".join(ways)] if ways else [check, f"the gold has {gold_ids}"]),
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
    right: pl.Series | None,
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
            "the order of the classes of the logits is not known",
            file=loaded[0].slice.file,
            mend=mend_order(present, names, right),
        )
    mapped = list(map_names(order, names, labels).values())
    if sorted(mapped) == sorted(names):
        return np.ascontiguousarray(stacked[..., [mapped.index(name) for name in names]])
    # Predictions were collapsed to the classes of the gold after the argmax; the logits have no such form.
    return None
