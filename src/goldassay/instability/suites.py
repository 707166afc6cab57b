"""Is model A better than model B over several datasets together?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.resampling import percentile_interval
from goldassay.core.results import Result
from goldassay.instability.comparison import compare
from goldassay.instability.difference_noise import (
    degrees_of_freedom,
    drawn_differences,
    drawn_runs,
    noise_of_runs,
    sides_of,
    t_interval,
    t_p_value,
)
from goldassay.instability.scores import as_scores, group_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from goldassay.core.intervals import Interval
    from goldassay.instability.comparison import Comparison

__all__ = ["TotalComparison", "compare_totals"]

_DRAWS = 2000


@dataclass(frozen=True)
class TotalComparison(Result):
    """Difference of two models' weighted mean scores over several datasets, and the noise in it.

    Attributes:
        difference: Of A minus B.
        interval: Of the difference, over runs and examples (examples alone where a model has one run on a dataset).
        example_variance: By which examples of the same datasets were drawn, without the noise of single runs.
        var_total: With the variance of runs.
        degrees_of_freedom: Of var_total.
        p_value: Two-sided, from var_total and Student's t.
        mean_a: Weighted mean score of A.
        mean_b: Of B.
        n_datasets: D.
        n_examples: Of all datasets.
        joint: Whether a run answered all datasets, so that its luck is the same on all of them.
        of_models: Whether the noise of runs is known; else the interval is about these runs.
    """

    difference: float
    interval: Interval
    example_variance: float
    var_total: float
    degrees_of_freedom: float
    p_value: float
    mean_a: float
    mean_b: float
    n_datasets: int
    n_examples: int
    joint: bool
    of_models: bool


def compare_totals(
    scores: Sequence[tuple[ArrayLike, ArrayLike]],
    weights: ArrayLike,
    clusters: Sequence[ArrayLike | None] | None = None,
    *,
    joint: bool = False,
    matched: bool = False,
    method: Literal["normal", "bootstrap"] = "normal",
    level: float = 0.95,
    seed: int = 0,
    compared: Sequence[Comparison] | None = None,
) -> TotalComparison:
    """Compare two models on the weighted mean of their scores on several datasets.

    With weights w_k that sum to 1, the differences d_k and variances of `compare` on dataset k, and R runs of a model,
    each of which answered all datasets (`joint`):

        difference = sum_k w_k d_k
        v          = sum_k w_k² example_variance_k
        var_runs   = var_r(sum_k w_k acc_A,k,r)/R_A + var_r(sum_k w_k acc_B,k,r)/R_B
        var_total  = v + var_runs

    Where runs of different datasets have nothing to do with each other, var_runs is the sum of w_k² var_runs_k. The
    datasets are those there are, and not drawn from others: the interval says nothing about other datasets.
    Equal weights give the macro mean; weights by numbers of examples the micro mean, which is how the
    lm-evaluation-harness adds up groups unless `weight_by_size` is false. The bootstrap draws examples, or
    clusters, within each dataset, and runs once for all datasets.

    Args:
        scores: (A (R_A, N_k), B (R_B, N_k)) of each dataset, on the same examples in the same order; joint runs in the
            same order on each dataset.
        weights: (D,), not negative; they are divided by their sum.
        clusters: (N_k,) names of what examples share, of each dataset, or None.
        joint: Whether the r-th runs of all datasets are one run.
        matched: Whether run r of A and run r of B share a seed.
        method: "normal" theory, or "bootstrap".
        level: Of the interval.
        seed: Of the bootstrap's draws.
        compared: What `compare` said of each dataset, where that is known.

    Raises:
        InputError: There are no datasets, weights do not fit, joint runs differ in number, or as for `compare`.

    Source: variances of independent strata add up (Cochran 1977, "Sampling Techniques"); Welch 1938 and Satterthwaite
    1946 for the degrees of freedom; weights of groups as in Biderman et al. 2024.
    """
    pairs = [(as_scores(a), as_scores(b)) for a, b in scores]
    w = _shares(weights, len(pairs))
    groups = [None] * len(pairs) if clusters is None else list(clusters)
    found = compared or [
        compare(a, b, own, matched=matched, level=level, n_draws=0) for (a, b), own in zip(pairs, groups, strict=True)
    ]
    joint = joint and len(pairs) > 1
    if joint and any(len({len(pair[side]) for pair in pairs}) > 1 for side in (0, 1)):
        raise InputError("the datasets have different numbers of runs, so that these are not the same runs")
    of_models = all(each.of_models for each in found)
    parts: list[tuple[float, float]] = []
    for share, each in zip(w, found, strict=True):
        own = each.example_variance if of_models else each.var_examples
        parts.append((share**2 * own, (each.n_clusters or each.n_examples) - 1))
    example_variance = math.fsum(variance for variance, _ in parts)
    var_runs = 0.0
    if of_models:
        var_runs, of_runs = _noise(pairs, w, found, joint, matched)
        parts += of_runs
    difference = float(math.fsum(share * each.difference for share, each in zip(w, found, strict=True)))
    var_total, df = example_variance + var_runs, degrees_of_freedom(parts)
    over = "runs and examples" if of_models else "examples"
    if method == "normal":
        interval = t_interval(difference, var_total, df, level, over)
    else:
        interval = _drawn(pairs, w, groups, of_models, joint, matched, level, seed, over)
    return TotalComparison(
        difference=difference,
        interval=interval,
        example_variance=example_variance,
        var_total=var_total,
        degrees_of_freedom=df,
        p_value=t_p_value(difference, var_total, df),
        mean_a=math.fsum(share * each.mean_a for share, each in zip(w, found, strict=True)),
        mean_b=math.fsum(share * each.mean_b for share, each in zip(w, found, strict=True)),
        n_datasets=len(pairs),
        n_examples=sum(each.n_examples for each in found),
        joint=joint,
        of_models=of_models,
    )


def _shares(weights: ArrayLike, n: int) -> list[float]:
    w = np.asarray(weights, dtype=np.float64)
    if n == 0 or w.shape != (n,) or not np.isfinite(w).all() or (w < 0).any() or w.sum() <= 0:
        raise InputError(f"{w.size} weights for {n} datasets", mend="give one finite weight from 0 up for each")
    shares: list[float] = (w / w.sum()).tolist()
    return shares


def _noise(
    pairs: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
    w: Sequence[float],
    found: Sequence[Comparison],
    joint: bool,
    matched: bool,
) -> tuple[float, list[tuple[float, float]]]:
    """Variance of the total by the runs, and its parts with their degrees of freedom, none below what flips give."""
    if not joint:
        scaled: list[tuple[float, float]] = []
        whole = 0.0
        for share, each, (a, b) in zip(w, found, pairs, strict=True):
            # As `compare` takes it: runs that score the same although examples flip are a coincidence.
            variance = each.var_total - each.example_variance
            whole += share**2 * variance
            df = len(a) - 1 if matched else len(a) + len(b) - 2
            scaled.append((share**2 * max(variance, each.overlap), df))
        return whole, scaled
    of_sides = [sides_of(a, b, matched) for a, b in pairs]
    # `compare` gives the overlap of both sides together; it is shared out by the number of runs of each.
    overlap = math.fsum(share**2 * each.overlap for share, each in zip(w, found, strict=True))
    sides = []
    inverse = math.fsum(1 / len(values) for values in of_sides[0])
    for side in range(len(of_sides[0])):
        totals = sum(share * own[side].mean(axis=1) for share, own in zip(w, of_sides, strict=True))
        n = len(of_sides[0][side])
        sides.append((float(np.var(totals, ddof=1)) / n, overlap / n / inverse, n - 1))
    runs = noise_of_runs(sides)
    return runs.variance or overlap, [(variance, float(df)) for variance, df in runs.floored]


def _drawn(
    pairs: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
    w: Sequence[float],
    groups: Sequence[ArrayLike | None],
    of_models: bool,
    joint: bool,
    matched: bool,
    level: float,
    seed: int,
    over: str,
) -> Interval:
    rng = np.random.default_rng(seed)
    draws = np.zeros(_DRAWS)
    weights = None
    for share, (a, b), own in zip(w, pairs, groups, strict=True):
        if weights is None or not joint:
            n_a, n_b = (len(a), len(b)) if of_models else (1, 1)
            weights = drawn_runs(n_a, n_b, matched, rng, _DRAWS)
        if not of_models:
            a, b = a.mean(axis=0, keepdims=True), b.mean(axis=0, keepdims=True)
        codes = None if own is None else group_codes(own, a.shape[1])[1]
        draws += share * drawn_differences(a, b, codes, rng, weights)
    return percentile_interval(draws, level, method=f"bootstrap, over {over}")
