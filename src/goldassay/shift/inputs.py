"""What the measures of this room ask of their arrays."""

from __future__ import annotations

import numbers
import re
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.arguments import check_whole, is_number
from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def as_finite(values: ArrayLike, what: str, axes: tuple[str, ...]) -> NDArray[np.float64]:
    """Take numbers as an array of floats whose axes are one of `axes`, and refuse what cannot be measured.

    Args:
        values: The array.
        what: What it holds, in the plural, for the message: "scores of the in-distribution examples".
        axes: Allowed shapes, such as ("(N,)", "(R, N)").

    Raises:
        InputError: They are not numbers, have other axes, are empty, or one is NaN or infinite.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the {what} are not an array of numbers ({error})") from error
    if array.ndim not in [len(re.findall(r"\w+", shape)) for shape in axes]:
        raise InputError(f"the {what} have shape {array.shape}", mend=f"they must be {' or '.join(axes)}")
    if array.size == 0:
        raise InputError(f"there are no {what} (their shape is {array.shape})", mend="give at least one")
    # A sum is finite only if all its terms are, and needs no second array.
    if not np.isfinite(array.sum()):
        bad = np.argwhere(~np.isfinite(array))
        if bad.size:
            raise InputError(
                f"{len(bad)} of the {what} are not finite numbers, the first at {tuple(bad[0].tolist())}",
                mend="leave out the examples that were not scored",
            )
    return array


def as_sides(
    scores_in: ArrayLike, scores_out: ArrayLike, axes: tuple[str, ...] = ("(N,)",)
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Take the anomaly scores of both sides.

    Raises:
        InputError: As for `as_finite`.
    """
    return (
        as_finite(scores_in, "scores of the in-distribution examples", axes),
        as_finite(scores_out, "scores of the out-of-distribution examples", axes),
    )


def check_share(value: float, what: str, *, with_one: bool = False) -> float:
    """Refuse what is no share in (0, 1), or in (0, 1] `with_one`.

    Raises:
        InputError: It lies outside, or is NaN.
    """
    if not is_number(value) or not (0 < value < 1 or (with_one and value == 1)):
        raise InputError(f"the {what} is {value}", mend=f"it must lie in (0, 1{']' if with_one else ')'}")
    return float(value)


def check_draws(n_draws: object, seed: object = 0) -> None:
    """Refuse a bootstrap of no draws, or of a seed that is none.

    Raises:
        InputError: There is not at least one draw, or the seed is no whole number from 0.
    """
    if isinstance(n_draws, bool) or not isinstance(n_draws, numbers.Integral) or n_draws < 1:
        raise InputError(f"the number of draws is {n_draws}", mend="it must be at least 1")
    check_whole("seed", seed, 0)
