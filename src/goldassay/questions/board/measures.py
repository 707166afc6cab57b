"""Which places of a board are sure: ranks with intervals that hold for all systems at once.

The scores of M systems on the same items are paired: what an item is worth to one it is mostly worth to the other, so
that differences are surer than the scores' own intervals say. With m_j the mean score, s_jk the standard error of
m_j - m_k over clusters of items, and c the 95 % quantile of

    max over all pairs |(m*_j - m*_k) - (m_j - m_k)| / s_jk

over bootstrap draws of clusters, j is surely better than k where m_j - m_k > c s_jk; all these statements hold at once
in 95 of 100 boards. The rank interval of j is [1 + number surely better, M - number surely worse].

Few items need more care, since all of five items may fall to one of two equal systems: c is stretched as Student's t is
against the normal at the same tail, and s_jk has the variance of a difference that is 0, which adds (m_j - m_k)²/G.

Whether the first is surely first is a question of its own: each other system may be held against it by an ordinary test
of that pair, since all of these tests must say so (`rivals_of`).

Source: Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for ranks with applications to mobility across
neighbourhoods and academic achievement across countries"; Miller 2024, "Adding error bars to evals", for pairing;
Gutmann and Maymin 1987, "Is the selected population the best?", and Hung and Fithian 2019, "Rank verification for
exponential families", for the first place.

Beside ranks: the variance of scores over runs, and what items say of systems (which none solves, which part strong from
weak, how reliable the totals are).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.questions.instability.measures.comparison import compare
from goldassay.stats.bootstrap import resample_examples, resample_runs
from goldassay.stats.clusters import cluster_codes, cluster_sums, effective_clusters, weigh
from goldassay.stats.intervals import degrees_of_freedom, normal_quantile, t_interval, t_quantile
from goldassay.stats.significance import benjamini_hochberg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


class Items(NamedTuple):
    """Systems on N items.

    Attributes:
        scores: Of each system, (N,) or (R, N), in [0, 1].
        clusters: What items share, (N,); None where each counts by itself.
        weights: How much each item counts, (N,); None where all count alike.
        scored_only: The mean of what each system answered, (M,): one is surely better only where this is higher, too.
            None where all answered the same.
    """

    scores: Sequence[ArrayLike]
    clusters: ArrayLike | None = None
    weights: ArrayLike | None = None
    scored_only: NDArray[np.float64] | None = None


class Spread(NamedTuple):
    """Variance of the mean score over runs, pooled over systems, and its degrees of freedom; 0 and 0 if unknown."""

    variance: float
    freedom: int


def pooled_spread(scores: Sequence[ArrayLike], weights: ArrayLike | None = None) -> Spread:
    """sum_m (R_m - 1) var_m / sum_m (R_m - 1), over the systems with several runs.

    Args:
        scores: Of each system, (N,) or (R, N), in [0, 1].
        weights: How much each item counts, (N,); None where all count alike.

    Raises:
        InputError: See `stacked_runs`.
    """
    runs, of_system = stacked_runs(scores, weights)
    return noise_of_runs(runs.mean(axis=1), of_system)[1]


def noise_of_runs(
    means: NDArray[np.float64], of_system: Sequence[NDArray[np.int64]]
) -> tuple[NDArray[np.float64], Spread]:
    """Variance of each system's mean over its runs, (M,), and the pooled spread, which one run is taken to have.

    Args:
        means: Mean score of each run.
        of_system: Which runs each system has.
    """
    freedom = sum(own.size - 1 for own in of_system)
    of_one = [float(means[own].var(ddof=1)) if own.size > 1 else 0.0 for own in of_system]
    known = zip(of_one, of_system, strict=True)
    pooled = sum(var * (own.size - 1) for var, own in known) / freedom if freedom else 0.0
    found = [var / own.size if own.size > 1 else pooled for var, own in zip(of_one, of_system, strict=True)]
    return np.array(found), Spread(pooled, freedom)


def stacked_runs(
    scores: Sequence[ArrayLike], weights: ArrayLike | None = None
) -> tuple[NDArray[np.float64], list[NDArray[np.int64]]]:
    """All runs of all systems, (sum of R, N), and which rows are of each system; their means are weighted (`weigh`).

    Raises:
        InputError: There are fewer than two systems or items, they are not scored on the same items, or scores are not
            finite or lie outside [0, 1].
    """
    given = [np.atleast_2d(np.asarray(each, dtype=np.float64)) for each in scores]
    if len(given) < 2:
        raise InputError("a board of one system has no ranks", mend="give two systems or more")
    if len({each.shape[1] for each in given}) > 1:
        raise InputError("the systems are scored on different numbers of items", mend="give the items in common")
    runs = np.concatenate(given)
    if runs.shape[1] < 2:
        raise InputError("one item has no spread over items", mend="give at least 2")
    if not np.isfinite(runs).all() or runs.min() < 0 or runs.max() > 1:
        raise InputError("scores are missing or lie outside [0, 1]", mend="give one from 0 to 1 for each item")
    starts = np.cumsum([0, *(len(each) for each in given)]).tolist()
    return weigh(runs, weights), [np.arange(start, end) for start, end in pairwise(starts)]


N_DRAWS, N_HALVES = 2000, 1000
# Differences are found equal where their variance is below this share of the systems' own.
_NO_VARIANCE = 1e-12
_DRAWS_AT_ONCE = 50


@dataclass(frozen=True)
class Ranking(Result):
    """Ranks of M systems; see `rank`.

    Attributes:
        means: Mean score of each system over its runs and the items, (M,).
        places: 1 and how many have a higher mean, (M,).
        low: The best rank that each may have, (M,).
        high: The worst, (M,).
        tiers: Groups from the top, from 1, (M,): a group begins at the best system left, and has all that are not
            surely worse than that one.
        critical: c: a difference of so many standard errors is sure.
        level: Of all statements at once.
        n_items: N.
        n_clusters: G.
    """

    means: NDArray[np.float64]
    places: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    tiers: NDArray[np.int64]
    critical: float
    level: float
    n_items: int
    n_clusters: int


@dataclass(frozen=True)
class Lead(Result):
    """What one system has over another; see `lead_of`.

    Attributes:
        difference: Of the mean scores.
        low: Lower end of the interval of this pair alone, as `compare` has it.
        high: Upper end.
        n_for: Items on which it scores more.
        n_against: Items on which it scores less.
        effective_items: (sum |d|)² / sum d² of the differences d of items: how many items tell the two apart.
        n_decisive: The fewest items without which the order is another one; 0 where the difference is.
        decisive: These items, by number.
    """

    difference: float
    low: float
    high: float
    n_for: int
    n_against: int
    effective_items: float
    n_decisive: int
    decisive: NDArray[np.int64]


def rank(
    scores: Sequence[ArrayLike],
    clusters: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    also: Items | None = None,
    level: float = 0.95,
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> Ranking:
    """Rank systems by their mean scores on the same items, with rank intervals for all of them at once.

    Of two systems the ranks are those of the test of that pair (`rivals_of`). Systems with the same scores on all items
    have no error and share their place. Where a system has several runs, its score is their mean, and runs are drawn,
    too (`resample_runs`); a system with one run beside such is taken to vary as they do. Memory is that of the scores,
    of a few draws and of a float32 for each pair.

    Args:
        scores: Of each system, (N,) or (R, N), in [0, 1].
        clusters: What items share, (N,); None where each counts by itself.
        weights: How much each item counts, (N,); None where all count alike.
        also: The same systems read in another way, such as with all empty cells as wrong: a system is then surely
            better only where it is so both ways.
        level: Of all statements at once.
        n_draws: B.
        seed: Of the draws.

    Raises:
        InputError: There are fewer than two systems or items, they are not scored on the same items, or scores are not
            finite or lie outside [0, 1].
    """
    own = Items(scores, clusters, weights)
    runs, of_system = stacked_runs(scores, weights)
    codes = cluster_codes(clusters, runs.shape[1])
    others, of_other = (runs, of_system) if also is None else stacked_runs(also.scores, also.weights)
    if len(of_other) != len(of_system):
        raise InputError("the other way has other systems", mend="give the same ones")
    if len(of_system) == 2:
        return _rank_two(own, also, level)
    means, critical, sure = _compare(runs, of_system, codes, level, n_draws, seed)
    if also is not None:
        sure &= _compare(others, of_other, cluster_codes(also.clusters, others.shape[1]), level, n_draws, seed)[2]
        if also.scored_only is not None:
            sure &= also.scored_only[:, np.newaxis] > also.scored_only
    return _ranking(means, sure, critical, level, runs.shape[1], codes)


def _ranking(
    means: NDArray[np.float64],
    sure: NDArray[np.bool_],
    critical: float,
    level: float,
    n_items: int,
    codes: NDArray[np.int64] | None,
) -> Ranking:
    return Ranking(
        means=means,
        places=1 + (means[np.newaxis] > means[:, np.newaxis] + 1e-12).sum(axis=1),
        low=1 + sure.sum(axis=0),
        high=len(means) - sure.sum(axis=1),
        tiers=_tiers(means, sure),
        critical=critical,
        level=level,
        n_items=n_items,
        n_clusters=n_items if codes is None else int(codes.max()) + 1,
    )


def _rank_two(items: Items, also: Items | None, level: float) -> Ranking:
    """Of a single pair nothing has to hold at once with others: its ranks are those of the pair's own test."""
    runs, of_system = stacked_runs(items.scores)
    codes = cluster_codes(items.clusters, runs.shape[1])
    one, other = (runs[own] for own in of_system)
    pair = compare(one, other, codes, weights=items.weights, level=level, n_draws=0)
    means = np.array([pair.mean_a, pair.mean_b])
    first = int(means.argmax())
    sure = np.zeros((2, 2), np.bool_)
    sure[first] = ~rivals_of(first, *items[:2], weights=items.weights, also=also, level=level)
    sure[first, first] = False
    df = pair.counts.degrees_of_freedom if pair.counts else pair.degrees_of_freedom
    return _ranking(means, sure, t_quantile(df, level), level, runs.shape[1], codes)


