"""The compiled loops that resample two sorted sides and measure them again, without sorting anew.

Detection measured again on examples drawn with replacement.

Does a score tell out-of-distribution examples from the others? All of its measures, with intervals.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.compiled import compiled, compiled_sums
from goldassay.core.cores import cores
from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.kernels.hashing import STEP, finalized
from goldassay.questions.shift.measures.false_alarms import (
    RULES,
    OperatingPoint,
    Ranking,
    Rule,
    area_under_roc,
    as_sides,
    average_precision,
    check_draws,
    check_rule,
    check_share,
    operating_point,
    positives_needed,
    rank,
)
from goldassay.stats.bootstrap import percentile_interval, resample_runs
from goldassay.stats.intervals import Interval, few_runs_caveat, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

# Examples are drawn block by block, so that a draw costs eight random bits and an increment in the nearest cache.
BLOCK = 256


@compiled
def draw_counts(per_block: NDArray[np.int64], state: np.uint64, counts: NDArray[np.uint16]) -> np.uint64:
    """Draw N of N examples with replacement: fill in how often each is drawn.

    Args:
        per_block: How many draws fall into each block of 256 examples; itself a multinomial draw.
        state: Of the random generator, splitmix64 (Steele, Lea and Flood 2014).
        counts: Filled in, (N,).

    Returns:
        The state after the draws.
    """
    n = counts.size
    counts[:] = 0
    for b in range(per_block.size):
        first = b * BLOCK
        size = min(BLOCK, n - first)
        mask = np.uint64(1)
        while mask < size:
            mask *= np.uint64(2)
        mask -= np.uint64(1)
        left = per_block[b]
        while left > 0:
            state += STEP
            word = finalized(state)
            for _ in range(8):
                place = np.int64(word & mask)
                word >>= np.uint64(8)
                if place < size and left > 0:
                    counts[first + place] += np.uint16(1)
                    left -= 1
    return state


@compiled
def count_in_order(counts: NDArray[np.uint16], order: NDArray[np.int32], cumulative: NDArray[np.int32]) -> None:
    """Fill in how many of the first 0, 1, ... N examples in order there are, (N+1,), each counting so often."""
    running = 0
    cumulative[0] = 0
    for i in range(order.size):
        running += counts[order[i]]
        cumulative[i + 1] = running


@compiled
def count_from_end(cumulative: NDArray[np.int32], reversed_: NDArray[np.int32]) -> None:
    """`count_in_order` of the opposite order, out of that of an order, without going through the examples again."""
    n = cumulative.size - 1
    total = cumulative[n]
    for i in range(n + 1):
        reversed_[i] = total - cumulative[n - i]


@compiled
def _first_reaching(positives: NDArray[np.int32], starts: NDArray[np.int32], needed: int) -> int:
    """The first group with which `needed` positives or more are found."""
    low, high = 0, starts.size - 2
    while low < high:
        middle = (low + high) // 2
        if positives[starts[middle + 1]] >= needed:
            high = middle
        else:
            low = middle + 1
    return low


@compiled_sums
def _sum_tied(
    positives: NDArray[np.int32],
    negatives: NDArray[np.int32],
    starts: NDArray[np.int32],
    above: NDArray[np.int32],
    reached: NDArray[np.int32],
) -> tuple[float, float]:
    """Positives times the negatives above them, counted from either end of a tie, and precision times positives.

    The loop has no branches: which examples a draw leaves out cannot be foretold, and wrong guesses cost most of all.
    """
    twice_above = 0.0
    precision = 0.0
    for g in range(above.size):
        before, found = np.float64(positives[starts[g]]), np.float64(positives[starts[g + 1]])
        higher, not_lower = np.float64(negatives[above[g]]), np.float64(negatives[reached[g]])
        twice_above += (found - before) * (higher + not_lower)
        precision += (found - before) * found / max(1.0, found + not_lower)
    return twice_above, precision


@compiled_sums
def _sum_untied(
    positives: NDArray[np.int32], negatives: NDArray[np.int32], above: NDArray[np.int32]
) -> tuple[float, float]:
    """`_sum_tied` where no two scores are equal, which takes half the reading."""
    twice_above = 0.0
    precision = 0.0
    for g in range(above.size):
        before, found = np.float64(positives[g]), np.float64(positives[g + 1])
        higher = np.float64(negatives[above[g]])
        twice_above += (found - before) * (higher + higher)
        precision += (found - before) * found / max(1.0, found + higher)
    return twice_above, precision


@compiled
def measure_weighted(
    positives: NDArray[np.int32],
    negatives: NDArray[np.int32],
    starts: NDArray[np.int32],
    above: NDArray[np.int32],
    reached: NDArray[np.int32],
    needed: int,
    untied: bool,
    recall: float,
    rule: int,
) -> tuple[float, float, float]:
    """Area under the ROC, average precision and false alarm rate of examples that each count so often.

    Args:
        positives: Positives from the highest, counted as by `count_in_order`, (P+1,).
        negatives: Negatives likewise, (M+1,).
        starts: As in `Ranking`, (G+1,); likewise the next two.
        above: (G,).
        reached: (G,).
        needed: Positives that make the recall.
        untied: Whether no score of a positive is another's too.
        recall: The recall itself.
        rule: 0 at_least, 1 closest, 2 interpolate.
    """
    n_positive, n_negative = positives[-1], negatives[-1]
    if untied:
        twice_above, precision = _sum_untied(positives, negatives, above)
    else:
        twice_above, precision = _sum_tied(positives, negatives, starts, above, reached)
    area = 1.0 - twice_above / (2.0 * np.float64(n_positive) * np.float64(n_negative))
    group = _first_reaching(positives, starts, needed)
    found_before, found_at = positives[starts[group]], positives[starts[group + 1]]
    share, share_before = found_at / n_positive, found_before / n_positive
    alarms = float(negatives[reached[group]])
    if rule == 1:
        lower_exists = found_before > 0 or negatives[above[group]] > 0
        if lower_exists and abs(share_before - recall) < abs(share - recall):
            alarms = float(negatives[above[group]])
        elif found_at < n_positive:
            alarms = float(negatives[above[_first_reaching(positives, starts, found_at + 1)]])
    elif rule == 2:
        weight = min(1.0, (recall - share_before) / (share - share_before))
        alarms = negatives[above[group]] * (1.0 - weight) + alarms * weight
    return area, precision / n_positive, alarms / n_negative


def draw_metrics(
    by_out: Sequence[Ranking], by_in: Sequence[Ranking], recall: float, rule: Rule, *, n_draws: int, seed: int
) -> NDArray[np.float64]:
    """Resample both sides, by the same draw for all runs, and measure again.

    Every draw has a seed of its own, so that the result does not depend on how many threads there are.

    Args:
        by_out: Out-of-distribution as positives, one ranking a run.
        by_in: In-distribution as positives, likewise.
        recall: Of the positives, for false alarm rates.
        rule: Which threshold.
        n_draws: B.
        seed: Of the draws.

    Returns:
        (B, R, 5): auroc, aupr_out, aupr_in, false alarm rate, and the rate with in-distribution as positives.

    Source: Efron 1979.
    """
    pairs = [(_compact(one), _compact(other)) for one, other in zip(by_out, by_in, strict=True)]
    n_out, n_in = by_out[0].n_positive, by_out[0].n_negative
    rule_code = RULES.index(rule)
    untied = [(_is_untied(one), _is_untied(other)) for one, other in zip(by_out, by_in, strict=True)]
    need_out, need_in = positives_needed(recall, n_out), positives_needed(recall, n_in)
    figures = np.empty((n_draws, len(pairs), 5))
    shares = [_block_shares(n, BLOCK) for n in (n_out, n_in)]
    seeds = np.random.SeedSequence(seed).spawn(n_draws)

    def work(draws: range) -> None:
        out_counts, in_counts = np.empty(n_out, np.uint16), np.empty(n_in, np.uint16)
        outside, inside = np.empty(n_out + 1, np.int32), np.empty(n_in + 1, np.int32)
        out_rising, in_rising = np.empty_like(outside), np.empty_like(inside)
        for draw in draws:
            rng = np.random.default_rng(seeds[draw])
            state = np.uint64(rng.integers(0, 2**63))
            state = np.uint64(draw_counts(rng.multinomial(n_out, shares[0]), state, out_counts))
            draw_counts(rng.multinomial(n_in, shares[1]), state, in_counts)
            for run, ((of_out, of_in), (free_out, free_in)) in enumerate(zip(pairs, untied, strict=True)):
                count_in_order(out_counts, of_out[0], outside)
                count_in_order(in_counts, of_out[1], inside)
                area, aupr_out, alarms = measure_weighted(
                    outside, inside, *of_out[2:], need_out, free_out, recall, rule_code
                )
                # The other orientation is the same order from its end; within ties it does not matter.
                count_from_end(inside, in_rising)
                count_from_end(outside, out_rising)
                _, aupr_in, missed = measure_weighted(
                    in_rising, out_rising, *of_in[2:], need_in, free_in, recall, rule_code
                )
                figures[draw, run] = area, aupr_out, aupr_in, alarms, missed

    n_threads = cores()
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(work, (range(first, n_draws, n_threads) for first in range(n_threads))))
    return figures


def _block_shares(n: int, block: int) -> NDArray[np.float64]:
    """Share of the examples that each block holds."""
    sizes = np.full(-(-n // block), block, dtype=np.float64)
    sizes[-1] = n - block * (len(sizes) - 1)
    return sizes / n


def _compact(ranking: Ranking) -> tuple[NDArray[np.int32], ...]:
    """The ranking's positions in 32 bits, which halves what a draw reads."""
    parts = (ranking.positive_order, ranking.negative_order, ranking.starts, ranking.above, ranking.reached)
    return tuple(part.astype(np.int32) for part in parts)


