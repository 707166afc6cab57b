"""Rows of a report on instability: the spread of each set of runs, and which groups of examples it comes from."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.doors import right_labels
from goldassay.core.errors import UndefinedMeasureWarning
from goldassay.core.numbers import points
from goldassay.questions.instability.measures.intervals import resample_scores
from goldassay.questions.instability.measures.scores import distinct_runs, score_one_run, summarize_scores
from goldassay.questions.instability.measures.variance import (
    decompose_by_group,
    decompose_variance,
    examples_to_exceed,
    score_above_constant,
)
from goldassay.runs.answers import ANSWERABLE, WITHOUT_ANSWER
from goldassay.stats.intervals import few_runs_caveat

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.runs import Runs

# A group's share of the variance is read off a table; beyond this many rows nobody does.
MOST_GROUPS = 200


def caveats_of(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Labels that may belong to other rows, and what few runs do not tell, once for each number of runs."""
    few = [said for row in results for said in few_runs_caveat(row["n_runs"])]
    apart = [say_contradicted(row) for row in results if row.get("contradicted")]
    return list(dict.fromkeys([*misplaced_labels(results), *apart, *few]))


def say_contradicted(row: Mapping[str, Any]) -> str:
    """That the files of runs have other right labels than the file of these that was given."""
    return (
        f"{row['model']} on {row['dataset']}: the right labels in the files of the runs are others than those of "
        f"{right_labels('FILE')} in {row['contradicted']:,} of {row['n_examples']:,} examples; those given count."
    )