def _compare(
    runs: NDArray[np.float64],
    of_system: list[NDArray[np.int64]],
    codes: NDArray[np.int64] | None,
    level: float,
    n_draws: int,
    seed: int,
) -> tuple[NDArray[np.float64], float, NDArray[np.bool_]]:
    """Means (M,), the critical value, and whether j is surely better than k, (M, M)."""
    # A policy reads what boards declare, and compiles nothing.
    from goldassay.kernels.differences import largest_differences

    means_of_runs = runs.mean(axis=1)
    means = np.array([means_of_runs[own].mean() for own in of_system])
    values = np.stack([runs[own].mean(axis=0) for own in of_system]) if len(runs) > len(of_system) else runs
    errors = _errors(values, codes)
    of_runs, spread = noise_of_runs(means_of_runs, of_system)
    errors = np.sqrt(errors + (of_runs[:, np.newaxis] + of_runs).astype(np.float32))
    inverse = np.divide(1.0, errors, out=np.zeros_like(errors), where=errors > 0)
    rng = np.random.default_rng(seed)
    largest = np.empty(n_draws)
    for start in range(0, n_draws, _DRAWS_AT_ONCE):
        size = min(_DRAWS_AT_ONCE, n_draws - start)
        drawn = resample_examples(runs, rng, size, codes)
        moved = np.empty((size, len(of_system)))
        for at, own in enumerate(of_system):
            moved[:, at] = (
                (resample_runs(own.size, rng, size) * drawn[:, own]).sum(axis=1) if own.size > 1 else drawn[:, own[0]]
            )
            if own.size == 1 and spread.variance > 0:
                moved[:, at] += math.sqrt(spread.variance) * rng.standard_t(spread.freedom, size)
        largest[start : start + size] = largest_differences(moved - means, inverse)
    groups = float(values.shape[1]) if codes is None else effective_clusters(codes)
    critical = _critical(float(np.quantile(largest, level)), groups, level)
    return means, critical, _surely_better(means, errors, critical, groups)


