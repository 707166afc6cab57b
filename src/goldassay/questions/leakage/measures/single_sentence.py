"""Balanced accuracy: the mean of the recalls of all labels, which always naming one label cannot raise above 1/K.

Accuracy that a part of the input gives, against the majority class and against the whole input.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.arguments import as_codes, as_numbers, check_bootstrap
from goldassay.core.cores import one_blas_thread
from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.stats.bootstrap import (
    counts_right,
    draw_clusters,
    drawn_score_interval,
    percentile_interval,
    resample_examples,
    resample_runs,
)
from goldassay.stats.clusters import cluster_codes
from goldassay.stats.intervals import Interval, few_runs_caveat, wilson_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class BalancedAccuracy(Result):
    """The mean over labels of the share right among the examples of each; see `balanced_accuracy`.

    Attributes:
        value: Mean over runs and labels.
        low: Lower end of its interval.
        high: Upper end.
        recalls: Share right among the examples of each label that occurs, mean over runs, (K,).
        n_labels: K.
        n_runs: R.
        n_examples: N.
    """

    value: float
    low: float
    high: float
    recalls: NDArray[np.float64]
    n_labels: int
    n_runs: int
    n_examples: int


def balanced_accuracy(
    correct: ArrayLike,
    gold: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    seed: int = 0,
    n_draws: int = 1000,
    level: float = 0.95,
) -> BalancedAccuracy:
    """Mean recall over the labels that occur: 1/K sum_k mean_{i: y_i = k} correct_i.

    The interval draws examples, or whole clusters, with replacement, and weights runs by `resample_runs`. A label that
    a draw leaves out is left out of that draw's mean.

    Args:
        correct: Correctness in [0, 1], (R, N) or (N,).
        gold: Labels as codes, (N,).
        clusters: (N,) names of what examples share, such as a premise; whole clusters are then drawn.
        seed: Of the bootstrap.
        n_draws: Of the bootstrap.
        level: Of the interval.

    Raises:
        InputError: There are no examples, lengths differ, a value is outside [0, 1], or a label is negative.

    Source: Brodersen, Ong, Stephan and Buhmann 2010, "The balanced accuracy and its posterior distribution".
    """
    check_bootstrap(seed, n_draws, level)
    labels = np.unique(as_codes(gold, "gold"), return_inverse=True)[1]
    scores = np.atleast_2d(as_numbers(correct, "correctness").astype(np.float64))
    if scores.ndim != 2 or scores.shape[1] != labels.size or scores.shape[0] == 0:
        raise InputError(
            f"correctness has shape {np.shape(correct)}, gold has {labels.size} examples",
            mend="give (runs, examples) or (examples,) of the same examples",
        )
    if not np.all((scores >= 0) & (scores <= 1)):
        raise InputError("correctness has values outside [0, 1]")
    rng = np.random.default_rng(seed)
    codes = cluster_codes(clusters, labels.size)
    if codes is None:
        codes = np.arange(labels.size)
    weights = resample_runs(len(scores), rng, n_draws)
    draws = _drawn(scores, labels, codes, weights, rng)
    recalls = _recalls(scores, labels)
    interval = percentile_interval(draws, level).within(0.0, 1.0)
    return BalancedAccuracy(
        value=float(recalls.mean()),
        low=interval.low,
        high=interval.high,
        recalls=recalls.mean(axis=0),
        n_labels=recalls.shape[1],
        n_runs=len(scores),
        n_examples=labels.size,
    )


def _recalls(scores: NDArray[np.float64], labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """Share right of each run among the examples of each label, (R, K)."""
    return np.stack([np.bincount(labels, weights=row) for row in scores]) / np.bincount(labels)


def _drawn(
    scores: NDArray[np.float64],
    labels: NDArray[np.intp],
    codes: NDArray[np.int64],
    weights: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Weighted mean over runs of the mean recall in each draw of clusters, (B,)."""
    n_clusters, n_labels = int(codes.max()) + 1, int(labels.max()) + 1
    cells = codes * n_labels + labels

    def summed(values: NDArray[np.float64] | None) -> NDArray[np.float64]:
        found = np.bincount(cells, weights=values, minlength=n_clusters * n_labels)
        return found.reshape(n_clusters, n_labels).astype(np.float64)

    sums = np.concatenate([summed(None), *(summed(row) for row in scores)], axis=1)
    draws = np.empty(len(weights))
    for rows, counts in draw_clusters(n_clusters, draws.size, rng):
        own = weights[rows]
        with one_blas_thread():
            drawn = (counts @ sums).reshape(len(own), -1, n_labels)
        with np.errstate(invalid="ignore"):
            recalls = drawn[:, 1:] / drawn[:, :1]
        draws[rows] = (own * np.nanmean(recalls, axis=2)).sum(axis=1)
    return draws


