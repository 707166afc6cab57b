"""How deep a spread over runs is looked into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class InstabilityChoice:
    """What is measured beyond the spread of each set of runs.

    Attributes:
        reference: The dataset whose spread the others' are held against, or None.
        groups: Group columns to take the variance apart by; None for all that the runs have.
        keep_finished: Stop at an interruption with what is finished, instead of losing it.
        deep: Measure single examples, intervals of every figure, plans and maps as well, which takes minutes.
    """

    reference: str | None = None
    groups: Sequence[str] | None = None
    keep_finished: bool = False
    deep: bool = True
