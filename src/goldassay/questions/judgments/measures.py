"""How far a judge agrees with people.

What verdicts follow besides merit: seat, length, and whether a side is the judge's own model.

logit P(a wins) = position s + length (log length of a - log length of b) + own (a is the judge's - b is)
+ strength_a - strength_b, with s = 1/2 where a was shown first and -1/2 where b was, so that the position's
coefficient is the log odds that the first seat adds. Ties count half for each side. Errors are robust to items.

Source: Bradley and Terry 1952; Dubois et al. 2024, "Length-controlled AlpacaEval", for the length; Liang and Zeger 1986
for errors over clusters.

How far a verdict follows the order in which two sides are shown.

The position effect is what the first seat adds to a win rate: P(a wins | a first) - P(a wins | b first), -1 to 1, 0 for
a judge that does not mind the order. Where an item was judged in both orders it is the mean over items of the
difference of its two verdicts; otherwise it is that of pairs of models of which each was shown first at times, the
slope of the regression of the verdict on the order within pairs. Ties are half a win.

Source: Zheng et al. 2023, "Judging LLM-as-a-judge", for position bias; Wang et al. 2024, "Large language models are not
fair evaluators", for asking in both orders.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.results import Result
from goldassay.stats.bootstrap import LEVEL, Ratios, resample_ratios
from goldassay.stats.clusters import dense_codes, effective_clusters, variance_of_mean
from goldassay.stats.effects import (
    POSITION,
    Effect,
    Effects,
    Limits,
)
from goldassay.stats.intervals import normal_level, normal_quantile, paired_interval, t_quantile, wilson_bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class PeopleAgreement(Result):
    """Agreement of one judge with people.

    Attributes:
        judge: Its name.
        n_items: Items with a verdict and a preference of people.
        accuracy: Share of verdicts that are theirs, over orders; NaN without items.
        low: Wilson's lower bound at 95 %, of as many items.
        high: The upper one.
        accuracy_first: The same of verdicts with side a first, and of those with side b first below.
        accuracy_second: See there.
        right_in_both: Share of items judged in both orders whose two verdicts are both theirs; NaN without such items.
        kappa: Cohen's, of verdicts a, b and tie, over orders.
        n_agreed: Items on which all people agree.
        accuracy_agreed: Share of verdicts on these that are theirs.
    """

    judge: str
    n_items: int
    accuracy: float
    low: float
    high: float
    accuracy_first: float
    accuracy_second: float
    right_in_both: float
    kappa: float
    n_agreed: int
    accuracy_agreed: float


def agree_with_people(rows: pl.DataFrame) -> list[PeopleAgreement]:
    """Agreement of every judge with people; nothing where no people were asked.

    Args:
        rows: Columns item, judge, a, b, a_first, win, people, agreed, as of `Judgments.rows`.

    Source: Cohen 1960.
    """
    asked = rows.drop_nulls("people").with_columns(right=(pl.col("win") == pl.col("people")).cast(pl.Float64))
    return [
        _agreement_of(judge, asked.filter(pl.col("judge") == judge))
        for judge in asked["judge"].unique(maintain_order=True).to_list()
    ]


def _agreement_of(judge: str, rows: pl.DataFrame) -> PeopleAgreement:
    n = rows["item"].n_unique()
    accuracy = _mean(rows["right"])
    low, high = wilson_bounds(accuracy * n, n)
    orders = rows.group_by("item", "a", "b").agg(
        n_orders=pl.col("a_first").n_unique(), both=(pl.col("right") == 1).all()
    )
    both = orders.filter(pl.col("n_orders") == 2)
    agreed = rows.filter(pl.col("agreed"))
    return PeopleAgreement(
        judge=judge,
        n_items=n,
        accuracy=accuracy,
        low=float(low),
        high=float(high),
        accuracy_first=_mean(rows.filter(pl.col("a_first"))["right"]),
        accuracy_second=_mean(rows.filter(~pl.col("a_first"))["right"]),
        right_in_both=_mean(both["both"].cast(pl.Float64)),
        kappa=kappa(rows["win"].to_numpy(), rows["people"].to_numpy()),
        n_agreed=agreed["item"].n_unique(),
        accuracy_agreed=_mean(agreed["right"]),
    )


def kappa(one: np.ndarray, other: np.ndarray) -> float:
    """Cohen's kappa of two verdicts on the same items, (n,): (observed - expected)/(1 - expected) agreement.

    NaN where both always say the same one thing.
    """
    from sklearn.metrics import cohen_kappa_score

    values, codes = np.unique(np.stack([one, other]), return_inverse=True)
    return float(cohen_kappa_score(*codes.reshape(2, -1))) if values.size > 1 else math.nan


def _mean(values: pl.Series) -> float:
    return float(np.mean(values.to_numpy())) if len(values) else math.nan


# A slight penalty on strengths: one side that wins always would have none that is finite.
_RIDGE = 1e-2
_STEPS, _TOLERANCE = 100, 1e-9
_LEAST_ITEMS = 10


@dataclass(frozen=True)
class VerdictModel(Result):
    """The coefficients of one judge, in log odds, with 95 % intervals; NaN where a term has nothing to go by.

    Attributes:
        judge: Its name.
        n: Verdicts.
        n_models: Sides with a strength.
        position: Of the first seat.
        position_low: Lower end.
        position_high: Upper end.
        length: Of a length e times as large.
        length_low: Lower end.
        length_high: Upper end.
        own: Of being the judge's own model.
        own_low: Lower end.
        own_high: Upper end.
    """

    judge: str
    n: int
    n_models: int
    position: float
    position_low: float
    position_high: float
    length: float
    length_low: float
    length_high: float
    own: float
    own_low: float
    own_high: float


def model_verdicts(rows: pl.DataFrame) -> list[VerdictModel]:
    """The model of every judge.

    Being the judge's own and a strength cannot be told apart by one judge: where sides have names, strengths are those
    that all judges share, and own is what this judge adds to its own; with a single judge it has nothing to go by.

    Args:
        rows: Columns item, judge, a, b, a_first, win, length, as of `Judgments.rows`.
    """
    judges: list[str] = rows["judge"].unique(maintain_order=True).to_list()
    strengths = _shared_strengths(rows) if rows["a"].null_count() == 0 and len(judges) > 1 else None
    return [_model_of(rows.filter(rows["judge"] == judge), judge, strengths) for judge in judges]


def is_own(judge: str, model: str) -> bool:
    """Whether a judge's name is that of the model: equal but for case, signs and what is added to it."""
    parts = [_plain(part) for part in judge.split(" / ")]
    wanted = _plain(model)
    return bool(wanted) and any(part == wanted or (len(wanted) > 3 and part.startswith(wanted)) for part in parts)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", name.rsplit("/", 1)[-1].casefold())


