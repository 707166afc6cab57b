"""What a board is made of: the scores of systems on the items that all of them answered."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.numbers import count, points
from goldassay.questions.board.measures import Items
from goldassay.runs.loading import LackingError, ways
from goldassay.runs.runs import Runs
from goldassay.runs.traits import with_traits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.core.document import Input
    from goldassay.data.dataset import Dataset
    from goldassay.questions.answered.degenerate import Given
    from goldassay.questions.discount.reading import Answered
    from goldassay.runs.kinds.board_tables import Cells
    from goldassay.runs.run_parts import Traits
    from goldassay.runs.statuses import Missing

_MOST_NAMES = 8
# With a smaller share of items in common these may be of another kind than those left out.
_FEW_IN_COMMON = 0.9
# How rows of totals are called, and how far rounding may take them from the mean.
_MEANS = ("mean", "average", "avg", "total", "overall", "all", "macro", "micro", "score", "accuracy")
_ROUNDING = 0.0051


@dataclass(frozen=True)
class ItemTraits:
    """Columns of N items that were asked for by name.

    Attributes:
        values: {name: (N,) texts}, "" where an item has none.
        weights: How much each item counts, (N,); None where all count alike.
        weighted_by: The column of these; "" without.
    """

    values: Mapping[str, NDArray[np.str_]] = field(default_factory=dict)
    weights: NDArray[np.float64] | None = None
    weighted_by: str = ""

    def at(self, kept: NDArray[np.bool_]) -> ItemTraits:
        """Those of some of the items."""
        weights = None if self.weights is None else self.weights[kept]
        return replace(self, values={name: own[kept] for name, own in self.values.items()}, weights=weights)


def traits_of_items(cells: Cells, asked: Traits, dataset: Dataset | None, file: str) -> ItemTraits:
    """The columns that were asked for, of a table's items, out of the table or of the data that were answered.

    Raises:
        InputError: A column is not there, or a weight is no number from 0 up.
    """
    if not asked.names:
        return ItemTraits()
    columns = {name: values.to_numpy() for name, values in cells.traits.items()}
    items = Runs.from_arrays(scores=np.zeros(cells.items.size), example_ids=cells.items, model=file, groups=columns)
    found = with_traits(items, asked, dataset)
    return ItemTraits(found.traits, found.weights, found.weighted_by)


@dataclass(frozen=True)
class BoardScores:
    """M systems on N items in common.

    Attributes:
        name: Of the board.
        systems: Their names, (M,).
        scores: Of each its runs on the items, each (R, N), in [0, 1].
        items: Names of the items, (N,).
        clusters: What items share, (N,); None where each counts by itself.
        inputs: What the report says of the input.
        notes: What was decided, left out or not read, in sentences.
        answered: What tells of each system which rows it answers.
        other_rule: Where cells are without a score, the scores by the other rule for these, and what its items share:
            on the items in common, or on all with such cells as wrong. A system may answer what it finds easy alone: a
            place is sure only where it is so both ways, and by the mean of what each answered.
        rule: What was done with cells without a score.
        cells: The table that it was read from; None of runs.
        asked: Sentences on what systems were asked in different ways.
        given: What each system gave, as far as it is at hand.
        traits: Weights of the items and other columns that were asked for.
    """

    name: str
    systems: tuple[str, ...]
    scores: tuple[NDArray[np.float64], ...]
    items: NDArray[np.str_]
    clusters: NDArray[np.int64] | None
    inputs: tuple[Input, ...]
    notes: tuple[str, ...] = ()
    answered: tuple[Answered, ...] = ()
    other_rule: Items | None = None
    rule: Missing = "auto"
    cells: Cells | None = None
    asked: tuple[str, ...] = ()
    given: tuple[Given, ...] = ()
    traits: ItemTraits = ItemTraits()

    @property
    def of_items(self) -> Items:
        """What is measured."""
        return Items(self.scores, self.clusters, self.traits.weights)

    @property
    def values(self) -> NDArray[np.float64]:
        """Each system's mean over its runs, (M, N)."""
        return np.stack([each.mean(axis=0) for each in self.scores])


def in_common(
    name: str,
    systems: Sequence[str],
    scores: Sequence[NDArray[np.float64]],
    items: NDArray[np.str_],
    clusters: NDArray[np.int64] | None,
    inputs: Sequence[Input],
    notes: Sequence[str],
    missing: Missing,
    answered: Sequence[Answered],
    absent: Sequence[NDArray[np.bool_]] = (),
    traits: ItemTraits | None = None,
) -> BoardScores:
    """The systems on the items that all of them answered, or with cells without a score as wrong.

    Args:
        name: Of the board.
        systems: M names.
        scores: Of each its runs on all items, (R, N), NaN where there is no score.
        items: N names.
        clusters: Of the items, if any.
        inputs: What the report says of the input.
        notes: What is known of the input, in sentences.
        missing: What is done with cells without a score.
        answered: As `BoardScores` has it.
        absent: Of each system the cells that it was not asked for, (R, N); () where there are none.
        traits: Of the items.

    Raises:
        InputError: There are fewer than two systems, one of them twice, or no two items in common.
    """
    twice = [system for system, n in Counter(systems).items() if n > 1]
    if twice:
        raise InputError(f"the system {twice[0]!r} occurs twice", mend="give each system another name")
    if len(systems) < 2:
        raise InputError(
            f"there is one system, {systems[0]!r}" if systems else "there is no system",
            mend="give two systems or more",
        )
    _refuse_means(items, scores)
    lacking = {system: int(np.isnan(each).any(axis=0).sum()) for system, each in zip(systems, scores, strict=True)}
    kept = ~np.any([np.isnan(each).any(axis=0) for each in scores], axis=0)
    said = list(notes)
    as_wrong = [np.nan_to_num(each, nan=0.0) for each in scores]
    in_common = [each[:, kept] for each in scores]
    if any(lacking.values()):
        refused = [np.isnan(each) for each in scores] if missing == "refuse" else absent
        if missing in ("auto", "refuse"):
            _refuse_gaps(systems, scores, refused, kept)
        said += _describe_gaps(systems, scores, lacking, kept, missing)
    if missing == "leave-out" and kept.sum() < 2:
        raise InputError(
            f"the systems have {int(kept.sum())} of {items.size} items in common; lacking: {_worst(lacking)}",
            mend=f"leave such systems out, or take empty cells as wrong with {option('missing', 'wrong')}",
        )
    shared = None if clusters is None else clusters[kept]
    traits = traits or ItemTraits()
    by_rule = {
        True: (tuple(in_common), shared, traits.at(kept)),
        False: (tuple(as_wrong), clusters, traits),
    }
    left_out = missing == "leave-out"
    (taken, joined, own), (others, of_others, its) = by_rule[left_out], by_rule[not left_out]
    return BoardScores(
        name=name,
        systems=tuple(systems),
        scores=taken,
        items=items[kept] if left_out else items,
        clusters=joined,
        inputs=tuple(inputs),
        notes=tuple(said),
        answered=tuple(answered),
        other_rule=None
        if kept.all()
        else Items(others, of_others, its.weights, _of_answered(scores, traits))
        if kept.sum() > 1
        # Without items in common nothing tells which system is better.
        else Items(as_wrong, clusters, traits.weights, np.zeros(len(systems))),
        rule=missing,
        traits=own,
    )


