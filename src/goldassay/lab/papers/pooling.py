"""A claim about several pairs, parts or shifts, judged as it is made: of their mean, of some of them or of all."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from goldassay.core.numbers import number, percent, small, with_unit
from goldassay.stats.intervals import t_quantile
from goldassay.stats.significance import Pooled, error_of, holm, pool_estimates, t_p_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goldassay.lab.papers.recipe import Conclusion, Standing

Scale = Literal["plain", "log", "fisher"]
# What figures of a unit can be; a difference is one of shares.
_POSSIBLE = {"share": (0.0, 1.0), "points": (0.0, 1.0), "difference": (-1.0, 1.0), "score": (-1.0, 1.0)}
# Of all conclusions of a page together that any is said by chance.
_CHANCE = 0.05
Figure = tuple[float | None, float | None, float | None]

_FORWARD: Mapping[Scale, Callable[[float], float]] = {"plain": float, "log": math.log, "fisher": math.atanh}
_BACK: Mapping[Scale, Callable[[float], float]] = {"plain": float, "log": math.exp, "fisher": math.tanh}


@dataclass(frozen=True)
class Together:
    """What estimates say together.

    Attributes:
        value: Pooled, in their unit.
        low: Lower end of its interval; NaN where two families say nothing about others.
        high: Upper end, likewise.
        pooled: On the scale on which they were pooled.
        scale: Which scale that is.
        sentence: In a sentence: how many, of how many families, how far they differ, what another would show.
    """

    value: float
    low: float
    high: float
    pooled: Pooled
    scale: Scale
    sentence: str

    @property
    def figure(self) -> tuple[float, float, float]:
        """Value, low and high."""
        return self.value, self.low, self.high

    def standing(self, than: float = 0.0) -> Standing:
        """Of the claim that the pooled figure is above a limit."""
        return "held" if self.low > than else "did not hold" if self.high < than else "not shown"

    def p(self, than: float = 0.0) -> float:
        """Two-sided, of the pooled figure being at the limit."""
        if math.isnan(self.low):
            return 1.0
        forward, found = _FORWARD[self.scale], self.pooled
        limit = forward(than) if than > 0 or self.scale != "log" else -math.inf
        return p_of(found.value, found.low, found.high, limit, found.n_families - 1)


def pool_claim(
    figures: Sequence[Figure],
    groupings: Mapping[str, Sequence[object]],
    *,
    what: str,
    unit: str,
    scale: Scale = "plain",
    within: tuple[float, float] | None = None,
    limits: Sequence[float] | None = None,
) -> Together | None:
    """Pool figures by random effects; None where none has an interval.

    Intervals are cut to what their figures can be: with few families they are wide, and would else name accuracies
    that differ by more than 100 points.

    Args:
        figures: Values with the ends of their 95 % intervals.
        groupings: What makes estimates dependent, in the plural ("models"), and of each figure which it is of;
            see `pool_estimates`.
        what: What each figure is of, in the plural ("pairs of models on one shift").
        unit: Of the figures, as conclusions name it.
        scale: On which they are pooled: "log" for ratios, "fisher" for correlations.
        within: The least and the most that a figure can be; by default what its unit allows.
        limits: Where the claim turns; by default where there is nothing, 1 of ratios and 0 of others.
    """
    lowest, highest = within or _POSSIBLE.get(unit, (-math.inf, math.inf))
    known = [(at, found) for at, figure in enumerate(figures) if (found := _on_scale(figure, scale)) is not None]
    if not known:
        return None
    values, errors = zip(*(found for _, found in known), strict=True)
    pooled = pool_estimates(values, errors, *([of[at] for at, _ in known] for of in groupings.values()))
    back = _BACK[scale]
    ends = pooled.value, pooled.low, pooled.high, pooled.prediction_low, pooled.prediction_high
    value, low, high, least, most = (
        min(max(back(end), lowest), highest) if math.isfinite(end) else end for end in ends
    )
    left_out = len(figures) - len(known)
    said = f"Pooled over {len(known)} {what}"
    said += f" ({left_out} without an interval left out)" if left_out else ""
    if pooled.n_families > 1:
        said += f" in {pooled.n_families} {list(groupings)[pooled.grouping]}"
        said += f", between which {percent(pooled.i_squared, 0)} of the variance is not noise"
    else:
        said += ", which are not independent of each other; how far others differ is not known"
    turns = limits or ((1.0,) if scale == "log" else (0.0,))
    if pooled.n_families == 2 and all(low <= limit <= high for limit in turns):
        low = high = math.nan
        said += f"; two {list(groupings)[pooled.grouping]} say nothing about others"
    elif math.isfinite(least):
        said += f"; 95 % of others are expected from {with_unit(least, unit)} to {with_unit(most, unit)}"
    return Together(value, low, high, pooled, scale, f"{said}.")


@dataclass(frozen=True)
class Judged:
    """What became of a claim about some figures or all of them.

    Attributes:
        at: Place of the figure that decides.
        figure: That, with an interval that holds for all figures together where one of them is enough.
        standing: Of the claim.
        p: Two-sided, of the claim or of what speaks against it.
        n: Figures that have an interval.
        n_above: Of these, how many are above the limit by intervals that hold for all together.
        n_below: How many are below it.
    """

    at: int
    figure: tuple[float, float, float]
    standing: Standing
    p: float
    n: int
    n_above: int
    n_below: int


def judge_each(
    figures: Sequence[Figure],
    quantifier: Literal["some", "all"],
    *,
    than: float = 0.0,
    scale: Scale = "plain",
    degrees: Sequence[int] = (),
) -> Judged | None:
    """Judge that some of the figures, or all, are above a limit; None where none has an interval.

    One figure is enough for "some", and one below the limit is enough against "all": p = min(1, n min p) of those on
    that side. That no figure, or every one, is above takes all of them: p = max p. Both hold however figures depend on
    each other.

    Args:
        figures: Values with the ends of their 95 % intervals.
        quantifier: "some" or "all".
        than: The limit.
        scale: On which figures are normal, or as Student's t.
        degrees: Of freedom of each figure's t; none where they are normal.

    Source: Bonferroni for one of several; Berger 1982, "Multiparameter hypothesis testing and acceptance sampling", for
    all of several.
    """
    forward, back = _FORWARD[scale], _BACK[scale]
    limit = forward(than)
    known = []
    for at, figure in enumerate(figures):
        ends = _ends(figure, scale)
        if ends is not None and ends[1] < ends[2]:
            df = degrees[at] if degrees else 0
            known.append((at, ends, df, p_of(*ends, limit, df)))
    if not known:
        return None
    n = len(known)
    on_side = {above: [each for each in known if (each[1][0] > limit) is above] for above in (True, False)}
    # The side of which one figure is enough.
    enough = quantifier == "some"
    alone = on_side[enough]
    chosen = min(alone, key=lambda each: each[3]) if alone else max(known, key=lambda each: each[3])
    at, (value, low, high), df, p = chosen
    p = min(1.0, n * p) if alone else p
    decided: Standing = "held" if enough is bool(alone) else "did not hold"
    times = 1.0
    if alone:
        of = df if df > 0 else math.inf
        times = t_quantile(of, 1 - _CHANCE / n) / t_quantile(of, 1 - _CHANCE)
    counts = {above: sum(each[3] < _CHANCE / n for each in on_side[above]) for above in (True, False)}
    return Judged(
        at,
        (back(value), back(value - times * (value - low)), back(value + times * (high - value))),
        decided if p < _CHANCE else "not shown",
        p,
        n,
        counts[True],
        counts[False],
    )


def _ends(figure: Figure, scale: Scale) -> tuple[float, float, float] | None:
    """A figure with its interval on a scale; a ratio that may be 0 has no lower end."""
    value, low, high = (number(each) for each in figure)
    if value is None or low is None or high is None or (scale == "log" and value <= 0):
        return None
    if scale == "fisher":
        value, low, high = (float(np.clip(each, -0.999, 0.999)) for each in (value, low, high))
    forward = _FORWARD[scale]
    return forward(value), -math.inf if scale == "log" and low <= 0 else forward(low), forward(high)


def p_of(value: float, low: float, high: float, than: float = 0.0, degrees: int = 0) -> float:
    """Two-sided p of a figure being at a limit, from its 95 % interval: below .05 where that leaves the limit out.

    Args:
        value: On a scale on which it is normal, or as Student's t.
        low: Lower end of its interval.
        high: Upper end.
        than: The limit.
        degrees: Of freedom of t; none where it is normal.
    """
    half = value - low if value > than else high - value
    if half <= 0:
        return 1.0 if value == than else 0.0
    times = abs(value - than) / half
    df = degrees if degrees > 0 else math.inf
    return t_p_value(times * t_quantile(df, 0.95), 1.0, df)


def hold_together(conclusions: Sequence[Conclusion]) -> tuple[Conclusion, ...]:
    """Take back what would be said of one of so many conclusions by chance, by Holm's correction over all of a page."""
    known = {at: each.p for at, each in enumerate(conclusions) if each.p is not None}
    found = list(conclusions)
    for at, p in zip(known, holm(list(known.values())), strict=True):
        each = conclusions[at]
        if each.standing in ("held", "did not hold") and p > _CHANCE:
            why = (
                f" Alone it would be “{each.standing}” (p {small(known[at])}). Chance may give that to one of the "
                f"{len(known)} conclusions of this page (p {small(p)} by Holm)."
            )
            found[at] = replace(each, standing="not shown", evidence=f"{each.evidence}{why}")
    return tuple(found)


def _on_scale(figure: Figure, scale: Scale) -> tuple[float, float] | None:
    """Value and standard error, by the longer side of the interval, so that the end that decides is not moved in.

    A ratio that may be 0 has the upper side alone, which is the longer one of ratios of variances.
    """
    ends = _ends(figure, scale)
    if ends is None:
        return None
    middle, low, high = ends
    half = max(middle - low if math.isfinite(low) else 0.0, high - middle)
    return (middle, error_of(-half, half)) if half > 0 else None
