"""Do classes of examples fall together beyond what the difficulty of the examples explains?

Examples that patterns mislead, and examples that come out differently with another seed, are both hard examples, so
that they fall together more often than by chance whatever else connects them. Two classes are therefore compared at
equal difficulty, which is the share p_i of runs that are right on example i, and runs that define neither class tell
it. Few runs tell it badly: within strata of their accuracy much of the difference in difficulty is left. The number
right among m runs is binomial given p_i, so that its factorial moments give the powers of p_i without bias.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.stats.bootstrap import draw_clusters, resample_runs
from goldassay.stats.clusters import cluster_codes, dense_codes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from numpy.typing import ArrayLike, NDArray

# A class is taken for a polynomial of this degree in difficulty: instability of two or three runs is one exactly.
# A higher one takes more runs, and of ten thousand examples its coefficients are mostly noise.
_DEGREE = 2
_LEAST_RUNS = 2 * _DEGREE
_DRAWS_AT_ONCE = 100


@dataclass(frozen=True)
class RunClass:
    """A class of examples that runs make, such as those on which they disagree.

    Attributes:
        members: From indices of runs to who is in it, (N,).
        part: Which part of the runs defines it: 0, 1, ... Classes of one part are not compared.
    """

    members: Callable[[NDArray[np.int64]], NDArray[np.bool_]]
    part: int = 0


@dataclass(frozen=True)
class ClassOverlaps(Result):
    """How often two classes fall together, against chance and against chance at equal difficulty.

    Attributes:
        table: One row a pair: first, second, observed (examples in both, a mean over the splits of the runs),
            expected (by chance within labels), ratio, low, high; stratified (the ratio within strata of label and
            number of held-out runs that are right; no interval, since it lies between the other two);
            equal_expected, equal_ratio, equal_low, equal_high (at equal difficulty); n_held_out (runs that tell
            difficulty); reason, equal_reason (why the ratio or its interval is NaN, or "").
        quantile: Of the largest standardized deviation, by which all intervals are set.
        n_intervals: How many they are.
        n_runs: R.
        n_examples: N.
        n_clusters: G.
        n_splits: Of the runs into those that define classes and those that tell difficulty.
        n_draws: Of clusters and runs.
        level: At which all intervals hold together.
        seed: Of splits and draws.
    """

    table: pl.DataFrame
    quantile: float
    n_intervals: int
    n_runs: int
    n_examples: int
    n_clusters: int
    n_splits: int
    n_draws: int
    level: float
    seed: int

    def to_frame(self) -> pl.DataFrame:
        """One row a pair."""
        return self.table


def overlap_classes(
    scores: ArrayLike,
    labels: ArrayLike,
    classes: Mapping[str, ArrayLike],
    run_classes: Mapping[str, RunClass] | None = None,
    *,
    without: Collection[frozenset[str]] = (),
    clusters: ArrayLike | None = None,
    n_splits: int = 6,
    n_draws: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> ClassOverlaps:
    """Compare each two classes with what chance gives, within labels and at equal difficulty.

        ratio = observed / expected,   expected = sum_l a_l b_l / n_l

    with a_l and b_l the examples of label l in the first and the second class, of n_l. At equal difficulty the
    expectation is sum_l sum_i in l P(first | p_i) P(second | p_i), each probability a polynomial of degree 2 in p_i:
    v' M^-1 w, with M_jk = sum_i p_i^(j+k), v_j the sum of p_i^j over the first class and w_j over the second. Of K_i
    right among m held-out runs, C(K_i, j)/C(m, j) has the expectation p_i^j, so that M, v and w are unbiased for any
    m >= 4, while strata of K_i leave differences of difficulty that only vanish as m grows.

    Instability has nothing to show here: that runs disagree has the probability 1 - p^d - (1 - p)^d, and runs are
    exchangeable, so that its ratio with any class that these runs do not define is 1. What differs from 1 is chance,
    or runs that are not alike.

    A quarter of the runs, at least two, defines the classes of each part; all runs that define neither class of a
    pair tell difficulty. Observed and expected are means over `n_splits` rotations of the runs through these roles.

    Intervals, on the logarithm, are of other examples and other runs: clusters are drawn with replacement, and to that
    is added what the weights of `resample_runs` make of the jackknife's pseudo-values of each run. The two are added
    as if independent, which counts noise of single answers twice and makes intervals wide rather than narrow. All of
    them, with and without equal difficulty, are deviations of at most the `level` quantile of the largest one, so that
    all hold together; that loses less than Bonferroni's correction, since pairs that share a class move together.

    Args:
        scores: 1 where a run is right and 0 where wrong, (R, N).
        labels: Of the examples, (N,).
        classes: Name to who is in it, (N,); taken as given.
        run_classes: Name to a class that runs make.
        without: Pairs that are not compared, as they exclude each other.
        clusters: What examples share, such as a premise, (N,); each is its own if not given.
        n_splits: Rotations of the runs.
        n_draws: Of clusters and of weights of runs.
        level: Of all intervals together.
        seed: Of splits and draws.

    Raises:
        InputError: Sizes differ, there is no pair, scores are not 0 or 1, or runs are too few to define the classes.

    Source: Mantel and Haenszel 1959 for the expectation; Lord and Novick 1968, "Statistical theories of mental test
    scores", chapter 23, for moments of true scores; Efron and Stein 1981 for the jackknife; Owen 2007 for noise of
    two sources; Westfall and Young 1993 for the largest deviation.
    """
    right = np.asarray(scores, dtype=np.float64)
    if right.ndim != 2 or right.size == 0 or not np.isin(right, (0.0, 1.0)).all():
        raise InputError("scores must be runs by examples, each 0 or 1", mend="give what is right or wrong")
    plan = _plan(right, np.asarray(labels), classes, run_classes or {}, without)
    codes = dense_codes(cluster_codes(clusters, right.shape[1]), right.shape[1])
    n_clusters = int(codes.max()) + 1
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(right))
    orders = [np.roll(order, -(turn * order.size // n_splits)) for turn in range(n_splits)]
    by_cluster = np.stack([_cluster_sums(plan.terms(each), codes, n_clusters) for each in orders])
    value = plan.measure(by_cluster.sum(axis=1))
    moved = _moved_by_examples(plan, by_cluster, value, rng, n_draws)
    moved += _moved_by_runs(plan, orders, rng, n_draws)
    reasons = plan.reasons(value)
    spread, quantile = _joint_spread(moved, np.array([not reason for reason in reasons]), level)
    reasons = [
        reason or ("" if wide > 0 else "too few examples are in both classes to give an interval")
        for reason, wide in zip(reasons, spread, strict=True)
    ]
    with np.errstate(over="ignore", invalid="ignore"):
        ends = np.exp(value.logs + np.multiply.outer((-1.0, 1.0), quantile * spread))
    return ClassOverlaps(
        table=plan.table(value, ends, plan.stratified(orders), reasons),
        quantile=quantile,
        n_intervals=int((spread > 0).sum()),
        n_runs=order.size,
        n_examples=codes.size,
        n_clusters=n_clusters,
        n_splits=n_splits,
        n_draws=n_draws,
        level=level,
        seed=seed,
    )


@dataclass(frozen=True)
class _Value:
    """Of P pairs: examples in both, expected by chance, expected at equal difficulty; (..., P) each."""

    observed: NDArray[np.float64]
    expected: NDArray[np.float64]
    equal: NDArray[np.float64]

    @property
    def logs(self) -> NDArray[np.float64]:
        """Logarithms of both ratios, (..., 2 P); not finite where a ratio is not above 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(np.concatenate([self.observed / self.expected, self.observed / self.equal], axis=-1))


