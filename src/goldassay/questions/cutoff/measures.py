"""How far a score drops after a date, within examples of one difficulty, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.questions.instability.measures.scores import as_scores
from goldassay.stats.clusters import dense_codes, effective_clusters
from goldassay.stats.intervals import Interval, t_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Drop(Result):
    """A score before a date less that after it; see `measure_drop`.

    Attributes:
        before: Mean score up to the date.
        after: Mean score after it.
        drop: before - after.
        interval: Of the drop.
        within: The drop within strata; NaN without strata, or where none has examples on both sides.
        within_interval: Its interval; None likewise.
        n_before: Examples up to the date.
        n_after: Examples after it.
        n_strata: Strata with examples on both sides.
        n_one_sided: Examples of the other strata, which are not in `within`.
    """

    before: float
    after: float
    drop: float
    interval: Interval
    within: float
    within_interval: Interval | None
    n_before: int
    n_after: int
    n_strata: int
    n_one_sided: int


def measure_drop(
    scores: ArrayLike,
    late: ArrayLike,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    *,
    less: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Drop:
    """The mean score of the examples up to a date less that of those after it, and the same within strata.

        drop   = m_0 - m_1,    within = sum_s W_s (m_s0 - m_s1) / sum_s W_s

    With W_s the weight of all examples of stratum s that has some on both sides: what the drop would be if both sides
    had the mix of strata of all. Each is a sum of c_i s_i. Its variance over clusters of examples is
    G/(G-1) sum_g (sum_{i in g} c_i (s_i - m_cell))², to which comes what runs vary beyond their single examples,
    (var_r(sum_i c_i s_ri) - sum_i c_i² var_r(s_ri))/R if above 0. In a cell of one example |s_i - m_cell| is taken
    as 1/2, the most that the SD of a score in [0, 1] can be; as 1 for a difference. Intervals are Student's.

    Args:
        scores: (R, N).
        late: (N,), whether an example lies after the date.
        strata: (N,) names or codes; None where there are none.
        clusters: (N,) names of what examples share; None where each counts by itself.
        less: (R', N) scores of another model on the same examples, whose drop is taken off.
        weights: (N,) how much each example counts; None where all count alike.
        level: Of the intervals.

    Raises:
        InputError: All examples lie on one side.

    Source: direct standardization, Kitagawa 1955, "Components of a difference between two rates"; Liang and Zeger 1986
    for clusters.
    """
    values = as_scores(scores)
    sides = [(1.0, values), *([] if less is None else [(-1.0, as_scores(less))])]
    after = np.asarray(late, dtype=np.bool_)
    n = after.size
    if after.all() or not after.any():
        raise InputError(
            f"all {n} examples lie on one side of the date", mend="choose a date within those of the examples"
        )
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    codes = dense_codes(clusters, n)
    mean = np.sum([sign * own.mean(axis=0) for sign, own in sides], axis=0)
    cells = [_cell(w, ~after), _cell(w, after)]
    whole = cells[0] - cells[1]
    drop, interval = _estimate(sides, mean, [whole], [(~after, after)], codes, w, level)
    names = np.zeros(n, np.int64) if strata is None else np.unique(np.asarray(strata), return_inverse=True)[1]
    two_sided = [at for at in (names == name for name in np.unique(names)) if after[at].any() and not after[at].all()]
    kept = float(sum(w[at].sum() for at in two_sided))
    parts = [w[at].sum() / kept * (_cell(w, at & ~after) - _cell(w, at & after)) for at in two_sided]
    within, within_interval = float("nan"), None
    if strata is not None and parts:
        halves = [(at & ~after, at & after) for at in two_sided]
        within, within_interval = _estimate(sides, mean, parts, halves, codes, w, level)
    return Drop(
        before=float(cells[0] @ mean),
        after=float(cells[1] @ mean),
        drop=drop,
        interval=interval,
        within=within,
        within_interval=within_interval,
        n_before=int((~after).sum()),
        n_after=int(after.sum()),
        n_strata=0 if strata is None else len(two_sided),
        n_one_sided=0 if strata is None else n - int(sum(at.sum() for at in two_sided)),
    )


def _cell(weights: NDArray[np.float64], rows: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Coefficients of the mean of some examples."""
    own: NDArray[np.float64] = weights * rows
    return own / own.sum()


def _estimate(
    sides: list[tuple[float, NDArray[np.float64]]],
    mean: NDArray[np.float64],
    parts: list[NDArray[np.float64]],
    halves: list[tuple[NDArray[np.bool_], NDArray[np.bool_]]],
    codes: NDArray[np.int64],
    weights: NDArray[np.float64],
    level: float,
) -> tuple[float, Interval]:
    """The sum of coefficients times mean scores, and its interval."""
    rests, most = np.zeros(mean.size), float(len(sides))
    for part, cells in zip(parts, halves, strict=True):
        for rows in cells:
            if rows.sum() == 1:
                # One example shows no spread of its own; without this many such strata would have no error at all.
                rests[rows] = np.abs(part[rows]) * most / 2
            else:
                rests[rows] += part[rows] * (mean[rows] - np.average(mean[rows], weights=weights[rows]))
    coefficients = np.sum(parts, axis=0)
    used = coefficients != 0
    own = np.unique(codes[used], return_inverse=True)[1]
    sums = np.bincount(own, weights=rests[used])
    n = sums.size
    variance = float(sums @ sums) * n / max(n - 1, 1) + sum(_of_runs(each, coefficients) for _, each in sides)
    df = max(effective_clusters(own, np.abs(coefficients[used])) - 2 * len(parts), 1.0)
    value = float(coefficients @ mean)
    found = t_interval(value, variance, df, level, "Student t, over examples")
    return value, found.within(-most, most)


def _of_runs(scores: NDArray[np.float64], coefficients: NDArray[np.float64]) -> float:
    """What runs vary beyond flips of their single examples, of the mean of the runs."""
    if len(scores) < 2:
        return 0.0
    terms = scores * coefficients
    total, alone = float(terms.sum(axis=1).var(ddof=1)), float(terms.var(axis=0, ddof=1).sum())
    return max(total - alone, 0.0) / len(scores)