def first_in_halves(
    scores: Sequence[ArrayLike],
    clusters: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    n_halves: int = N_HALVES,
    seed: int = 0,
) -> float:
    """In which share of random halves of the items, by whole clusters, the best system is the best.

    Systems that share the first place of a half share the count; so do those with equal means in all items.

    Args:
        scores: See `rank`.
        clusters: See `rank`.
        weights: See `rank`.
        n_halves: How many halves are drawn; both parts of each count.
        seed: Of the halves.

    Raises:
        InputError: See `rank`.
    """
    runs, of_system = stacked_runs(scores)
    values = np.stack([runs[own].mean(axis=0) for own in of_system])
    # In a half, too, weighted means stand in the order of weighted sums.
    values = values if weights is None else values * np.asarray(weights, dtype=np.float64)
    codes = cluster_codes(clusters, values.shape[1])
    sums = cluster_sums(values, codes)
    sizes = np.ones(values.shape[1]) if codes is None else np.bincount(codes).astype(np.float64)
    best = _first(values.mean(axis=1)[np.newaxis])[0]
    rng = np.random.default_rng(seed)
    n, kept = sums.shape[1], 0.0
    order = np.arange(n)
    for start in range(0, n_halves, _DRAWS_AT_ONCE):
        size = min(_DRAWS_AT_ONCE, n_halves - start)
        half = (rng.permuted(np.tile(order, (size, 1)), axis=1) < n // 2).astype(np.float64)
        for part in (half, 1 - half):
            leading = _first(part @ sums.T / (part @ sizes)[:, np.newaxis])
            kept += float(((leading & best).sum(axis=1) / leading.sum(axis=1)).sum())
    return kept / (2 * n_halves)


def rivals_of(
    first: int,
    scores: Sequence[ArrayLike],
    clusters: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    also: Items | None = None,
    level: float = 0.95,
) -> NDArray[np.bool_]:
    """Which systems the one with the highest mean is not surely ahead of, (M,); itself never. None: it is surely first.

    A system is no rival where the lower end of the interval of its difference to the first, that of `compare`, lies
    above 0. Each end is one of a pair alone, with 2.5 % beyond it: whichever of two equal systems at the top wins, all
    tests have to go wrong for it at once, so that in at most 1 - level of the boards a system is called first that
    is not. A difference without any error is a tie. Beside systems with several runs one with a single run is taken to
    vary as they do.

    Args:
        first: Position of the system with the highest mean.
        scores: See `rank`.
        clusters: See `rank`.
        weights: See `rank`.
        also: See `rank`: a system is no rival only where that is so both ways.
        level: Of the interval of each pair.

    Raises:
        InputError: See `rank`.

    Source: Gutmann and Maymin 1987; Hung and Fithian 2019.
    """
    ways = [Items(scores, clusters, weights), *([] if also is None else [also])]
    rival = np.zeros(len(scores), np.bool_)
    if also is not None and also.scored_only is not None:
        rival = also.scored_only >= also.scored_only[first]
        rival[first] = False
    for given, shared, weighed, _ in ways:
        runs, of_system = stacked_runs(given)
        codes = cluster_codes(shared, runs.shape[1])
        spread = noise_of_runs(weigh(runs, weighed).mean(axis=1), of_system)[1]
        for at, own in enumerate(of_system):
            if at != first and not rival[at]:
                rival[at] = not _lowest(runs[of_system[first]], runs[own], codes, weighed, spread, level) > 0
    return rival


def _lowest(
    one: NDArray[np.float64],
    other: NDArray[np.float64],
    codes: NDArray[np.int64] | None,
    weights: ArrayLike | None,
    spread: Spread,
    level: float,
) -> float:
    """Lower end of the difference of two systems, 0 for one without error."""
    found = compare(one, other, codes, weights=weights, level=level, n_draws=0)
    if spread.variance == 0 or found.of_models:
        return found.interval.low if found.counts or found.var_total > 0 else 0.0
    parts = [(found.var_examples, (found.n_clusters or found.n_examples) - 1.0)]
    for own in (one, other):
        several = len(own) > 1
        variance = float(weigh(own, weights).mean(axis=1).var(ddof=1)) / len(own) if several else spread.variance
        parts.append((variance, len(own) - 1 if several else spread.freedom))
    variance = sum(part for part, _ in parts)
    return t_interval(found.difference, variance, degrees_of_freedom(parts), level).low


def lead_of(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    *,
    weights: ArrayLike | None = None,
) -> Lead:
    """What one system has over another that does not score more: the items that tell the two apart.

    Its interval is that of `compare`, for this pair alone.

    Args:
        first: Scores of the items, (N,) or (R, N).
        second: Likewise.
        clusters: See `rank`.
        level: Of the interval of the difference.
        weights: See `rank`.

    Raises:
        InputError: See `rank`.
    """
    runs, of_system = stacked_runs([first, second])
    one, other = (runs[own] for own in of_system)
    found = compare(one, other, cluster_codes(clusters, runs.shape[1]), weights=weights, level=level, n_draws=0)
    differences = one.mean(axis=0) - other.mean(axis=0)
    differences = differences if weights is None else differences * np.asarray(weights, dtype=np.float64)
    order = np.argsort(-differences, kind="stable")
    left = differences.sum() - np.cumsum(differences[order])
    needed = int(np.argmax(left < -1e-9)) + 1 if found.difference > 0 and (left < -1e-9).any() else 0
    squares = float(differences @ differences)
    within = found.interval.within(-1.0, 1.0)
    return Lead(
        difference=found.difference,
        low=within.low,
        high=within.high,
        n_for=found.n_higher_a,
        n_against=found.n_higher_b,
        effective_items=float(np.abs(differences).sum()) ** 2 / squares if squares > 0 else 0.0,
        n_decisive=needed,
        decisive=order[:needed],
    )


def _errors(values: NDArray[np.float64], codes: NDArray[np.int64] | None) -> NDArray[np.float32]:
    """Squared standard errors of all differences of means, never below those of independent items, (M, M)."""
    rest = values - values.mean(axis=1, keepdims=True)
    n = values.shape[1]
    found = _of_pairs(rest) / (n * (n - 1))
    if codes is not None:
        sums = cluster_sums(rest, codes)
        groups = sums.shape[1]
        found = np.maximum(found, groups / (groups - 1) * _of_pairs(sums) / n**2)
    return found.astype(np.float32)


def _of_pairs(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of squared differences of each two rows, (M, M)."""
    products = rows @ rows.T
    own = np.diag(products).copy()
    total = own[:, np.newaxis] + own
    products *= -2
    products += total
    products[products < _NO_VARIANCE * total] = 0.0
    return products


def _critical(quantile: float, groups: float, level: float) -> float:
    """The critical value for G (effective) clusters, from the bootstrap's quantile.

    The bootstrap's means spread less than the standard errors say by sqrt((G-1)/G), and are discrete where few items
    differ, so that no pair may be judged by less than a pair alone is.
    """
    from scipy.special import ndtr, stdtrit

    as_normal = max(quantile * math.sqrt(groups / (groups - 1)), normal_quantile(level))
    # Beyond 37 the normal tail is no number, and beyond 1e150 the square of a quantile.
    return min(abs(float(stdtrit(max(groups - 1, 1.0), float(ndtr(-min(as_normal, 37.0)))))), 1e150)


def _surely_better(
    means: NDArray[np.float64], errors: NDArray[np.float32], critical: float, groups: float
) -> NDArray[np.bool_]:
    """Whether j is surely better than k, (M, M): by the variance of a difference that is 0 in truth."""
    ahead = means[:, np.newaxis] - means
    sure = ahead > 1e-12
    least = critical**2 * (errors.astype(np.float64) ** 2 + ahead**2 / groups)
    return np.asarray(sure & (ahead**2 > least))


def _tiers(means: NDArray[np.float64], sure: NDArray[np.bool_]) -> NDArray[np.int64]:
    tiers = np.zeros(means.size, np.int64)
    number = 0
    for at in np.argsort(-means, kind="stable").tolist():
        if tiers[at]:
            continue
        number += 1
        tiers[(tiers == 0) & ~sure[at]] = number
    return tiers


def _first(means: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which systems have the highest mean of each row, (B, M)."""
    return np.asarray(means >= means.max(axis=1, keepdims=True) - 1e-12)


# With fewer systems the correlation of an item is hardly known.
LEAST_SYSTEMS = 20
_ITEMS_AT_ONCE = 1024
_WANTED = 0.9


@dataclass(frozen=True)
class ItemStatistics(Result):
    """Of each of N items; see `describe_items`.

    Attributes:
        means: Mean score over systems, (N,).
        n_solved: Systems with a full score, (N,).
        discrimination: r, (N,); NaN where all systems score alike.
        q: Of the test that r is not 0, Benjamini-Hochberg, (N,); NaN below twenty systems.
    """

    means: NDArray[np.float64]
    n_solved: NDArray[np.int64]
    discrimination: NDArray[np.float64]
    q: NDArray[np.float64]


@dataclass(frozen=True)
class Reliability(Result):
    """How far the order of systems would be the same by other such items; see `reliability`.

    Attributes:
        value: KR-20 (of graded scores Cronbach's alpha); NaN where `reason` says why.
        low: Lower end of its 95 % interval.
        high: Upper end.
        items_needed: For .9; NaN where it is not above 0.
        reason: Why it is undefined.
    """

    value: float
    low: float
    high: float
    items_needed: float
    reason: str = ""


def describe_items(values: NDArray[np.float64]) -> ItemStatistics:
    """Of each item how many systems solve it, and its discrimination.

    r_i = corr(y_i, sum of all other items) over the M systems; p of r by Student's t with M - 2 degrees of freedom.

    Args:
        values: (M, N), in [0, 1].

    Source: Lord and Novick 1968, the corrected item-total correlation.
    """
    from scipy.special import stdtr

    n_systems, n_items = values.shape
    totals = values.sum(axis=1)
    r = np.full(n_items, math.nan)
    for start in range(0, n_items, _ITEMS_AT_ONCE):
        own = values[:, start : start + _ITEMS_AT_ONCE]
        rest = totals[:, np.newaxis] - own
        own, rest = own - own.mean(axis=0), rest - rest.mean(axis=0)
        lengths = np.sqrt((own**2).sum(axis=0) * (rest**2).sum(axis=0))
        products = (own * rest).sum(axis=0)
        r[start : start + _ITEMS_AT_ONCE] = np.divide(
            products, lengths, out=np.full(own.shape[1], math.nan), where=lengths > 1e-12
        )
    q = np.full(n_items, math.nan)
    if n_systems >= LEAST_SYSTEMS:
        sizes = np.clip(np.abs(r), 0, 1 - 1e-15)
        t = sizes * np.sqrt((n_systems - 2) / (1 - sizes**2))
        q = benjamini_hochberg(2 * stdtr(n_systems - 2, -t))
    return ItemStatistics(values.mean(axis=0), (values >= 1 - 1e-12).sum(axis=0), r, q)


def reliability(values: NDArray[np.float64], level: float = 0.95) -> Reliability:
    """KR-20 of the totals of M systems over N items, with its interval, and the number of items for .9.

    KR-20 = N/(N-1) (1 - sum_i var_i / var_total), variances over systems. Its interval is by F with M - 1 and
    (M - 1)(N - 1) degrees of freedom. For .9 it takes N .9 (1 - KR) / (.1 KR) items.

    Args:
        values: (M, N), in [0, 1].
        level: Of the interval.

    Source: Kuder and Richardson 1937; Cronbach 1951; Feldt 1965 for the interval; Spearman 1910 and Brown 1910 for
    the length.
    """
    from scipy.stats import f

    n_systems, n_items = values.shape
    nothing = math.nan
    if n_systems < 3:
        return Reliability(nothing, nothing, nothing, nothing, "it takes three systems")
    total = float(values.sum(axis=1).var(ddof=1))
    if total <= 1e-12:
        return Reliability(nothing, nothing, nothing, nothing, "all systems have the same total")
    value = n_items / (n_items - 1) * (1 - float(values.var(axis=0, ddof=1).sum()) / total)
    freedom = (n_systems - 1, (n_systems - 1) * (n_items - 1))
    low = 1 - (1 - value) * float(f.ppf((1 + level) / 2, *freedom))
    high = 1 - (1 - value) * float(f.ppf((1 - level) / 2, *freedom))
    needed = n_items * _WANTED * (1 - value) / ((1 - _WANTED) * value) if value > 0 else nothing
    return Reliability(value, low, high, needed)
