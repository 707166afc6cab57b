"""Bootstrap intervals of the mean, the spread and its parts, over runs or over examples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from goldassay.errors import InputError
from goldassay.instability.scores import as_scores, example_variances
from goldassay.intervals import Interval
from goldassay.results import Result

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_FIGURES = ("mean", "sd", "total", "independent", "covariance", "design_effect")
_BLOCK = 64
_FEW_RUNS = 10


@dataclass(frozen=True)
class ResampledIntervals(Result):
    """Percentile intervals of what `summarize_scores` and `decompose_variance` (ddof 1) measure.

    Attributes:
        mean: Of the mean score.
        sd: Of its standard deviation over runs.
        total: Of its variance.
        independent: Of the independent part.
        covariance: Of the covariance.
        design_effect: Of total/independent; draws in which nothing varies are left out.
        over: "runs" or "examples".
        n_draws: How many resamples.
        n_runs: R.
        n_examples: N.
        caveats: What to bear in mind, in sentences.
        skipped: Reason -> count of draws without a value.
    """

    mean: Interval
    sd: Interval
    total: Interval
    independent: Interval
    covariance: Interval
    design_effect: Interval
    over: str
    n_draws: int
    n_runs: int
    n_examples: int
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a figure: figure, low, high."""
        intervals = [getattr(self, name) for name in _FIGURES]
        return pl.DataFrame(
            {"figure": _FIGURES, "low": [i.low for i in intervals], "high": [i.high for i in intervals]}
        )


def resample_scores(
    scores: ArrayLike,
    over: Literal["runs", "examples"] = "runs",
    *,
    level: float = 0.95,
    n_draws: int = 2000,
    seed: int = 0,
) -> ResampledIntervals:
    """Percentile bootstrap intervals, drawing runs or examples with replacement.

    A plain resample misleads for variances, so two things are put right. Drawing R of R runs shrinks a variance
    over runs to (R-1)/R of itself on average: it is scaled back. Drawing an example twice makes two that move
    together exactly, which is not what drawing from all examples would do: such pairs count as one example's
    variance each, not as covariance.

    Args:
        scores: (R, N).
        over: "runs": what other seeds would have given. "examples": what another sample of examples would have.
        level: Of the intervals.
        n_draws: How many resamples.
        seed: Of the draws.

    Raises:
        InputError: There are fewer than 2 runs, scores are not finite, or a setting is out of range.

    Source: Efron 1979; the two corrections are ours.
    """
    values = as_scores(scores, min_runs=2)
    if over not in ("runs", "examples"):
        raise InputError(f"there is no resampling over {over!r}", mend="choose 'runs' or 'examples'")
    if not 0 < level < 1 or n_draws < 1:
        raise InputError(f"level is {level}, n_draws {n_draws}", mend="give a level in (0, 1) and at least 1 draw")
    n_runs, n_examples = values.shape
    rng = np.random.default_rng(seed)
    draw = _draw_runs if over == "runs" else _draw_examples
    mean, total, independent = draw(values, n_draws, rng)
    with np.errstate(invalid="ignore", divide="ignore"):
        effect = np.where(independent > 0, total / independent, np.nan)
    undefined = int(np.isnan(effect).sum())

    def interval(figure: NDArray[np.float64]) -> Interval:
        return _interval(figure, level, over)

    few = f"Drawn from {n_runs} runs: the true intervals of the spread are wider." if n_runs < _FEW_RUNS else ""
    return ResampledIntervals(
        mean=interval(mean),
        sd=interval(np.sqrt(np.maximum(total, 0.0))),
        total=interval(total),
        independent=interval(independent),
        covariance=interval(total - independent),
        design_effect=interval(effect),
        over=over,
        n_draws=n_draws,
        n_runs=n_runs,
        n_examples=n_examples,
        caveats=(few,) if few and over == "runs" else (),
        skipped={"nothing varies in the draw, so it has no design effect": undefined} if undefined else {},
    )


def _draw_runs(
    values: NDArray[np.float64], n_draws: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Mean, total and independent variance of each draw, from the products of runs with each other alone."""
    n_runs, n_examples = values.shape
    counts = rng.multinomial(n_runs, np.full(n_runs, 1 / n_runs), n_draws).astype(np.float64)
    centered = values - values.mean(axis=0)
    products = centered @ centered.T / n_examples**2
    means = values.mean(axis=1)
    offsets = means - means.mean()
    scale = n_runs / (n_runs - 1) / (n_runs - 1)
    total = (counts @ offsets**2 - (counts @ offsets) ** 2 / n_runs) * scale
    squares = np.einsum("dr,rs,ds->d", counts, products, counts, optimize=True)
    independent = (counts @ np.diagonal(products) - squares / n_runs) * scale
    # Rounding leaves a trace where all drawn runs are one.
    single = counts.max(axis=1) == n_runs
    return counts @ means / n_runs, np.where(single, 0.0, total), np.where(single, 0.0, independent)


def _draw_examples(
    values: NDArray[np.float64], n_draws: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The same over examples: pairs of one example with itself are taken out of the covariance."""
    n_examples = values.shape[1]
    variances = example_variances(values, 1)
    figures = np.empty((3, n_draws))
    for start in range(0, n_draws, _BLOCK):
        size = min(_BLOCK, n_draws - start)
        picked = rng.integers(0, n_examples, (size, n_examples))
        counts = np.stack([np.bincount(row, minlength=n_examples) for row in picked]).astype(np.float64)
        means = values @ counts.T / n_examples
        once, twice = counts @ variances / n_examples**2, counts**2 @ variances / n_examples**2
        rows = slice(start, start + size)
        figures[0, rows] = means.mean(axis=0)
        figures[1, rows] = means.var(axis=0, ddof=1) - twice + once
        figures[2, rows] = once
    return figures[0], figures[1], figures[2]


def _interval(figure: NDArray[np.float64], level: float, over: str) -> Interval:
    kept = figure[~np.isnan(figure)]
    method = f"bootstrap, over {over}"
    if kept.size == 0:
        return Interval(float("nan"), float("nan"), level, method)
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, method)
