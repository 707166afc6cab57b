"""The spread of one set of runs: its score, its parts, their intervals, and how many runs a conclusion takes."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from goldassay.core.errors import InputError, UndefinedMeasureWarning, right_labels
from goldassay.core.numbers import count, points
from goldassay.questions.inputs import describe_reading
from goldassay.questions.instability.measures.checkpoints import select_checkpoints
from goldassay.questions.instability.measures.intervals import resample_groups, resample_scores
from goldassay.questions.instability.measures.power import examples_needed, plan_seeds
from goldassay.questions.instability.measures.scores import run_families, score_one_run, summarize_scores
from goldassay.questions.instability.measures.variance import (
    decompose_by_group,
    decompose_variance,
    examples_to_exceed,
    normalized_deviation,
    normalized_deviation_interval,
    score_above_constant,
)
from goldassay.questions.instability.result import (
    Deviation,
    Deviations,
    FigureInterval,
    Group,
    Grouping,
    RunIntervals,
    RunScores,
    SeedPlan,
    SeedsNeeded,
    Selection,
)
from goldassay.runs.answers import ANSWERABLE, WITHOUT_ANSWER
from goldassay.runs.missing import describe_labels, describe_unscored
from goldassay.stats.intervals import few_runs_caveat, score_sd_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.runs.curves import Curves
    from goldassay.runs.run_parts import Slice
    from goldassay.runs.runs import Runs

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
_CONVENTIONS: tuple[tuple[Literal["recommended", "paper"], int], ...] = (("recommended", 1), ("paper", 0))
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
            values=runs.weighed.mean(axis=-1),
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


class AboveConstant(NamedTuple):
    """Whether a score surely exceeds that of one constant answer; the fields are those of `RunScores`."""

    constant: str | None = None
    constant_score: float | None = None
    above_constant_low: float = math.nan
    examples_to_exceed: int | None = None
    by_position: bool = False


def caveats_of(results: Sequence[RunScores]) -> tuple[str, ...]:
    """Labels that may belong to other rows, and what few runs do not tell, once for each number of runs."""
    misplaced = [said for row in results for said in describe_misplaced(row.model, row.dataset, row.mean, row)]
    unscored = [said for row in results for said in (row.labels_read, row.unscored) if said]
    contradicted = [describe_contradicted(row.model, row.dataset, row.contradicted, row.n_examples)
                    for row in results if row.contradicted]  # fmt: skip
    few = [said for row in results for said in few_runs_caveat(row.n_runs)]
    weights = [
        f"{row.model} on {row.dataset}: the score is weighted by {row.weighted_by}; unweighted it is "
        f"{points(row.unweighted, 2)} points."
        for row in results
        if row.weighted_by
    ]
    return tuple(dict.fromkeys([*unscored, *weights, *misplaced, *contradicted, *few]))


def describe_contradicted(model: str, dataset: str, contradicted: int, n_examples: int | None) -> str:
    """That the files of runs have other right labels than the file of these that was given."""
    return (
        f"{model} on {dataset}: the right labels in the files of the runs are others than those of "
        f"{right_labels('FILE')} in {contradicted:,} of {count(n_examples)} examples; those given count."
    )


def describe_misplaced(model: str, dataset: str, mean: float, against: AboveConstant | RunScores) -> list[str]:
    """A warning of labels that may belong to other rows, if the score is no better than a constant answer."""
    if not against.by_position or against.above_constant_low > 0:
        return []
    return [
        f"{model} on {dataset}: runs and right labels were put together by their position, and the score "
        f"of {points(mean)} points is not significantly above the {points(against.constant_score)} of always "
        f"answering “{against.constant}”. The labels may belong to other rows: check the order."
    ]


def measure_spread(runs: Runs, by_position: bool = False, clusters: NDArray[np.int64] | None = None) -> RunScores:
    """Mean, spread and decomposition of runs (R, N), or why there is none.

    One run has a mean with an interval over examples, and no spread.

    Args:
        runs: At their last checkpoint.
        by_position: Whether runs and right labels were put together row by row; else that is so where examples are
            named by their row numbers, unless a harness wrote each with its right answer.
        clusters: Of one run: which examples count together, (N,); None where each counts by itself.
    """
    scores = runs.weighed
    means = scores.mean(axis=1)
    families = run_families(runs.scores, runs.predictions, runs.stated_seeds)
    row = RunScores(
        model=runs.model,
        dataset=runs.dataset,
        condition=runs.condition,
        name="",
        n_runs=scores.shape[0],
        n_examples=scores.shape[1],
        n_distinct=families.n,
        families_open=families.open,
        contradicted=runs.contradicted,
        labels_read=" ".join(describe_labels(runs)) or None,
        unscored=" ".join(describe_unscored(runs)) or None,
        accuracies=tuple(means.tolist()),
        **above_constant(runs, by_position)._asdict(),
        mean=float(scores[0].mean()),
        min=float(means.min()),
        max=float(means.max()),
        reason="one run has no spread; give at least two",
        grades=runs.grades,
        weighted_by=runs.weighted_by or None,
        unweighted=float(runs.scores.mean()) if runs.weighted_by else None,
        **best_unanswered(runs),
    )
    if scores.shape[0] < 2:
        return _of_one_run(row, runs, clusters)
    summary = summarize_scores(scores)
    # What is counted is trainings: ten checkpoints of two of them tell of a spread over seeds no more than two runs do.
    of_sd = score_sd_interval(summary.sd, max(families.n, 2))
    # They may all be of two trainings, where that cannot be told.
    highest = score_sd_interval(summary.sd, 2) if families.open else of_sd
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UndefinedMeasureWarning)
        parts = decompose_variance(scores)
        bounds = resample_scores(scores, "runs")
    reason = "; ".join(str(each.message) for each in caught if issubclass(each.category, UndefinedMeasureWarning))
    return replace(
        row,
        mean=summary.mean,
        # Student's interval of a few runs goes beyond what a score can be.
        mean_low=max(bounds.mean.low, 0.0),
        mean_high=min(bounds.mean.high, 1.0),
        sd=summary.sd,
        sd_low=of_sd.low,
        sd_high=highest.high,
        min=summary.min,
        max=summary.max,
        total=parts.total,
        independent=parts.independent,
        covariance=parts.covariance,
        design_effect=parts.design_effect,
        design_effect_low=bounds.design_effect.low,
        design_effect_high=bounds.design_effect.high,
        effective_size=parts.effective_size,
        effective_size_low=bounds.effective_size.low,
        effective_size_high=bounds.effective_size.high,
        reason=reason or None,
    )


def _of_one_run(row: RunScores, runs: Runs, clusters: NDArray[np.int64] | None) -> RunScores:
    """The row of one run, with the interval of its mean where there are two examples at least."""
    if runs.n_examples < 2:
        return row
    found = score_one_run(runs.scores[0], clusters, weights=runs.weights)
    return replace(
        row,
        mean_low=found.interval.low,
        mean_high=found.interval.high,
        standard_error=found.standard_error,
        n_clusters=found.n_clusters,
    )


def with_reading(row: RunScores, runs: Runs, found: Sequence[Slice], **named: str) -> RunScores:
    """The scores of a set of runs with what it was read from, as `describe_reading` has it, under other names."""
    return replace(row, **{**describe_reading(runs, found), **named})


def best_unanswered(runs: Runs) -> dict[str, Any]:
    """Fields of `RunScores`: means over runs of the best EM and F1 by no-answer probabilities, and the thresholds."""
    found: dict[str, Any] = {}
    for name in ("exact", "f1") if runs.thresholds else ():
        own = [getattr(each, name) for each in runs.thresholds]
        scores = np.array([each.score for each in own])
        thresholds = tuple(each.threshold if math.isfinite(each.threshold) else None for each in own)
        found |= {f"best_{name}": float(scores.mean()), f"best_{name}_thresholds": thresholds}
        # Of several runs each has its own, and their mean is no threshold of any.
        if len(own) == 1 and thresholds[0] is not None:
            found[f"best_{name}_threshold"] = thresholds[0]
    return found


def above_constant(runs: Runs, by_position: bool = False) -> AboveConstant:
    """Whether the score surely exceeds that of one constant answer; where there are no labels, 0.

    Args:
        runs: (R, N).
        by_position: As for `measure_spread`.
    """
    if runs.n_examples < 2:
        return AboveConstant()
    graded = runs.gold is None or not bool(((runs.scores == 0) | (runs.scores == 1)).all())
    silent = silent_codes(runs)
    found = score_above_constant(runs.scores, silent if silent is not None else None if graded else runs.gold)
    constant = None if found.constant is None else "nothing" if silent is not None else runs.label_names[found.constant]
    # Answers without a score count as wrong, so that a low score says nothing of the labels.
    is_whole = bool(runs.scored.all())
    rows = is_whole and (by_position or (not runs.keyed and _are_row_numbers(runs.example_ids)))
    return AboveConstant(
        constant,
        found.constant_score,
        found.low,
        examples_to_exceed(found),
        rows and found.constant is not None and silent is None,
    )


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


def measure_groups(runs: Runs, seed: int, *, deep: bool) -> tuple[Grouping, ...]:
    """The variance of runs (R, N) by each of their group columns; none of one run.

    Args:
        runs: At their last checkpoint.
        seed: Of the draws.
        deep: Also intervals of all figures, over runs and over examples.
    """
    if runs.n_runs < 2:
        return ()
    columns = {column: names for column, names in runs.groups.items() if len(np.unique(names)) > 1}
    return tuple(_measure_group(runs, column, names, seed, deep=deep) for column, names in columns.items())


def _measure_group(runs: Runs, column: str, names: NDArray[Any], seed: int, *, deep: bool) -> Grouping:
    with warnings.catch_warnings():
        # The reason stands beside the same runs' result above; here the column is empty.
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        parts = decompose_by_group(runs.weighed, names)
    rows = parts.to_frame().sort("share_of_variance", descending=True, nulls_last=True).to_dicts()
    ends: dict[str, float] = {}
    for over in _OVER if deep else ():
        found = resample_groups(runs.weighed, names.astype(np.str_), over, n_draws=N_DRAWS, seed=seed)
        for part, interval in (("within", found.within), ("between", found.between)):
            ends |= {f"{part}_{over}_low": interval.low, f"{part}_{over}_high": interval.high}
        bounds = {row.pop("group"): row for row in found.to_frame().to_dicts()}
        for row in rows:
            row |= {f"{key}_{over}": value for key, value in bounds[row["group"]].items()}
    return Grouping(
        model=runs.model,
        dataset=runs.dataset,
        condition=runs.condition,
        name="",
        column=column,
        within=parts.within,
        between=parts.between,
        rows=tuple(Group(**row) for row in rows),
        n_groups=len(rows),
        **ends,
    )


def measure_intervals(runs: Runs, row: RunScores, seed: int, clusters: NDArray[np.int64] | None = None) -> RunIntervals:
    """Each figure of runs (R, N), at least two, with its bounds over runs and over examples.

    Args:
        runs: At their last checkpoint.
        row: Their scores, which have the values.
        seed: Of the draws.
        clusters: Which examples count together, (N,); None where each counts by itself, as where all are one.
    """
    several = clusters if clusters is not None and np.unique(clusters).size > 1 else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        over_runs, over_examples = (
            resample_scores(runs.weighed, over, clusters=several, n_draws=N_DRAWS, seed=seed) for over in _OVER
        )
    figures = []
    for name in FIGURES:
        by_runs, by_examples = getattr(over_runs, name), getattr(over_examples, name)
        if name == "sd" and row.sd_low is not None and row.sd_high is not None:
            by_runs = replace(by_runs, low=row.sd_low, high=row.sd_high)
        # Student's interval of a few runs goes beyond what a score can be.
        least, most = (0.0, 1.0) if name == "mean" else (-math.inf, math.inf)
        figures.append(
            FigureInterval(
                figure=name,
                value=getattr(row, name),
                runs_low=_cut(by_runs.low, least, most),
                runs_high=_cut(by_runs.high, least, most),
                runs_method=by_runs.method,
                examples_low=_cut(by_examples.low, least, most),
                examples_high=_cut(by_examples.high, least, most),
                examples_method=by_examples.method,
            )
        )
    return RunIntervals(runs.model, runs.dataset, runs.condition, "", tuple(figures))


def _cut(value: float, least: float, most: float) -> float:
    return min(max(value, least), most)


@dataclass(frozen=True)
class _Scored:
    """Scores of R runs on a dataset of N examples: (R, N), or (R, 1) where only each run's mean is known."""

    scores: NDArray[np.float64]
    seeds: Sequence[int | str]
    size: int


