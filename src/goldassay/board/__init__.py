"""Boards: which systems are surely better than which on the same items, and which items tell them apart."""

from goldassay.board.item_statistics import ItemStatistics, Reliability, describe_items, reliability
from goldassay.board.ranking import Lead, Ranking, first_in_halves, lead_of, rank

__all__ = [
    "ItemStatistics",
    "Lead",
    "Ranking",
    "Reliability",
    "describe_items",
    "first_in_halves",
    "lead_of",
    "rank",
    "reliability",
]
