"""What callers hand over as numbers, checked."""

from __future__ import annotations

import numbers

from goldassay.errors import InputError


def is_number(value: object) -> bool:
    """Whether it is a real number; True and False are none."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def check_count(name: str, value: object) -> None:
    """Refuse what counts nothing.

    Raises:
        InputError: It is no whole number, or negative.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
        raise InputError(f"{name} is {value!r}", mend="choose a whole number, 0 or more")
