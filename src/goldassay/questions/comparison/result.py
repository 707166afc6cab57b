"""Which of several models is better: their differences, the noise in these, and what would settle them."""

from __future__ import annotations

from goldassay.core.figures import Measure, aside, figure, left_out, result, role
from goldassay.core.results import Result
from goldassay.questions.comparison.settling import Plan
from goldassay.questions.instability.measures.comparison import PairedDifference


@result
class PairRow(Plan, PairedDifference):
    """Two models on one dataset, a minus b, and what would settle it.

    Attributes:
        a: Name of the first model.
        b: Of the second.
        dataset: Name of the dataset.
        sd_a: SD of a's scores over runs.
        sd_b: Of b's.
        clusters: The column that examples were taken together by.
        low: Lower end of the interval of the difference.
        high: Upper end.
        level: Its level.
        interval_method: How it was made, and over what.
        probability_low: Lower end for probability_better.
        probability_high: Upper end.
        adjusted_p: Holm's correction of p_value over all pairs.
        differ: Whether the two differ: the models, or of models with one run these runs alone.
        distinguishable: Whether the models do.
        margin: The largest difference that does not matter, where one was given; as all below.
        equivalence: Whether the difference lies within it.
        equivalence_p: Of the two one-sided tests.
        equivalence_low: Lower end of the 90 % interval.
        equivalence_high: Upper end.
    """

    difference: float = figure(
        Measure("comparison.difference", "difference of models", "points"), "low", "high", n="n_examples"
    )
    probability_better: float = figure(
        Measure("comparison.probability_better", "chance that a run is better", "share", compared=False),
        "probability_low", "probability_high", n="n_examples", why="it takes several runs of both",
    )  # fmt: skip
    a: str = role("a")
    b: str = role("b")
    dataset: str = role("dataset")
    sd_a: float
    sd_b: float
    clusters: str | None
    low: float
    high: float
    level: float
    interval_method: str
    probability_low: float
    probability_high: float
    adjusted_p: float
    differ: bool
    distinguishable: bool
    margin: float | None = left_out(default=None)
    equivalence: str | None = left_out(default=None)
    equivalence_p: float | None = left_out(default=None)
    equivalence_low: float | None = left_out(default=None)
    equivalence_high: float | None = left_out(default=None)


@result
class TotalRow(Result):
    """Two models over all datasets, a minus b: by the mean of the datasets, and by that of all examples.

    Attributes:
        a: Name of the first model.
        b: Of the second.
        macro_difference: Over the mean of the datasets.
        macro_low: Lower end of its interval.
        macro_high: Upper end.
        macro_p: Two-sided.
        macro_a: Score of a.
        macro_b: Score of b.
        micro_difference: Over all examples; the rest likewise.
        micro_low: Lower end.
        micro_high: Upper end.
        micro_p: Two-sided.
        micro_a: Score of a.
        micro_b: Score of b.
        n_datasets: How many there are.
        n_examples: On all of them.
        joint: Whether a run is one on all datasets.
        adjusted_p: Holm's correction of macro_p over pairs.
        micro_adjusted_p: Of micro_p.
        disagree: Whether datasets say surely different things.
        differ: As of a pair.
        distinguishable: As of a pair.
        margin: As of a pair, and all below.
        equivalence: See there.
        equivalence_p: See there.
        equivalence_low: See there.
        equivalence_high: See there.
    """

    a: str = role("a")
    b: str = role("b")
    macro_difference: float = figure(
        Measure("comparison.macro_difference", "difference over the mean of datasets", "points"),
        "macro_low", "macro_high", n="n_examples",
    )  # fmt: skip
    macro_low: float
    macro_high: float
    macro_p: float
    macro_a: float
    macro_b: float
    micro_difference: float = figure(
        Measure("comparison.micro_difference", "difference over all examples", "points"),
        "micro_low", "micro_high", n="n_examples",
    )  # fmt: skip
    micro_low: float
    micro_high: float
    micro_p: float
    micro_a: float
    micro_b: float
    n_datasets: int
    n_examples: int
    joint: bool
    adjusted_p: float
    micro_adjusted_p: float
    disagree: bool
    differ: bool
    distinguishable: bool
    margin: float | None = left_out(default=None)
    equivalence: str | None = left_out(default=None)
    equivalence_p: float | None = left_out(default=None)
    equivalence_low: float | None = left_out(default=None)
    equivalence_high: float | None = left_out(default=None)


@result
class SuiteScore(Result):
    """The score of a model over all datasets: their mean, and that of all examples."""

    name: str
    macro: float
    micro: float


@result
class ModelScore(Result):
    """The score of a model on the dataset, with its spread over runs; of one run there is none."""

    name: str
    n_runs: int
    mean: float
    sd: float | None
    sd_low: float | None
    sd_high: float | None
    min: float | None
    max: float | None


@result
class ComparisonResult(Result):
    """Models compared, each with each, on one dataset or on several.

    Attributes:
        dataset: Its name, or how many there are.
        datasets: The names of several.
        n_examples: On all of them.
        over: What the interval of a single pair is over.
        sentences: What was found, the most important first.
        notes: How runs were put side by side, what was taken for granted and left out.
        models: Over several datasets the score of each model.
        totals: Over several datasets each two models.
        pairs: Each two models on each dataset.
        groups: Largest sets of models of which no two differ, the best first.
        alpha: Of Holm's correction.
        scores: On one dataset the score of each model.
    """

    dataset: str = role("dataset")
    datasets: tuple[str, ...] = left_out(default=(), kw_only=True)
    n_examples: int
    over: str | None = left_out(default=None, kw_only=True)
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    models: tuple[SuiteScore, ...] = left_out(default=(), kw_only=True)
    totals: tuple[TotalRow, ...] = left_out(default=(), kw_only=True)
    pairs: tuple[PairRow, ...]
    groups: tuple[tuple[str, ...], ...]
    alpha: float
    scores: tuple[ModelScore, ...] = aside()