def _is_untied(ranking: Ranking) -> bool:
    """Whether no two positives, and no positive and negative, score the same."""
    return len(ranking.above) == ranking.n_positive and bool((ranking.above == ranking.reached).all())


_METRICS = ("auroc", "aupr_out", "aupr_in", "false_alarm_rate", "fpr_id_positive")
# Above this share of ties a false alarm rate turns on how they are treated.
_MANY_TIES = 0.1
# Below this many on a side a draw of them says little about others.
_FEW_EXAMPLES = 30


class _Sides(NamedTuple):
    """Both sides' scores, (R, N) each, sorted once for every run and either orientation."""

    inside: NDArray[np.float64]
    outside: NDArray[np.float64]
    by_out: list[Ranking]
    by_in: list[Ranking]


@dataclass(frozen=True)
class Detection(Result):
    """How well a score tells the two sides apart; see `measure_detection`. All but thresholds are fractions.

    Two rates are called "false positive rate at 95 % recall" in the field; here each has its name.

    Attributes:
        auroc: Chance that an out-of-distribution example scores higher; .5 is chance.
        aupr_out: Average precision with out-of-distribution as positives.
        aupr_in: With in-distribution as positives.
        false_alarm_rate: Share of IN-distribution examples flagged where `recall` of the out-of-distribution ones is
            (out-of-distribution is positive). Chance is `recall`.
        fpr_id_positive: Share of OUT-of-distribution examples accepted where `recall` of the in-distribution ones is
            (in-distribution is positive, as for ODIN and many image benchmarks). Chance is `recall`.
        intervals: Metric -> its interval.
        sd: Metric -> standard deviation over runs, ddof 1; NaN for one run.
        aupr_out_chance: n_out/(n_in + n_out), which a random score reaches.
        aupr_in_chance: n_in/(n_in + n_out).
        threshold: Of the false alarm rate; NaN for several runs, each of which has its own, and between thresholds.
        achieved_recall: Recall at the threshold, mean over runs; "closest" may fall short of `recall`.
        operating_points: Threshold, achieved recall and false alarm rate of each run.
        tied_share: Share of all examples whose score another example has too, mean over runs.
        recall: Asked for.
        rule: Of the threshold.
        n_in: In-distribution examples.
        n_out: Out-of-distribution examples.
        n_runs: R.
        level: Of the intervals.
        interval_method: How they were made.
        seed: Of the bootstrap.
        n_draws: Of the bootstrap.
        caveats: What to bear in mind, in sentences.
        skipped: Reason -> count of what has no value.
    """

    auroc: float
    aupr_out: float
    aupr_in: float
    false_alarm_rate: float
    fpr_id_positive: float
    intervals: dict[str, Interval]
    sd: dict[str, float]
    aupr_out_chance: float
    aupr_in_chance: float
    threshold: float
    achieved_recall: float
    operating_points: tuple[OperatingPoint, ...]
    tied_share: float
    recall: float
    rule: Rule
    n_in: int
    n_out: int
    n_runs: int
    level: float
    interval_method: str
    seed: int
    n_draws: int
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)

    @property
    def chance(self) -> dict[str, float]:
        """Metric -> what a score without any information reaches."""
        chances = (0.5, self.aupr_out_chance, self.aupr_in_chance, self.recall, self.recall)
        return dict(zip(_METRICS, chances, strict=True))

    def to_frame(self) -> pl.DataFrame:
        """One row a metric: metric, value, low, high, sd, chance."""
        rows = [
            {
                "metric": metric,
                "value": getattr(self, metric),
                "low": self.intervals[metric].low,
                "high": self.intervals[metric].high,
                "sd": self.sd[metric],
                "chance": self.chance[metric],
            }
            for metric in _METRICS
        ]
        return pl.DataFrame(rows)


