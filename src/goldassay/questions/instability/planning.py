"""What the runs at hand could have shown, and how many it would take to find more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.questions.instability.measures.power import examples_needed, plan_seeds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.runs import Runs

# Half a point, one and two: what papers report as progress.
DIFFERENCES = (0.005, 0.01, 0.02)


def plan_runs(runs: Runs, result: Mapping[str, Any]) -> dict[str, Any]:
    """Smallest difference and seeds needed (power 0.8, level 0.05), with what the ends of the SD's interval give.

    `n` is for a conclusion about these examples. `n_others` is for other examples of the kind as well, with the least
    noise that they can have: a model that is right on a share d more of the examples, and on none less, has a variance
    d (1-d)/N of the difference; None where that hides the difference, which takes `n_examples`.

    Args:
        runs: (R, N), at least two runs.
        result: Their row of results.
    """
    size = runs.n_examples
    plans = [plan_seeds(runs.scores, difference) for difference in DIFFERENCES]
    others = [
        plan_seeds(runs.scores, d, example_variance=least_example_variance(d, size), clusters=max(size, 2))
        for d in DIFFERENCES
    ]
    return {
        **{key: result[key] for key in ("model", "dataset", "condition", "n_runs", "n_examples", "sd")},
        **{
            f"smallest_difference{end}": getattr(plans[0], f"smallest_difference{end}") for end in ("", "_low", "_high")
        },
        "seeds": [
            {
                "difference": plan.difference,
                "n": plan.n_seeds,
                "n_low": plan.n_seeds_low,
                "n_high": plan.n_seeds_high,
                "n_others": other.n_seeds,
                "n_examples": examples_needed(plan.difference, least_example_variance(plan.difference, 1)),
            }
            for plan, other in zip(plans, others, strict=True)
        ],
    }


def least_example_variance(difference: float, n_examples: int) -> float:
    """Variance over examples of a difference between two models of which one is nowhere worse: d (1-d)/N."""
    return difference * (1 - difference) / n_examples
