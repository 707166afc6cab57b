"""What runs hold by themselves: sets with predictions, and scores by step where predictions are not at hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.figures import left_out, result
from goldassay.core.results import Result
from goldassay.questions.instability.measures.scores import summarize_scores
from goldassay.questions.instability.result import RunScores
from goldassay.runs.configurations import digest
from goldassay.runs.curves import Curves, read_curves
from goldassay.stats.intervals import Interval, mean_interval, score_sd_interval

if TYPE_CHECKING:
    import os

    from goldassay.questions.run_choice import RunChoice
    from goldassay.runs.runs import Runs


def find_curves(paths: Sequence[str | os.PathLike[str]], choice: RunChoice, *, required: bool = True) -> list[Curves]:
    """The curves at the paths that were asked for.

    Args:
        paths: Files or folders.
        choice: Which model, dataset and metric.
        required: Refuse files that log no score, instead of finding no curve in them.

    Raises:
        InputError: As for `read_curves`.
    """
    if choice.format not in ("auto", "trainer"):
        return []
    metric = choice.columns.get("score")
    return read_curves(paths, metric, model=choice.model, dataset=choice.dataset, required=required)


@result
class SettingsOfRuns(Result):
    """How a model was asked: a digest, and what the files tell."""

    digest: str
    values: Mapping[str, Any]


@result
class DescribedRuns(Result):
    """What a set of runs or of curves holds, and its scores at the last checkpoint.

    Attributes:
        model: Whose they are.
        dataset: What they answer.
        metric: Of curves; all that follows up to the configuration is of sets with predictions.
        condition: The part of the input.
        split: Of the dataset.
        train_set: What was trained on.
        configuration: How the model was asked.
        n_runs: R.
        n_checkpoints: T.
        n_examples: N.
        seeds: (R,).
        checkpoints: (T,); None where there are none.
        label_names: In order.
        groups: {group: its number of values}.
        holds: Which arrays are there beside scores.
        grades: The scale that scores are shares of.
        weighted_by: The column of weights.
        unweighted: The mean score without them.
        run_means: Mean score of each run, (R,).
        mean: Of these.
        sd: Their standard deviation; None of one run.
        sd_interval: Its interval.
        skipped: {reason: number of curves left out}.
    """

    model: str
    dataset: str
    metric: str | None = left_out(default=None, kw_only=True)
    condition: str | None = left_out(default=None, kw_only=True)
    split: str | None = left_out(default=None, kw_only=True)
    train_set: str | None = left_out(default=None, kw_only=True)
    configuration: SettingsOfRuns | None = left_out(default=None, kw_only=True)
    n_runs: int
    n_checkpoints: int | None = left_out(default=None, kw_only=True)
    n_examples: int | None = left_out(default=None, kw_only=True)
    seeds: Sequence[Any]
    checkpoints: Sequence[Any] | None
    label_names: tuple[str, ...] | None = left_out(default=None, kw_only=True)
    groups: Mapping[str, int] | None = left_out(default=None, kw_only=True)
    holds: tuple[str, ...] | None = left_out(default=None, kw_only=True)
    grades: tuple[float, float] | None = left_out(default=None, kw_only=True)
    weighted_by: str | None = left_out(default=None, kw_only=True)
    unweighted: float | None = left_out(default=None, kw_only=True)
    run_means: Sequence[float]
    mean: float
    sd: float | None
    sd_interval: Interval | None
    skipped: Mapping[str, int] | None = left_out(default=None, kw_only=True)


def describe_set(runs: Runs) -> DescribedRuns:
    """What a set of runs with predictions holds."""
    last = runs.final()
    final = last.weighed
    summary = summarize_scores(final) if runs.n_runs > 1 else None
    return DescribedRuns(
        model=runs.model,
        dataset=runs.dataset,
        condition=runs.condition,
        split=runs.split,
        train_set=runs.train_set,
        configuration=SettingsOfRuns(digest(runs.configuration), dict(runs.configuration)),
        n_runs=runs.n_runs,
        n_checkpoints=runs.n_checkpoints,
        n_examples=runs.n_examples,
        seeds=runs.seeds.tolist(),
        checkpoints=None if runs.checkpoints is None else runs.checkpoints.tolist(),
        label_names=runs.label_names,
        groups={name: len(set(values.tolist())) for name, values in runs.groups.items()},
        holds=tuple(name for name in ("gold", "predictions", "logits") if getattr(runs, name) is not None),
        grades=runs.grades,
        weighted_by=runs.weighted_by or None,
        unweighted=float(last.scores.mean()) if runs.weighted_by else None,
        run_means=final.mean(axis=1).tolist(),
        mean=float(final.mean()),
        sd=None if summary is None else summary.sd,
        sd_interval=None if summary is None else summary.sd_interval,
    )


def describe_curve(curve: Curves) -> DescribedRuns:
    """What a set of curves holds."""
    row = measure_curve(curve)
    return DescribedRuns(
        model=curve.model,
        dataset=curve.dataset,
        metric=curve.metric,
        n_runs=len(curve.seeds),
        seeds=list(curve.seeds),
        checkpoints=list(curve.checkpoints),
        run_means=curve.final.tolist(),
        mean=row.mean,
        sd=row.sd,
        sd_interval=None if row.sd_low is None or row.sd_high is None else Interval(row.sd_low, row.sd_high),
        skipped=dict(curve.skipped),
    )


def measure_curve(curve: Curves, name: str = "") -> RunScores:
    """Mean and spread of the runs' last scores, under a name. What takes examples is left out."""
    final = curve.final
    row = RunScores(
        model=curve.model,
        dataset=curve.dataset,
        condition="",
        name=name,
        n_runs=len(final),
        n_examples=None,
        n_distinct=None,
        contradicted=0,
        accuracies=tuple(final.tolist()),
        constant=None,
        constant_score=None,
        above_constant_low=math.nan,
        examples_to_exceed=None,
        by_position=False,
        mean=float(final.mean()),
        min=float(final.min()),
        max=float(final.max()),
        reason="one run has no spread; give at least two",
        metric=curve.metric,
        n_checkpoints=len(curve.checkpoints),
        seeds=tuple(str(seed) for seed in curve.seeds),
    )
    if len(final) < 2:
        return row
    fractions = bool(final.min() >= 0 and final.max() <= 1)
    sd, of_mean = float(final.std(ddof=1)), mean_interval(row.accuracies)
    of_sd = score_sd_interval(sd, len(final), fractions=fractions)
    return replace(
        row,
        # Without examples there is no constant answer to hold the score against, but 0.
        above_constant_low=of_mean.low,
        mean_low=max(of_mean.low, 0.0) if fractions else of_mean.low,
        mean_high=min(of_mean.high, 1.0) if fractions else of_mean.high,
        sd=sd,
        sd_low=of_sd.low,
        sd_high=of_sd.high,
        reason="no predictions, so the spread cannot be split into its sources",
    )
