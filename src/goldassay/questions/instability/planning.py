"""What the runs at hand could have shown, and how many it would take to see more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.instability import plan_seeds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.runs import Runs

# Half a point, one and two: what papers report as progress.
DIFFERENCES = (0.005, 0.01, 0.02)


def plan_runs(runs: Runs, result: Mapping[str, Any]) -> dict[str, Any]:
    """Smallest difference and seeds needed (power 0.8, level 0.05), with what the ends of the SD's interval give.

    Args:
        runs: (R, N), at least two runs.
        result: Their row of results.
    """
    plans = [plan_seeds(runs.scores, difference) for difference in DIFFERENCES]
    return {
        **{key: result[key] for key in ("model", "dataset", "condition", "n_runs", "sd")},
        **{
            f"smallest_difference{end}": getattr(plans[0], f"smallest_difference{end}") for end in ("", "_low", "_high")
        },
        "seeds": [
            {"difference": plan.difference, "n": plan.n_seeds, "n_low": plan.n_seeds_low, "n_high": plan.n_seeds_high}
            for plan in plans
        ],
    }
