"""What callers hand over as numbers, checked."""

from __future__ import annotations

import numbers

from goldassay.errors import InputError


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