def measure_deviation(runs: Runs, against: Runs | None) -> Deviation:
    """Normalized deviation of a model's runs on a dataset from its runs on the reference, by both conventions.

    Args:
        runs: (R, N), at their last checkpoint.
        against: (R, N0), likewise; None where there are none.
    """
    row = Deviation(runs.model, runs.dataset, runs.condition, "", None, None, None)
    own, other = (
        None if each is None else _Scored(each.scores, each.seeds.tolist(), each.n_examples) for each in (runs, against)
    )
    return _deviation(row, own, other, is_reference=runs is against)


def deviations_of_curves(curves: Sequence[Curves], results: Sequence[RunScores], reference: str) -> Deviations:
    """Normalized deviations of scores without predictions: they take the runs' scores and numbers of examples alone.

    Args:
        curves: Of models on datasets.
        results: What was measured of each, in their order.
        reference: The dataset whose spread the others' are held against.
    """
    scored = [
        None if curve.size is None else _Scored(curve.final[:, np.newaxis], curve.seeds, curve.size) for curve in curves
    ]
    known = {
        (curve.model, curve.metric): each
        for curve, each in zip(curves, scored, strict=True)
        if curve.dataset == reference
    }
    rows = []
    for curve, each, measured in zip(curves, scored, results, strict=True):
        row = Deviation(curve.model, curve.dataset, "", measured.name, None, None, None)
        against = known.get((curve.model, curve.metric))
        rows.append(_deviation(row, each, against, is_reference=curve.dataset == reference))
    return Deviations(reference, NOTE, tuple(rows))