def _shared_strengths(rows: pl.DataFrame) -> dict[str, float]:
    """Strengths of the sides by the verdicts of judges that are not one of the two.

    Seat and length have a coefficient for each of these judges: what a judge follows besides would draw strengths to 0.
    """
    apart = [not (is_own(judge, a) or is_own(judge, b)) for judge, a, b in rows.select("judge", "a", "b").iter_rows()]
    others = rows.filter(np.array(apart))
    if not others.height:
        return {}
    names = sorted({*others["a"].to_list(), *others["b"].to_list()})
    judge = np.unique(others["judge"].to_list(), return_inverse=True)[1]
    of_judge = np.eye(int(judge.max()) + 1)[judge]
    length = np.nan_to_num(others["length"].to_numpy().astype(np.float64))[:, np.newaxis] * of_judge
    besides = np.hstack([_seat(others) * of_judge, length[:, length.any(axis=0)]])
    x = np.hstack([besides, _sides(others, names)])
    w, _ = _fitted(x, others["win"].to_numpy(), np.full(x.shape[1], _RIDGE), np.arange(others.height))
    return dict(zip(names, w[besides.shape[1] :].tolist(), strict=True))


def _model_of(rows: pl.DataFrame, judge: str, strengths: dict[str, float] | None) -> VerdictModel:
    terms: dict[str, NDArray[np.float64]] = {}
    seat = _seat(rows)[:, 0]
    if np.unique(seat).size > 1:
        terms["position"] = seat
    length = rows["length"].to_numpy().astype(np.float64)
    usable = ~np.isnan(length)
    if usable.sum() >= _LEAST_ITEMS and np.ptp(length[usable]) > 0:
        terms["length"] = np.where(usable, length, 0.0)
    names: list[str] = []
    fixed = np.zeros(rows.height)
    if rows["a"].null_count() == 0:
        names = sorted({*rows["a"].to_list(), *rows["b"].to_list()})
        own = np.array([
            float(is_own(judge, a)) - float(is_own(judge, b)) for a, b in rows.select("a", "b").iter_rows()
        ])  # fmt: skip
        if strengths is not None and own.any() and all(name in strengths for name in names):
            terms["own"] = own
            fixed = np.array([strengths[a] - strengths[b] for a, b in rows.select("a", "b").iter_rows()])
    found = dict.fromkeys(("position", "length", "own"), (math.nan,) * 3)
    if terms and rows["item"].n_unique() >= _LEAST_ITEMS:
        free = names if "own" not in terms else []
        x = np.hstack([np.stack(list(terms.values()), axis=1), _sides(rows, free)])
        penalty = np.concatenate([np.zeros(len(terms)), np.full(len(free), _RIDGE)])
        codes = np.unique(rows["item"].to_list(), return_inverse=True)[1]
        w, errors = _fitted(x, rows["win"].to_numpy(), penalty, codes, fixed)
        for at, name in enumerate(terms):
            reach = normal_quantile(0.95) * errors[at]
            found[name] = (float(w[at]), float(w[at] - reach), float(w[at] + reach))
    return VerdictModel(judge, rows.height, len(names), *found["position"], *found["length"], *found["own"])