def measure_detection(
    scores_in: ArrayLike,
    scores_out: ArrayLike,
    recall: float = 0.95,
    rule: Rule = "at_least",
    *,
    seed: int = 0,
    n_draws: int = 1000,
    level: float = 0.95,
) -> Detection:
    """Measure how well anomaly scores tell out-of-distribution examples from in-distribution ones.

    See `auroc`, `aupr` and `false_alarm_rate` for the formulas. With several runs each figure is the mean over runs.
    Intervals are percentiles over draws: the examples of each side are drawn with replacement among themselves, by one
    draw for all runs, and the runs are weighted (`goldassay.stats.bootstrap.resample_runs`) by one draw for both sides,
    since the same model scores both.

    Draws know nothing beyond the examples that are there, so both rates are widened to what holds whatever the scores'
    distribution: the interval holds Wilson's of the share of negatives; its upper end is 1 where the recall to the
    power of the number of positives exceeds (1 - level)/2, since all of so few may lie above the threshold that is
    sought (at 95 % recall, of fewer than 72), and its lower end is 0 where (1 - recall) to that power does.

    Args:
        scores_in: (N_in,) or (R, N_in); a higher score is more anomalous.
        scores_out: (N_out,) or (R, N_out), of the same runs in the same order.
        recall: Of the positives, in (0, 1].
        rule: Which threshold; see `false_alarm_rate`.
        seed: Of the bootstrap.
        n_draws: Of the bootstrap.
        level: Of the intervals.

    Raises:
        InputError: A side is empty, a score is NaN or infinite, the sides are of different runs, or a setting is out
            of range.

    Source: Hendrycks et al. 2020, "Pretrained Transformers Improve Out-of-Distribution Robustness"; Thompson 1936, "On
    confidence ranges for the median and other expectation distributions", for bounds of a quantile.
    """
    check_rule(recall, rule)
    check_share(level, "level")
    check_draws(n_draws, seed)
    sides = _sides(scores_in, scores_out)
    points = tuple(operating_point(ranking, recall, rule) for ranking in sides.by_out)
    by_run = np.array(
        [
            (
                area_under_roc(of_out),
                average_precision(of_out),
                average_precision(of_in),
                point.false_alarm_rate,
                operating_point(of_in, recall, rule).false_alarm_rate,
            )
            for of_out, of_in, point in zip(sides.by_out, sides.by_in, points, strict=True)
        ]
    )
    n_runs, n_in, n_out = len(points), sides.inside.shape[1], sides.outside.shape[1]
    intervals = _intervals(sides, recall, rule, seed, n_draws, level)
    for metric, rate, n_positive, n_negative in (
        ("false_alarm_rate", by_run[:, 3].mean(), n_out, n_in),
        ("fpr_id_positive", by_run[:, 4].mean(), n_in, n_out),
    ):
        intervals[metric] = _widened(intervals[metric], rate, recall, n_positive, n_negative)
    tied = float(np.mean([_tied_share(one, two) for one, two in zip(sides.inside, sides.outside, strict=True)]))
    spread = by_run.std(axis=0, ddof=1) if n_runs > 1 else np.full(len(_METRICS), np.nan)
    area, aupr_out, aupr_in, alarms, missed = by_run.mean(axis=0).tolist()
    return Detection(
        auroc=area,
        aupr_out=aupr_out,
        aupr_in=aupr_in,
        false_alarm_rate=alarms,
        fpr_id_positive=missed,
        intervals=intervals,
        sd=dict(zip(_METRICS, spread.tolist(), strict=True)),
        aupr_out_chance=n_out / (n_in + n_out),
        aupr_in_chance=n_in / (n_in + n_out),
        threshold=points[0].threshold if n_runs == 1 else math.nan,
        achieved_recall=float(np.mean([point.recall for point in points])),
        operating_points=points,
        tied_share=tied,
        recall=float(recall),
        rule=rule,
        n_in=n_in,
        n_out=n_out,
        n_runs=n_runs,
        level=level,
        interval_method="bootstrap over examples" + (" and runs" if n_runs > 1 else ""),
        seed=seed,
        n_draws=n_draws,
        caveats=_caveats(n_runs, tied, intervals, n_in, n_out),
    )


