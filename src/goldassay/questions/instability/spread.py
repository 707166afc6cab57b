"""The spread of one set of runs: its score, its parts, their intervals, and how many runs a conclusion takes."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from goldassay.core.doors import right_labels
from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.core.numbers import points
from goldassay.questions.instability.measures.checkpoints import select_checkpoints
from goldassay.questions.instability.measures.intervals import resample_groups, resample_scores
from goldassay.questions.instability.measures.power import examples_needed, plan_seeds
from goldassay.questions.instability.measures.scores import distinct_runs, score_one_run, summarize_scores
from goldassay.questions.instability.measures.variance import (
    decompose_by_group,
    decompose_variance,
    examples_to_exceed,
    normalized_deviation,
    normalized_deviation_interval,
    score_above_constant,
)
from goldassay.runs.answers import ANSWERABLE, WITHOUT_ANSWER
from goldassay.stats.intervals import few_runs_caveat

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.questions.run_sets import RunSet
    from goldassay.runs import Runs

# A group's share of the variance is read off a table; beyond this many rows nobody does.
MOST_GROUPS = 200
# The bounds are the 2.5 % and 97.5 % quantiles: 25 draws lie beyond each.
N_DRAWS = 1000
FIGURES = ("mean", "sd", "total", "independent", "covariance", "design_effect", "effective_size")
_OVER: tuple[Literal["runs", "examples"], ...] = ("runs", "examples")
NOTE = (
    "The normalized deviation allows for the sizes of the datasets as if examples were independent of each other. The "
    "design effect shows how far they are from it, and is the better comparison."
)
# Half a point, one and two: what papers report as progress.
DIFFERENCES = (0.005, 0.01, 0.02)
# One split's luck moves the means about as much as the choice does; the paper does not say how many it took.
N_SPLITS = 20


@dataclass(frozen=True)
class RunMeans:
    """Mean scores of the runs of one model on one dataset: all that measures across datasets take.

    Attributes:
        model: Name of the model.
        dataset: Name of the dataset.
        condition: What the model could see.
        train_set: What it was trained on, or "".
        seeds: (R,).
        checkpoints: (T,) steps or names, or None.
        values: Mean score of each run, at each checkpoint where the runs have that axis, (R, [T]).
    """

    model: str
    dataset: str
    condition: str
    train_set: str
    seeds: NDArray[Any]
    checkpoints: NDArray[Any] | None
    values: NDArray[np.float64]

    @classmethod
    def of(cls, runs: Runs) -> RunMeans:
        """Those of runs (R, [T,] N)."""
        return cls(
            model=runs.model,
            dataset=runs.dataset,
            condition=runs.condition,
            train_set=runs.train_set,
            seeds=runs.seeds,
            checkpoints=runs.checkpoints,
            values=runs.scores.mean(axis=-1),
        )

    @property
    def final(self) -> NDArray[np.float64]:
        """Means at the last checkpoint, (R,)."""
        return self.values if self.values.ndim == 1 else self.values[:, -1]

    @property
    def steps(self) -> tuple[int | str, ...] | None:
        """The checkpoints, where there is an axis of them."""
        return None if self.values.ndim == 1 or self.checkpoints is None else tuple(self.checkpoints.tolist())

    def is_of(self, runs: Runs) -> bool:
        """Whether they are of the same seeds and checkpoints."""
        return (
            runs.checkpoints is not None
            and self.steps == tuple(runs.checkpoints.tolist())
            and self.seeds.tolist() == runs.seeds.tolist()
        )


def caveats_of(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Labels that may belong to other rows, and what few runs do not tell, once for each number of runs."""
    few = [said for row in results for said in few_runs_caveat(row["n_runs"])]
    apart = [describe_contradicted(row) for row in results if row.get("contradicted")]
    return list(dict.fromkeys([*misplaced_labels(results), *apart, *few]))


def describe_contradicted(row: Mapping[str, Any]) -> str:
    """That the files of runs have other right labels than the file of these that was given."""
    return (
        f"{row['model']} on {row['dataset']}: the right labels in the files of the runs are others than those of "
        f"{right_labels('FILE')} in {row['contradicted']:,} of {row['n_examples']:,} examples; those given count."
    )