PAIRED = "paired"
# The whole input of a dataset of single texts; nothing can be left out of it.
TEXT = "text"


@dataclass(frozen=True)
class ConditionAccuracy:
    """What one condition reaches: a row of the report.

    Attributes:
        condition: Its name.
        n_runs: R.
        accuracy: Mean over runs and examples, with its bounds.
        sd: Standard deviation of the runs' accuracies (ddof 1); NaN for one run.
        departure: Mean over runs of how far decisions depart from always naming one label: the least over labels c of
            the larger of the share wrong among examples of c and the share right among all others. A run that always
            names one label has 0; where c is the majority, no run can improve on it by more than this share of what it
            leaves to be gained.
        n_constant: Runs whose departure is 0.
        majority: The majority label's share of the test gold.
        improvement: accuracy - majority, with its bounds.
        recovered: accuracy / accuracy of the paired condition, with its bounds; NaN where `reason` says why: one of the
            two names one label only in all its runs, for example.
        reason: Why `recovered` has no value, or "".
    """

    condition: str
    n_runs: int
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    sd: float
    departure: float
    n_constant: int
    majority: float
    improvement: float
    improvement_low: float
    improvement_high: float
    recovered: float
    recovered_low: float
    recovered_high: float
    reason: str


@dataclass(frozen=True)
class SingleSentenceReport(Result):
    """What each condition reaches, in the order given; see `single_sentence_report`.

    Attributes:
        conditions: One row a condition.
        maximum: The row of the single-part condition with the largest improvement; None when there is none.
        n_examples: N.
        majority_label: The label with the largest share of the test gold.
        majority: That share, which is also the accuracy of always giving that label.
        train_majority_label: The most frequent training label; None without training gold.
        train_majority_accuracy: Test accuracy of always giving it; NaN without training gold.
        note: What does not apply to this dataset, or "".
        level: Of the intervals.
        interval_method: How the intervals were made.
        seed: Of the bootstrap.
        n_draws: Of the bootstrap.
        caveats: What to bear in mind, in sentences.
    """

    conditions: tuple[ConditionAccuracy, ...]
    maximum: ConditionAccuracy | None
    n_examples: int
    majority_label: str
    majority: float
    train_majority_label: str | None
    train_majority_accuracy: float
    note: str
    level: float
    interval_method: str
    seed: int
    n_draws: int
    caveats: tuple[str, ...] = ()

    def __getitem__(self, condition: str) -> ConditionAccuracy:
        for row in self.conditions:
            if row.condition == condition:
                return row
        raise KeyError(condition)

    def to_frame(self) -> pl.DataFrame:
        """One row a condition, with the columns of `ConditionAccuracy`."""
        return pl.DataFrame([asdict(row) for row in self.conditions])


