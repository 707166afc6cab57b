"""Do a model of a part and a model of the whole decide alike, and are they right where they do?

Agreement where both models were trained with several seeds: every run of the one against every run of the other.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping  # noqa: TC003 -- the schema of results reads annotations
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from goldassay.core.arguments import as_codes, as_numbers, check_bootstrap
from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.core.results import Result
from goldassay.stats.bootstrap import percentile_interval, resample_examples, resample_runs
from goldassay.stats.clusters import cluster_codes
from goldassay.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Convention = Literal["recommended", "paper", "code"]


def agreement(single: ArrayLike, paired: ArrayLike) -> float:
    """Share of examples on which both decide alike: mean(single == paired).

    Args:
        single: Predicted codes of the model of a part, (N,).
        paired: Predicted codes of the model of the whole, (N,).

    Raises:
        InputError: Lengths differ, there are no examples, or predictions are not codes.

    Source: Saxon, Wang, Xu and Wang 2023, "PECO".
    """
    one, two = _codes(single=single, paired=paired)
    return float(np.mean(one == two))


def recovery(single: ArrayLike, paired: ArrayLike, gold: ArrayLike, convention: Convention = "recommended") -> float:
    """Share of agreements that are right, or of the paired model's right answers that the part also finds.

    With both = (single == paired) & (single == gold): "recommended" is sum(both) / sum(single == paired), the
    paper's definition; "paper" (also "code") is sum(both) / sum(paired == gold), which the released code computes
    and the printed table follows.

    Args:
        single: Predicted codes of the model of a part, (N,).
        paired: Predicted codes of the model of the whole, (N,).
        gold: Right codes, (N,).
        convention: Which denominator.

    Returns:
        In [0, 1]; NaN with a warning where the denominator is 0.

    Raises:
        InputError: Lengths differ, there are no examples, predictions are not codes, or the convention is unknown.

    Source: Saxon, Wang, Xu and Wang 2023, Equation 8 and released code.
    """
    one, two, right = _codes(single=single, paired=paired, gold=gold)
    if convention == "recommended":
        counted, why = one == two, "the two models agree on no example"
    elif convention in ("paper", "code"):
        counted, why = two == right, "the paired model is right on no example"
    else:
        raise InputError(f"convention {convention!r} is unknown", mend="choose recommended or paper")
    if not counted.any():
        warnings.warn(f"recovery is undefined: {why}", UndefinedMeasureWarning, stacklevel=2)
        return float("nan")
    return float(np.sum((one == two) & (one == right)) / np.sum(counted))


def chance_agreement(single: ArrayLike, paired: ArrayLike) -> float:
    """Agreement that the two marginals alone would give: sum over classes of share_single(c) share_paired(c).

    Source: Cohen 1960, "A coefficient of agreement for nominal scales".
    """
    one, two = _codes(single=single, paired=paired)
    size = int(max(one.max(), two.max())) + 1
    return float(np.bincount(one, minlength=size) @ np.bincount(two, minlength=size) / one.size**2)


def cohen_kappa(single: ArrayLike, paired: ArrayLike) -> float:
    """Agreement beyond chance: (agreement - chance) / (1 - chance).

    Returns:
        At most 1; NaN with a warning where both always give the same one class.

    Source: Cohen 1960.
    """
    from sklearn.metrics import cohen_kappa_score

    one, two = _codes(single=single, paired=paired)
    if one[0] == two[0] and not np.ptp(one) and not np.ptp(two):
        warnings.warn(
            "kappa is undefined: both models give one class to every example",
            UndefinedMeasureWarning,
            stacklevel=2,
        )
        return float("nan")
    return float(cohen_kappa_score(one, two))


@dataclass(frozen=True)
class AgreementReport(Result):
    """Agreement of two models; see `agreement_report`.

    Attributes:
        agreement: Share of examples decided alike, with Wilson bounds.
        chance: Agreement expected from the marginals.
        kappa: Agreement beyond chance; NaN where `skipped` says why.
        recovery: In the recommended convention; NaN where `skipped` says why.
        recovery_paper: In the paper's.
        single_accuracy: Of the model of a part.
        paired_accuracy: Of the model of the whole.
        both_correct: Share of examples that both get right.
        single_only: Share that only the model of a part gets right.
        paired_only: Share that only the model of the whole gets right.
        n_examples: N.
        skipped: Measure to the reason why it has no value.
    """

    agreement: float
    agreement_low: float
    agreement_high: float
    chance: float
    kappa: float
    recovery: float
    recovery_paper: float
    single_accuracy: float
    paired_accuracy: float
    both_correct: float
    single_only: float
    paired_only: float
    n_examples: int
    skipped: dict[str, str]

    def to_frame(self) -> pl.DataFrame:
        """One row: all values but `skipped`."""
        return pl.DataFrame([{key: value for key, value in self.__dict__.items() if key != "skipped"}])


def agreement_report(single: ArrayLike, paired: ArrayLike, gold: ArrayLike) -> AgreementReport:
    """All that two models' decisions tell of each other; see `agreement`, `recovery` and `cohen_kappa`.

    Raises:
        InputError: Lengths differ, there are no examples, or predictions are not codes.
    """
    one, two, right = _codes(single=single, paired=paired, gold=gold)
    same, one_right, two_right = one == two, one == right, two == right
    bounds = wilson_interval(int(same.sum()), one.size)
    skipped: dict[str, str] = {}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UndefinedMeasureWarning)
        values = {
            "kappa": cohen_kappa(one, two),
            "recovery": recovery(one, two, right),
            "recovery_paper": recovery(one, two, right, "paper"),
        }
    reasons = iter(str(each.message) for each in said)
    skipped.update((name, next(reasons)) for name, value in values.items() if np.isnan(value))
    return AgreementReport(
        agreement=float(same.mean()),
        agreement_low=bounds.low,
        agreement_high=bounds.high,
        chance=chance_agreement(one, two),
        **values,
        single_accuracy=float(one_right.mean()),
        paired_accuracy=float(two_right.mean()),
        both_correct=float(np.mean(one_right & two_right)),
        single_only=float(np.mean(one_right & ~two_right)),
        paired_only=float(np.mean(two_right & ~one_right)),
        n_examples=one.size,
        skipped=skipped,
    )


def broken_identities(
    agreement: float,
    recovery: float,
    single_accuracy: float,
    paired_accuracy: float,
    *,
    convention: Convention = "recommended",
    tolerance: float = 0.0,
) -> tuple[str, ...]:
    """Which identities four figures break that were printed somewhere; () when they can all be true together.

    With p and s the accuracies of the paired and the single model and c the share that both get right:
    max(0, p+s-1) <= c <= min(p, s), c <= agreement <= 1 - |p-s|, agreement <= 1 - p - s + 2c.
    c is recovery x agreement ("recommended") or recovery x p ("paper", "code").

    Args:
        agreement: Printed, a fraction.
        recovery: Printed, a fraction, in `convention`.
        single_accuracy: s.
        paired_accuracy: p.
        convention: That of the printed recovery.
        tolerance: How much a figure may miss by, for rounding.

    Returns:
        The identities broken, each with its figures.
    """
    s, p = single_accuracy, paired_accuracy
    both = recovery * (agreement if convention == "recommended" else p)
    identities = (
        ("both right is at least p + s - 1", max(0.0, p + s - 1), both),
        ("both right is at most the smaller accuracy", both, min(p, s)),
        ("both right is at most the agreement", both, agreement),
        ("agreement is at most 1 - |p - s|", agreement, 1 - abs(p - s)),
        ("agreement is at most both right + both wrong", agreement, 1 - p - s + 2 * both),
    )
    return tuple(
        f"{name}: {smaller:.3f} > {larger:.3f}" for name, smaller, larger in identities if smaller > larger + tolerance
    )


def _codes(**arrays: ArrayLike) -> tuple[NDArray[np.int64], ...]:
    found = {name: as_codes(values, name) for name, values in arrays.items()}
    sizes = {name: values.size for name, values in found.items()}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise InputError(f"lengths differ: {listed}", mend="give the same examples in the same order")
    return tuple(found.values())


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
    skipped: Mapping[str, str]


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
    right = _run_codes(gold, "gold")[0]
    one, two = _run_codes(single, "single"), _run_codes(paired, "paired")
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


def _run_codes(values: ArrayLike, name: str) -> NDArray[np.int64]:
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