def _deviation(row: Deviation, runs: _Scored | None, against: _Scored | None, *, is_reference: bool) -> Deviation:
    if runs is None:
        return replace(row, reason="how many examples it has is not known")
    if against is None:
        return replace(row, reason="this model has no runs on the reference")
    if min(len(runs.seeds), len(against.seeds)) < 2:
        return replace(row, reason="one run has no spread")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UndefinedMeasureWarning)
        # The published figures rest on deviations with ddof 0; the ratio itself would not depend on it.
        recommended, paper = (
            normalized_deviation(
                summarize_scores(runs.scores, ddof=ddof).sd,
                runs.size,
                summarize_scores(against.scores, ddof=ddof).sd,
                against.size,
                convention,
            )
            for convention, ddof in _CONVENTIONS
        )
    reason = "; ".join(dict.fromkeys(str(each.message) for each in caught)) or None
    row = replace(row, recommended=recommended, paper=paper, reason=reason)
    if is_reference:
        return row
    matched = list(runs.seeds) == list(against.seeds)
    interval = normalized_deviation_interval(runs.scores, against.scores, matched=matched)
    # The interval allows for the sizes of the arrays, which for means alone are not those of the datasets.
    sizes = math.sqrt(runs.size / runs.scores.shape[1] / (against.size / against.scores.shape[1]))
    return replace(row, low=interval.low * sizes, high=interval.high * sizes)