def single_sentence_report(
    correct: Mapping[str, ArrayLike],
    gold: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    label_names: Sequence[str] | None = None,
    train_gold: ArrayLike | None = None,
    fixed: Collection[str] = (),
    seed: int = 0,
    n_draws: int = 1000,
    level: float = 0.95,
) -> SingleSentenceReport:
    """Measure how much of the label each condition recovers.

    improvement = accuracy - majority, recovered = accuracy / accuracy of "paired"; values above 1 are legal.
    Accuracies are means over runs and examples. The majority label is the most frequent of the test gold, the first
    of equals.

    Intervals answer "with other examples and other seeds": examples are drawn with replacement, by the same draw for
    all conditions and the majority, and each condition's runs have weights of their own (`resample_runs`), since the
    seeds of two conditions have nothing in common. The majority label is held fixed while drawing. The accuracy of a
    single run has a Wilson interval; nothing can be said about its seed noise, and its derived numbers vary with
    the examples only.

    Args:
        correct: Condition name to correctness, (R, N) or (N,), in [0, 1]. "paired" is the whole input of pairs,
            "text" that of single texts; every other name is a part.
        gold: Test labels as codes, (N,).
        clusters: (N,) names of what examples share, such as a premise: whole clusters are then drawn, for a single run
            as well. Without them, intervals on examples that go together are too narrow.
        label_names: Names of the codes; "0", "1", ... without them.
        train_gold: Training labels as codes, any length.
        fixed: Conditions that no further training would change, such as an empty input or a rule: caveats about few
            runs and constant predictions are not of them.
        seed: Of the bootstrap.
        n_draws: Of the bootstrap.
        level: Of the intervals.

    Raises:
        InputError: No condition, no examples, lengths that differ, values outside [0, 1], or a negative label.

    Source: Saxon, Wang, Xu and Wang 2023, "PECO"; Owen 2007, "The pigeonhole bootstrap", for drawing both ways.
    """
    check_bootstrap(seed, n_draws, level)
    if not isinstance(correct, Mapping):
        raise InputError("correctness is of no condition", mend="give a mapping from conditions to correctness")
    labels = as_codes(gold, "gold")
    scores = {name: _scores(values, name, labels.size) for name, values in correct.items()}
    if not scores:
        raise InputError("no condition was given", mend="give the correctness of one condition or more")
    counts = np.bincount(labels)
    majority_code = int(counts.argmax())
    is_majority = (labels == majority_code).astype(np.float64)
    codes = cluster_codes(clusters, labels.size)
    draws = _Draws(scores, is_majority, codes, seed, n_draws, level)
    departures = {name: _departures(values, labels) for name, values in scores.items()}
    rows = tuple(_row(name, draws, departures) for name in scores)
    parts = [row for row in rows if row.condition not in (PAIRED, TEXT)]
    train_code = None if train_gold is None else int(np.bincount(as_codes(train_gold, "train_gold")).argmax())
    return SingleSentenceReport(
        conditions=rows,
        maximum=max(parts, key=lambda row: row.improvement) if parts else None,
        n_examples=labels.size,
        majority_label=_name(majority_code, label_names),
        majority=float(is_majority.mean()),
        train_majority_label=None if train_code is None else _name(train_code, label_names),
        train_majority_accuracy=float("nan") if train_code is None else float(np.mean(labels == train_code)),
        note=_note(scores, parts),
        level=level,
        interval_method="bootstrap over examples and runs; Wilson for the accuracy of a single run"
        if codes is None
        else "bootstrap over clusters of examples and runs",
        seed=seed,
        n_draws=n_draws,
        caveats=_caveats([row for row in rows if row.condition not in fixed]),
    )


def withhold_shares(report: SingleSentenceReport) -> SingleSentenceReport:
    """The report without shares recovered where the paired model is not surely better than the majority.

    The measure has a value there, as its definition gives it: near 1 whatever a part tells, since both models do no
    more than name the most frequent test label. For reports, which must not print that as a finding.
    """
    whole = next((row for row in report.conditions if row.condition == PAIRED), None)
    if whole is None or whole.improvement_low > 0:
        return report
    nan, why = float("nan"), "the paired model is not significantly better than the most frequent test label"
    rows = tuple(
        replace(row, recovered=nan, recovered_low=nan, recovered_high=nan, reason=row.reason or why)
        for row in report.conditions
    )
    maximum = None if report.maximum is None else next(row for row in rows if row.condition == report.maximum.condition)
    return replace(report, conditions=rows, maximum=maximum)


class _Draws:
    """Accuracies of all conditions and of the majority, as measured and in each draw."""

    def __init__(
        self,
        scores: Mapping[str, NDArray[np.float64]],
        is_majority: NDArray[np.float64],
        codes: NDArray[np.int64] | None,
        seed: int,
        n_draws: int,
        level: float,
    ) -> None:
        rng = np.random.default_rng(seed)
        self.scores = scores
        self.level = level
        self.majority = float(is_majority.mean())
        means = resample_examples(np.vstack([is_majority[np.newaxis], *scores.values()]), rng, n_draws, codes)
        self.majority_draws = means[:, 0]
        self.draws: dict[str, NDArray[np.float64]] = {}
        self.of_accuracy: dict[str, Interval] = {}
        start = 1
        for name, values in scores.items():
            if counts_right(values, codes):
                self.of_accuracy[name] = wilson_interval(float(values.sum()), values.size, level)
            else:
                drawn = means[:, start : start + len(values)]
                self.of_accuracy[name] = drawn_score_interval(drawn, rng, level=level)
            start += len(values)
        start = 1
        for name, values in scores.items():
            weights = resample_runs(len(values), rng, n_draws)
            self.draws[name] = (weights * means[:, start : start + len(values)]).sum(axis=1)
            start += len(values)

    def interval(self, draws: NDArray[np.float64]) -> Interval:
        return percentile_interval(draws, self.level)


