"""Overlap of a test set with training data: classes, kinds of hits, and what dirty items add to a score."""

from goldassay.overlap.equal_difficulty import AdjustedDifference, adjusted_difference, strata_of
from goldassay.overlap.kinds import CLASSES, COUNTED, KINDS, classify, kinds_of, worst_kinds

__all__ = [
    "CLASSES",
    "COUNTED",
    "KINDS",
    "AdjustedDifference",
    "adjusted_difference",
    "classify",
    "kinds_of",
    "strata_of",
    "worst_kinds",
]
