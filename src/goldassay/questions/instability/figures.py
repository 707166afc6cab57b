"""The figures on how far a score moves from run to run, and what a test set is worth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goldassay.core.figures import Figure, Measure, Rule, declare, declare_verdict
from goldassay.questions.policy_rules import MIN_RUNS, NO_QUICK_PROBES
from goldassay.stats.intervals import mean_interval

if TYPE_CHECKING:
    from collections.abc import Mapping

declare_verdict("instability")

_MEAN = Measure("instability.mean", "mean score", "points", "higher")
_SD = Measure(
    "instability.sd", "SD over runs", "points", "lower", least=0,
    rule=Rule("max_score_sd", "SD of the score over runs", "at most", NO_QUICK_PROBES),
)  # fmt: skip
_DESIGN_EFFECT = Measure("instability.design_effect", "design effect", "number", "lower", least=0)
_EFFECTIVE_SIZE = Measure(
    "instability.effective_size", "effective size", "examples", "higher", least=0,
    rule=Rule("min_effective_size", "effective size of the test set", "at least", NO_QUICK_PROBES),
)  # fmt: skip
# Chosen on the questions that are scored: an upper bound of what a threshold gives, and no score to hold a policy to.
_BEST_EXACT = Measure(
    "instability.best_exact", "exact match at the best no-answer threshold", "points", "higher", bounded=False
)
_BEST_F1 = Measure("instability.best_f1", "F1 at the best no-answer threshold", "points", "higher", bounded=False)
_EXACT_THRESHOLD = Measure("instability.best_exact_threshold", "no-answer threshold of the best exact match", "number")
_F1_THRESHOLD = Measure("instability.best_f1_threshold", "no-answer threshold of the best F1", "number")
_RUNS = Measure("instability.runs", "number of runs", "runs", "higher", rule=MIN_RUNS, bounded=False, compared=False)
_OF_RUNS = {
    "mean": declare(_MEAN), "sd": declare(_SD), "design_effect": declare(_DESIGN_EFFECT),
    "effective_size": declare(_EFFECTIVE_SIZE), "n_runs": declare(_RUNS),
    "best_exact": declare(_BEST_EXACT), "best_exact_threshold": declare(_EXACT_THRESHOLD),
    "best_f1": declare(_BEST_F1), "best_f1_threshold": declare(_F1_THRESHOLD),
}  # fmt: skip


def figures(document: Mapping[str, Any]) -> list[Figure]:
    """Mean, spread, effective size and number of the runs of each model, dataset and condition.

    The interval of a figure is the one of its row, else the one over runs; a mean without either has Student's.
    """
    found = document.get("instability") or {}
    over_runs = {
        (_names(each), row["figure"]): (row.get("runs_low"), row.get("runs_high"))
        for each in found.get("intervals") or ()
        for row in each["figures"]
    }
    made = []
    for key, measure in _OF_RUNS.items():
        for row in found.get("results") or ():
            if key not in row:
                continue
            low, high = row.get(f"{key}_low"), row.get(f"{key}_high")
            if low is None or high is None:
                low, high = over_runs.get((_names(row), key), (None, None))
            if (low is None or high is None) and key == "mean":
                low, high = _of_mean(row.get("accuracies") or ())
            whole = low is not None and high is not None
            made.append(
                measure.figure(
                    row[key], low if whole else None, high if whole else None, n=row.get("n_examples") or None,
                    reason=row.get("reason"), **dict(_names(row)),
                )
            )  # fmt: skip
    return made


def _names(row: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple((key, row.get(key)) for key in ("model", "dataset", "condition"))


def _of_mean(scores: Any) -> tuple[float | None, float | None]:
    """Student's interval of a mean of scores, cut to [0, 1] where all of them are fractions."""
    if len(scores) < 2:
        return None, None
    made = mean_interval(scores)
    least, most = (0.0, 1.0) if all(0 <= score <= 1 for score in scores) else (-math.inf, math.inf)
    return max(made.low, least), min(made.high, most)
