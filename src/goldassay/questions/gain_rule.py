"""The rule that a report states beside a verdict on accuracy gained without the whole input.

Gains in accuracy are judged as a share of what the most frequent label leaves to be gained, 1 - majority: one point
above a majority of 99 % is everything there is to give away, one point above 33 % is next to nothing.
"""

from __future__ import annotations

from goldassay.core.numbers import points


def gain_rule(quantity: str, caution: float, unsound: float, scale: float) -> str:
    """The limits in points and as shares of what can be gained, `scale`."""
    return (
        f"By {quantity}, of the {points(scale)} points that the most frequent label leaves to be gained: unsound if "
        f"the lower end of its interval is at least {points(unsound * scale)} points ({unsound:.1%} of them), caution "
        f"if at least {points(caution * scale)} ({caution:.1%}), sound if the upper end is below "
        f"{points(unsound * scale)}, else unresolved."
    )
