"""Which surface patterns give the label away? Mining, statistics, easy and hard subsets."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goldassay.questions.artifacts.gaps import difficulty_gap
    from goldassay.questions.artifacts.measures.clusters import Confirmation, confirm_patterns
    from goldassay.questions.artifacts.measures.difficulty import (
        ClassifierDifficulty,
        DifficultyAssignment,
        DifficultyOverlap,
        Giveaway,
        assign_by_classifier,
        assign_difficulty,
        compare_difficulty,
        giveaway,
    )
    from goldassay.questions.artifacts.measures.mining import fold_redundant, mine_patterns
    from goldassay.questions.artifacts.measures.pattern_table import PatternFile, PatternTable
    from goldassay.questions.artifacts.measures.presence import downsample, pattern_features, sizes_by_threshold
    from goldassay.questions.artifacts.measures.streaming import mine_stream

_HOME = {
    "ClassifierDifficulty": "goldassay.questions.artifacts.measures.difficulty",
    "Confirmation": "goldassay.questions.artifacts.measures.clusters",
    "DifficultyAssignment": "goldassay.questions.artifacts.measures.difficulty",
    "DifficultyOverlap": "goldassay.questions.artifacts.measures.difficulty",
    "Giveaway": "goldassay.questions.artifacts.measures.difficulty",
    "PatternFile": "goldassay.questions.artifacts.measures.streaming",
    "PatternTable": "goldassay.questions.artifacts.measures.pattern_table",
    "assign_by_classifier": "goldassay.questions.artifacts.measures.difficulty",
    "assign_difficulty": "goldassay.questions.artifacts.measures.difficulty",
    "compare_difficulty": "goldassay.questions.artifacts.measures.difficulty",
    "confirm_patterns": "goldassay.questions.artifacts.measures.clusters",
    "difficulty_gap": "goldassay.questions.artifacts.gaps",
    "downsample": "goldassay.questions.artifacts.measures.presence",
    "fold_redundant": "goldassay.questions.artifacts.measures.mining",
    "giveaway": "goldassay.questions.artifacts.measures.difficulty",
    "mine_patterns": "goldassay.questions.artifacts.measures.mining",
    "mine_stream": "goldassay.questions.artifacts.measures.streaming",
    "pattern_features": "goldassay.questions.artifacts.measures.presence",
    "sizes_by_threshold": "goldassay.questions.artifacts.measures.presence",
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
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