def _row(name: str, draws: _Draws, departures: Mapping[str, NDArray[np.float64]]) -> ConditionAccuracy:
    values = draws.scores[name]
    accuracy = float(values.mean())
    bounds = draws.of_accuracy[name]
    gain = draws.interval(draws.draws[name] - draws.majority_draws)
    reason = _why_not_recovered(name, draws.scores, departures)
    if reason:
        recovered, share = float("nan"), Interval(float("nan"), float("nan"))
    else:
        recovered = accuracy / float(draws.scores[PAIRED].mean())
        whole = draws.draws[PAIRED]
        usable = whole > 0
        share = draws.interval(draws.draws[name][usable] / whole[usable])
    return ConditionAccuracy(
        condition=name,
        n_runs=len(values),
        accuracy=accuracy,
        accuracy_low=bounds.low,
        accuracy_high=bounds.high,
        sd=float(values.mean(axis=1).std(ddof=1)) if len(values) > 1 else float("nan"),
        departure=float(departures[name].mean()),
        n_constant=int(np.sum(departures[name] == 0)),
        majority=draws.majority,
        improvement=accuracy - draws.majority,
        improvement_low=float(np.clip(gain.low, -1, 1)),
        improvement_high=float(np.clip(gain.high, -1, 1)),
        recovered=recovered,
        recovered_low=share.low,
        recovered_high=share.high,
        reason=reason,
    )


def _departures(scores: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """How far each run is from always naming one label, (R,); see `ConditionAccuracy.departure`.

    Correctness is enough: who always names c is right on all of c and on nothing else.
    """
    is_label = (labels == np.unique(labels)[:, np.newaxis]).astype(np.float64)
    sizes = is_label.sum(axis=1)
    right = scores @ is_label.T
    missed = 1 - right / sizes
    elsewhere = (scores.sum(axis=1, keepdims=True) - right) / np.maximum(labels.size - sizes, 1)
    return np.asarray(np.maximum(missed, elsewhere).min(axis=1))


def _why_not_recovered(
    name: str, scores: Mapping[str, NDArray[np.float64]], departures: Mapping[str, NDArray[np.float64]]
) -> str:
    if TEXT in scores and PAIRED not in scores:
        return "single texts have no paired condition"
    if PAIRED not in scores:
        return "no paired condition was given"
    if not scores[PAIRED].any():
        return "the paired accuracy is 0"
    if not departures[PAIRED].any():
        return "the paired model names one label only"
    return "" if departures[name].any() else "its model names one label only"


def _caveats(rows: Sequence[ConditionAccuracy]) -> tuple[str, ...]:
    caveats = []
    if single := [row.condition for row in rows if row.n_runs == 1]:
        caveats.append(
            f"One run of {', '.join(single)}: the intervals are over examples alone, and another seed may move the "
            "figures further."
        )
    caveats += few_runs_caveat(min((row.n_runs for row in rows if row.n_runs > 1), default=1))
    caveats += [
        f"{row.condition}: {'' if row.n_runs == 1 else f'{row.n_constant} of {row.n_runs} runs: '}one label is named "
        "for every example, whether nothing can be read or nothing was learned."
        for row in rows
        if row.n_constant
    ]
    whole = next((row for row in rows if row.condition == PAIRED), None)
    if whole is not None and whole.improvement_low <= 0 and whole.n_constant < whole.n_runs:
        caveats.append(
            "The paired model is not significantly better than always naming the most frequent test label, so shares "
            "recovered say nothing."
        )
    return tuple(caveats)


def _note(scores: Mapping[str, NDArray[np.float64]], parts: Sequence[ConditionAccuracy]) -> str:
    if parts:
        return ""
    if TEXT in scores:
        return (
            "the examples are single texts: there is no part of the input to leave out, so leakage from a "
            "single sentence does not apply; the accuracy is that of the whole text"
        )
    return "no condition shows only a part of the input, so leakage from a single sentence was not measured"


def _name(code: int, label_names: Sequence[str] | None) -> str:
    if label_names is None:
        return str(code)
    if code >= len(label_names):
        raise InputError(f"code {code} is there, and {len(label_names)} label names", mend="name every label")
    return label_names[code]


def _scores(values: ArrayLike, name: str, n: int) -> NDArray[np.float64]:
    scores = np.atleast_2d(as_numbers(values, f"correctness of {name!r}").astype(np.float64))
    if scores.ndim != 2 or scores.shape[1] != n or scores.shape[0] == 0:
        raise InputError(
            f"correctness of {name!r} has shape {np.shape(values)}, gold has {n} examples",
            mend="give (runs, examples) or (examples,) of the same examples",
        )
    if not np.all((scores >= 0) & (scores <= 1)):
        raise InputError(f"correctness of {name!r} has values outside [0, 1]")
    return scores
