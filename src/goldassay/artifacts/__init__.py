"""Which surface patterns give the label away? Mining, statistics, easy and hard subsets."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goldassay.artifacts.confirmation import Confirmation, confirm_patterns
    from goldassay.artifacts.difficulty import DifficultyAssignment, assign_difficulty
    from goldassay.artifacts.folding import fold_redundant
    from goldassay.artifacts.mining import mine_patterns
    from goldassay.artifacts.pattern_table import PatternTable
    from goldassay.artifacts.pattern_worth import Giveaway, giveaway

_HOME = {
    "Confirmation": "confirmation",
    "DifficultyAssignment": "difficulty",
    "Giveaway": "pattern_worth",
    "PatternTable": "pattern_table",
    "assign_difficulty": "difficulty",
    "confirm_patterns": "confirmation",
    "fold_redundant": "folding",
    "giveaway": "pattern_worth",
    "mine_patterns": "mining",
}
__all__ = [
    "Confirmation",
    "DifficultyAssignment",
    "Giveaway",
    "PatternTable",
    "assign_difficulty",
    "confirm_patterns",
    "fold_redundant",
    "giveaway",
    "mine_patterns",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'goldassay.artifacts' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"goldassay.artifacts.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
