"""Which surface patterns give the label away? Mining, statistics, easy and hard subsets."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goldassay.artifacts.classifier_difficulty import (
        ClassifierDifficulty,
        DifficultyOverlap,
        assign_by_classifier,
        compare_difficulty,
    )
    from goldassay.artifacts.confirmation import Confirmation, confirm_patterns
    from goldassay.artifacts.difficulty import DifficultyAssignment, assign_difficulty
    from goldassay.artifacts.downsampling import downsample, sizes_by_threshold
    from goldassay.artifacts.folding import fold_redundant
    from goldassay.artifacts.gap import difficulty_gap
    from goldassay.artifacts.mining import mine_patterns
    from goldassay.artifacts.pattern_presence import pattern_features
    from goldassay.artifacts.pattern_table import PatternTable
    from goldassay.artifacts.pattern_worth import Giveaway, giveaway
    from goldassay.artifacts.streaming import PatternFile, mine_stream

_HOME = {
    "ClassifierDifficulty": "classifier_difficulty",
    "Confirmation": "confirmation",
    "DifficultyAssignment": "difficulty",
    "DifficultyOverlap": "classifier_difficulty",
    "Giveaway": "pattern_worth",
    "PatternFile": "streaming",
    "PatternTable": "pattern_table",
    "assign_by_classifier": "classifier_difficulty",
    "assign_difficulty": "difficulty",
    "compare_difficulty": "classifier_difficulty",
    "confirm_patterns": "confirmation",
    "difficulty_gap": "gap",
    "downsample": "downsampling",
    "fold_redundant": "folding",
    "giveaway": "pattern_worth",
    "mine_patterns": "mining",
    "mine_stream": "streaming",
    "pattern_features": "pattern_presence",
    "sizes_by_threshold": "downsampling",
}
__all__ = [
    "ClassifierDifficulty",
    "Confirmation",
    "DifficultyAssignment",
    "DifficultyOverlap",
    "Giveaway",
    "PatternFile",
    "PatternTable",
    "assign_by_classifier",
    "assign_difficulty",
    "compare_difficulty",
    "confirm_patterns",
    "difficulty_gap",
    "downsample",
    "fold_redundant",
    "giveaway",
    "mine_patterns",
    "mine_stream",
    "pattern_features",
    "sizes_by_threshold",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'goldassay.artifacts' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"goldassay.artifacts.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