def _of_answered(scores: Sequence[NDArray[np.float64]], traits: ItemTraits) -> NDArray[np.float64]:
    """The mean of what each system answered, (M,)."""
    weights = 1.0 if traits.weights is None else traits.weights
    there = [np.isfinite(each) * weights for each in scores]
    return np.array([float((np.nan_to_num(each) * own).sum() / own.sum()) if own.any() else 0.0
                     for each, own in zip(scores, there, strict=True)])  # fmt: skip


def _worst(lacking: Mapping[str, int]) -> str:
    """The systems that lack most items, and how many."""
    worst = sorted((system for system in lacking if lacking[system]), key=lambda system: -lacking[system])
    more = f" and {len(worst) - _MOST_NAMES} more" if len(worst) > _MOST_NAMES else ""
    return ", ".join(f"{system} {count(lacking[system])}" for system in worst[:_MOST_NAMES]) + more


def _refuse_gaps(
    systems: Sequence[str],
    scores: Sequence[NDArray[np.float64]],
    refused: Sequence[NDArray[np.bool_]],
    kept: NDArray[np.bool_],
) -> None:
    """Refuse cells that must have a score.

    Raises:
        LackingError: There are some; the line says what each rule would give the system that lacks most.
    """
    lacks = {system: int(each.any(axis=0).sum()) for system, each in zip(systems, refused, strict=False)}
    worst = max(lacks, key=lambda system: lacks[system], default="")
    if not worst or not lacks[worst]:
        return
    own = pl.Series(scores[list(systems).index(worst)].mean(axis=0)).fill_nan(None)
    raise LackingError(
        f"systems lack items that others were asked: of {count(kept.size)} items {_worst(lacks)}",
        mend=f"for {worst} {ways(own, pl.Series(kept), kept.size)}",
    )


def _describe_gaps(
    systems: Sequence[str],
    scores: Sequence[NDArray[np.float64]],
    lacking: Mapping[str, int],
    kept: NDArray[np.bool_],
    missing: Missing,
) -> list[str]:
    """What was done with cells without a score."""
    n_items, n_kept = count(kept.size), int(kept.sum())
    nobody = int(np.all([np.isnan(each).all(axis=0) for each in scores], axis=0).sum())
    none = f" {count(nobody)} {'item was' if nobody == 1 else 'items were'} answered by no system." if nobody else ""
    if missing == "leave-out":
        said = (
            f"Of {n_items} items {count(n_kept)} are measured, which all systems answered. Lacking: {_worst(lacking)}."
        )
        if n_kept < _FEW_IN_COMMON * kept.size:
            said += (
                " Items that some system did not answer may be harder than the rest, which then says less; "
                f"{option('missing', 'wrong')} takes empty cells as wrong."
            )
        return [said + none]
    where = ("in some run ", " there") if any(len(each) > 1 for each in scores) else ("", "")
    found = [f"Items without a score {where[0]}count as wrong{where[1]}: {_worst(lacking)}.{none}"]
    if missing == "bounds":
        ranges = [
            f"{system} {points(float(np.nan_to_num(each, nan=0.0).mean()), 2)} to "
            f"{points(float(np.nan_to_num(each, nan=1.0).mean()), 2)}"
            for system, each in zip(systems, scores, strict=True)
            if lacking[system]
        ]
        found.append(f"Over all ways to score them: {', '.join(ranges[:_MOST_NAMES])}.")
    return found


def _refuse_means(items: NDArray[np.str_], scores: Sequence[NDArray[np.float64]]) -> None:
    """Refuse a row of totals, which is no item.

    Raises:
        InputError: An item is called like a mean, and is that of the others for every system.
    """
    for at in np.flatnonzero(np.isin(np.char.lower(items), _MEANS)).tolist():
        others = np.arange(items.size) != at
        apart = [abs(float(np.nanmean(each[:, at])) - float(np.nanmean(each[:, others]))) for each in scores
                 if not np.isnan(each[:, at]).all() and not np.isnan(each[:, others]).all()]  # fmt: skip
        if apart and max(apart) <= _ROUNDING:
            raise InputError(f"{str(items[at])!r} is no item but the mean of the others", mend="leave the row out")