def misplaced_labels(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Warnings of labels that may belong to other rows, since the score is no better than a constant answer."""
    return [_describe_misplaced(row) for row in results if row.get("by_position") and not row["above_constant_low"] > 0]


def _describe_misplaced(row: Mapping[str, Any]) -> str:
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


def measure_intervals(runs: Runs, result: Mapping[str, Any], seed: int) -> list[dict[str, Any]]:
    """A row a figure: its value, and its bounds over runs and over examples.

    Args:
        runs: (R, N), at least two runs.
        result: Their row of results, which has the values.
        seed: Of the draws.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        drawn = {over: resample_scores(runs.scores, over, n_draws=N_DRAWS, seed=seed) for over in _OVER}
    rows = []
    for figure in FIGURES:
        row: dict[str, Any] = {"figure": figure, "value": result[figure]}
        for over, found in drawn.items():
            interval = getattr(found, figure)
            # Student's interval of a few runs goes beyond what a score can be.
            low, high = interval.low, interval.high
            if figure == "mean":
                low, high = max(low, 0.0), min(high, 1.0)
            row |= {f"{over}_low": low, f"{over}_high": high, f"{over}_method": interval.method}
        rows.append(row)
    return rows


def add_group_bounds(groups: list[dict[str, Any]], runs: Runs, seed: int) -> None:
    """Put bounds over runs and over examples beside each group's figures and the parts within and between.

    Args:
        groups: The groupings of the runs, as `measure_groups` gives them.
        runs: (R, N), at least two runs.
        seed: Of the draws.
    """
    for grouping in groups:
        names = runs.groups[grouping["column"]].astype(np.str_)
        for over in _OVER:
            found = resample_groups(runs.scores, names, over, n_draws=N_DRAWS, seed=seed)
            for part in ("within", "between"):
                interval = getattr(found, part)
                grouping |= {f"{part}_{over}_low": interval.low, f"{part}_{over}_high": interval.high}
            bounds = {row.pop("group"): row for row in found.to_frame().to_dicts()}
            for row in grouping["rows"]:
                row |= {f"{key}_{over}": value for key, value in bounds[row["group"]].items()}


def check_reference(sets: Sequence[RunSet], reference: str | None) -> None:
    """Refuse a reference of which there are no runs.

    Raises:
        InputError: There are none; the line names the datasets.
    """
    datasets = list(dict.fromkeys(runs.dataset for runs in sets))
    if reference is not None and reference not in datasets:
        raise InputError(f"there are no runs on the reference {reference!r}", mend=f"there are {', '.join(datasets)}")


def measure_deviation(runs: Runs, against: Runs | None) -> dict[str, Any]:
    """Normalized deviation of a model's runs on a dataset from its runs on the reference, by both conventions.

    Args:
        runs: (R, N), at their last checkpoint.
        against: (R, N0), likewise; None where there are none.
    """
    row: dict[str, Any] = {"model": runs.model, "dataset": runs.dataset, "condition": runs.condition}
    empty = {"recommended": None, "paper": None}
    if against is None:
        return {**row, **empty, "reason": "this model has no runs on the reference"}
    if min(runs.n_runs, against.n_runs) < 2:
        return {**row, **empty, "reason": "one run has no spread"}
    values: dict[str, Any] = {}
    reasons: list[str] = []
    # The published figures rest on deviations with ddof 0; the ratio itself would not depend on it.
    conventions: tuple[tuple[Literal["recommended", "paper"], int], ...] = (("recommended", 1), ("paper", 0))
    for convention, ddof in conventions:
        sd, reference_sd = (summarize_scores(each.scores, ddof=ddof).sd for each in (runs, against))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UndefinedMeasureWarning)
            values[convention] = normalized_deviation(
                sd,
                runs.n_examples,
                reference_sd,
                against.n_examples,
                convention,
            )
        reasons += [str(each.message) for each in caught]
    if runs is against:
        return {**row, **values, "low": None, "high": None, "reason": "; ".join(dict.fromkeys(reasons)) or None}
    matched = runs.seeds.tolist() == against.seeds.tolist()
    interval = normalized_deviation_interval(runs.scores, against.scores, matched=matched)
    values |= {"low": interval.low, "high": interval.high}
    return {**row, **values, "reason": "; ".join(dict.fromkeys(reasons)) or None}


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


def measure_selection(runs: Runs, standard: RunMeans | None, seed: int) -> dict[str, Any] | None:
    """Model selection on the reference and on 80 % of another dataset, scored on the remaining 20 %.

    Args:
        runs: (R, [T,] N).
        standard: The same model's means on the reference, the standard dev set; None where there are none.
        seed: Of the splits.

    Returns:
        A row of what was found, or with the reason where runs and reference do not share seeds and checkpoints. None
        for runs without checkpoints, or a single one.
    """
    if runs.scores.ndim != 3 or runs.n_runs < 2 or runs.n_checkpoints < 2:
        return None
    row: dict[str, Any] = {"model": runs.model, "dataset": runs.dataset, "condition": runs.condition}
    if standard is None:
        return {**row, "reason": "this model has no runs on the reference"}
    if not standard.is_of(runs):
        return {**row, "reason": "its runs on the reference have other seeds or checkpoints"}
    column = next(iter(runs.groups), None)
    try:
        found = select_checkpoints(
            standard.values,
            runs.scores,
            runs.gold,
            None if column is None else runs.groups[column],
            n_splits=N_SPLITS,
            seed=seed,
        )
    except InputError as error:
        return {**row, "reason": error.problem}
    return {
        **row,
        "standard_mean": found.standard_mean,
        "standard_sd": found.standard_sd,
        "analysis_mean": found.analysis_mean,
        "analysis_sd": found.analysis_sd,
        "gain": found.gain,
        "gain_low": found.gain_interval.low,
        "gain_high": found.gain_interval.high,
        "n_splits": found.n_splits,
        "n_dev": found.n_dev,
        "n_test": found.n_examples - found.n_dev,
        "split_by": column or ("label" if runs.gold is not None else None),
        "reason": None,
    }
