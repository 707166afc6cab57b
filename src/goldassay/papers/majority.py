"""What many intervals of one kind say together."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.papers.recipe import Standing

Found = TypeVar("Found")


def standing_of(n_for: int, n_against: int, n: int) -> Standing:
    """What most of n intervals say: more than half on one side, or nothing."""
    return "held" if n_for > n / 2 else "did not hold" if n_against > n / 2 else "not shown"


def middle_of(ordered: Sequence[Found], what: str) -> tuple[Found, str]:
    """The one in the middle, and what to call it; the largest is large by chance.

    Args:
        ordered: By the figure that decides, one or more.
        what: What each is, such as "pair".
    """
    name = f"the {what} in the middle" if len(ordered) % 2 else f"the upper of the two {what}s in the middle"
    return ordered[len(ordered) // 2], name
