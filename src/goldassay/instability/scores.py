"""What every measure of this room asks of its scores, and the sums that several of them share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def as_scores(scores: ArrayLike, *, ndim: int = 2, min_runs: int = 1) -> NDArray[np.float64]:
    """Take scores of R runs as an array of floats, (R, N) or (R, T, N), and refuse what cannot be measured.

    Any finite values are accepted: correctness, F1, or a multiple of these.

    Raises:
        InputError: The number of axes is wrong, there are no examples, too few runs, or a score is NaN or infinite.
    """
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the scores are not an array of numbers ({error})") from error
    axes = {1: "(R,)", 2: "(R, N)", 3: "(R, T, N)"}[ndim]
    if values.ndim != ndim:
        raise InputError(f"scores have {values.ndim} axes", mend=f"they must be {axes}: runs first, examples last")
    if values.size == 0:
        raise InputError(f"there are no scores (their shape is {values.shape})")
    if values.shape[0] < min_runs:
        raise InputError(
            f"{values.shape[0]} run is there, and {min_runs} are needed to measure a spread over runs",
            mend="add runs with other seeds",
        )
    # A sum is finite only if all its terms are, and needs no second array.
    if not np.isfinite(values.sum()):
        bad = np.argwhere(~np.isfinite(values))
        if bad.size:
            raise InputError(
                f"{len(bad)} scores are not finite numbers, the first at {tuple(bad[0].tolist())}",
                mend="leave out the runs or examples that were not scored",
            )
    return values


def check_ddof(ddof: int, n_runs: int) -> None:
    """Refuse degrees of freedom that leave nothing to divide by.

    Raises:
        InputError: `ddof` is neither 0 nor 1, or is 1 with a single run.
    """
    if ddof not in (0, 1):
        raise InputError(f"ddof is {ddof}", mend="it must be 0 or 1")
    if n_runs <= ddof:
        raise InputError(
            "one run is there, and 2 are needed to measure a spread over runs", mend="add runs with other seeds"
        )


def group_codes(groups: ArrayLike, n_examples: int) -> tuple[list[str], NDArray[np.int64]]:
    """Group names in ascending order, and for each example the position of its group.

    Raises:
        InputError: There is not one group name for each example.
    """
    values: NDArray[Any] = np.asarray(groups)
    if values.shape != (n_examples,):
        raise InputError(f"groups have shape {values.shape}", mend=f"give one for each of the {n_examples} examples")
    names, codes = np.unique(values.astype(np.str_), return_inverse=True)
    return [str(name) for name in names], codes.astype(np.int64)


def group_sums(values: NDArray[np.float64], codes: NDArray[np.int64], n_groups: int) -> NDArray[np.float64]:
    """Sums over the examples of each group, (R, G), of values (R, N)."""
    return np.stack([np.bincount(codes, weights=row, minlength=n_groups) for row in values])


def example_variances(values: NDArray[np.float64], ddof: int) -> NDArray[np.float64]:
    """Variance over runs of each example, (N,), of values (R, N).

    Runs are summed around the first run's values, which keeps a constant example's variance exactly 0.
    """
    n_runs = values.shape[0]
    first = values[0]
    total = np.zeros_like(first)
    squares = np.zeros_like(first)
    deviation = np.empty_like(first)
    for row in values[1:]:
        np.subtract(row, first, out=deviation)
        total += deviation
        deviation *= deviation
        squares += deviation
    total *= total
    total /= n_runs
    squares -= total
    np.maximum(squares, 0.0, out=squares)
    squares /= n_runs - ddof
    return squares
