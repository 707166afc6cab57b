"""What it would take to settle a comparison: the difference that could have been seen, and seeds for this one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldassay.core.intervals import sd_interval
from goldassay.instability import seeds_needed, smallest_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.instability import Comparison


@dataclass(frozen=True)
class Plan:
    """Seeds and differences, power 0.8 and two-sided level 0.05 throughout.

    Attributes:
        seeds_needed: Runs of each model to see a difference as large as this one, as far as runs are the noise; None
            where a model has one run, or the difference is 0.
        seeds_needed_low: The same from the lower end of the deviation's interval.
        seeds_needed_high: From its upper end.
        smallest_difference: What the smaller number of runs at hand could have shown, as far as runs are the noise;
            NaN for one run.
        detectable_difference: What these runs and examples together could have shown.
    """

    seeds_needed: int | None
    seeds_needed_low: int | None
    seeds_needed_high: int | None
    smallest_difference: float
    detectable_difference: float


def plan_comparison(found: Comparison, sds: Sequence[float]) -> Plan:
    """Plan from the deviation pooled over both models, and from the whole noise of the difference.

    Args:
        found: The comparison.
        sds: Standard deviations of both models over runs; NaN for one run.
    """
    # For one unit of noise in each mean, two runs would stand for a variance of the difference of 1.
    detectable = smallest_difference(math.sqrt(found.var_total), 2)
    pooled = math.sqrt(sum(sd**2 for sd in sds) / len(sds))
    if math.isnan(pooled):
        return Plan(None, None, None, math.nan, detectable)
    fewest = min(found.n_runs_a, found.n_runs_b)
    shown = smallest_difference(pooled, fewest)
    if found.difference == 0:
        return Plan(None, None, None, shown, detectable)
    # Two models give (R_A - 1) + (R_B - 1) degrees of freedom.
    interval = sd_interval(pooled, found.n_runs_a + found.n_runs_b - 1)
    needed = [seeds_needed(sd, found.difference) for sd in (pooled, interval.low, interval.high)]
    return Plan(needed[0], needed[1], needed[2], shown, detectable)
