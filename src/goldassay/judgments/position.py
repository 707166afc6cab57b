"""How far a verdict follows the order in which two sides are shown.

The position effect is what the first seat adds to a win rate: P(a wins | a first) - P(a wins | b first), -1 to 1, 0 for
a judge that does not mind the order. Where an item was judged in both orders it is the mean over items of the
difference of its two verdicts; otherwise it is that of pairs of models of which each was shown first at times, the
slope of the regression of the verdict on the order within pairs. Ties are half a win.

Source: Zheng et al. 2023, "Judging LLM-as-a-judge", for position bias; Wang et al. 2024, "Large language models are not
fair evaluators", for asking in both orders.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.effects import POSITION, Effect, Effects, Limits
from goldassay.core.intervals import paired_interval, wilson_bounds
from goldassay.core.ratio_resampling import LEVEL, Ratios, resample_ratios
from goldassay.core.results import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST_SEAT, SECOND_SEAT = "the first seat", "the second seat"
N_DRAWS = 2000
_LEAST_CLUSTERS = 20
_ONE_ORDER = "each pair was shown in one order only"


@dataclass(frozen=True)
class PositionEffect(Result):
    """What the order does to one judge.

    Attributes:
        judge: Its name.
        n_items: Items that it judged.
        n_both: Items that it judged in both orders.
        n_changed: Of these, items whose verdict changes with the order.
        changed: Their share, NaN where no item was judged in both orders.
        changed_low: Wilson's lower bound at 95 %.
        changed_high: The upper one.
        first_share: Share of verdicts for the first seat, ties half.
        n_ties: Verdicts that are ties.
        effect: Of the first seat on the win rate; NaN where it is not measurable.
        low: Lower end at 95 %; the end nearer to 0 is simultaneous over all judges, the other of this judge alone.
        high: Upper end likewise.
    """

    judge: str
    n_items: int
    n_both: int
    n_changed: int
    changed: float
    changed_low: float
    changed_high: float
    first_share: float
    n_ties: int
    effect: float
    low: float
    high: float


@dataclass(frozen=True)
class _Units:
    """What one judge's effect is the ratio of: sums over items of above and below, both (items,)."""

    above: NDArray[np.float64]
    below: NDArray[np.float64]
    plus: float
    minus: float


def measure_position(rows: pl.DataFrame, limits: Limits, seed: int = 0) -> tuple[list[PositionEffect], Effects]:
    """The position effect of every judge, and what verdicts are made of: each direction as an effect.

    Intervals resample items, of all judges together; the lower ends hold simultaneously over judges. No end is narrower
    than Newcombe's for paired shares, of verdicts that follow the first and the second seat.

    Args:
        rows: Columns item, judge, a, b, a_first, win, as of `Judgments.rows`.
        limits: Of the verdict.
        seed: Of the draws.

    Source: Westfall and Young 1993 (the largest statistic); Newcombe 1998.
    """
    judges: list[str] = rows["judge"].unique(maintain_order=True).to_list()
    names = rows["item"].unique(maintain_order=True)
    place = dict(zip(names.to_list(), range(len(names)), strict=True))
    ratios = Ratios()
    units: list[_Units | None] = []
    for judge in judges:
        own = _units(rows.filter(pl.col("judge") == judge), place)
        units.append(own)
        if own is not None:
            ratios.add([(own.above, own.below, 1.0)])
    codes = np.arange(len(names))
    known = [at for at, each in enumerate(units) if each is not None]
    found = resample_ratios(
        ratios, codes, np.random.default_rng(seed), N_DRAWS, few=len(names) < _LEAST_CLUSTERS, by_kind=True
    )
    moving = [at for at in range(len(known)) if found.errors[at] > 0]
    together = found.quantile(moving) if moving else math.inf
    effects: list[Effect] = []
    described = []
    for at, judge in enumerate(judges):
        summary = _summary(rows.filter(pl.col("judge") == judge), judge)
        own = units[at]
        if own is None:
            effects += [_unknown(judge, seat, limits) for seat in (FIRST_SEAT, SECOND_SEAT)]
            described.append(summary)
            continue
        ratio = known.index(at)
        value, error = float(found.values[ratio]), float(found.errors[ratio])
        n = int((own.below > 0).sum())
        # Draws in which some judge does not vary may be too many together: a normal quantile, corrected for all.
        wide = together if math.isfinite(together) else _normal(1 - (1 - LEVEL) / max(len(moving), 1))
        ordinary = found.quantile(ratio) if error > 0 else _normal()
        ends = []
        for quantile in (wide, ordinary):
            reach = quantile * error if error > 0 and math.isfinite(quantile) else 0.0
            level = min(1 - 1e-12, math.erf(quantile / math.sqrt(2))) if math.isfinite(quantile) else LEVEL
            least = _paired(own, n, level)
            ends.append(
                (max(-1.0, min(value - reach, value - least[0])), min(1.0, max(value + reach, value + least[1])))
            )
        low, high = ends[0]
        narrow_low, narrow_high = ends[1]
        share = len(known) and n
        for seat, ends_of in (
            (FIRST_SEAT, (value, low, narrow_high, narrow_low)),
            (SECOND_SEAT, (-value, -high, -narrow_low, -narrow_high)),
        ):
            reason = "" if share >= 2 else "there is a single item"
            effects.append(Effect(judge, seat, POSITION, *ends_of, error, limits.caution, limits.unsound, reason))
        # Of the seat that the judge follows, as the verdict has it.
        shown = (low, narrow_high) if value >= 0 else (narrow_low, high)
        described.append(replace(summary, effect=value, low=shown[0], high=shown[1]))
    covered = np.zeros(len(names), np.bool_)
    for each in units:
        if each is not None:
            covered |= each.below > 0
    # The fewest items of any judge: what is sound of many must be so of each.
    fewest = min((int((each.below > 0).sum()) for each in units if each is not None), default=0)
    return described, Effects(tuple(effects), int(covered.sum()), int(covered.sum()), float(fewest), together, ())