def plan_runs(runs: Runs, sd: float | None) -> SeedPlan:
    """Smallest difference and seeds needed (power 0.8, level 0.05), with what the ends of the SD's interval give.

    `n` is for a conclusion about these examples. `n_others` is for other examples of the kind as well, with the least
    noise that they can have: a model that is right on a share d more of the examples, and on none less, has a variance
    d (1-d)/N of the difference; None where that hides the difference, which takes `n_examples`.

    Args:
        runs: (R, N), at least two runs.
        sd: Of their mean scores.
    """
    size = runs.n_examples
    plans = [plan_seeds(runs.weighed, difference) for difference in DIFFERENCES]
    others = [
        plan_seeds(runs.weighed, d, example_variance=least_example_variance(d, size), clusters=max(size, 2))
        for d in DIFFERENCES
    ]
    return SeedPlan(
        model=runs.model,
        dataset=runs.dataset,
        condition=runs.condition,
        name="",
        n_runs=runs.n_runs,
        n_examples=size,
        sd=sd,
        smallest_difference=plans[0].smallest_difference,
        smallest_difference_low=plans[0].smallest_difference_low,
        smallest_difference_high=plans[0].smallest_difference_high,
        seeds=tuple(
            SeedsNeeded(
                difference=plan.difference,
                n=plan.n_seeds,
                n_low=plan.n_seeds_low,
                n_high=plan.n_seeds_high,
                n_others=other.n_seeds,
                n_examples=examples_needed(plan.difference, least_example_variance(plan.difference, 1)),
            )
            for plan, other in zip(plans, others, strict=True)
        ),
    )


def least_example_variance(difference: float, n_examples: int) -> float:
    """Variance over examples of a difference between two models of which one is nowhere worse: d (1-d)/N."""
    return difference * (1 - difference) / n_examples


def measure_selection(runs: Runs, standard: RunMeans | None, seed: int) -> Selection | None:
    """Model selection on the reference and on 80 % of another dataset, scored on the remaining 20 %.

    Args:
        runs: (R, [T,] N).
        standard: The same model's means on the reference, the standard dev set; None where there are none.
        seed: Of the splits.

    Returns:
        What was found, or the reason where runs and reference do not share seeds and checkpoints. None for runs
        without checkpoints, or a single one.
    """
    if runs.scores.ndim != 3 or runs.n_runs < 2 or runs.n_checkpoints < 2:
        return None
    row = Selection(runs.model, runs.dataset, runs.condition, "", None)
    if standard is None:
        return replace(row, reason="this model has no runs on the reference")
    if not standard.is_of(runs):
        return replace(row, reason="its runs on the reference have other seeds or checkpoints")
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
        return replace(row, reason=error.problem)
    return replace(
        row,
        standard_mean=found.standard_mean,
        standard_sd=found.standard_sd,
        analysis_mean=found.analysis_mean,
        analysis_sd=found.analysis_sd,
        gain=found.gain,
        gain_low=found.gain_interval.low,
        gain_high=found.gain_interval.high,
        n_splits=found.n_splits,
        n_dev=found.n_dev,
        n_test=found.n_examples - found.n_dev,
        split_by=column or ("label" if runs.gold is not None else None),
    )