def misplaced_labels(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Warnings of labels that may belong to other rows, since the score is no better than a constant answer."""
    return [_misplaced(row) for row in results if row.get("by_position") and not row["above_constant_low"] > 0]


def _misplaced(row: Mapping[str, Any]) -> str:
    return (
        f"{row['model']} on {row['dataset']}: runs and right labels were put together by their position, and the score "
        f"of {points(row['mean'])} points does not surely exceed the {points(row['constant_score'])} of always "
        f"answering {row['constant']}. The labels may belong to other rows: check the order."
    )


def measure_spread(runs: Runs, by_position: bool = False, clusters: NDArray[np.int64] | None = None) -> dict[str, Any]:
    """A row of the section's results: mean, spread and decomposition of runs (R, N), or why there is none.

    One run has a mean with an interval over examples, and no spread.

    Args:
        runs: At their last checkpoint.
        by_position: Whether runs and right labels were put together row by row; else that is so where examples are
            named by their row numbers.
        clusters: Of one run: which examples count together, (N,); None where each counts by itself.
    """
    scores = runs.scores
    row: dict[str, Any] = {
        "model": runs.model,
        "dataset": runs.dataset,
        "condition": runs.condition,
        "n_runs": scores.shape[0],
        "n_examples": scores.shape[1],
        "n_distinct": distinct_runs(scores),
        "contradicted": runs.contradicted,
        "accuracies": scores.mean(axis=1).tolist(),
        **above_constant(runs, by_position),
        **({} if runs.grades is None else {"grades": list(runs.grades)}),
        **best_unanswered(runs),
    }
    if scores.shape[0] < 2:
        return {**row, **_of_one_run(scores[0], clusters), "reason": "one run has no spread; give at least two"}
    summary = summarize_scores(scores)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UndefinedMeasureWarning)
        parts = decompose_variance(scores)
        bounds = resample_scores(scores, "runs")
    reason = "; ".join(str(each.message) for each in caught if issubclass(each.category, UndefinedMeasureWarning))
    return {
        **row,
        "mean": summary.mean,
        # Student's interval of a few runs goes beyond what a score can be.
        "mean_low": max(bounds.mean.low, 0.0),
        "mean_high": min(bounds.mean.high, 1.0),
        "sd": summary.sd,
        "sd_low": summary.sd_interval.low,
        "sd_high": summary.sd_interval.high,
        "min": summary.min,
        "max": summary.max,
        "total": parts.total,
        "independent": parts.independent,
        "covariance": parts.covariance,
        "design_effect": parts.design_effect,
        "design_effect_low": bounds.design_effect.low,
        "design_effect_high": bounds.design_effect.high,
        "effective_size": parts.effective_size,
        "effective_size_low": bounds.effective_size.low,
        "effective_size_high": bounds.effective_size.high,
        "reason": reason or None,
    }


def _of_one_run(scores: NDArray[np.float64], clusters: NDArray[np.int64] | None) -> dict[str, Any]:
    """Mean of one run (N,), with its interval where there are two examples at least."""
    mean = float(scores.mean())
    plain = {"mean": mean, "min": mean, "max": mean}
    if scores.size < 2:
        return plain
    found = score_one_run(scores, clusters)
    return {
        **plain,
        "mean_low": found.interval.low,
        "mean_high": found.interval.high,
        "standard_error": found.standard_error,
        "n_clusters": found.n_clusters,
    }


def best_unanswered(runs: Runs) -> dict[str, Any]:
    """Means over runs of the best EM and F1 by no-answer probabilities, and each run's threshold; {} without any."""
    if not runs.thresholds:
        return {}
    found: dict[str, Any] = {}
    for name in ("exact", "f1"):
        own = [getattr(each, name) for each in runs.thresholds]
        scores = np.array([each.score for each in own])
        thresholds = [each.threshold if math.isfinite(each.threshold) else None for each in own]
        found |= {f"best_{name}": float(scores.mean()), f"best_{name}_thresholds": thresholds}
        # Of several runs each has its own, and their mean is no threshold of any.
        if len(own) == 1 and thresholds[0] is not None:
            found[f"best_{name}_threshold"] = thresholds[0]
    return found


def above_constant(runs: Runs, by_position: bool = False) -> dict[str, Any]:
    """Whether the score surely exceeds that of one constant answer; where there are no labels, 0.

    Args:
        runs: (R, N).
        by_position: As for `measure_spread`.
    """
    graded = runs.gold is None or not bool(((runs.scores == 0) | (runs.scores == 1)).all())
    if runs.n_examples < 2:
        return {"constant": None, "constant_score": None, "above_constant_low": math.nan, "examples_to_exceed": None}
    silent = silent_codes(runs)
    found = score_above_constant(runs.scores, silent if silent is not None else None if graded else runs.gold)
    constant = None if found.constant is None else "nothing" if silent is not None else runs.label_names[found.constant]
    rows = by_position or _are_row_numbers(runs.example_ids)
    return {
        "constant": constant,
        "constant_score": found.constant_score,
        "above_constant_low": found.low,
        "examples_to_exceed": examples_to_exceed(found),
        "by_position": rows and found.constant is not None and silent is None,
    }


def silent_codes(runs: Runs) -> NDArray[np.int64] | None:
    """Codes by which answering nothing is a constant answer, (N,); None where each question has an answer.

    Questions without an answer share the code 0; each other question has a code of its own, which no constant gets.
    """
    answers = runs.groups.get(ANSWERABLE)
    if runs.gold is not None or answers is None:
        return None
    without = np.asarray(answers) == WITHOUT_ANSWER
    return np.where(without, 0, 1 + np.arange(runs.n_examples)) if without.any() else None


def _are_row_numbers(example_ids: NDArray[Any]) -> bool:
    """Whether examples are called 0 to N-1, in this order."""
    last = len(example_ids) - 1
    ends = example_ids[0] == "0" and example_ids[last] == str(last)
    return bool(ends) and example_ids.tolist() == [str(row) for row in range(last + 1)]


def measure_groups(runs: Runs) -> list[dict[str, Any]]:
    """An entry of the section's groups for each group column of runs (R, N)."""
    scores = runs.scores
    if scores.shape[0] < 2:
        return []
    found = []
    for column, names in runs.groups.items():
        if len(np.unique(names)) < 2:
            continue
        with warnings.catch_warnings():
            # The reason stands beside the same runs' result above; here the column is empty.
            warnings.simplefilter("ignore", UndefinedMeasureWarning)
            parts = decompose_by_group(scores, names)
        rows = parts.to_frame().sort("share_of_variance", descending=True, nulls_last=True).to_dicts()
        found.append(
            {
                "model": runs.model,
                "dataset": runs.dataset,
                "condition": runs.condition,
                "column": column,
                "within": parts.within,
                "between": parts.between,
                "rows": rows,
            }
        )
    return found