def _units(rows: pl.DataFrame, place: dict[str, int]) -> _Units | None:
    """Sums over the items of one judge; None where no pair was shown in both orders."""
    x = rows["a_first"].to_numpy().astype(np.float64)
    win = rows["win"].to_numpy()
    by_item = _within(rows, ["item", "a", "b"], x, win)
    by_pair = _within(rows, ["a", "b"], x, win) if rows["a"].null_count() == 0 else None
    both = by_item is not None
    found = by_item if both else by_pair
    if found is None:
        return None
    above, below, plus, minus = found
    at = np.array([place[item] for item in rows["item"].to_list()])
    n = len(place)
    return _Units(
        np.bincount(at, weights=above, minlength=n).astype(np.float64),
        np.bincount(at, weights=below, minlength=n).astype(np.float64),
        plus,
        minus,
    )


def _within(
    rows: pl.DataFrame, by: list[str], x: NDArray[np.float64], win: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float, float] | None:
    """Products of the regression of wins on order within groups of rows; None where no group has both orders."""
    codes = rows.select(pl.struct(by).rank("dense").alias("code")).to_series().to_numpy().astype(np.int64) - 1
    sizes = np.bincount(codes)
    mean_x, mean_win = (np.bincount(codes, weights=each) / sizes for each in (x, win))
    moved = x - mean_x[codes]
    below = moved * x
    # Rows of one order have no say; sums over a group are never negative.
    total = np.bincount(codes, weights=below)
    if not (total > 0).any():
        return None
    spread = (total / sizes)[codes]
    above = moved * (win - mean_win[codes])
    slope = np.where(total > 0, np.bincount(codes, weights=above) / np.where(total > 0, total, 1), 0.0)
    weight = total / total.sum()
    plus = float((weight * np.maximum(slope, 0)).sum())
    minus = float((weight * np.maximum(-slope, 0)).sum())
    return above, spread, plus, minus


def _paired(own: _Units, n: int, level: float) -> tuple[float, float]:
    """How far Newcombe's interval of two paired shares reaches below and above their difference."""
    both = own.plus * own.minus
    spread = math.sqrt(own.plus * (1 - own.plus) * own.minus * (1 - own.minus))
    phi = -both / spread if spread > 0 else 0.0
    found = paired_interval(own.plus, own.minus, phi, n, level)
    value = own.plus - own.minus
    return value - found.low, found.high - value


def _normal(level: float = LEVEL) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


def _unknown(judge: str, seat: str, limits: Limits) -> Effect:
    nothing = (math.nan,) * 5
    return Effect(judge, seat, POSITION, *nothing, limits.caution, limits.unsound, _ONE_ORDER)


def verdicts_by_order(rows: pl.DataFrame) -> pl.DataFrame:
    """A row an item, judge and pair of sides, in the order of `rows`: how often side a wins in either order.

    Columns judge, item, a, b, first and second (mean verdict for a where it is shown first and second, null where it
    never is), n (verdicts), and changed (whether first and second differ, null where one is missing).

    Args:
        rows: Columns item, judge, a, b, a_first, win, as of `Judgments.rows`.
    """
    found = rows.group_by("judge", "item", "a", "b", maintain_order=True).agg(
        first=pl.col("win").filter(pl.col("a_first")).mean(),
        second=pl.col("win").filter(~pl.col("a_first")).mean(),
        n=pl.len(),
    )
    return found.with_columns(changed=pl.col("first") != pl.col("second"))


def _summary(rows: pl.DataFrame, judge: str) -> PositionEffect:
    """What is counted of one judge."""
    both = verdicts_by_order(rows).drop_nulls("changed")
    n_changed = int(both["changed"].sum())
    low, high = wilson_bounds(n_changed, both.height)
    first = rows.select(pl.when(pl.col("a_first")).then(pl.col("win")).otherwise(1 - pl.col("win"))).to_series()
    return PositionEffect(
        judge=judge,
        n_items=rows["item"].n_unique(),
        n_both=both.height,
        n_changed=n_changed,
        changed=n_changed / both.height if both.height else math.nan,
        changed_low=float(low) if both.height else math.nan,
        changed_high=float(high) if both.height else math.nan,
        first_share=float(np.mean(first.to_numpy())),
        n_ties=int((rows["win"] == 0.5).sum()),
        effect=math.nan,
        low=math.nan,
        high=math.nan,
    )
