"""Do a model of a part and a model of the whole decide alike, and are they right where they do?"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from goldassay.core.arguments import as_codes
from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.core.intervals import wilson_interval
from goldassay.core.results import Result

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
    chance = chance_agreement(single, paired)
    if chance == 1:
        warnings.warn(
            "kappa is undefined: both models give one class to every example",
            UndefinedMeasureWarning,
            stacklevel=2,
        )
        return float("nan")
    return (agreement(single, paired) - chance) / (1 - chance)


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
