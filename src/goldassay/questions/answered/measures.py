"""Scores by each rule for answers without one, and what the rule changes."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import bdtr, comb

from goldassay.questions.instability.measures.scores import score_one_run
from goldassay.stats.clusters import effective_clusters, variance_of_mean
from goldassay.stats.intervals import t_quantile
from goldassay.stats.significance import holm, t_p_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Items are put into so many classes of difficulty.
_STRATA = 10


class Mean(NamedTuple):
    """A mean with its 95 % interval over (clusters of) items; None where there are fewer than two."""

    value: float
    low: float | None
    high: float | None


def mean_of(scores: NDArray[np.float64], clusters: NDArray[np.int64] | None) -> Mean | None:
    """The mean of scores (N,) with its interval, see `score_one_run`; None where there are no scores."""
    if not scores.size:
        return None
    several = scores.size > 1 and (clusters is None or np.unique(clusters).size > 1)
    if not several:
        return Mean(float(scores.mean()), None, None)
    found = score_one_run(scores, None if clusters is None else np.unique(clusters, return_inverse=True)[1])
    return Mean(found.mean, found.interval.low, found.interval.high)


def expected_score(scores: NDArray[np.float64], scored: NDArray[np.bool_], difficulty: NDArray[np.float64]) -> float:
    """The score that is expected where a system has none, from how others score on the items.

    Items are put into ten classes by the mean score of the other systems; of each class the system's own mean over
    what it answered stands for what it did not answer (its mean over all, where it answered none of the class).

    Args:
        scores: (N,) of one system.
        scored: (N,) whether it has a score.
        difficulty: (N,) mean score of the others.
    """
    edges = np.quantile(difficulty, np.linspace(0, 1, _STRATA + 1)[1:-1])
    classes = np.digitize(difficulty, edges)
    own = np.bincount(classes, weights=scores * scored, minlength=_STRATA)
    n = np.bincount(classes, weights=scored, minlength=_STRATA)
    means = np.where(n > 0, own / np.maximum(n, 1), scores[scored].mean())
    return float(means[classes[~scored]].mean())


def harder(
    difficulty: NDArray[np.float64], scored: NDArray[np.bool_], clusters: NDArray[np.int64] | None
) -> Mean | None:
    """How much less others score on items without a score than on the rest; None where either has none.

    The interval is of the linearized difference of two means, by clusters, with Student's t; it ends at -1 and 1.
    """
    lacks = ~scored
    n_lacks, n_scored = int(lacks.sum()), int(scored.sum())
    if min(n_lacks, n_scored) < 2:
        return None
    of_scored, of_lacks = float(difficulty[scored].mean()), float(difficulty[lacks].mean())
    values = np.where(scored, (difficulty - of_scored) / n_scored, -(difficulty - of_lacks) / n_lacks) * scored.size
    groups = float(scored.size) if clusters is None else effective_clusters(clusters)
    error = variance_of_mean(values, clusters) ** 0.5 * t_quantile(max(groups - 1, 1.0), 0.95)
    gap = of_scored - of_lacks
    return Mean(gap, max(gap - error, -1.0), min(gap + error, 1.0))


def pass_at(
    n_right: NDArray[np.int64], n_trials: NDArray[np.int64], k: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """pass@k and pass^k of each item with at least k trials: that one of k succeeds, and that all k do.

        pass@k = 1 - C(n - c, k)/C(n, k)        pass^k = C(c, k)/C(n, k)

    Both are unbiased for k of n trials drawn without replacement; items with fewer than k trials tell nothing of k.

    Args:
        n_right: (N,) successes c.
        n_trials: (N,) trials n.
        k: At least 1.

    Returns:
        Two arrays over the items with at least k trials.

    Source: Chen et al. 2021, "Evaluating large language models trained on code"; Yao et al. 2024, "tau-bench".
    """
    kept = n_trials >= k
    c, n = n_right[kept], n_trials[kept]
    of = comb(n, k)
    return np.asarray(1 - comb(n - c, k) / of, np.float64), np.asarray(comb(c, k) / of, np.float64)


def intraclass(right: NDArray[np.float64], there: NDArray[np.bool_]) -> float:
    """The intraclass correlation of trials of one item: how much of the variance lies between items.

    One-way ANOVA: (MSB - MSW)/(MSB + (n0 - 1) MSW), n0 = (sum n_i - sum n_i²/sum n_i)/(N - 1). NaN where nothing
    varies, or no item has two trials.

    Args:
        right: (R, N) scores of trials.
        there: (R, N) which trials there are.

    Source: Fisher 1925; Donner 1986 for unequal numbers of trials.
    """
    n = there.sum(axis=0)
    items, total = int((n > 0).sum()), int(n.sum())
    if items < 2 or total <= items:
        return float("nan")
    means = np.divide((right * there).sum(axis=0), n, out=np.zeros(n.size), where=n > 0)
    between = float((n * (means - (right * there).sum() / total) ** 2).sum()) / (items - 1)
    within = float((there * (right - means) ** 2).sum()) / (total - items)
    n0 = (total - float((n**2).sum()) / total) / (items - 1)
    below = between + (n0 - 1) * within
    return (between - within) / below if below > 0 else float("nan")


class MeanError(NamedTuple):
    """The standard error of a mean over trials and items, as it is, with twice the trials, and with twice the items."""

    now: float
    trials: float
    items: float


def trial_errors(right: NDArray[np.float64], there: NDArray[np.bool_], clusters: NDArray[np.int64] | None) -> MeanError:
    """What more trials would buy, against more items.

        var(mean) = B + W,  W = s²/(N R),  s² = sum (x - mean of its item)²/(trials - items)

    B is of items (or their clusters) and W of trials: twice the trials halve W, twice the items both. B is at least 0:
    a W that is estimated larger than the variance of the mean is cut to it.

    Args:
        right: (R, N) scores of trials.
        there: (R, N) which trials there are; of each item at least one.
        clusters: (N,) of items.

    Source: Searle, Casella and McCulloch 1992; Miller 2024, "Adding error bars to evals".
    """
    n = there.sum(axis=0)
    means = (right * there).sum(axis=0) / n
    variance = variance_of_mean(means, clusters)
    spare = int(n.sum()) - n.size
    within = float((there * (right - means) ** 2).sum()) / spare if spare else 0.0
    of_trials = min(within * float((1 / n).sum()) / n.size**2, variance)
    return MeanError(variance**0.5, (variance - of_trials / 2) ** 0.5, (variance / 2) ** 0.5)


class Unanswered(NamedTuple):
    """Two systems, the shares of their answers without a score, and whether these differ, over all pairs."""

    a: int
    b: int
    a_share: float
    b_share: float
    p: float


def unanswered_pairs(
    scored: NDArray[np.bool_], clusters: NDArray[np.int64] | None, alpha: float = 0.05
) -> list[Unanswered]:
    """The pairs of systems of which one leaves out significantly more: McNemar's test, of clusters Student's t.

    Args:
        scored: (M, N) whether each answer has a score.
        clusters: (N,) of items.
        alpha: Of all pairs at once, after Holm's correction.

    Source: McNemar 1947, exact; Holm 1979.
    """
    groups = None if clusters is None else effective_clusters(clusters)
    pairs = list(combinations(range(len(scored)), 2))
    values = []
    for a, b in pairs:
        difference = scored[a].astype(np.float64) - scored[b]
        more = int((difference > 0).sum())
        apart = more + int((difference < 0).sum())
        if not apart:
            values.append(1.0)
        elif groups is None:
            values.append(min(1.0, 2 * float(bdtr(min(more, apart - more), apart, 0.5))))
        else:
            values.append(
                t_p_value(float(difference.mean()), variance_of_mean(difference, clusters), max(groups - 1, 1.0))
            )
    lacks = 1 - scored.mean(axis=1)
    return [
        Unanswered(a, b, float(lacks[a]), float(lacks[b]), float(p))
        for (a, b), p in zip(pairs, holm(values), strict=True)
        if p <= alpha
    ]


class Pair(NamedTuple):
    """Two systems whose order, or whether one is significantly better, depends on the rule; A less B.

    `both` is on the `n_both` items that both answered; `p` is Holm's over all pairs, of being ahead by *wrong* and
    behind on these.
    """

    a: int
    b: int
    wrong: float
    wrong_p: float
    scored_only: float
    scored_only_p: float
    both: float | None
    n_both: int
    p: float


def pairs_by_rule(
    scores: NDArray[np.float64], scored: NDArray[np.bool_], clusters: NDArray[np.int64] | None, alpha: float = 0.05
) -> list[Pair]:
    """The pairs of systems whose order depends on the rule for answers without a score.

    Args:
        scores: (M, N), 0 where there is none.
        scored: (M, N).
        clusters: (N,) of items.
        alpha: Of each pair by itself, and of `Pair.p` over all.
    """
    n_systems, n = scores.shape
    groups = float(n) if clusters is None else effective_clusters(clusters)

    def p_of(difference: float, values: NDArray[np.float64]) -> float:
        variance = variance_of_mean(values, clusters)
        return t_p_value(difference, variance, max(groups - 1, 1.0)) if variance > 0 else float(difference == 0)

    shares, means = scored.mean(axis=1), scores.mean(axis=1)
    only = np.divide(means, shares, out=np.zeros(n_systems), where=shares > 0)
    # Of the ratio of two means, linearized.
    linear = (scores - only[:, np.newaxis] * scored) / np.maximum(shares, 1 / n)[:, np.newaxis]
    found, doubted = [], []
    pairs = [pair for pair in combinations(range(n_systems), 2) if not scored[list(pair)].all()]
    for a, b in pairs:
        both = scored[a] & scored[b]
        wrong, apart = float(means[a] - means[b]), float(only[a] - only[b])
        wrong_p, apart_p = p_of(wrong, scores[a] - scores[b]), p_of(apart, linear[a] - linear[b])
        n_both, p = int(both.sum()), 1.0
        alike = float((scores[a] - scores[b])[both].mean()) if n_both else None
        if alike is not None and n_both > 1 and alike * wrong < 0:
            values = np.where(both, scores[a] - scores[b] - alike, 0.0) * n / n_both
            p = max(wrong_p, p_of(alike, values))
        doubted.append(p)
        found.append(Pair(a, b, wrong, wrong_p, apart, apart_p, alike, n_both, 1.0))
    adjusted = holm(doubted)
    return [
        pair._replace(p=float(p))
        for pair, p in zip(found, adjusted, strict=True)
        if np.sign(pair.wrong) != np.sign(pair.scored_only)
        or (pair.wrong_p <= alpha) != (pair.scored_only_p <= alpha)
        or p <= alpha
    ]