@dataclass(frozen=True)
class _Plan:
    """Which classes are compared, and which runs have which role.

    Attributes:
        right: Scores, (R, N).
        of_label: Who has each label, (L, N).
        names: Of C classes.
        fixed: Classes that are given.
        made: Classes that runs make.
        pairs: Indices of classes, in the order of the table.
        parts: Of each pair the parts of the runs that define its classes.
    """

    right: NDArray[np.float64]
    of_label: NDArray[np.float64]
    names: tuple[str, ...]
    fixed: Mapping[str, NDArray[np.bool_]]
    made: Mapping[str, RunClass]
    pairs: tuple[tuple[int, int], ...]
    parts: tuple[frozenset[int], ...]

    @property
    def part_size(self) -> int:
        """Runs that define the classes of one part."""
        return max(2, len(self.right) // 4)

    def held_out(self, order: NDArray[np.int64], parts: frozenset[int]) -> NDArray[np.int64]:
        """Runs that have none of these parts."""
        size = self.part_size
        taken = [order[part * size : (part + 1) * size] for part in parts]
        return order[~np.isin(order, np.concatenate(taken))] if taken else order

    def members(self, order: NDArray[np.int64]) -> NDArray[np.float64]:
        """Who is in each class, (C, N)."""
        size = self.part_size
        found = []
        for name in self.names:
            if name in self.fixed:
                found.append(self.fixed[name])
            else:
                each = self.made[name]
                found.append(each.members(order[each.part * size : (each.part + 1) * size]))
        return np.stack(found).astype(np.float64)

    @property
    def roles(self) -> tuple[frozenset[int], ...]:
        """Each set of parts that some pair's classes are defined by, once."""
        return tuple(dict.fromkeys(self.parts))

    def terms(self, order: NDArray[np.int64]) -> NDArray[np.float64]:
        """What is summed over examples, (N, columns), as `measure` takes it apart.

        Who is in both classes of each pair; for each role powers of difficulty times label, alone and times each class.
        """
        members = self.members(order)
        columns = [members[[i for i, _ in self.pairs]] * members[[j for _, j in self.pairs]]]
        with_all = np.concatenate([np.ones((1, members.shape[1])), members])
        for parts in self.roles:
            powers = _powers(self.right[self.held_out(order, parts)])
            block = self.of_label[:, None, None] * powers[None, :, None] * with_all[None, None]
            columns.append(block.reshape(-1, members.shape[1]))
        return np.concatenate(columns).T

    def measure(self, sums: NDArray[np.float64]) -> _Value:
        """Figures from sums of terms, (..., splits, columns); means over the splits."""
        n_pairs, n_labels, n_powers = len(self.pairs), len(self.of_label), 2 * _DEGREE + 1
        width = n_labels * n_powers * (1 + len(self.names))
        expected, equal = np.empty((2, *sums.shape[:-1], n_pairs))
        hankel = np.add.outer(np.arange(_DEGREE + 1), np.arange(_DEGREE + 1))
        for place, parts in enumerate(self.roles):
            start = n_pairs + place * width
            block = sums[..., start : start + width].reshape(*sums.shape[:-1], n_labels, n_powers, -1)
            of_all, of_class = block[..., 0], block[..., : _DEGREE + 1, 1:]
            chance = np.einsum("...lc,...ld,...l->...cd", of_class[..., 0, :], of_class[..., 0, :],
                               1 / np.maximum(of_all[..., 0], 1.0))  # fmt: skip
            # Where all examples of a label are equally difficult, the constant alone is left.
            inverse = np.linalg.pinv(of_all[..., hankel], rcond=1e-9, hermitian=True)
            at_equal = np.einsum("...ljc,...ljk,...lkd->...cd", of_class, inverse, of_class)
            for pair, (i, j) in enumerate(self.pairs):
                if self.parts[pair] == parts:
                    expected[..., pair], equal[..., pair] = chance[..., i, j], at_equal[..., i, j]
        return _Value(sums[..., :n_pairs].mean(axis=-2), expected.mean(axis=-2), equal.mean(axis=-2))

    def n_held_out(self, pair: int) -> int:
        """Runs that tell the difficulty of a pair."""
        return len(self.right) - len(self.parts[pair]) * self.part_size

    def reasons(self, value: _Value) -> list[str]:
        """Why each ratio is not measured, or "", (2 P)."""
        chance, equal = [], []
        for pair in range(len(self.pairs)):
            none = "no example is in both classes" if value.observed[pair] == 0 else ""
            none = none if value.expected[pair] > 0 else "no label has examples of both classes"
            chance.append(none)
            # One more than the powers need: the jackknife leaves one out.
            if self.n_held_out(pair) <= _LEAST_RUNS:
                none = f"it takes {_LEAST_RUNS + 1} runs that define neither class, and there are "
                none += str(self.n_held_out(pair))
            elif not none and value.equal[pair] <= 0:
                none = "difficulty does not vary more than by chance"
            equal.append(none)
        return chance + equal

    def stratified(self, orders: list[NDArray[np.int64]]) -> NDArray[np.float64]:
        """Observed over expected within strata of label and number of held-out runs that are right, (P,)."""
        label = self.of_label.argmax(axis=0)
        observed, expected = np.zeros((2, len(self.pairs)))
        for order in orders:
            members = self.members(order)
            for pair, (i, j) in enumerate(self.pairs):
                held = self.right[self.held_out(order, self.parts[pair])]
                strata = label * (len(held) + 1) + held.sum(axis=0).astype(np.int64)
                of_both = [np.bincount(strata, members[k]) for k in (i, j)]
                expected[pair] += (of_both[0] * of_both[1] / np.maximum(np.bincount(strata), 1)).sum()
                observed[pair] += members[i] @ members[j]
        return np.divide(observed, expected, out=np.full(len(self.pairs), np.nan), where=expected > 0)

    def table(
        self, value: _Value, ends: NDArray[np.float64], stratified: NDArray[np.float64], reasons: list[str]
    ) -> pl.DataFrame:
        """One row a pair, see `ClassOverlaps`."""
        n = len(self.pairs)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio, equal = value.observed / value.expected, value.observed / value.equal
        told = np.array([not reasons[n + pair] or reasons[n + pair].startswith("too few") for pair in range(n)])
        return pl.DataFrame(
            {
                "first": [self.names[i] for i, _ in self.pairs],
                "second": [self.names[j] for _, j in self.pairs],
                "observed": value.observed,
                "expected": value.expected,
                "ratio": ratio,
                "low": ends[0, :n],
                "high": ends[1, :n],
                "stratified": stratified,
                "equal_expected": np.where(told, value.equal, np.nan),
                "equal_ratio": np.where(told, equal, np.nan),
                "equal_low": ends[0, n:],
                "equal_high": ends[1, n:],
                "n_held_out": [self.n_held_out(pair) for pair in range(n)],
                "reason": reasons[:n],
                "equal_reason": reasons[n:],
            }
        )


def _plan(
    right: NDArray[np.float64],
    labels: NDArray[np.generic],
    classes: Mapping[str, ArrayLike],
    made: Mapping[str, RunClass],
    without: Collection[frozenset[str]],
) -> _Plan:
    fixed = {name: np.asarray(values, dtype=np.bool_) for name, values in classes.items()}
    for name, shape in {"labels": labels.shape, **{name: values.shape for name, values in fixed.items()}}.items():
        if shape != right.shape[1:]:
            raise InputError(f"{name} have shape {shape}", mend=f"give one for each of the {right.shape[1]} examples")
    names = (*fixed, *made)
    part_of = [made[name].part if name in made else None for name in names]
    pairs = tuple(
        (i, j)
        for i, j in combinations(range(len(names)), 2)
        if {names[i], names[j]} not in without and (part_of[i] is None or part_of[i] != part_of[j])
    )
    if not pairs:
        raise InputError("there are no two classes to compare", mend="give two that do not exclude each other")
    parts = tuple(frozenset(part for k in pair if (part := part_of[k]) is not None) for pair in pairs)
    of_label = (np.unique(labels)[:, None] == labels).astype(np.float64)
    plan = _Plan(right, of_label, names, fixed, made, pairs, parts)
    needed = plan.part_size * (1 + max((each.part for each in made.values()), default=-1))
    if needed and len(right) <= needed:
        raise InputError(
            f"{len(right)} runs are too few to define classes and to leave one out", mend=f"give {needed + 1} or more"
        )
    return plan


def _powers(right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unbiased powers of the chance to be right, (5, N), from the scores of m runs: C(K, j)/C(m, j); 0 for j > m."""
    total, m = right.sum(axis=0), len(right)
    found = np.zeros((2 * _DEGREE + 1, right.shape[1]))
    found[0] = 1.0
    for j in range(1, min(m, 2 * _DEGREE) + 1):
        found[j] = found[j - 1] * np.maximum(total - j + 1, 0.0) / (m - j + 1)
    return found


def _cluster_sums(terms: NDArray[np.float64], codes: NDArray[np.int64], n_clusters: int) -> NDArray[np.float64]:
    """Sums of the rows of each cluster, (G, columns)."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(n_clusters))
    return np.asarray(np.add.reduceat(terms[order], starts, axis=0))


def _moved_by_examples(
    plan: _Plan, by_cluster: NDArray[np.float64], value: _Value, rng: np.random.Generator, n_draws: int
) -> NDArray[np.float64]:
    """How far the logarithms lie off when clusters are drawn with replacement, (B, 2 P)."""
    moved = []
    for _, counts in draw_clusters(by_cluster.shape[1], n_draws, rng, at_once=_DRAWS_AT_ONCE):
        sums = np.stack([counts @ split for split in by_cluster], axis=1)
        with np.errstate(invalid="ignore"):
            moved.append(plan.measure(sums).logs - value.logs)
    return np.concatenate(moved)


def _moved_by_runs(
    plan: _Plan, orders: list[NDArray[np.int64]], rng: np.random.Generator, n_draws: int
) -> NDArray[np.float64]:
    """How far the logarithms may lie off with other runs, (B, 2 P), from what leaving one out changes."""
    n_runs = orders[0].size
    left = np.stack(
        [
            plan.measure(np.stack([plan.terms(order[order != run]).sum(axis=0) for order in orders])).logs
            for run in range(n_runs)
        ]
    )
    with np.errstate(invalid="ignore"):
        influence = (n_runs - 1) * (left.mean(axis=0) - left)
        return np.asarray(resample_runs(n_runs, rng, n_draws) @ influence)


def _joint_spread(
    moved: NDArray[np.float64], measured: NDArray[np.bool_], level: float
) -> tuple[NDArray[np.float64], float]:
    """Standard deviations of the columns, NaN where there is no interval, and the quantile of the largest deviation.

    A draw without a ratio lies as far out as can be; where such draws are many there is no interval.
    """
    finite = np.isfinite(moved)
    usable = measured & ((~finite).mean(axis=0) <= (1 - level) / 2)
    spread = np.full(moved.shape[1], np.nan)
    for column in np.flatnonzero(usable):
        spread[column] = moved[finite[:, column], column].std()
    known = np.flatnonzero(spread > 0)
    if not known.size:
        return spread, math.nan
    largest = np.abs(np.where(finite, moved, np.inf)[:, known] / spread[known]).max(axis=1)
    return spread, float(np.quantile(largest, level, method="higher"))
