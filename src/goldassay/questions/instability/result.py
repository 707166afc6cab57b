"""What is measured of runs: the spread of each set, its causes, single examples, and how scores move in training."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from goldassay.core.figures import (
    MIN_RUNS,
    NO_QUICK_PROBES,
    Measure,
    Rule,
    declare_verdict,
    figure,
    left_out,
    result,
    role,
)
from goldassay.core.results import Result
from goldassay.questions.instability.measures.scores import FamiliesOpen

declare_verdict("instability", "points")


@result
class OfRuns(Result):
    """What is measured of one set of runs.

    Attributes:
        model: Name of the model.
        dataset: Name of the dataset.
        condition: What the model could see.
        name: Name of the set in the report, by what sets differ in; "" for all three.
    """

    model: str = role("model")
    dataset: str = role("dataset")
    condition: str = role("condition")
    name: str

    @property
    def of(self) -> str:
        """How the set is called."""
        return self.name or " · ".join(filter(None, (self.model, self.dataset, self.condition)))


@result
class RunScores(OfRuns):
    """Scores of one set of runs, at the last checkpoint. Of one run there is no spread, of curves no examples.

    Attributes:
        n_runs: R.
        n_examples: N; None for curves.
        n_distinct: Trainings that the runs come from (`run_families`), which the interval of the SD counts; None for
            curves.
        families_open: Why that number cannot be told: "few wrong", "near" or "unstated"; "" where it
            is known.
        contradicted: Examples whose right label in the runs' own file is another one.
        unscored: What is said of answers without a score; None where all have one.
        labels_read: By what labels the scores were read, and whether these may be in another order; None where they are
            the gold's by name and nothing speaks against them.
        n_asked: Examples that any model was asked on the dataset; None where these are all.
        accuracies: Mean score of each run.
        constant: The best constant answer, or None.
        constant_score: Its score.
        above_constant_low: Lower end of what the mean score has over it.
        examples_to_exceed: Examples needed to show that it has more; None for no number.
        by_position: Whether labels were assigned by row number.
        mean: Of the mean scores.
        min: The lowest.
        max: The highest.
        reason: Why figures are missing, or None.
        grades: The scale of graded scores.
        weighted_by: The column of weights of the examples; None where all count alike.
        unweighted: Of a weighted score that without weights.
        best_exact: Exact match with the best threshold of each run for leaving questions unanswered.
        best_exact_thresholds: These thresholds.
        best_exact_threshold: That of a single run.
        best_f1: The same for F1.
        best_f1_thresholds: Likewise.
        best_f1_threshold: Likewise.
        mean_low: Lower end of the interval of the mean, over runs; of one run over examples.
        mean_high: Upper end.
        standard_error: Of the mean of one run.
        n_clusters: Clusters of examples in it.
        sd: Standard deviation over runs.
        sd_low: Lower end.
        sd_high: Upper end.
        total: Variance over runs.
        independent: What it would be if examples moved independently.
        covariance: The difference.
        design_effect: total/independent.
        design_effect_low: Lower end.
        design_effect_high: Upper end.
        effective_size: N over the design effect.
        effective_size_low: Lower end.
        effective_size_high: Upper end; infinite where nothing is known to move together.
        metric: Of curves, as logged.
        format: Of the files.
        graded: Whether scores are other than right or wrong.
        n_checkpoints: Of each run.
        seeds: Of the runs.
        group_columns: Columns by which examples are grouped.
        label_names: The labels.
    """

    n_runs: int = figure(
        Measure("instability.runs", "number of runs", "runs", "higher", rule=MIN_RUNS, bounded=False, compared=False),
        n="n_examples",
    )
    n_examples: int | None
    n_distinct: int | None
    contradicted: int
    accuracies: tuple[float, ...]
    constant: str | None
    constant_score: float | None
    above_constant_low: float
    examples_to_exceed: int | None
    by_position: bool
    mean: float = figure(
        Measure("instability.mean", "mean score", "points", "higher"), "mean_low", "mean_high", n="n_examples"
    )
    min: float
    max: float
    reason: str | None
    families_open: FamiliesOpen = ""
    grades: tuple[float, float] | None = left_out(default=None)
    unscored: str | None = left_out(default=None)
    labels_read: str | None = left_out(default=None)
    n_asked: int | None = left_out(default=None)
    weighted_by: str | None = left_out(default=None)
    unweighted: float | None = figure(
        Measure("instability.unweighted", "mean score without the weights of examples", "points", "higher"),
        n="n_examples", default=None,
    )  # fmt: skip
    # Chosen on the questions that are scored: upper bounds of what a threshold gives, and no scores for a policy.
    best_exact: float | None = figure(
        Measure("instability.best_exact", "exact match at the best no-answer threshold", "points", "higher",
                bounded=False),
        n="n_examples", default=None,
    )  # fmt: skip
    best_exact_thresholds: tuple[float | None, ...] | None = left_out(default=None)
    best_exact_threshold: float | None = figure(
        Measure("instability.best_exact_threshold", "no-answer threshold of the best exact match", "number"),
        n="n_examples", default=None,
    )  # fmt: skip
    best_f1: float | None = figure(
        Measure("instability.best_f1", "F1 at the best no-answer threshold", "points", "higher", bounded=False),
        n="n_examples", default=None,
    )  # fmt: skip
    best_f1_thresholds: tuple[float | None, ...] | None = left_out(default=None)
    best_f1_threshold: float | None = figure(
        Measure("instability.best_f1_threshold", "no-answer threshold of the best F1", "number"),
        n="n_examples", default=None,
    )  # fmt: skip
    mean_low: float | None = left_out(default=None)
    mean_high: float | None = left_out(default=None)
    standard_error: float | None = left_out(default=None)
    n_clusters: int | None = left_out(default=None)
    sd: float | None = figure(
        Measure("instability.sd", "SD over runs", "points", "lower", least=0,
                rule=Rule("max_score_sd", "SD of the score over runs", "at most", NO_QUICK_PROBES)),
        "sd_low", "sd_high", n="n_examples", default=None,
    )  # fmt: skip
    sd_low: float | None = left_out(default=None)
    sd_high: float | None = left_out(default=None)
    total: float | None = left_out(default=None)
    independent: float | None = left_out(default=None)
    covariance: float | None = left_out(default=None)
    design_effect: float | None = figure(
        Measure("instability.design_effect", "design effect", "number", "lower", least=0),
        "design_effect_low", "design_effect_high", n="n_examples", reason="reason", default=None,
    )  # fmt: skip
    design_effect_low: float | None = left_out(default=None)
    design_effect_high: float | None = left_out(default=None)
    effective_size: float | None = figure(
        Measure("instability.effective_size", "effective size", "examples", "higher", least=0,
                rule=Rule("min_effective_size", "effective size of the test set", "at least", NO_QUICK_PROBES)),
        "bounded_size_low", "effective_size_high", n="n_examples", reason="reason",
        why="the scores of the runs are equal, so that it has no upper limit", default=None,
    )  # fmt: skip
    effective_size_low: float | None = left_out(default=None)
    effective_size_high: float | None = left_out(default=None)
    metric: str | None = left_out(default=None)
    format: str | None = left_out(default=None)
    graded: bool | None = left_out(default=None)
    n_checkpoints: int | None = left_out(default=None)
    seeds: tuple[str, ...] | None = left_out(default=None)
    group_columns: tuple[str, ...] | None = left_out(default=None)
    label_names: tuple[str, ...] | None = left_out(default=None)

    @property
    def bounded_size_low(self) -> float | None:
        """Lower end of the effective size where it has an upper end, too: a figure has both or none."""
        high = self.effective_size_high
        return None if high is None or math.isinf(high) else self.effective_size_low


@result
class FigureInterval(Result):
    """One figure of a set of runs, with its intervals over other runs and over other examples."""

    figure: str
    value: float
    runs_low: float
    runs_high: float
    runs_method: str
    examples_low: float
    examples_high: float
    examples_method: str


@result
class RunIntervals(OfRuns):
    """The intervals of every figure."""

    figures: tuple[FigureInterval, ...]


@result
class SeedsNeeded(Result):
    """How many runs of each of two models it takes to find a difference.

    Attributes:
        difference: Of the mean scores.
        n: Runs, for these examples.
        n_low: The same at the lower end of the SD's interval.
        n_high: At its upper end.
        n_others: Runs for other examples as well; None where their noise hides the difference.
        n_examples: Examples that it takes then.
    """

    difference: float
    n: int | None
    n_low: int | None
    n_high: int | None
    n_others: int | None
    n_examples: int


@result
class SeedPlan(OfRuns):
    """What the runs could have shown, and how many it takes to see more."""

    n_runs: int
    n_examples: int
    sd: float | None
    smallest_difference: float
    smallest_difference_low: float
    smallest_difference_high: float
    seeds: tuple[SeedsNeeded, ...]


@result
class Group(Result):
    """One group of examples: its part of the variance; intervals over runs and over examples where they were asked."""

    group: str
    n_examples: int
    mean: float
    sd: float
    share_of_variance: float
    mean_low_runs: float | None = left_out(default=None)
    mean_high_runs: float | None = left_out(default=None)
    sd_low_runs: float | None = left_out(default=None)
    sd_high_runs: float | None = left_out(default=None)
    share_low_runs: float | None = left_out(default=None)
    share_high_runs: float | None = left_out(default=None)
    mean_low_examples: float | None = left_out(default=None)
    mean_high_examples: float | None = left_out(default=None)
    sd_low_examples: float | None = left_out(default=None)
    sd_high_examples: float | None = left_out(default=None)
    share_low_examples: float | None = left_out(default=None)
    share_high_examples: float | None = left_out(default=None)


@result
class Grouping(OfRuns):
    """The variance of a set of runs by one group column.

    Attributes:
        column: The column.
        within: Covariance between examples of the same group.
        between: Covariance between groups.
        rows: The groups, those with the largest share first.
        n_groups: How many there are.
    """

    column: str
    within: float
    between: float
    rows: tuple[Group, ...]
    n_groups: int
    within_runs_low: float | None = left_out(default=None)
    within_runs_high: float | None = left_out(default=None)
    between_runs_low: float | None = left_out(default=None)
    between_runs_high: float | None = left_out(default=None)
    within_examples_low: float | None = left_out(default=None)
    within_examples_high: float | None = left_out(default=None)
    between_examples_low: float | None = left_out(default=None)
    between_examples_high: float | None = left_out(default=None)


@result
class Deviation(OfRuns):
    """The normalized deviation from the runs on the reference, by both conventions; None with the reason why."""

    recommended: float | None
    paper: float | None
    reason: str | None
    low: float | None = None
    high: float | None = None


@result
class Deviations(Result):
    """The spread on each dataset against that on the reference."""

    reference: str
    note: str
    rows: tuple[Deviation, ...]


@result
class Step(Result):
    """One checkpoint: mean over runs with a band of one SD, and the score of one run."""

    t: int | str
    mean: float
    low: float | None
    high: float | None
    run: float


@result
class LargestChange(Result):
    """The largest change of a run between two checkpoints in a row."""

    seed: int | str
    change: float
    before: int | str
    after: int | str


@result
class Trajectory(OfRuns):
    """How the scores of a set of runs move over its checkpoints; `seed` is the run that is shown."""

    seed: int | str
    points: tuple[Step, ...]
    largest_change: LargestChange


@result
class DatasetCorrelations(Result):
    """Rank correlations between the scores of one model on its datasets.

    Attributes:
        model: Name of the model.
        condition: What it could see.
        over: "checkpoints" or "runs".
        names: The datasets, D.
        values: (D, D).
        low: Lower ends, (D, D).
        high: Upper ends, (D, D).
        n_runs_used: Runs in which both scores vary, (D, D).
        n_runs: R.
        n_points: Points in each correlation.
        reason: Why values are missing, or None.
    """

    model: str
    condition: str
    over: str
    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    low: tuple[tuple[float, ...], ...]
    high: tuple[tuple[float, ...], ...]
    n_runs_used: tuple[tuple[int, ...], ...]
    n_runs: int
    n_points: int
    reason: str | None


@result
class Selection(OfRuns):
    """Choosing the checkpoint on the reference, and on four fifths of the dataset itself; or the reason why not.

    Attributes:
        reason: Why it was not measured, or None.
        standard_mean: Mean score by the checkpoint that the reference chooses.
        standard_sd: Its SD over runs.
        analysis_mean: Mean score by the checkpoint that the dataset itself chooses.
        analysis_sd: Its SD over runs.
        gain: The difference of the means.
        gain_low: Lower end.
        gain_high: Upper end.
        n_splits: Splits of the dataset.
        n_dev: Examples that choose.
        n_test: Examples that are scored.
        split_by: Column within which it is split, "label", or None.
    """

    reason: str | None
    standard_mean: float | None = left_out(default=None)
    standard_sd: float | None = left_out(default=None)
    analysis_mean: float | None = left_out(default=None)
    analysis_sd: float | None = left_out(default=None)
    gain: float | None = left_out(default=None)
    gain_low: float | None = left_out(default=None)
    gain_high: float | None = left_out(default=None)
    n_splits: int | None = left_out(default=None)
    n_dev: int | None = left_out(default=None)
    n_test: int | None = left_out(default=None)
    split_by: str | None = left_out(default=None)


@result
class PairCount(Result):
    """Pairs between two groups, or within one."""

    a: str
    b: str
    n_pairs: int


@result
class PairsByGroup(Result):
    """Where the pairs with the largest covariance lie, by one group column; `n_rows` counts all pairs of groups."""

    column: str
    n_pairs: int
    n_within: int
    n_rows: int
    rows: tuple[PairCount, ...]


@result
class ExampleSpread(OfRuns):
    """Which examples of a set of runs change from run to run, and which change together.

    Attributes:
        n_runs: R.
        n_examples: N.
        n_always_right: Right in every run.
        n_always_wrong: Wrong in every run.
        n_constant: With the same score in every run.
        flips: Mean number of changes in training; None without checkpoints.
        histogram: Examples that are right in 0, 1, ..., R runs; empty for graded scores.
        text_columns: Columns with texts in the rows below.
        group_columns: Columns with groups, likewise.
        least_stable: Rows of the table of examples.
        n_least_stable: How many are equally unstable.
        always_wrong: Rows of the table of examples.
        pairs: Rows of the table of pairs.
        n_pairs_at_most: Pairs with the largest covariance.
        pairs_by_group: Where these lie.
        pairs_reach_bound: Whether no pair of so many runs can covary more.
    """

    n_runs: int
    n_examples: int
    n_always_right: int
    n_always_wrong: int
    n_constant: int
    flips: float | None
    histogram: tuple[int, ...]
    text_columns: tuple[str, ...]
    group_columns: tuple[str, ...]
    least_stable: tuple[Mapping[str, Any], ...]
    n_least_stable: int
    always_wrong: tuple[Mapping[str, Any], ...]
    pairs: tuple[Mapping[str, Any], ...]
    n_pairs_at_most: int
    pairs_by_group: tuple[PairsByGroup, ...]
    pairs_reach_bound: bool


@result
class MapGroup(Result):
    """A group's part of a map: mean correlation between its examples, and with all others."""

    group: str
    n_examples: int
    within: float | None
    with_others: float | None


