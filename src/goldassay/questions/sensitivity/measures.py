"""How far a score moves with the configuration: the prompt, the shots, the temperature, on the same examples."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.questions.instability.measures.comparison import noise_of_side
from goldassay.questions.instability.measures.scores import (
    OneRunScore,
    as_scores,
    distinct_runs,
    group_codes,
    score_one_run,
)
from goldassay.stats.clusters import dense_codes, variance_of_mean
from goldassay.stats.intervals import Interval, score_sd_interval, t_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

# Fewer configurations show that a score moves, and never that it does not.
LEAST_CONFIGURATIONS = 5
_FOLDS = 10


@dataclass(frozen=True)
class ConfigurationSpread(Result):
    """How far the score of one model moves with its configuration; see `configuration_spread`. All in fractions.

    Attributes:
        means: Mean score of each configuration, in the order given.
        n_repeats: Runs of each configuration.
        n_examples: N.
        range: Highest less lowest of the means.
        range_interval: Of the difference of those two over (clusters of) examples; it says nothing of other
            configurations, and the two were picked for lying furthest apart.
        sd: Standard deviation over configurations, without the noise of repeats.
        sd_interval: Its 95 % interval; its lower end is without the noise of examples, too, its upper end never 0.
        repeat_sd: Standard deviation over repeats of one configuration; None where none was repeated.
        best: Position of the best configuration.
        worst: Position of the worst.
        best_score: What picking the best configuration gives, on examples that it was not picked on.
        worst_score: Likewise of the worst.
        separable: Whether configurations can be told from repeats: some configuration was repeated.
        n_distinct: How many configurations there are where copies, exact ones and near ones, count as one
            (`distinct_runs`, of the first run of each).
    """

    means: tuple[float, ...]
    n_repeats: tuple[int, ...]
    n_examples: int
    range: float
    range_interval: Interval
    sd: float
    sd_interval: Interval
    repeat_sd: float | None
    best: int
    worst: int
    best_score: OneRunScore
    worst_score: OneRunScore
    separable: bool
    n_distinct: int


def configuration_spread(
    scores: Sequence[ArrayLike], clusters: ArrayLike | None = None, *, seed: int = 0, level: float = 0.95
) -> ConfigurationSpread:
    """The spread of a score over configurations, apart from that over repeats and examples.

    With m_cr the mean score of repeat r of configuration c: sigma_repeat² = MS_repeat, pooled over configurations, and
    sigma_config² = var_c(m_c) - MS_repeat/R, R the harmonic mean of the numbers of repeats; for equal numbers that is
    (MS_config - MS_repeat)/R. Its interval is Williams's: with M = R var_c(m_c), it reaches from
    (M - F_{high; C-1, d} MS_repeat)/(R F_{high; C-1, inf}) to the same with the low quantiles, cut at 0; d are the
    degrees of freedom of MS_repeat. Where nothing was repeated, var_c holds both, and so does the upper end.

    Configurations that are equally good differ on the examples at hand. The lower end is therefore at most

        (C - 1) var_c(m_c)/chi²_{high; C-1} - v,    v = half the mean variance of a pair's difference over examples

    (or clusters of them), cut at 0; it exceeds 0 for equal configurations in 2.5 % of draws.

    Means that lie closer together than chance would put them are a coincidence, and Williams's upper end would be 0 for
    them. For the upper end var_c is therefore at least

    - MS_repeat/R, at which the estimate reaches 0: a smaller one says no more of sigma_config than 0 does;
    - sum_i var_c(m_ci)/N², what flips of single examples (of clusters) give that know nothing of each other, the floor
      that `compare` takes;
    - of equal means 1/N²: they may lie one example's worth apart unseen.

    Its quantiles are those of the configurations that differ (`distinct_runs`), as copies add nothing. The floors only
    widen the interval.

    What picking a configuration gives is
    measured by 10 folds of clusters: it is picked on nine, and scored on the tenth.

    Args:
        scores: A configuration an entry, each (R_c, N), in [0, 1]; R_c may differ.
        clusters: (N,) cluster of each example; None where each counts by itself.
        seed: Of the folds.
        level: Of the intervals.

    Raises:
        InputError: There are fewer than 2 configurations or examples, or they do not cover the same examples.

    Source: Williams 1962, "A confidence interval for variance components"; Thomas and Hultquist 1978, "Interval
    estimation for the unbalanced case of the one-way random effects model", for unequal numbers; Mizrahi et al. 2024,
    "State of what art? A call for multi-prompt LLM evaluation".
    """
    runs = [as_scores(each) for each in scores]
    if len(runs) < 2:
        raise InputError("one configuration is there, and 2 are needed", mend="give runs of another prompt or setting")
    if len({each.shape[1] for each in runs}) > 1:
        raise InputError("configurations do not cover the same examples", mend="give those that all cover")
    n_examples = runs[0].shape[1]
    of_examples = np.stack([each.mean(axis=0) for each in runs])
    means = of_examples.mean(axis=1)
    best, worst = int(means.argmax()), int(means.argmin())
    apart = _difference(of_examples[best], of_examples[worst], clusters, level)
    repeats = np.array([len(each) for each in runs])
    df = int((repeats - 1).sum())
    within = sum(float(np.square(each.mean(axis=1) - each.mean()).sum()) for each in runs)
    noise = within / df if df else 0.0
    n_distinct = distinct_runs(np.stack([each[0] for each in runs]))
    harmonic = float(len(runs) / (1 / repeats).sum())
    codes = None if clusters is None else group_codes(clusters, n_examples)[1]
    flips = noise_of_side(of_examples, codes)[1] * len(runs)
    least = max(noise / harmonic, flips, 0.0 if np.ptp(means) > 0 else n_examples**-2)
    sd, interval = _spread(means, noise, df, harmonic, least, max(n_distinct, 2), level)
    interval = replace(interval, low=min(interval.low, _lowest(of_examples, codes, max(n_distinct, 2), level)))
    return ConfigurationSpread(
        means=tuple(means.tolist()),
        n_repeats=tuple(repeats.tolist()),
        n_examples=n_examples,
        range=float(means[best] - means[worst]),
        range_interval=apart,
        sd=sd,
        sd_interval=interval,
        repeat_sd=math.sqrt(noise) if df else None,
        best=best,
        worst=worst,
        best_score=score_one_run(_picked(of_examples, clusters, 1.0, seed), clusters, level),
        worst_score=score_one_run(_picked(of_examples, clusters, -1.0, seed), clusters, level),
        separable=df > 0,
        n_distinct=n_distinct,
    )


def _spread(
    means: NDArray[np.float64], noise: float, df: int, repeats: float, least: float, n_distinct: int, level: float
) -> tuple[float, Interval]:
    """sigma_config and its interval; for the upper end the means vary by `least`, and `n_distinct` of them count."""
    from scipy.stats import chi2, f

    n, variance = len(means), float(means.var(ddof=1)) if np.ptp(means) > 0 else 0.0
    if not df:
        both = score_sd_interval(math.sqrt(max(variance, least)), n_distinct, level)
        return math.sqrt(variance), Interval(math.sqrt(variance), both.high, level, "chi-square, repeats included")

    def end(of: float, count: int, quantile: float) -> float:
        against_noise = float(f.ppf(quantile, count - 1, df))
        alone = float(chi2.ppf(quantile, count - 1)) / (count - 1)
        return math.sqrt(max((repeats * of - against_noise * noise) / (repeats * alone), 0.0))

    low, high = end(variance, n, (1 + level) / 2), end(max(variance, least), n_distinct, (1 - level) / 2)
    estimate = math.sqrt(max(variance - noise / repeats, 0.0))
    most = math.sqrt(n / (n - 1)) / 2
    return estimate, Interval(min(low, estimate), max(min(high, most), estimate), level, "Williams")


def _lowest(of_examples: NDArray[np.float64], codes: NDArray[np.int64] | None, n_distinct: int, level: float) -> float:
    """Lower end of sigma_config, of configurations (C, N), of which `n_distinct` count, without the noise of examples.

    The mean variance of a difference over all pairs is 2/(C (C-1)) (C sum_c V(y_c) - V(sum_c y_c)).
    """
    from scipy.stats import chi2

    n = len(of_examples)

    def noise(of: NDArray[np.int64] | None) -> float:
        of_each = sum(variance_of_mean(each, of) for each in of_examples)
        return (n * of_each - variance_of_mean(of_examples.sum(axis=0), of)) / (n * (n - 1))

    means = of_examples.mean(axis=1)
    spread = (n_distinct - 1) * float(means.var(ddof=1)) / float(chi2.ppf((1 + level) / 2, n_distinct - 1))
    return math.sqrt(max(spread - max(noise(codes), noise(None)), 0.0))


def _difference(
    one: NDArray[np.float64], other: NDArray[np.float64], clusters: ArrayLike | None, level: float
) -> Interval:
    """Student's interval of the mean of paired differences, by clusters."""
    differences = one - other
    codes = dense_codes(clusters, one.size)
    n_clusters = int(codes.max()) + 1
    if n_clusters < 2:
        raise InputError("all examples are one cluster", mend="give at least 2")
    variance = variance_of_mean(differences, codes)
    found = t_interval(float(differences.mean()), variance, n_clusters - 1, level, "Student t, over examples")
    return found.within(-1.0, 1.0)


