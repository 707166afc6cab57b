"""What callers hand over, checked: single numbers, and arrays of them."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# Codes count classes; where they go far beyond the examples they are ids of something else, and tables as long as the
# largest of them would not fit into memory.
_MOST_CODES = 1_000_000


def is_number(value: object) -> bool:
    """Whether it is a real number; True and False are none."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def check_whole(name: str, value: object, least: int, most: int | None = None) -> None:
    """Refuse what is no whole number within bounds.

    Raises:
        InputError: It is none; the message says what may be chosen.
    """
    choice = f"{least} or more" if most is None else f"{least} to {most}"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InputError(f"{name} is {value!r}", mend=f"choose a whole number, {choice}")
    if int(value) < least or (most is not None and int(value) > most):
        raise InputError(f"{name} is {value}", mend=f"choose {choice}")


def check_bootstrap(seed: object, n_draws: object, level: object) -> None:
    """Refuse what no bootstrap can be made of.

    Raises:
        InputError: The seed is no whole number from 0, there is no draw, or the level is not between 0 and 1.
    """
    check_whole("seed", seed, 0)
    check_whole("n_draws", n_draws, 1)
    if not isinstance(level, numbers.Real) or not 0 < float(level) < 1:
        raise InputError(f"level is {level!r}", mend="choose a number between 0 and 1, such as 0.95")


def as_numbers(values: ArrayLike, what: str) -> NDArray[Any]:
    """An array of real numbers or truth values, of the type they have.

    Raises:
        InputError: They are none, or rows have different lengths.
    """
    try:
        found = np.asarray(values)
        # Tables of other libraries may hold numbers as objects.
        found = found.astype(np.float64) if found.dtype == object else found
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} are no array of numbers", mend="give numbers, as many in each row") from error
    if found.dtype.kind not in "biuf":
        raise InputError(f"{what} hold {found.dtype}, no real numbers", mend="give numbers")
    return found


def as_codes(values: ArrayLike, what: str) -> NDArray[np.int64]:
    """Codes of classes, one an example, (N,).

    Raises:
        InputError: They are not whole numbers from 0 in one row, or there are none.
    """
    codes = as_numbers(values, what)
    if codes.ndim != 1 or codes.size == 0 or not np.issubdtype(codes.dtype, np.integer):
        raise InputError(f"{what} must be whole numbers, one an example, and at least one")
    if codes.min() < 0:
        raise InputError(f"{what} has negative codes", mend="drop the examples without a label")
    if codes.max() >= _MOST_CODES:
        raise InputError(f"{what} has the code {codes.max()}", mend="count classes from 0")
    return codes.astype(np.int64)