def _sides(scores_in: ArrayLike, scores_out: ArrayLike) -> _Sides:
    inside, outside = map(np.atleast_2d, as_sides(scores_in, scores_out, ("(N,)", "(R, N)")))
    if len(inside) != len(outside):
        raise InputError(
            f"in-distribution scores are of {len(inside)} runs, out-of-distribution scores of {len(outside)}",
            mend="give both for the same runs in the same order",
        )
    if len(inside) == 1:
        # With one run it does not matter which example is which, and in order they are read faster.
        inside, outside = np.sort(inside)[:, ::-1], np.sort(outside)[:, ::-1]
    by_out = [rank(out, within) for within, out in zip(inside, outside, strict=True)]
    by_in = [rank(-within, -out) for within, out in zip(inside, outside, strict=True)]
    return _Sides(inside, outside, by_out, by_in)


def _intervals(sides: _Sides, recall: float, rule: Rule, seed: int, n_draws: int, level: float) -> dict[str, Interval]:
    figures = draw_metrics(sides.by_out, sides.by_in, recall, rule, n_draws=n_draws, seed=seed)
    # The examples' draws take spawned children of the seed; the runs' take the seed itself.
    weights = resample_runs(len(sides.by_out), np.random.default_rng(seed), n_draws)
    # A stretched weight may carry a mean past the ends of the scale.
    draws = np.clip(np.einsum("br,brm->bm", weights, figures), 0.0, 1.0)
    return {metric: percentile_interval(draws[:, i], level) for i, metric in enumerate(_METRICS)}