def _picked(
    of_examples: NDArray[np.float64], clusters: ArrayLike | None, sign: float, seed: int
) -> NDArray[np.float64]:
    """The score of each example in the configuration that is best (or worst) on the other folds, (N,)."""
    n = of_examples.shape[1]
    codes = dense_codes(clusters, n)
    n_clusters = int(codes.max()) + 1
    n_folds = min(_FOLDS, n_clusters)
    order = np.random.default_rng(seed).permutation(n_clusters)
    fold = (order % n_folds)[codes]
    totals = of_examples.sum(axis=1)
    picked = np.empty(n)
    for each in range(n_folds):
        rows = fold == each
        others = totals - of_examples[:, rows].sum(axis=1)
        picked[rows] = of_examples[int((sign * others).argmax()), rows]
    return picked


def order_changes(means: ArrayLike) -> tuple[int, int]:
    """How many pairs of models change their order from one configuration to another, and how many pairs there are.

    A pair changes where one is ahead in some configuration and behind in another; equal scores are neither.

    Args:
        means: (M, C) mean score of each model in each configuration; NaN where a model was not asked so. A pair counts
            where it has two configurations in common.
    """
    values = np.asarray(means, dtype=np.float64)
    changed = pairs = 0
    for a in range(len(values)):
        for b in range(a + 1, len(values)):
            ahead = (values[a] - values[b])[~np.isnan(values[a] - values[b])]
            if ahead.size >= 2:
                pairs += 1
                changed += bool((ahead > 0).any() and (ahead < 0).any())
    return changed, pairs
