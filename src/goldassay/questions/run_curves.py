"""What runs hold, summarized without ever being in memory together: predictions, or else scores by step."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.figures import left_out, result
from goldassay.core.naming import listing
from goldassay.core.progress import Progress, silent
from goldassay.core.results import Result
from goldassay.questions.instability.measures.checkpoints import CheckpointSummaries, summarize_checkpoints
from goldassay.questions.instability.measures.scores import summarize_scores
from goldassay.questions.instability.result import RunScores
from goldassay.questions.run_sets import RunChoice, find_runs
from goldassay.runs.assembly import ordered
from goldassay.runs.configurations import digest
from goldassay.runs.curves import Curves, read_curves
from goldassay.runs.missing import describe_dealt, describe_scores
from goldassay.runs.reading import RunsPath, runs_of
from goldassay.runs.run_parts import Collection, Slice
from goldassay.stats.intervals import Interval, mean_interval, score_sd_interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

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
        notes: On answers without a score, and on attempts that have no spread over runs.
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
    notes: tuple[str, ...] | None = left_out(default=None, kw_only=True)


def describe_set(runs: Runs) -> DescribedRuns:
    """What a set of runs with predictions holds."""
    last = runs.final()
    final = last.weighed
    summary = summarize_scores(final) if runs.n_runs > 1 and not runs.dealt else None
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
        notes=(*([describe_dealt([runs.model])] if runs.dealt else []), *describe_scores(last)) or None,
    )


def describe_curve(curve: Curves) -> DescribedRuns:
    """What a set of curves holds."""
    row = measure_curve(curve)
    return DescribedRuns(
        model=curve.model,
        dataset=curve.dataset,
        metric=curve.metric,
        n_runs=len(curve.seeds),
        n_examples=curve.size,
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
        n_examples=curve.size,
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


# What the one checkpoint of runs that name none is called.
UNNAMED = "final"


@dataclass(frozen=True)
class RunSetSummary(Result):
    """Scores of the runs of one model on one dataset, checkpoint by checkpoint.

    Attributes:
        model: Name of the model.
        dataset: Name of the dataset.
        condition: paired, premise_only or hypothesis_only.
        split: Name of the part of the dataset, or "".
        train_set: What the model was trained on, or "".
        seeds: Of the runs, in the order of the rows of `scores.run_means`.
        scores: The figures.
    """

    model: str
    dataset: str
    condition: str
    split: str
    train_set: str
    seeds: tuple[int | str, ...]
    scores: CheckpointSummaries

    def to_frame(self) -> pl.DataFrame:
        """One row a checkpoint: model, dataset, condition, split, train_set, n_runs, n_examples, and the figures."""
        keys = {name: getattr(self, name) for name in Collection._fields}
        keys |= {"n_runs": self.scores.n_runs, "n_examples": self.scores.n_examples}
        return self.scores.to_frame().select(*(pl.lit(value).alias(name) for name, value in keys.items()), pl.all())


@dataclass(frozen=True)
class StoreSummary(Result):
    """What a folder of runs holds, in figures.

    Attributes:
        sets: One a model, dataset and condition.
        n_rows: How many predictions were read.
    """

    sets: tuple[RunSetSummary, ...]
    n_rows: int

    def to_frame(self) -> pl.DataFrame:
        """One row a set of runs and checkpoint, as `RunSetSummary.to_frame`; checkpoints as strings."""
        return pl.concat([each.to_frame().with_columns(pl.col("checkpoint").cast(pl.String)) for each in self.sets])


def summarize_store(path: RunsPath, choice: RunChoice | None = None, progress: Progress = silent) -> StoreSummary:
    """Mean, spread, decomposition and effective size of all runs at a path, at each checkpoint.

    Files are read checkpoint by checkpoint: from the store's Parquet, memory holds the R x N predictions of one
    dataset and checkpoint and never all, so a store may be larger than memory. Other formats are held file by file.

    Args:
        path: A file, a folder (searched to the bottom), or several of these.
        choice: Which runs to take, and how to read them; by default all.
        progress: Told how many checkpoints are done.

    Raises:
        InputError: Nothing is there or cannot be read, or the runs of a set do not cover the same checkpoints and
            examples.
    """
    choice = choice or RunChoice()
    sets = _sets(find_runs([path] if isinstance(path, (str, os.PathLike)) else list(path), choice), choice)
    n_checkpoints = sum(map(len, sets.values()))
    done = 0

    def at_each(key: Collection) -> Iterator[Runs]:
        nonlocal done
        for runs in _read_each(key, sets[key], choice):
            yield runs
            done += 1
            progress(done, n_checkpoints)

    summaries = tuple(_summarize(key, at_each(key)) for key in sorted(sets))
    shapes = [(each.scores.n_runs, each.scores.n_checkpoints, each.scores.n_examples) for each in summaries]
    return StoreSummary(summaries, sum(map(math.prod, shapes)))


def _sets(found: Sequence[Slice], choice: RunChoice) -> dict[Collection, list[list[Slice]]]:
    """For each set of runs, its checkpoints in order, and for each the parts that are of it."""
    parts: dict[Collection, dict[Any, list[Slice]]] = {}
    for part in found:
        key = part.collection if choice.model is None else part.collection._replace(model=choice.model)
        # Where one checkpoint of each run was asked for, these are one, whatever their steps.
        step = part.checkpoint if choice.checkpoint is None else None
        parts.setdefault(key, {}).setdefault(step, []).append(part)
    for of_set in parts.values():
        _check_whole(of_set)
    return {key: [of_set[step] for step in ordered(set(of_set))] for key, of_set in parts.items()}


def _check_whole(parts: Mapping[Any, Sequence[Slice]]) -> None:
    """Refuse runs that lack a checkpoint before any is read."""
    there = {step: {(part.collection.model, part.seed) for part in of_step} for step, of_step in parts.items()}
    for model, seed in set().union(*there.values()):
        lacking = [step for step in ordered(set(there)) if (model, seed) not in there[step]]
        if lacking:
            raise InputError(
                f"runs have different checkpoints: seed {seed} of {model} lacks {len(lacking)}, "
                f"first {listing(lacking)}",
                mend=f"choose one that all have, or each run's last with {option('checkpoint', 'last')}",
            )


def _read_each(key: Collection, checkpoints: Sequence[Sequence[Slice]], choice: RunChoice) -> Iterator[Runs]:
    """The runs of a set, one checkpoint in memory at a time; all must be of the same runs and examples."""
    first: Runs | None = None
    for parts in checkpoints:
        runs = runs_of(
            list(parts),
            key._asdict(),
            choice.gold_of(key.dataset),
            checkpoint=choice.checkpoint,
            labels=choice.labels,
            label_names=choice.label_names,
            align=choice.align,
            missing=choice.missing,
            score=choice.columns.get("score"),
        )
        first = first or runs
        differ = _differ(runs, first)
        if differ:
            steps = f"{checkpoints[0][0].checkpoint} and {parts[0].checkpoint}"
            raise InputError(
                f"{key.model} on {key.dataset}: checkpoints {steps} {differ}",
                file=parts[0].file,
                mend="give the same examples, in any order, with the same labels at each",
            )
        yield runs


def _differ(runs: Runs, first: Runs) -> str:
    """In what the runs at a checkpoint are not those at the first, or nothing."""
    if runs.seeds.tolist() != first.seeds.tolist():
        return "are not of the same runs"
    sides = [(each.example_ids, _labels(each)) for each in (runs, first)]
    if not np.array_equal(sides[0][0], sides[1][0]):
        orders = [np.argsort(ids) for ids, _ in sides]
        sides = [(ids[order], labels[order]) for (ids, labels), order in zip(sides, orders, strict=True)]
    (ids, labels), (first_ids, first_labels) = sides
    if not np.array_equal(ids, first_ids):
        return "do not cover the same examples"
    return "" if np.array_equal(labels, first_labels) else "disagree on the right labels of examples"


def _labels(runs: Runs) -> NDArray[Any]:
    """Names of the right labels; all alike where there are none."""
    return np.zeros(runs.n_examples) if runs.gold is None else np.array(runs.label_names)[runs.gold]


def _summarize(key: Collection, checkpoints: Iterator[Runs]) -> RunSetSummary:
    seeds: tuple[Any, ...] = ()

    def scores() -> Iterator[tuple[int | str, NDArray[np.float64]]]:
        nonlocal seeds
        for runs in checkpoints:
            seeds = tuple(runs.seeds.tolist())
            yield UNNAMED if runs.checkpoints is None else runs.checkpoints[-1].item(), runs.scores

    found = summarize_checkpoints(scores())
    return RunSetSummary(**key._asdict(), seeds=seeds, scores=found)
