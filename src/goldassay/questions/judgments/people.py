"""What people would score, from a judge of all items and people on some; and whether the judge can replace them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.results import Result
from goldassay.stats.clusters import dense_codes, effective_clusters
from goldassay.stats.effects import LITTLE_SPREAD
from goldassay.stats.intervals import exact_upper, normal_quantile, t_interval, wilson_bounds
from goldassay.stats.significance import benjamini_hochberg, t_p_value, t_tail

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

LEVEL = 0.95
# Yes and no, shares and win rates.
SHARES = (0.0, 1.0)
# Labelled rows on which the judge scores so unlike the others are no random sample.
_SURE = 0.01
NOT_RANDOM = "the labelled rows are no random sample: the judge scores them unlike the others"
NOT_AS_GIVEN = "the labelled rows were not drawn with the given probabilities: the judge scores them unlike the others"
FEW = "fewer than two labelled clusters"
ONE_SCORE = "all scores are the same, and nothing says what the scale is"
# The judge's scores are compared in at most so many bins, of which each is expected to hold so many labels.
_MOST_BINS, _LEAST_IN_BIN = 10, 5
# So many standard errors, and this share, may the number of labels be off the sum of the probabilities.
_ERRORS_OFF, _SHARE_OFF, _ONE_IN = 3.29, 0.05, 1e-3
# Of the alternative annotator test (Calderon, Reichart and Dror 2025): crowd workers, skilled annotators, experts.
EPSILONS = (0.1, 0.15, 0.2)
LEAST_ANNOTATORS = 3
LEAST_ITEMS = 30
_FDR = 0.05


@dataclass(frozen=True)
class Corrected(Result):
    """The mean score that people would give, estimated from a judge's; see `correct_by_people`.

    Attributes:
        value: Prediction-powered estimate.
        low: Lower end at 95 %; NaN where no interval is valid.
        high: Upper end.
        reason: Why no interval is valid; "" where one is.
        people_mean: Mean of people's scores on the labelled rows.
        judge_mean: Mean of the judge's scores on all rows.
        weight: Lambda, from 0 (people alone) to 1.
        bias: `judge_mean` - `value`: how much too high the judge's mean is.
        bias_low: Lower end at 95 %.
        bias_high: Upper end.
        bias_error: Its standard error.
        df: Degrees of freedom, labelled effective clusters - 1.
        p_random: Probability that the judge scores random labelled rows so unlike the others, by mean or distribution.
        rogan_gladen: Mean by sensitivity and specificity; NaN where scores are not 0 and 1, or these sum to 1 or less.
        correlation: Pearson's, of both scores on the labelled rows; NaN where one of them does not vary.
        correlation_low: Lower end at 95 %.
        correlation_high: Upper end.
        sensitivity: Share of what people accept that the judge accepts; NaN where scores are not 0 and 1.
        sensitivity_low: Wilson's lower bound at the effective number of clusters.
        sensitivity_high: The upper one.
        specificity: Share of what people reject that the judge rejects.
        specificity_low: See above.
        specificity_high: See above.
        n_rows: Rows with a judge's score.
        n_labelled: Of these, rows that people scored.
        n_clusters: Labelled clusters.
        n_more: Further labels that halve the interval; None where labels of these rows cannot.
        judge: Name of the judge.
        of: What is scored: a system, or what wins against what; "" for all rows.
    """

    value: float
    low: float
    high: float
    reason: str
    people_mean: float
    judge_mean: float
    weight: float
    bias: float
    bias_low: float
    bias_high: float
    bias_error: float
    df: float
    p_random: float
    rogan_gladen: float
    correlation: float
    correlation_low: float
    correlation_high: float
    sensitivity: float
    sensitivity_low: float
    sensitivity_high: float
    specificity: float
    specificity_low: float
    specificity_high: float
    n_rows: int
    n_labelled: int
    n_clusters: int
    n_more: int | None
    judge: str = ""
    of: str = ""


def correct_by_people(
    judge: ArrayLike,
    people: ArrayLike,
    clusters: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    scale: tuple[float, float] | None = None,
) -> Corrected:
    """Estimate people's mean score y from a judge's score f of all N + n rows and people's of n.

        theta = mean_n(y) + lambda (mean_N(f) - mean_n(f)),   lambda = cov(y, f) / [(1 + n/N) var f] within [0, 1]

    The same is mean_n(y) + l (mean_all(f) - mean_n(f)) with l = lambda (N + n)/N, of which row i adds psi_i =
    [labelled] (y_i - l f_i - their mean)/n + l (f_i - mean_all(f))/(N + n). The variance is G/(G-1) sum_g (sum_{i in g}
    psi_i)² with G the labelled clusters, and Student's t has the labelled effective clusters - 1 degrees of freedom.
    With unequal probabilities means over labelled rows are weighted by their inverse, and l is the least-squares one.
    Of shares no end is nearer than Wilson's at theta (1 - theta)/variance rows, and none than Clopper and Pearson's
    where fewer than five clusters vary.

    No interval is valid where labelled rows were chosen by what they hold, other than by these probabilities. The mean
    and the distribution of the judge's scores test that at 1 % together; no test can exclude it.

    Args:
        judge: f, (N + n,).
        people: y, (N + n,); NaN where no person scored the row.
        clusters: Names or codes of rows that depend on each other, (N + n,).
        probabilities: With which each row was drawn to be labelled, (N + n,), above 0; None for equal ones.
        scale: The least and the largest score; None for those of these rows.

    Raises:
        ValueError: Nothing is labelled, sizes differ, or a probability is not in (0, 1].

    Source: Angelopoulos, Duchi and Zrnic 2023, "PPI++"; Zrnic and Candès 2024, "Active statistical inference", for
    probabilities; Rogan and Gladen 1978.
    """
    f, y = (np.asarray(each, dtype=np.float64) for each in (judge, people))
    known = ~np.isnan(y)
    m, n = f.size, int(known.sum())
    pi = np.ones(m) if probabilities is None else np.asarray(probabilities, dtype=np.float64)
    if not n or y.shape != f.shape or pi.shape != f.shape:
        raise ValueError("nothing is labelled, or sizes differ")
    if not ((pi[known] > 0) & (pi[known] <= 1)).all():
        raise ValueError("a probability is not above 0 and at most 1")
    codes = dense_codes(clusters, m)
    weights = np.where(known, 1 / np.where(known, pi, 1.0), 0.0)
    weights /= weights.sum()
    given = np.where(known, y, 0.0)
    mean_y, mean_f, mean_all = float(weights @ given), float(weights @ f), float(f.mean())
    of_people = weights * (given - mean_y)
    # How much the labelled rows' mean of f lies above that of all, row by row.
    apart = weights * (f - mean_f) - (f - mean_all) / m
    if n < m and np.ptp(f) > 0:
        if np.ptp(pi[known]) == 0:
            cov = float(((y - mean_y) * (f - mean_f))[known].sum()) / max(n - 1, 1)
            weight = cov / ((1 + n / (m - n)) * float(f.var(ddof=1)))
        else:
            weight = float(of_people @ apart / (apart @ apart)) * (m - n) / m
        weight = min(1.0, max(0.0, weight))
    else:
        weight = 0.0
    share = weight * m / (m - n) if n < m else 0.0
    value = mean_y + share * (mean_all - mean_f)
    labelled = np.unique(codes[known]).size
    df = effective_clusters(np.unique(codes[known], return_inverse=True)[1], weights[known]) - 1

    def variance(psi: NDArray[np.float64]) -> float:
        sums = np.bincount(codes, psi)
        return float(sums @ sums) * labelled / (labelled - 1) if labelled > 1 and df > 0 else math.nan

    psi = of_people - share * apart
    spread, of_bias = variance(psi), variance((f - mean_all) / m - psi)
    chosen = _p_random(f, known, pi, codes, weights, df) if n < m and np.ptp(f) > 0 and labelled > 1 else math.nan
    scale = scale or scale_of(f, y)
    span = scale[1] - scale[0]
    reason = FEW if math.isnan(spread) else "" if span else ONE_SCORE
    if not reason and chosen < _SURE:
        reason = NOT_RANDOM if probabilities is None else NOT_AS_GIVEN
    # Rows without a label may contradict a judge whom no labelled row does; where all have one, only the bias varies.
    floor, of_all = (_least_reach(each[known], codes[known], df + 1) * span for each in (given - share * f, given - f))
    if n < m:
        floor = of_all = max(floor, of_all)
    ends, of_difference = (
        (math.nan, math.nan) if reason else (min(found.low, center - least), max(found.high, center + least))
        for center, found, least in (
            (value, t_interval(value, spread, df, LEVEL), floor),
            (mean_all - value, t_interval(mean_all - value, of_bias, df, LEVEL), of_all),
        )
    )
    if scale == SHARES and not reason:
        ends = (max(ends[0], 0.0), min(ends[1], 1.0))
        of_difference = (max(of_difference[0], -1.0), min(of_difference[1], 1.0))
        if spread > 0 and 0 < value < 1:
            # Near 0 and 1 a standard error says too little on one side.
            wilson = wilson_bounds(value * (size := value * (1 - value) / spread), size)
            ends = (min(ends[0], float(wilson[0])), max(ends[1], float(wilson[1])))
    binary = bool(np.isin(f, (0, 1)).all() and np.isin(y[known], (0, 0.5, 1)).all())
    accepts = [_share(f == accepted, known & (y == accepted), weights, codes) for accepted in (1, 0)] if binary else []
    sensitivity, specificity = accepts or [(math.nan,) * 3] * 2
    both = sensitivity[0] + specificity[0] - 1
    return Corrected(
        value, *ends, reason, mean_y, mean_all, weight, mean_all - value, *of_difference,
        math.sqrt(of_bias), df, chosen,
        min(1.0, max(0.0, (mean_all + specificity[0] - 1) / both)) if both > 0 else math.nan,
        *correlate(given, f, weights, codes), *sensitivity, *specificity, m, n, labelled,
        None if reason else _more_labels(spread, variance(share * (f - mean_all) / m), n, m),
    )  # fmt: skip


def correlate(
    one: NDArray[np.float64], other: NDArray[np.float64], weights: NDArray[np.float64], codes: NDArray[np.int64]
) -> tuple[float, float, float]:
    """Pearson's correlation r of rows of positive weight with its interval; NaN where a side does not vary.

    Row i adds w_i [u_i v_i - r (u_i² + v_i²)/2] of standard scores u and v; G/(G-1) times the squares of the sums over
    clusters are the variance, and Student's t has the effective clusters - 1 degrees of freedom.

    Args:
        one: (N,).
        other: (N,).
        weights: (N,), 0 where a row does not count.
        codes: Clusters, (N,).

    Source: Hampel 1974, for the influence of a row on r; Liang and Zeger 1986, for sums over clusters.
    """
    rows = weights > 0
    x, y, w = one[rows], other[rows], weights[rows] / weights[rows].sum()
    own = np.unique(codes[rows], return_inverse=True)[1]
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return (math.nan,) * 3
    u, v = ((each - w @ each) / math.sqrt(w @ (each - w @ each) ** 2) for each in (x, y))
    r, n = float(w @ (u * v)), int(own.max()) + 1
    sums = np.bincount(own, w * (u * v - r * (u**2 + v**2) / 2))
    df = effective_clusters(own, w) - 1
    if n < 2 or df <= 0:
        return r, -1.0, 1.0
    found = t_interval(r, float(sums @ sums) * n / (n - 1), df, LEVEL)
    return r, max(-1.0, found.low), min(1.0, found.high)


def no_estimate(judge: ArrayLike, n_labelled: int, reason: str) -> Corrected:
    """The judge's mean alone, and why nothing follows for people's."""
    f = np.asarray(judge, dtype=np.float64)
    nan, mean = math.nan, float(f.mean())
    return Corrected(
        nan, nan, nan, reason, nan, mean, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan,
        nan, nan, nan,
        f.size, n_labelled, 0, None,
    )  # fmt: skip


def _labelled_together(known: NDArray[np.bool_], pi: NDArray[np.float64], codes: NDArray[np.int64]) -> float:
    """How far rows of a cluster are labelled together: 0 each by itself, 1 all or none."""
    spread = pi * (1 - pi)
    free = spread > 0
    r = np.where(free, (known - pi) / np.sqrt(np.where(free, spread, 1.0)), 0.0)
    sums, sizes = np.bincount(codes, r), np.bincount(codes, free)
    n_pairs = float(sizes @ sizes - sizes.sum())
    return min(1.0, max(0.0, float(sums @ sums - r @ r) / n_pairs)) if n_pairs else 0.0


def _rescaled(known: NDArray[np.bool_], pi: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities whose sum is the number of labels."""
    return np.minimum(1.0, pi * float(known.sum() / pi.sum()))