@result
class ExampleMap(OfRuns):
    """Correlations between examples that change.

    Attributes:
        over: "checkpoints" or "runs".
        n_runs: R.
        n_checkpoints: Of each run; 1 over runs.
        n_varying: Examples that change, of which those below are drawn.
        example_ids: In the order of the map, M.
        column: The group column by which they are ordered, or None.
        groups: In the order of the map.
        values: (M, M) correlations in hundredths, one signed byte each, row by row, in base64; -128 for no value.
    """

    over: str
    n_runs: int
    n_checkpoints: int
    n_varying: int
    example_ids: tuple[str, ...]
    column: str | None
    groups: tuple[MapGroup, ...]
    values: str


@result
class Interruption(Result):
    """How many sets of runs were measured before an interruption."""

    finished: int
    of: int


@result
class InstabilityResult(Result):
    """Everything that is measured of runs; a comparison of models holds their scores alone.

    Attributes:
        source: "runs".
        results: Scores of each set of runs.
        note: On what was read, or None.
        interrupted: How far it came, or None.
        sentences: What was found, the least stable first.
        caveats: What limits the meaning of the figures.
        intervals: Of every figure.
        plans: How many runs it takes.
        groups: By each group column.
        deviations: Against the reference, or None without one.
        trajectories: Over checkpoints.
        correlations: Between datasets.
        reference: The reference dataset, or None.
        selections: Of checkpoints.
        selection_sentences: What choosing them otherwise changes.
        examples: Single examples.
        maps: Of the least stable sets.
    """

    results: tuple[RunScores, ...]
    source: str = "runs"
    note: str | None = None
    interrupted: Interruption | None = None
    sentences: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    intervals: tuple[RunIntervals, ...] = ()
    plans: tuple[SeedPlan, ...] = ()
    groups: tuple[Grouping, ...] = ()
    deviations: Deviations | None = None
    trajectories: tuple[Trajectory, ...] = ()
    correlations: tuple[DatasetCorrelations, ...] = ()
    reference: str | None = None
    selections: tuple[Selection, ...] = ()
    selection_sentences: tuple[str, ...] = ()
    examples: tuple[ExampleSpread, ...] = ()
    maps: tuple[ExampleMap, ...] = ()
