"""Boards: which systems are surely better than which on the same items, and which items tell them apart."""

from goldassay.board.item_statistics import ItemStatistics, Reliability, describe_items, reliability
from goldassay.board.ranking import Lead, Ranking, first_in_halves, lead_of, rank
from goldassay.board.run_noise import Spread, pooled_spread

__all__ = [
    "ItemStatistics",
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
]