@dataclass(frozen=True)
class LabelCounts:
    """Labels of the rows of each of V values, and how many the probabilities let expect.

    Attributes:
        n_rows: (V,).
        n_labelled: (V,).
        expected: Sum of the probabilities, (V,).
        errors: Standard errors between `n_labelled` and `expected`, (V,); infinite where the draw has none.
        far: Whether they are too far apart, (V,).
    """

    n_rows: NDArray[np.int64]
    n_labelled: NDArray[np.int64]
    expected: NDArray[np.float64]
    errors: NDArray[np.float64]
    far: NDArray[np.bool_]


def count_labels(
    known: NDArray[np.bool_],
    pi: NDArray[np.float64],
    codes: NDArray[np.int64],
    values: NDArray[np.int64] | None = None,
    n_tests: int = 1,
) -> LabelCounts:
    """Count the labels of all rows, or of the rows of each value, against their probabilities.

    Too far is more than 5 % of the sum and a standard error of a draw of rows or, as far as rows of a cluster are
    labelled together, of clusters: 3.29 (one in 1,000), or Bonferroni's for several tests.

    Args:
        known: Which rows are labelled, (N,).
        pi: Their probabilities, (N,).
        codes: Clusters, (N,).
        values: Of each row, (N,), from 0; of values the probabilities are first scaled to the number of all labels.
        n_tests: How many values are tested together.
    """
    drawn = _rescaled(known, pi)
    together = _labelled_together(known, drawn, codes)
    if values is None:
        values, drawn = np.zeros(known.size, dtype=np.int64), pi
    deviation = np.sqrt(drawn * (1 - drawn))
    of_cluster, places = np.unique(np.stack([values, codes]), axis=1, return_inverse=True)
    of_clusters = np.bincount(of_cluster[0], np.bincount(np.ravel(places), deviation) ** 2)
    variance = (1 - together) * np.bincount(values, deviation**2) + together * of_clusters
    n, expected = np.bincount(values, known), np.bincount(values, drawn).astype(np.float64)
    away, error = np.abs(n - expected), np.sqrt(variance)
    most = max(_ERRORS_OFF, normal_quantile(1 - _ONE_IN / n_tests))
    far = away > np.maximum(most * error, _SHARE_OFF * expected)
    errors = np.divide(away, error, out=np.where(away > 0, math.inf, 0.0), where=error > 0)
    return LabelCounts(np.bincount(values), n.astype(np.int64), expected, errors, far)