def _seat(rows: pl.DataFrame) -> NDArray[np.float64]:
    return np.where(rows["a_first"].to_numpy(), 0.5, -0.5)[:, np.newaxis]


def _sides(rows: pl.DataFrame, names: list[str]) -> NDArray[np.float64]:
    """1 where a name is side a, -1 where it is side b, (n, names)."""
    place = {name: at for at, name in enumerate(names)}
    found = np.zeros((rows.height, len(names)))
    if names:
        at = np.arange(rows.height)
        found[at, [place[name] for name in rows["a"].to_list()]] += 1
        found[at, [place[name] for name in rows["b"].to_list()]] -= 1
    return found


def _fitted(
    x: NDArray[np.float64],
    win: NDArray[np.float64],
    penalty: NDArray[np.float64],
    codes: NDArray[np.int64],
    fixed: NDArray[np.float64] | float = 0.0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coefficients by Newton's steps, and their errors over clusters; NaN where a side always wins."""
    from scipy.special import expit

    w = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = expit(x @ w + fixed)
        slope = x.T @ (win - p) - penalty * w
        curve = (x * (p * (1 - p))[:, np.newaxis]).T @ x + np.diag(penalty)
        step = np.linalg.lstsq(curve, slope, rcond=None)[0]
        size = float(np.abs(step).max(initial=0.0))
        w += step * min(1.0, 2.0 / size) if size > 0 else 0.0
        if size < _TOLERANCE:
            break
    else:
        return np.full(w.size, math.nan), np.full(w.size, math.nan)
    p = expit(x @ w + fixed)
    curve = (x * (p * (1 - p))[:, np.newaxis]).T @ x + np.diag(penalty)
    scores = np.zeros((int(codes.max()) + 1, w.size))
    np.add.at(scores, codes, x * (win - p)[:, np.newaxis])
    inverse = np.linalg.pinv(curve)
    n = len(scores)
    # Where sides are all but separated, rounding may take a variance below 0, and the error is unknown.
    variances = np.diag(inverse @ (scores.T @ scores) @ inverse) * n / max(n - 1, 1)
    return w, np.sqrt(np.where(variances >= 0, variances, math.nan))


# With fewer verdicts a judge is not measured by itself.
LEAST_VERDICTS = 30
FEW_VERDICTS = f"there are fewer than {LEAST_VERDICTS} verdicts"
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


def pool_judges(rows: pl.DataFrame) -> pl.DataFrame:
    """Verdicts with judges of fewer than 30 verdicts taken as one, and with a column member, who gave the verdict.

    Where such judges are most of several, as in a crowd or an arena, all are taken as one.

    Args:
        rows: As of `Judgments.rows`.
    """
    sizes = rows.group_by("judge", maintain_order=True).len()
    small = sizes.filter(pl.col("len") < LEAST_VERDICTS)["judge"]
    rows = rows.with_columns(member=pl.col("judge"))
    if len(small) < 2:
        return rows
    pooled = sizes["judge"] if 2 * len(small) > sizes.height else small
    name = f"{len(pooled)} judges"
    return rows.with_columns(
        judge=pl.when(pl.col("judge").is_in(pooled.implode())).then(pl.lit(name)).otherwise("judge")
    )


def without_few(effects: Effects, described: list[PositionEffect], rows: pl.DataFrame) -> Effects:
    """The effects, of which those of a judge with fewer than 30 verdicts are not measurable; so in `described`."""
    few = set(rows.group_by("judge").len().filter(pl.col("len") < LEAST_VERDICTS)["judge"].to_list())
    for at, each in enumerate(described):
        if each.judge in few:
            described[at] = replace(each, effect=math.nan, low=math.nan, high=math.nan)
    kept = (replace(each, reason=each.reason or FEW_VERDICTS) if each.part in few else each for each in effects.effects)
    return replace(effects, effects=tuple(kept))


def _over_members(rows: pl.DataFrame, value: float) -> tuple[float, float]:
    """Standard error of an effect of several judges, who are a random effect beside items; degrees of freedom.

    V = V_judges + V_items - V_both of sums of residuals, at least either (Cameron, Gelbach and Miller 2011); degrees of
    freedom are the effective judges - 1.
    """
    x, win = rows["a_first"].to_numpy().astype(np.float64), rows["win"].to_numpy()
    found = _within(rows, ["item", "a", "b"], x, win) or _within(rows, ["a", "b"], x, win)
    assert found is not None
    above, below = found[:2]
    residuals, total = above - value * below, below.sum()
    variances = []
    for by in (["member"], ["item"], ["member", "item"]):
        codes = rows.select(pl.struct(by).rank("dense")).to_series().to_numpy().astype(np.int64) - 1
        sums, n = np.bincount(codes, residuals), int(codes.max()) + 1
        variances.append(float(sums @ sums) * n / max(n - 1, 1) / total**2)
    members = rows["member"].rank("dense").to_numpy().astype(np.int64) - 1
    told = below > 0
    df = effective_clusters(np.unique(members[told], return_inverse=True)[1], below[told]) - 1
    return math.sqrt(max(variances[0] + variances[1] - variances[2], *variances[:2])), df


def measure_position(rows: pl.DataFrame, limits: Limits, seed: int = 0) -> tuple[list[PositionEffect], Effects]:
    """The position effect of every judge, and what verdicts are made of: each direction as an effect.

    Intervals resample items, of all judges together; the lower ends hold simultaneously over judges. No end is narrower
    than Newcombe's for paired shares, of verdicts that follow the first and the second seat.

    Args:
        rows: Columns item, judge, a, b, a_first, win, as of `Judgments.rows`; and member, of `pool_judges`, if any.
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
        wide = together if math.isfinite(together) else normal_quantile(1 - (1 - LEVEL) / max(len(moving), 1))
        ordinary = found.upper_quantile(ratio) if error > 0 else normal_quantile(LEVEL)
        of_judge = rows.filter(pl.col("judge") == judge)
        if "member" in rows.columns and of_judge["member"].n_unique() > 1:
            between, df = _over_members(of_judge, value)
            error = max(error, between)
            wide, ordinary = (
                max(one, t_quantile(df, level))
                for one, level in ((wide, 1 - (1 - LEVEL) / max(len(known), 1)), (ordinary, LEVEL))
            )
        ends = []
        for quantile in (wide, ordinary):
            reach = quantile * error if error > 0 and math.isfinite(quantile) else 0.0
            level = min(1 - 1e-12, normal_level(quantile)) if math.isfinite(quantile) else LEVEL
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
    """What is counted of one judge; of several that are taken as one, 30 or more verdicts that one gave in both orders.

    Of these Wilson's bounds are taken at c (1 - c)/V pairs, V the variance of their share c by judges or by items.
    """
    several = "member" in rows.columns and rows["member"].n_unique() > 1
    both = verdicts_by_order(rows.with_columns(judge="member") if several else rows).drop_nulls("changed")
    if several and both.height < LEAST_VERDICTS:
        both = both.clear()
    n_changed, n = int(both["changed"].sum()), float(both.height)
    if several and both.height:
        share = n_changed / n
        codes = [dense_codes(both[each].to_numpy(), both.height) for each in ("judge", "item")]
        spread = max(np.nan_to_num(variance_of_mean(both["changed"].to_numpy().astype(np.float64), c)) for c in codes)
        n = min(n, share * (1 - share) / spread if spread else min(map(effective_clusters, codes)))
    low, high = wilson_bounds(n_changed / max(both.height, 1) * n, n)
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
