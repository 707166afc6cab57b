"""Boards: which systems are surely better than which on the same items, and which items tell them apart."""

from goldassay.questions.board.measures import (
    Items,
    ItemStatistics,
    Lead,
    Ranking,
    Reliability,
    Spread,
    describe_items,
    first_in_halves,
    lead_of,
    pooled_spread,
    rank,
    reliability,
    rivals_of,
)

__all__ = [
    "ItemStatistics",
    "Items",
    "Lead",
    "Ranking",
    "Reliability",
    "Spread",
    "describe_items",
    "first_in_halves",
    "lead_of",
    "pooled_spread",
    "rank",
    "reliability",
    "rivals_of",
]
