"""Agreement where both models were trained with several seeds: every run of the one against every run of the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.arguments import as_numbers, check_bootstrap
from goldassay.core.errors import InputError
from goldassay.core.resampling import cluster_codes, percentile_interval, resample_examples, resample_runs
from goldassay.core.results import Result

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class AgreementOverRuns(Result):
    """Means over all pairs of runs; see `agreement_over_runs`.

    Attributes:
        agreement: Share of examples decided alike, with bounds.
        chance: Agreement expected from the marginals.
        kappa: (agreement - chance) / (1 - chance).
        recovery: Of what is decided alike, the share that is right, with bounds (recommended convention).
        recovery_paper: Of what the paired model gets right, the share that the part decides alike, with bounds.
        single_accuracy: Of the model of a part.
        paired_accuracy: Of the model of the whole.
        both_correct: Share of examples that both get right.
        n_single: Runs of the part.
        n_paired: Runs of the whole.
        n_examples: N.
        level: Of the intervals, which are a bootstrap over examples and runs.
        seed: Of the bootstrap.
        skipped: Measure to the reason why it has no value.
    """

    agreement: float
    agreement_low: float
    agreement_high: float
    chance: float
    kappa: float
    recovery: float
    recovery_low: float
    recovery_high: float
    recovery_paper: float
    recovery_paper_low: float
    recovery_paper_high: float
    single_accuracy: float
    paired_accuracy: float
    both_correct: float
    n_single: int
    n_paired: int
    n_examples: int
    level: float
    seed: int
    skipped: dict[str, str]


def agreement_over_runs(
    single: ArrayLike,
    paired: ArrayLike,
    gold: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    seed: int = 0,
    n_draws: int = 1000,
    level: float = 0.95,
) -> AgreementOverRuns:
    """Agreement, recovery and kappa of the runs of two conditions, as means over all pairs of runs.

    The seeds of two conditions have nothing in common, so no run of the one belongs to a run of the other. With
    s_ic and p_ic the shares of runs that give example i the class c, the mean over pairs of what one pair is counted
    by is: decided alike sum_c s_ic p_ic, both right s_iy p_iy, paired right p_iy, y the gold class. Recoveries are
    ratios of these means, and with one run each all figures are those of `agreement_report`.

    Intervals are over examples and runs: the deviation of the means in a bootstrap over examples, and that under
    weights of the runs of each condition (`resample_runs`), are added. Of one run each they are over examples alone,
    and another seed may move the figures further.

    Args:
        single: Predicted codes of the runs of a part, (R, N) or (N,).
        paired: Of the runs of the whole, (S, N) or (N,).
        gold: Right codes, (N,).
        clusters: (N,) names of what examples share, such as a premise; whole clusters are then drawn.
        seed: Of the bootstrap.
        n_draws: Of the bootstrap.
        level: Of the intervals.

    Raises:
        InputError: Numbers of examples differ, there are none, or predictions are not codes.

    Source: Saxon, Wang, Xu and Wang 2023, "PECO"; Cohen 1960.
    """
    check_bootstrap(seed, n_draws, level)
    right = _codes(gold, "gold")[0]
    one, two = _codes(single, "single"), _codes(paired, "paired")
    if {one.shape[1], two.shape[1]} != {right.size}:
        raise InputError(
            f"numbers of examples differ: single {one.shape[1]}, paired {two.shape[1]}, gold {right.size}",
            mend="give the same examples in the same order",
        )
    n_classes = int(max(one.max(), two.max(), right.max())) + 1
    s, p = _shares(one, n_classes), _shares(two, n_classes)
    rows = np.arange(right.size)
    paired_right = p[rows, right]
    counted = np.stack([(s * p).sum(axis=1), s[rows, right] * paired_right, paired_right])
    same, both, found = counted.mean(axis=1)
    pairs = np.array(
        [[[np.mean(a == b), np.mean((a == b) & (a == right)), np.mean(b == right)] for b in two] for a in one]
    )
    draws = _draws(counted, pairs, clusters, seed, n_draws)
    skipped = {}
    if same == 0:
        skipped["recovery"] = "the two models agree on no example"
    if found == 0:
        skipped["recovery_paper"] = "the paired model is right on no example"
    chance = float(s.mean(axis=0) @ p.mean(axis=0))
    if chance > 1 - 1e-12:
        skipped["kappa"] = "both models give one class to every example"
    bounds = percentile_interval(draws[:, 0], level)
    recovery, paper = _ratio(draws, 1, 0, level), _ratio(draws, 1, 2, level)
    return AgreementOverRuns(
        agreement=float(same),
        agreement_low=bounds.low,
        agreement_high=bounds.high,
        chance=chance,
        kappa=float("nan") if "kappa" in skipped else float((same - chance) / (1 - chance)),
        recovery=float(both / same) if same else float("nan"),
        recovery_low=recovery[0],
        recovery_high=recovery[1],
        recovery_paper=float(both / found) if found else float("nan"),
        recovery_paper_low=paper[0],
        recovery_paper_high=paper[1],
        single_accuracy=float(s[rows, right].mean()),
        paired_accuracy=float(found),
        both_correct=float(both),
        n_single=len(one),
        n_paired=len(two),
        n_examples=right.size,
        level=level,
        seed=seed,
        skipped=skipped,
    )


def _draws(
    counted: NDArray[np.float64], pairs: NDArray[np.float64], clusters: ArrayLike | None, seed: int, n_draws: int
) -> NDArray[np.float64]:
    """Means of what is counted, for other examples and other runs, (B, M).

    Args:
        counted: What each example counts, as a mean over pairs of runs, (M, N).
        pairs: What each pair of runs counts, as a mean over examples, (R, S, M).
        clusters: Of the examples.
        seed: Of the draws.
        n_draws: B.
    """
    rng = np.random.default_rng(seed)
    draws = resample_examples(counted, rng, n_draws, cluster_codes(clusters, counted.shape[1]))
    singles, wholes = (resample_runs(n, rng, n_draws) for n in pairs.shape[:2])
    # Not under both weights at once: what is peculiar to a pair is in the means of both its runs, and products of two
    # heavy tails would leave nothing shown of three runs each.
    moved = singles @ pairs.mean(axis=1) + wholes @ pairs.mean(axis=0) - 2 * pairs.mean(axis=(0, 1))
    return np.asarray(np.clip(draws + moved, 0.0, 1.0))


def _ratio(draws: NDArray[np.float64], part: int, whole: int, level: float) -> tuple[float, float]:
    usable = draws[:, whole] > 0
    bounds = percentile_interval(np.minimum(draws[usable, part] / draws[usable, whole], 1.0), level)
    return bounds.low, bounds.high


def _shares(codes: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    """Share of runs that give each example each class, (N, K)."""
    n = codes.shape[1]
    cells = np.arange(n) * n_classes + codes
    return np.bincount(cells.ravel(), minlength=n * n_classes).reshape(n, n_classes) / len(codes)


def _codes(values: ArrayLike, name: str) -> NDArray[np.int64]:
    codes = np.atleast_2d(as_numbers(values, name))
    if codes.ndim != 2 or codes.size == 0 or not np.issubdtype(codes.dtype, np.integer) or codes.min() < 0:
        raise InputError(f"{name} must be whole numbers from 0, (runs, examples), and at least one")
    return codes.astype(np.int64)


@dataclass(frozen=True)
class AgreementBounds(Result):
    """What correctness alone tells of agreement; see `agreement_from_correctness`.

    Attributes:
        at_least: Agreement cannot be less: the share that both get right.
        at_most: Nor more: that and the share that both get wrong.
        recovery_paper: Of what the paired model gets right, the share that the part gets right too, with bounds.
        both_correct: Share of examples that both get right.
        single_only: Share that only the part gets right.
        paired_only: Share that only the whole gets right.
        n_examples: N.
        level: Of the interval.
        seed: Of the bootstrap.
    """

    at_least: float
    at_most: float
    recovery_paper: float
    recovery_paper_low: float
    recovery_paper_high: float
    both_correct: float
    single_only: float
    paired_only: float
    n_examples: int
    level: float
    seed: int


def agreement_from_correctness(
    single: ArrayLike,
    paired: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    seed: int = 0,
    n_draws: int = 1000,
    level: float = 0.95,
) -> AgreementBounds:
    """What is known of the agreement of two models where only their right and wrong is known.

    With c the share that both get right and w the share that both get wrong: c <= agreement <= c + w, since where both
    are wrong they may have chosen different wrong classes (of two classes agreement is c + w). Recovery in the paper's
    convention is c / accuracy of the whole, and needs no more. Means over all pairs of runs, as `agreement_over_runs`.

    Args:
        single: Correctness of the runs of a part, 0 or 1, (R, N) or (N,).
        paired: Of the runs of the whole, (S, N) or (N,).
        clusters: See `agreement_over_runs`.
        seed: Of the bootstrap.
        n_draws: Of the bootstrap.
        level: Of the interval.

    Raises:
        InputError: Numbers of examples differ, there are none, or values are not from 0 to 1.
    """
    check_bootstrap(seed, n_draws, level)
    one, two = (_correctness(each, name) for each, name in ((single, "single"), (paired, "paired")))
    s, p = one.mean(axis=0), two.mean(axis=0)
    if s.size != p.size or not s.size:
        raise InputError(
            f"correctness is of {s.size} and {p.size} examples", mend="give the same examples in the same order"
        )
    counted = np.stack([s * p, (1 - s) * (1 - p), p])
    both, neither, found = counted.mean(axis=1)
    pairs = np.array([[[np.mean(a * b), np.mean((1 - a) * (1 - b)), np.mean(b)] for b in two] for a in one])
    recovery = _ratio(_draws(counted, pairs, clusters, seed, n_draws), 0, 2, level)
    return AgreementBounds(
        at_least=float(both),
        at_most=float(both + neither),
        recovery_paper=float(both / found) if found else float("nan"),
        recovery_paper_low=recovery[0],
        recovery_paper_high=recovery[1],
        both_correct=float(both),
        single_only=float(s.mean() - both),
        paired_only=float(found - both),
        n_examples=s.size,
        level=level,
        seed=seed,
    )


def _correctness(values: ArrayLike, name: str) -> NDArray[np.float64]:
    scores = np.atleast_2d(as_numbers(values, name).astype(np.float64))
    if scores.ndim != 2 or not np.all((scores >= 0) & (scores <= 1)):
        raise InputError(f"{name} must be right or wrong, 1 or 0, (runs, examples)")
    return scores
