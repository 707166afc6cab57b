"""What the patterns are worth: accuracy gained by guessing the label from them alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.artifacts.label_codes import encode_labels
from goldassay.errors import InputError
from goldassay.intervals import wilson_interval
from goldassay.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.artifacts.difficulty import DifficultyAssignment


@dataclass(frozen=True)
class Estimate:
    """A value and the ends of its 95 % interval."""

    value: float
    low: float
    high: float
    method: str = ""


@dataclass(frozen=True)
class Giveaway(Result):
    """The worth of a table of patterns on a test set.

    Attributes:
        giveaway: Accuracy gained over always naming the most frequent label, a fraction of the whole test set, with a
            normal interval. 0 where no example is covered: patterns that are nowhere give nothing away.
        precision: easy/(easy + hard), how often the patterns' verdict is right, with its Wilson interval; NaN, from
            0 to 1, where there is neither.
        coverage: Share of the examples that hold a pattern.
        n_examples: N.
        n_decided: How many examples the patterns name a single label for.
    """

    giveaway: Estimate
    precision: Estimate
    coverage: float
    n_examples: int
    n_decided: int


def giveaway(assignment: DifficultyAssignment, labels: Sequence[Any] | NDArray[Any]) -> Giveaway:
    """Accuracy that guessing the patterns' label gains over always naming the most frequent label.

    Mean over the test set of x_i = 1[l_i = gold_i] - 1[m = gold_i] where the patterns of example i name a single label
    l_i, else 0 (several labels, or none: the guess falls back on m). m is the most frequent gold label of the test
    set, the first of equals. Standard error sd(x)/sqrt(N), ddof 1.

    The comparison is that of leakage, so that the two figures can be read side by side: patterns that merely name
    the most frequent label gain nothing, however often they are right.

    Args:
        assignment: Of the test set.
        labels: Gold labels of the test set, (N,); those left out of the assignment may be missing.

    Raises:
        InputError: There is no example, or the labels do not fit the assignment.

    Source: ours; precision is the share easy/(easy + hard) of Liu et al. 2020.
    """
    names = assignment.label_names
    codes, _ = encode_labels(labels, names, len(labels))
    codes = codes[codes >= 0]
    N = len(assignment)
    if not N:
        raise InputError("there is no example to guess", mend="give a test set with labels")
    if codes.size != N:
        raise InputError(f"{N} examples were classed, {codes.size} labels given", mend="give the same test set")
    majority = np.bincount(codes, minlength=len(names)).argmax()
    single = assignment.label_sets.sum(axis=1) == 1
    named = assignment.label_sets.argmax(axis=1)
    x = np.where(single, (named == codes).astype(np.float64) - (majority == codes), 0.0)
    value = float(x.mean())
    half = 1.959963984540054 * float(x.std(ddof=1)) / N**0.5 if N > 1 else float("nan")
    summary = assignment.summary
    decided = summary["easy"] + summary["hard"]
    precision = wilson_interval(summary["easy"], decided)
    share = summary["easy"] / decided if decided else float("nan")
    return Giveaway(
        giveaway=Estimate(value, value - half, value + half, "normal"),
        precision=Estimate(share, precision.low, precision.high, precision.method),
        coverage=1 - summary["uncovered"] / N,
        n_examples=N,
        n_decided=int(single.sum()),
    )