def _p_random(
    f: NDArray[np.float64],
    known: NDArray[np.bool_],
    pi: NDArray[np.float64],
    codes: NDArray[np.int64],
    weights: NDArray[np.float64],
    df: float,
) -> float:
    """P that a random draw of rows differs from all as much in the mean of f, or in its distribution over bins.

    d = sum_i w_i (e_i - mean e) has the variance of the draw, V = sum_g [(1 - r) sum_i v_i e_i e_i' + r s_g s_g']/N²,
    s_g = sum_i sqrt(v_i) e_i, v_i = (1 - pi_i)/pi_i, with r how far rows of a cluster are labelled together. The mean
    has Student's t, and d' V^-1 d of bins is chi-square; Bonferroni for both.

    Source: Särndal, Swensson and Wretman 1992, for the variance of a Poisson draw.
    """
    drawn = _rescaled(known, pi)
    root = np.sqrt((1 - drawn) / drawn)
    if not root.any():
        return math.nan
    together = _labelled_together(known, drawn, codes)

    def difference(e: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        e = e - e.mean(axis=0)
        by_row = e * root[:, np.newaxis]
        by_cluster = np.stack([np.bincount(codes, each) for each in by_row.T], axis=1)
        covariance = (1 - together) * by_row.T @ by_row + together * by_cluster.T @ by_cluster
        return weights @ e, covariance / f.size**2

    apart, variance = difference(f[:, np.newaxis])
    p_values = [t_p_value(float(apart[0]), float(variance[0, 0]), df)]
    bins = _bins(f, df + 1)
    if (n_bins := int(bins.max()) + 1) > 2:
        from scipy.special import chdtrc

        apart, variance = difference(np.eye(n_bins)[bins][:, 1:])
        p_values.append(float(chdtrc(n_bins - 1, apart @ np.linalg.pinv(variance, hermitian=True) @ apart)))
    return min(1.0, len(p_values) * min(p_values))


def _bins(f: NDArray[np.float64], effective: float) -> NDArray[np.int64]:
    """The bin of each score, (N,): tenths of the rows, or single scores; each expected to hold five labels."""
    _, places, counts = np.unique(f, return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / f.size
    tenth = np.minimum((middle * _MOST_BINS).astype(np.int64), _MOST_BINS - 1)
    found, held, at = np.zeros(counts.size, dtype=np.int64), 0.0, 0
    for value in range(counts.size):
        if held * effective >= _LEAST_IN_BIN and tenth[value] != tenth[value - 1]:
            at, held = at + 1, 0.0
        found[value] = at
        held += counts[value] / f.size
    if at and held * effective < _LEAST_IN_BIN:
        found[found == at] = at - 1
    return found[places]


def scale_of(*values: NDArray[np.float64]) -> tuple[float, float]:
    """The least and the largest score; 0 and 1 where all lie between."""
    known = np.concatenate([np.ravel(each)[~np.isnan(np.ravel(each))] for each in values])
    low, high = float(known.min()), float(known.max())
    return SHARES if low >= 0 and high <= 1 else (low, high)


def _least_reach(residuals: NDArray[np.float64], codes: NDArray[np.int64], effective: float) -> float:
    """What a standard error cannot show where fewer than five clusters differ from what nearly all have in common.

    Clopper and Pearson's upper bound of their share, as in `stats.effects`; else 0.
    """
    values, counts = np.unique(residuals.round(12), return_counts=True)
    differ = np.unique(codes[residuals.round(12) != values[counts.argmax()]]).size
    return exact_upper(differ, max(effective, differ, 1), (1 - LEVEL) / 2) if differ < LITTLE_SPREAD else 0.0


def _share(
    agrees: NDArray[np.bool_], rows: NDArray[np.bool_], weights: NDArray[np.float64], codes: NDArray[np.int64]
) -> tuple[float, float, float]:
    """How often it is so on some rows, with Wilson's bounds at their effective clusters."""
    if not rows.any():
        return (math.nan,) * 3
    share = float(weights[rows] @ agrees[rows] / weights[rows].sum())
    n = effective_clusters(np.unique(codes[rows], return_inverse=True)[1], weights[rows])
    low, high = wilson_bounds(share * n, n)
    return share, float(low), float(high)


def _more_labels(spread: float, rest: float, n: int, n_rows: int) -> int | None:
    """Further labels with which the variance is a quarter, as a/n + b with b what is left of all rows' own."""
    a, quarter = max(spread - rest, 0.0) * n, spread / 4
    if quarter <= rest:
        return None
    more = math.ceil(a / (quarter - rest)) - n
    return more if n + more <= n_rows else None


@dataclass(frozen=True)
class AnnotatorTest(Result):
    """Whether a judge can replace an annotator; see `replaces_annotators`.

    Attributes:
        judge: Its name.
        n_annotators: Annotators that were held against the judge.
        n_items: Items with so many annotators.
        advantage: Mean share of items on which the judge is at least as near to the others as the annotator is.
        wins: Of each epsilon of `EPSILONS` the share of annotators that the judge beats.
        epsilon: The least of these at which it beats at least half; NaN where it does at none.
        lacking: What is missing for the test; "" where it was made.
    """

    judge: str
    n_annotators: int
    n_items: int
    advantage: float
    wins: tuple[float, ...]
    epsilon: float
    lacking: str = ""


def replaces_annotators(name: str, judge: ArrayLike, annotators: ArrayLike, *, graded: bool) -> AnnotatorTest:
    """Whether a judge represents each annotator's colleagues as well as that annotator does.

    On the items of annotator j, w_i = 1 where the judge is at least as near to the others as j, v_i = 1 where j is at
    least as near as the judge. H_j: mean(v - w) >= epsilon is rejected by a one-sided t test, for all annotators
    together by Benjamini and Yekutieli at 5 %. The judge passes where it beats at least half of the annotators.
    Nearness is the share of others with the same label, or of grades the negative root mean squared difference.

    Args:
        name: Of the judge.
        judge: (N,).
        annotators: Their labels, (J, N), NaN where there is none.
        graded: Whether labels are grades.

    Returns:
        What is lacking where fewer than three annotators have 30 items each that three annotated.

    Source: Calderon, Reichart and Dror 2025, "The alternative annotator test for LLM-as-a-judge".
    """
    f, given = np.asarray(judge, dtype=np.float64), np.atleast_2d(np.asarray(annotators, dtype=np.float64))
    known = ~np.isnan(given) & ~np.isnan(f)
    known &= known.sum(axis=0) >= LEAST_ANNOTATORS
    held = [at for at in range(len(given)) if known[at].sum() >= LEAST_ITEMS]
    n_items = int(known.any(axis=0).sum())
    if len(held) < LEAST_ANNOTATORS:
        lacking = (
            f"{LEAST_ANNOTATORS} annotators with {LEAST_ITEMS} items each that {LEAST_ANNOTATORS} annotated; here "
            f"{len(held)} of {len(given)} have"
        )
        return AnnotatorTest(name, len(held), n_items, math.nan, (math.nan,) * len(EPSILONS), math.nan, lacking)
    advantages, p_values = [], []
    for at in held:
        items, others = known[at], known.copy()
        others[at] = False
        near = [_nearness(each[items], given[:, items], others[:, items], graded=graded) for each in (f, given[at])]
        wins, loses = near[0] >= near[1], near[1] >= near[0]
        advantages.append(float(wins.mean()))
        p_values.append([_below(loses.astype(np.float64) - wins, epsilon) for epsilon in EPSILONS])
    harmonic = float((1 / np.arange(1, len(held) + 1)).sum())
    rates = tuple(
        float((benjamini_hochberg(of_epsilon) * harmonic <= _FDR).mean()) for of_epsilon in np.array(p_values).T
    )
    passed = [epsilon for epsilon, rate in zip(EPSILONS, rates, strict=True) if rate >= 0.5]
    return AnnotatorTest(name, len(held), n_items, float(np.mean(advantages)), rates, min(passed, default=math.nan))


def _nearness(
    one: NDArray[np.float64], given: NDArray[np.float64], others: NDArray[np.bool_], *, graded: bool
) -> NDArray[np.float64]:
    """How near labels (N,) are to those of others, (J, N)."""
    far = np.where(others, (given - one) ** 2 if graded else given != one, 0.0).sum(axis=0) / others.sum(axis=0)
    return -np.sqrt(far) if graded else -far


def _below(differences: NDArray[np.float64], epsilon: float) -> float:
    """P of a mean of at least epsilon, by one-sided t; 0 or 1 where all are equal."""
    error = float(differences.std(ddof=1)) / math.sqrt(differences.size)
    away = float(differences.mean()) - epsilon
    if not error:
        return float(away >= 0)
    tail = t_tail(abs(away) / error, differences.size - 1)
    return tail if away < 0 else 1 - tail
