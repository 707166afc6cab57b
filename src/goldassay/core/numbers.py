"""Numbers as people read them: accuracies in points, thousands grouped, a true minus sign.

Everything here takes None for "not defined" and prints a dash for it.
"""

from __future__ import annotations

import math
from typing import Any

UNDEFINED = "—"


def number(value: Any) -> float | None:
    """The value as a finite float, or None where it is missing, not a number or infinite."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def decimal(value: Any, digits: int = 2) -> str:
    """A number with a fixed count of decimals."""
    x = number(value)
    if x is None:
        return UNDEFINED
    # Two sums of the same numbers may differ in their last digit, and must not be shown as different figures.
    text = f"{round(x, digits + 7):,.{digits}f}"
    # "-0.0" reads as a sign where there is none.
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text.replace("-", "−")


def count(value: Any) -> str:
    """A whole number, thousands grouped."""
    return decimal(value, 0)


def points(value: Any, digits: int = 1) -> str:
    """A fraction as points: .716 is 71.6."""
    x = number(value)
    return UNDEFINED if x is None else decimal(100 * x, digits)


def in_points(value: float | None) -> float | None:
    """A fraction as a number of points, for tables: .716 is 71.6; None where it is not defined."""
    return None if value is None else 100 * value


def signed_points(value: Any, digits: int = 2) -> str:
    """A difference of fractions as points, with its sign: .0047 is +0.47."""
    shown = points(value, digits)
    x = number(value)
    return f"+{shown}" if x is not None and x > 0 and shown.strip("0.") else shown


def percent(value: Any, digits: int = 1) -> str:
    """A fraction as per cent: .716 is 71.6 %."""
    x = number(value)
    if x is None:
        return UNDEFINED
    # A share that rounds to nothing is not the same as none.
    if 0 < abs(x) < 0.5 * 10 ** -(digits + 2):
        return f"< {10.0**-digits:.{digits}f}\N{NO-BREAK SPACE}%"
    return f"{points(value, digits)}\N{NO-BREAK SPACE}%"


def percents_apart(value: float, limit: float) -> tuple[str, str]:
    """Both as per cent, with as many digits, up to five, as tell them apart: 10.04 % and 10.00 %."""
    digits = next((each for each in range(1, 6) if percent(value, each) != percent(limit, each)), 1)
    return percent(value, digits), percent(limit, digits)


def small(value: Any) -> str:
    """A small probability, such as a q-value: three significant digits, powers of ten below a thousandth."""
    x = number(value)
    if x is None:
        return UNDEFINED
    if x == 0:
        return "< 1e−300"
    if abs(x) >= 0.001:
        return f"{x:.3f}"
    return f"{x:.0e}".replace("e-0", "e-").replace("-", "−")


def bounds(low: Any, high: Any, digits: int = 1, scale: float = 100.0) -> str:
    """An interval in brackets, or nothing where it is not defined."""
    a, b = number(low), number(high)
    if a is None or b is None:
        return ""
    return f"[{decimal(scale * a, digits)}, {decimal(scale * b, digits)}]"


def squared_points(variance: Any) -> str:
    """A variance of fractions in squared points."""
    x = number(variance)
    return UNDEFINED if x is None else decimal(10_000 * x, 4)


def with_unit(value: Any, unit: str) -> str:
    """A headline's value in its unit: "points", "difference" (of points), "share", "examples" or "ratio"."""
    if number(value) is None:
        return "not defined"
    if unit == "difference":
        return f"{signed_points(value)} points"
    if unit == "points":
        return f"{points(value)} points"
    if unit == "share":
        return percent(value)
    if unit == "examples":
        return f"{count(value)} examples"
    return f"{decimal(value, ratio_digits(value))} ×" if unit == "ratio" else decimal(value, 3)


def bounds_in(low: Any, high: Any, unit: str) -> str:
    """A headline's interval, in the unit of its value."""
    if unit in ("points", "share"):
        return bounds(low, high)
    if unit == "difference":
        return bounds(low, high, 2)
    return bounds(low, high, 0 if unit == "examples" else ratio_digits(high) if unit == "ratio" else 3, 1.0)


def ratio_digits(value: Any) -> int:
    """How many decimals give a ratio about three digits."""
    size = abs(number(value) or 0.0)
    return 2 if size < 10 else 1 if size < 100 else 0
