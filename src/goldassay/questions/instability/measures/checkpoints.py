"""Scores from checkpoint to checkpoint: how they move, which examples make them swing, and which dev set chooses best.

Mean, spread and decomposition at each checkpoint come from scores that are read one checkpoint at a time.
"""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.core.results import Result
from goldassay.questions.instability.measures.scores import as_scores
from goldassay.questions.instability.measures.variance import decompose_variance
from goldassay.stats.intervals import (
    Interval,
    few_runs_caveat,
    mean_interval,
    mean_reach,
    score_sd_interval,
    wilson_interval,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Trajectories(Result):
    """Score over the checkpoints of R runs: mean, band of one standard deviation, one run.

    Attributes:
        checkpoints: Steps or names, (T,).
        mean: Over runs, (T,).
        sd: Over runs with ddof 1, (T,); None with a single run.
        mean_low: Lower bounds of the mean's 95 % intervals over runs (Student t, each checkpoint by itself), (T,); None
            with a single run. The band of one deviation is no interval: it says where runs lie, not where their mean.
        mean_high: Upper bounds.
        run: Score of the run that was asked for, (T,).
        run_index: Its position.
        largest_changes: For each run the change between adjacent checkpoints that is largest in size, signed, (R,).
        largest_change_at: For each run the position of the checkpoint after that change, (R,).
        n_runs: R.
        n_checkpoints: T.
        ddof: Of the standard deviation.
        caveats: What to bear in mind, in sentences.
        skipped: Reason -> count of what has no value.
    """

    checkpoints: tuple[int | str, ...]
    mean: NDArray[np.float64]
    sd: NDArray[np.float64] | None
    mean_low: NDArray[np.float64] | None
    mean_high: NDArray[np.float64] | None
    run: NDArray[np.float64]
    run_index: int
    largest_changes: NDArray[np.float64]
    largest_change_at: NDArray[np.int64]
    n_runs: int
    n_checkpoints: int
    ddof: int = 1
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a checkpoint: t, mean, low, high, run; low and high are missing with a single run."""
        empty = pl.Series([None] * self.n_checkpoints, dtype=pl.Float64)
        return pl.DataFrame(
            {
                "t": self.checkpoints,
                "mean": self.mean,
                "low": empty if self.sd is None else self.mean - self.sd,
                "high": empty if self.sd is None else self.mean + self.sd,
                "run": self.run,
            }
        )


def trajectories(scores: ArrayLike, checkpoints: Sequence[int | str] | None = None, run: int = 0) -> Trajectories:
    """Mean score at each checkpoint with a band of one standard deviation, and one run beside it.

    Args:
        scores: Score of each run at each checkpoint (R, T), or of each example (R, T, N).
        checkpoints: (T,) steps or names; without them 0 to T-1.
        run: Position of the run to show.

    Raises:
        InputError: Scores are not finite or of the wrong shape, checkpoints do not fit, or there is no such run.

    Source: Zhou, Nie, Tan and Bansal 2020, Figure 1.
    """
    array = np.asarray(scores)
    values = as_scores(array, ndim=3).mean(axis=2) if array.ndim == 3 else as_scores(array)
    n_runs, n_checkpoints = values.shape
    if not 0 <= run < n_runs:
        raise InputError(f"there is no run {run}", mend=f"runs are 0 to {n_runs - 1}")
    steps = tuple(range(n_checkpoints)) if checkpoints is None else tuple(checkpoints)
    if len(steps) != n_checkpoints:
        raise InputError(f"{len(steps)} checkpoints are named, but scores have {n_checkpoints}")
    changes = np.diff(values, axis=1)
    skipped: dict[str, int] = {}
    if n_checkpoints > 1:
        at = np.abs(changes).argmax(axis=1)
        largest = changes[np.arange(n_runs), at]
    else:
        skipped["one checkpoint, so no change between two"] = n_runs
        at, largest = np.full(n_runs, -1), np.full(n_runs, np.nan)
    mean, sd = values.mean(axis=0), values.std(axis=0, ddof=1) if n_runs > 1 else None
    half = None if sd is None else sd * mean_reach(n_runs)
    return Trajectories(
        checkpoints=steps,
        mean=mean,
        sd=sd,
        mean_low=None if half is None else mean - half,
        mean_high=None if half is None else mean + half,
        run=values[run].copy(),
        run_index=run,
        largest_changes=largest,
        largest_change_at=at + 1,
        n_runs=n_runs,
        n_checkpoints=n_checkpoints,
        caveats=few_runs_caveat(n_runs),
        skipped=skipped,
    )


_ONE_RUN = "one run has no spread"
_NOTHING_VARIES = "all runs score every example the same, so the design effect is undefined"


@dataclass(frozen=True)
class CheckpointSummaries(Result):
    """Scores of R runs at each of T checkpoints. All in fractions; variances in squared fractions, with ddof 1.

    Attributes:
        checkpoints: Steps or names, (T,).
        run_means: Mean score of each run at each checkpoint, (R, T).
        mean: Over runs, (T,).
        sd: Standard deviation over runs, (T,); NaN with a single run, and so are all that follow.
        sd_low: Lower bounds of the 95 % intervals of the true standard deviations, (T,).
        sd_high: Upper bounds.
        total: sd², (T,).
        independent: What it would be if examples moved independently, (T,).
        covariance: total - independent, (T,).
        design_effect: total/independent, (T,); NaN where no example changes.
        effective_size: N/design_effect, (T,).
        n_runs: R.
        n_examples: N.
        n_checkpoints: T.
        ddof: Of all variances.
        caveats: What to bear in mind, in sentences.
        skipped: Reason -> count of checkpoints where a figure has no value.
    """

    checkpoints: tuple[int | str, ...]
    run_means: NDArray[np.float64]
    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    sd_low: NDArray[np.float64]
    sd_high: NDArray[np.float64]
    total: NDArray[np.float64]
    independent: NDArray[np.float64]
    covariance: NDArray[np.float64]
    design_effect: NDArray[np.float64]
    effective_size: NDArray[np.float64]
    n_runs: int
    n_examples: int
    n_checkpoints: int
    ddof: int = 1
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a checkpoint: checkpoint, mean, sd, its bounds, and the decomposition; NaN is missing."""
        names = ("mean", "sd", "sd_low", "sd_high", *_PARTS)
        columns = {name: pl.Series(getattr(self, name)).fill_nan(None) for name in names}
        return pl.DataFrame({"checkpoint": pl.Series(self.checkpoints), **columns})

    def trajectories(self, run: int = 0) -> Trajectories:
        """Mean with its band of one deviation, one run beside it, and the largest change of each run."""
        return trajectories(self.run_means, self.checkpoints, run)


_PARTS = ("total", "independent", "covariance", "design_effect", "effective_size")


def summarize_checkpoints(scores: Iterable[tuple[int | str, ArrayLike]]) -> CheckpointSummaries:
    """Mean, spread with its interval, and variance decomposition of R runs at each checkpoint.

    The figures are those of `summarize_scores` and `decompose_variance` for each checkpoint. Scores are taken from
    the iterator one checkpoint at a time and not kept, so that memory holds R x N of them and never R x T x N.

    Args:
        scores: For each checkpoint in turn its step or name, and the scores (R, N) there; the same runs and
            examples at all, in any one order of examples.

    Raises:
        InputError: There is no checkpoint, checkpoints have scores of different shapes, or scores are not finite.
    """
    steps: list[int | str] = []
    means: list[NDArray[np.float64]] = []
    parts: list[tuple[float, ...]] = []
    fractions: list[bool] = []
    shape: tuple[int, ...] | None = None
    for step, found in scores:
        values = as_scores(found)
        if values.shape != (shape or values.shape):
            raise InputError(
                f"scores have shape {shape} at checkpoint {steps[0]}, and {values.shape} at {step}",
                mend="give the same runs and examples at each checkpoint",
            )
        shape = values.shape
        steps.append(step)
        means.append(values.sum(axis=1) / shape[1])
        parts.append(_parts(values))
        fractions.append(bool(values.min() >= 0 and values.max() <= 1))
    if shape is None:
        raise InputError("there is no checkpoint to summarize")
    run_means = np.stack(means, axis=1)
    n_runs, n_examples = shape
    decomposed = dict(zip(_PARTS, np.array(parts).T, strict=True))
    sd = np.sqrt(decomposed["total"])
    low, high = np.array([_bounds(each, n_runs, share) for each, share in zip(sd, fractions, strict=True)]).T
    return CheckpointSummaries(
        checkpoints=tuple(steps),
        run_means=run_means,
        mean=run_means.mean(axis=0),
        sd=sd,
        sd_low=low,
        sd_high=high,
        **decomposed,
        n_runs=n_runs,
        n_examples=n_examples,
        n_checkpoints=len(steps),
        caveats=few_runs_caveat(n_runs),
        skipped=_skipped(n_runs, decomposed["design_effect"]),
    )


def _parts(values: NDArray[np.float64]) -> tuple[float, ...]:
    if len(values) < 2:
        return (np.nan,) * len(_PARTS)
    with warnings.catch_warnings():
        # Counted for all checkpoints together.
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        found = decompose_variance(values)
    return tuple(float(getattr(found, name)) for name in _PARTS)


def _bounds(sd: float, n_runs: int, fractions: bool) -> tuple[float, float]:
    if n_runs < 2:
        return np.nan, np.nan
    interval = score_sd_interval(float(sd), n_runs, fractions=fractions)
    return interval.low, interval.high


def _skipped(n_runs: int, design_effect: NDArray[np.float64]) -> dict[str, int]:
    if n_runs < 2:
        skipped = {_ONE_RUN: len(design_effect)}
    elif np.isnan(design_effect).any():
        skipped = {_NOTHING_VARIES: int(np.isnan(design_effect).sum())}
    else:
        return {}
    for reason, count in skipped.items():
        warnings.warn(f"{reason} (at {count} checkpoints)", UndefinedMeasureWarning, stacklevel=3)
    return skipped


@dataclass(frozen=True)
class ExampleStability(Result):
    """How stable each example's score is.

    Attributes:
        example_ids: (N,).
        mean: Over the runs' last checkpoints, (N,).
        disagreement: Chance that two different runs score it differently, (N,).
        flips: Mean over runs of the number of changes from checkpoint to checkpoint, (N,); None without checkpoints.
        n_always_right: Examples with score 1 in all runs.
        n_always_wrong: Examples with score 0 in all runs.
        n_constant: Examples with the same score in all runs.
        share_varying: Of all examples, those that are not constant; more runs find more of them.
        share_varying_interval: 95 % interval (Wilson) of that share among other examples, for these runs.
        n_runs: R.
        n_checkpoints: T, or 1.
        n_examples: N.
        caveats: What to bear in mind, in sentences.
        skipped: Reason -> count of what has no value.
    """

    example_ids: NDArray[Any]
    mean: NDArray[np.float64]
    disagreement: NDArray[np.float64]
    flips: NDArray[np.float64] | None
    n_always_right: int
    n_always_wrong: int
    n_constant: int
    share_varying: float
    share_varying_interval: Interval
    n_runs: int
    n_checkpoints: int
    n_examples: int
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row an example, the least stable first: example_id, mean, disagreement, flips, status."""
        constant = self.disagreement == 0
        status = np.where(constant & (self.mean == 1), "always right", "varies")
        status = np.where(constant & (self.mean == 0), "always wrong", status)
        frame = pl.DataFrame(
            {
                "example_id": self.example_ids.tolist(),
                "mean": self.mean,
                "disagreement": self.disagreement,
                "status": np.where(constant & (status == "varies"), "always the same", status).tolist(),
            }
        )
        if self.flips is not None:
            frame.insert_column(3, pl.Series("flips", self.flips))
        return frame.sort("disagreement", descending=True, maintain_order=True)


def measure_stability(scores: ArrayLike, example_ids: ArrayLike | None = None) -> ExampleStability:
    """Say for each example how often it is right, how often runs disagree on it, and how often it flips.

    Disagreement is the share of the R(R-1)/2 pairs of runs whose scores differ; for correctness with n right
    runs it is 2n(R-n)/(R(R-1)).

    Args:
        scores: (R, N), or (R, T, N) with checkpoints.
        example_ids: (N,); without them positions.

    Raises:
        InputError: There are fewer than 2 runs, scores are not finite, or ids do not fit.
    """
    array = np.asarray(scores)
    values = as_scores(array, ndim=3 if array.ndim == 3 else 2, min_runs=2)
    last = values[:, -1] if values.ndim == 3 else values
    n_runs, n_examples = last.shape
    ids = np.arange(n_examples) if example_ids is None else np.asarray(example_ids)
    if ids.shape != (n_examples,):
        raise InputError(f"example ids have shape {ids.shape}", mend=f"give one for each of the {n_examples} examples")
    ordered = np.sort(last, axis=0)
    constant = ordered[0] == ordered[-1]
    return ExampleStability(
        example_ids=ids,
        mean=last.mean(axis=0),
        disagreement=1.0 - _equal_pairs(ordered) / (n_runs * (n_runs - 1) / 2),
        flips=(np.diff(values, axis=1) != 0).sum(axis=1).mean(axis=0) if values.ndim == 3 else None,
        n_always_right=int((constant & (ordered[0] == 1)).sum()),
        n_always_wrong=int((constant & (ordered[0] == 0)).sum()),
        n_constant=int(constant.sum()),
        share_varying=1 - float(constant.mean()),
        share_varying_interval=wilson_interval(n_examples - int(constant.sum()), n_examples),
        n_runs=n_runs,
        n_checkpoints=values.shape[1] if values.ndim == 3 else 1,
        n_examples=n_examples,
        caveats=few_runs_caveat(n_runs),
    )


def _equal_pairs(ordered: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pairs of equal values in each column of (R, N), sorted along the runs."""
    run_length = np.zeros(ordered.shape[1])
    pairs = np.zeros(ordered.shape[1])
    for before, after in itertools.pairwise(ordered):
        # The n-th value of a stretch of equal ones makes n-1 new pairs.
        run_length = np.where(after == before, run_length + 1, 0.0)
        pairs += run_length
    return pairs


@dataclass(frozen=True)
class CheckpointSelection(Result):
    """Scores on the held-out part of an analysis set, by what chose the checkpoint.

    Arrays (S, R) hold a value for each split and run. Means and deviations over runs are averaged over splits.

    Attributes:
        standard_mean: Checkpoint chosen on the standard dev set.
        standard_sd: Standard deviation over runs.
        analysis_mean: Checkpoint chosen on the dev part of the analysis set.
        analysis_sd: Standard deviation over runs.
        gain: analysis_mean - standard_mean: what choosing on the analysis set itself is worth.
        standard_interval: 95 % interval of standard_mean over runs (Student t), as are the next two.
        analysis_interval: Of analysis_mean.
        gain_interval: Of gain, run by run.
        standard_scores: (S, R).
        analysis_scores: (S, R).
        standard_choices: Position of the checkpoint, (S, R).
        analysis_choices: (S, R).
        standard_dev_scores: Score on the dev part of the analysis set of the checkpoint the standard set chose, (S, R).
        analysis_dev_scores: The same for the checkpoint chosen there, (S, R); never lower.
        n_splits: S.
        n_runs: R.
        n_checkpoints: T.
        n_examples: N of the analysis set.
        n_dev: Examples in its dev part.
        ddof: Of the deviations.
        caveats: What to bear in mind, in sentences.
        skipped: Reason -> count of what has no value.
    """

    standard_mean: float
    standard_sd: float
    analysis_mean: float
    analysis_sd: float
    gain: float
    standard_interval: Interval
    analysis_interval: Interval
    gain_interval: Interval
    standard_scores: NDArray[np.float64]
    analysis_scores: NDArray[np.float64]
    standard_choices: NDArray[np.int64]
    analysis_choices: NDArray[np.int64]
    standard_dev_scores: NDArray[np.float64]
    analysis_dev_scores: NDArray[np.float64]
    n_splits: int
    n_runs: int
    n_checkpoints: int
    n_examples: int
    n_dev: int
    ddof: int = 1
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a rule: chosen_on, mean, sd."""
        return pl.DataFrame(
            {
                "chosen_on": ["standard dev set", "dev part of the analysis set"],
                "mean": [self.standard_mean, self.analysis_mean],
                "sd": [self.standard_sd, self.analysis_sd],
            }
        )


def select_checkpoints(
    standard: ArrayLike,
    analysis: ArrayLike,
    gold: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    *,
    dev_share: float = 0.8,
    n_splits: int = 1,
    seed: int = 0,
) -> CheckpointSelection:
    """Split the analysis set, choose each run's checkpoint in two ways, and score both on the held-out part.

    The split takes `dev_share` of each group, or of each gold label, or of all, at random. Of checkpoints with equal
    scores the earliest is chosen.

    Args:
        standard: Scores on the standard dev set, (R, T) or (R, T, N_standard).
        analysis: Scores on the analysis set, (R, T, N).
        gold: (N,) labels to stratify the split by, where no groups are given.
        groups: (N,) group names to stratify by.
        dev_share: Share of the dev part, in (0, 1).
        n_splits: How many splits to average over.
        seed: Of the splits.

    Raises:
        InputError: There are fewer than 2 runs, shapes do not fit, scores are not finite, or a part would be empty.

    Source: Zhou, Nie, Tan and Bansal 2020, Table 6; how to split and to break ties is not stated there.
    """
    values = as_scores(analysis, ndim=3, min_runs=2)
    n_runs, n_checkpoints, n_examples = values.shape
    array = np.asarray(standard)
    reference = as_scores(array, ndim=3).mean(axis=2) if array.ndim == 3 else as_scores(array)
    if reference.shape != (n_runs, n_checkpoints):
        raise InputError(
            f"the standard set has {reference.shape} runs and checkpoints, the analysis set {(n_runs, n_checkpoints)}",
            mend="give the same runs and checkpoints for both",
        )
    if not 0 < dev_share < 1 or n_splits < 1:
        raise InputError(
            f"dev_share is {dev_share}, n_splits {n_splits}", mend="give a share in (0, 1), 1 split or more"
        )
    strata = groups if groups is not None else gold
    codes = np.zeros(n_examples, dtype=np.int64) if strata is None else _codes(strata, n_examples)
    chosen_standard = reference.argmax(axis=1)
    rng = np.random.default_rng(seed)
    runs = np.arange(n_runs)
    drawn: list[tuple[NDArray[np.float64], ...]] = []
    choices: list[NDArray[np.int64]] = []
    for _ in range(n_splits):
        dev = _draw(codes, dev_share, rng)
        on_dev, on_test = values[:, :, dev].mean(axis=2), values[:, :, ~dev].mean(axis=2)
        chosen = on_dev.argmax(axis=1)
        choices.append(chosen)
        drawn.append(tuple(on[runs, at] for on in (on_test, on_dev) for at in (chosen_standard, chosen)))
    standard, analysis, standard_dev, analysis_dev = (np.stack(each) for each in zip(*drawn, strict=True))
    standard_by_run, analysis_by_run = standard.mean(axis=0), analysis.mean(axis=0)
    gains = analysis_by_run - standard_by_run
    return CheckpointSelection(
        standard_mean=float(standard.mean()),
        standard_sd=float(standard.std(axis=1, ddof=1).mean()),
        analysis_mean=float(analysis.mean()),
        analysis_sd=float(analysis.std(axis=1, ddof=1).mean()),
        gain=float(analysis_by_run.mean() - standard_by_run.mean()),
        standard_interval=mean_interval(standard_by_run),
        analysis_interval=mean_interval(analysis_by_run),
        gain_interval=mean_interval(gains),
        standard_scores=standard,
        analysis_scores=analysis,
        standard_choices=np.tile(chosen_standard, (n_splits, 1)),
        analysis_choices=np.stack(choices),
        standard_dev_scores=standard_dev,
        analysis_dev_scores=analysis_dev,
        n_splits=n_splits,
        n_runs=n_runs,
        n_checkpoints=n_checkpoints,
        n_examples=n_examples,
        n_dev=int(dev.sum()),
        caveats=few_runs_caveat(n_runs) + _alike(gains),
    )


def _alike(gains: NDArray[np.float64]) -> tuple[str, ...]:
    """Gains of mostly 0 are far from normal, and few of them hide the others."""
    alike = int((gains == 0).sum())
    if 2 * alike < gains.size:
        return ()
    return (
        f"In {alike} of {gains.size} runs nothing is gained by either rule over the other: the gain's interval is too "
        "narrow.",
    )


def _codes(strata: ArrayLike, n_examples: int) -> NDArray[np.int64]:
    names = np.asarray(strata)
    if names.shape != (n_examples,):
        raise InputError(
            f"what to stratify by has shape {names.shape}", mend=f"give one for each of {n_examples} examples"
        )
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _draw(codes: NDArray[np.int64], share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """A mask of the dev part: the share of each stratum, rounded so that the whole has it too."""
    dev = np.zeros(len(codes), dtype=bool)
    taken = wanted = 0.0
    for code in range(int(codes.max()) + 1):
        members = rng.permutation(np.flatnonzero(codes == code))
        wanted += share * len(members)
        size = min(len(members), round(wanted - taken))
        dev[members[:size]] = True
        taken += size
    if dev.all() or not dev.any():
        raise InputError(
            f"a share of {share} of {len(codes)} examples leaves one part empty", mend="give more examples"
        )
    return dev