def _widened(drawn: Interval, rate: float, recall: float, n_positive: int, n_negative: int) -> Interval:
    """The interval of a rate with what so few positives and negatives leave open; see `measure_detection`."""
    open_end = (1 - drawn.level) / 2
    share = wilson_interval(rate * n_negative, n_negative, drawn.level)
    low = 0.0 if (1 - recall) ** n_positive > open_end else min(drawn.low, share.low)
    high = 1.0 if recall**n_positive > open_end else max(drawn.high, share.high)
    return Interval(low, high, drawn.level, drawn.method)


def _tied_share(inside: NDArray[np.float64], outside: NDArray[np.float64]) -> float:
    counts = np.unique(np.concatenate([inside, outside]), return_counts=True)[1]
    return float(counts[counts > 1].sum() / counts.sum())


def _caveats(n_runs: int, tied_share: float, intervals: dict[str, Interval], n_in: int, n_out: int) -> tuple[str, ...]:
    caveats = [*few_runs_caveat(n_runs)]
    few = [f"{n} of {side}" for n, side in ((n_in, "one's own"), (n_out, "the other set")) if n < _FEW_EXAMPLES]
    if few:
        caveats.append(f"There are few examples, {' and '.join(few)}: AUROC and AUPR may lie beyond their intervals.")
    if n_runs == 1:
        caveats.append("One run: the intervals are over examples alone, and another seed may move the figures further.")
    if tied_share > _MANY_TIES:
        caveats.append(
            f"{100 * tied_share:.0f} % of the scores are tied, and tied examples are flagged together: rank by scores "
            "that do not saturate, as the logarithm of the confidence in double precision."
        )
    if intervals["auroc"].low == intervals["auroc"].high:
        caveats.append("All draws give the same AUROC: its interval says nothing about other examples.")
    return tuple(caveats)
