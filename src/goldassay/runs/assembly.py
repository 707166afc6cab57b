"""From slices to `Runs`: check that the grid is whole, align the examples, map the labels by name, stack."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.entry_point import option, right_labels
from goldassay.core.errors import InputError
from goldassay.core.naming import listing
from goldassay.runs.alignment import align_examples, position_of
from goldassay.runs.choosing import by_place, refuse_retried
from goldassay.runs.configurations import check_one
from goldassay.runs.label_codes import contradicted, gold_of, label_set, logits_of, predictions_of, scores_of
from goldassay.runs.loading import Align, Loaded, load_all, rule_of, taken
from goldassay.runs.run_parts import UNNAMED
from goldassay.runs.runs import Runs
from goldassay.runs.statuses import STATUSES, codes_of
from goldassay.runs.validation import check_scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.runs.run_parts import Gold, Slice
    from goldassay.runs.statuses import Missing

__all__ = ["Align", "assemble", "ordered", "position_of", "taken"]


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
    loaded = load_all(parts, label_names, rule, by_gold=gold is not None)
    asked = [item.asked for item in loaded]
    if gold is None and all(item.columns.label is None and item.columns.score is None for item in loaded):
        gold = fallback_gold
    if gold is None:
        _check_scorable(loaded)
    loaded, ids = align_examples(loaded, align, gold, rule)
    first = loaded[0].columns
    names = label_set(loaded, gold, label_names)
    predictions, names = predictions_of(loaded, names, labels)
    right, groups, names = gold_of(first, loaded, names, labels, gold, ids, align)
    shape = (len(seeds), len(checkpoints)) if len(checkpoints) > 1 else (len(seeds),)
    collection = slices[0].collection
    scores = scores_of(loaded, explicit_gold=gold is not None and predictions is not None)
    if scores is not None:
        _check_scale(loaded, scores.reshape(*shape, -1))
    made = Runs.from_arrays(
        predictions=None if predictions is None else predictions.reshape(*shape, -1),
        gold=right,
        logits=logits_of(loaded, shape, names, labels, given_names=label_names),
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
        status_codes=_statuses(loaded, shape),
        reported=tuple(found[-1].columns.reported for found in _by_run(loaded, len(checkpoints))),
        trials=len(seeds) > 1 and all(part.is_trial for part in slices),
        left_out=_left_out(asked, ids) if rule == "leave-out" else (),
        unrecorded=tuple(each for each in STATUSES if any(each in item.slice.unrecorded for item in loaded)),
        numbered=any(part.numbered for part in slices),
        keyed=gold is None and all(part.keyed for part in slices),
    )
    return made if gold is None else replace(made, contradicted=contradicted(loaded, made, labels))


def _statuses(loaded: Sequence[Loaded], shape: tuple[int, ...]) -> NDArray[np.int8] | None:
    """The status of every answer (R,[T,]N); None where all are scored, and nothing else is told of them."""
    found = np.stack([codes_of(item.columns.status) for item in loaded if item.columns.status is not None])
    return found.reshape(*shape, -1) if found.any() else None


def _left_out(asked: Sequence[pl.Series], ids: pl.Series) -> tuple[str, ...]:
    every = pl.concat(list(asked)).unique(maintain_order=True)
    return tuple(every.filter(~every.is_in(ids.implode())).to_list())


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
