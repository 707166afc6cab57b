"""Do two properties of examples go together, beyond what a third one explains?"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.resampling import percentile_interval
from goldassay.core.results import Result

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Coincidence(Result):
    """How often two properties are found on the same example; see `coincidence`.

    Attributes:
        observed: Examples that have both.
        expected: As many as there would be if the two were independent within each stratum.
        ratio: observed / expected; NaN where nothing is expected.
        low: Lower bound of the ratio's interval; NaN where it has none.
        high: Upper bound.
        p_value: Two-sided, of independence within strata.
        n_first: Examples that have the first property.
        n_second: Examples that have the second.
        n_examples: N.
        n_strata: Strata that hold examples.
        n_draws: Of the permutations and of the bootstrap.
        seed: Of both.
        reason: Why the ratio is NaN, or "".
    """

    observed: int
    expected: float
    ratio: float
    low: float
    high: float
    p_value: float
    n_first: int
    n_second: int
    n_examples: int
    n_strata: int
    n_draws: int
    seed: int
    reason: str


def coincidence(
    first: ArrayLike,
    second: ArrayLike,
    strata: ArrayLike | None = None,
    *,
    n_draws: int = 9999,
    level: float = 0.95,
    seed: int = 0,
) -> Coincidence:
    """Compare how many examples have both properties with how many would by chance.

        expected = sum_s a_s b_s / n_s,   ratio = observed / expected

    with a_s and b_s the examples of stratum s that have the first and the second property, of n_s. Where both
    properties lean to a label, as easy examples and clusters do, the label as strata keeps that from counting.

    The test permutes the second property within strata: the overlap in each is then hypergeometric, so that its sum is
    drawn exactly and no array is shuffled; p = (1 + #{|draw - expected| >= |observed - expected|}) / (1 + draws). The
    interval is a percentile bootstrap over examples, drawn as one multinomial over the 4 cells of all strata. Where no
    example has both, every draw would be 0: the upper bound is then that of a Poisson count of 0, -ln((1 - level)/2).
    Where so few have a property that more than (1 - level)/2 of the draws have none of them, and so no ratio, an
    interval of the other draws would be too short: it is NaN.

    Args:
        first: N truth values.
        second: N truth values.
        strata: N codes or names; one stratum if not given.
        n_draws: Of the permutations, and of the bootstrap.
        level: Of the interval.
        seed: Of all draws.

    Raises:
        InputError: There are no examples, or lengths differ.

    Source: Mantel and Haenszel 1959 for the expectation; Fisher 1935 for the conditional test; Garwood 1936 for a
    count of 0.
    """
    a, b = (np.asarray(values, dtype=np.bool_).ravel() for values in (first, second))
    codes = np.zeros(a.size, np.int64)
    if strata is not None:
        codes = np.unique(np.asarray(strata).ravel(), return_inverse=True)[1]
    if not a.size == b.size == codes.size or a.size == 0:
        raise InputError(f"there are {a.size}, {b.size} and {codes.size} values", mend="give one of each an example")
    k = int(codes.max()) + 1
    # Cells of each stratum: neither, second alone, first alone, both.
    cells = np.bincount(4 * codes + 2 * a + b, minlength=4 * k).reshape(k, 4)
    rng = np.random.default_rng(seed)
    observed, expected = (float(each) for each in _overlaps(cells))
    n, n_first, n_second = cells.sum(axis=1), cells[:, 2:].sum(axis=1), cells[:, 1::2].sum(axis=1)
    draws = rng.hypergeometric(n_first, n - n_first, n_second, size=(n_draws, k)).sum(axis=1)
    # Equal distances must count as equal, whatever the last bit of the expectation.
    as_far = np.abs(draws - expected) >= abs(observed - expected) * (1 - 1e-12)
    resampled = rng.multinomial(a.size, cells.ravel() / a.size, size=n_draws).reshape(n_draws, k, 4)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.divide(*_overlaps(resampled))
    defined = expected > 0
    interval = percentile_interval(ratios, level) if defined else None
    if interval is not None and observed == 0:
        interval = replace(interval, low=0.0, high=-math.log((1 - level) / 2) / expected)
    elif np.isnan(ratios).mean() > (1 - level) / 2:
        interval = None
    return Coincidence(
        observed=int(observed),
        expected=expected,
        ratio=observed / expected if defined else math.nan,
        low=math.nan if interval is None else interval.low,
        high=math.nan if interval is None else interval.high,
        p_value=float((1 + as_far.sum()) / (1 + n_draws)),
        n_first=int(n_first.sum()),
        n_second=int(n_second.sum()),
        n_examples=a.size,
        n_strata=int((n > 0).sum()),
        n_draws=n_draws,
        seed=seed,
        reason="" if defined else "no stratum has examples of both properties",
    )


def _overlaps(cells: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Observed and expected overlap of tables of cells, (..., strata, 4)."""
    n = np.maximum(cells.sum(axis=-1), 1)
    expected = cells[..., 2:].sum(axis=-1) * cells[..., 1::2].sum(axis=-1) / n
    return cells[..., 3].sum(axis=-1).astype(np.float64), expected.sum(axis=-1)
