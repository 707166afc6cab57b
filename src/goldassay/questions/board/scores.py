"""What a board is made of: the scores of systems on the items that all of them answered."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.entry_point import option
from goldassay.core.errors import InputError
from goldassay.core.numbers import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.questions.discount.matching import Answered

# How cells without a score are taken.
LEAVE_OUT, WRONG = "leave-out", "wrong"
_MOST_NAMES = 8
# With a smaller share of items in common these may be of another kind than those left out.
_FEW_IN_COMMON = 0.9
# How rows of totals are called, and how far rounding may take them from the mean.
_MEANS = ("mean", "average", "avg", "total", "overall", "all", "macro", "micro", "score", "accuracy")
_ROUNDING = 0.0051


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
        as_wrong: The scores on all items with empty cells as wrong, and what all items share, where empty cells left
            items out. A system may answer what it finds easy alone: a place is sure only where it is so both ways.
        asked: Sentences on what systems were asked in different ways.
    """

    name: str
    systems: tuple[str, ...]
    scores: tuple[NDArray[np.float64], ...]
    items: NDArray[np.str_]
    clusters: NDArray[np.int64] | None
    inputs: tuple[dict[str, Any], ...]
    notes: tuple[str, ...] = ()
    answered: tuple[Answered, ...] = ()
    as_wrong: tuple[tuple[NDArray[np.float64], ...], NDArray[np.int64] | None] | None = None
    asked: tuple[str, ...] = ()

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
    inputs: Sequence[dict[str, Any]],
    notes: Sequence[str],
    missing: str,
    answered: Sequence[Answered],
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
        missing: "leave-out" or "wrong".
        answered: As `BoardScores` has it.

    Raises:
        InputError: There are fewer than two systems, one of them twice, or no two items in common.
    """
    twice = [system for system, n in Counter(systems).items() if n > 1]
    if twice:
        raise InputError(f"the system {twice[0]!r} stands there twice", mend="give each system another name")
    if len(systems) < 2:
        raise InputError(
            f"there is one system, {systems[0]!r}" if systems else "there is no system",
            mend="give two systems or more",
        )
    _refuse_means(items, scores)
    lacking = {system: int(np.isnan(each).any(axis=0).sum()) for system, each in zip(systems, scores, strict=True)}
    said = list(notes)
    n_items = items.size
    if any(lacking.values()):
        worst = sorted((system for system in lacking if lacking[system]), key=lambda system: -lacking[system])
        more = f" and {len(worst) - _MOST_NAMES} more" if len(worst) > _MOST_NAMES else ""
        of = ", ".join(f"{system} {count(lacking[system])}" for system in worst[:_MOST_NAMES]) + more
        if missing == WRONG:
            said.append(f"Items without a score count as wrong: {of}.")
            scores = [np.nan_to_num(each, nan=0.0) for each in scores]
    kept = ~np.any([np.isnan(each).any(axis=0) for each in scores], axis=0)
    if not kept.all():
        other = f"; {option('missing', 'wrong')} takes empty cells as wrong" if missing == LEAVE_OUT else ""
        n_kept = count(int(kept.sum()))
        said.append(f"Of {count(n_items)} items {n_kept} are measured, which all systems answered. Lacking: {of}.")
        if float(kept.mean()) < _FEW_IN_COMMON:
            said.append(
                f"Items that some system did not answer may be harder than the rest, which then says less{other}."
            )
    if kept.sum() < 2:
        raise InputError(
            f"the systems have {int(kept.sum())} of {n_items} items in common; lacking: {of}",
            mend=f"leave such systems out, or take empty cells as wrong with {option('missing', 'wrong')}",
        )
    return BoardScores(
        name=name,
        systems=tuple(systems),
        scores=tuple(each[:, kept] for each in scores),
        items=items[kept],
        clusters=None if clusters is None else clusters[kept],
        inputs=tuple(inputs),
        notes=tuple(said),
        answered=tuple(answered),
        as_wrong=None if kept.all() else (tuple(np.nan_to_num(each, nan=0.0) for each in scores), clusters),
    )


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
