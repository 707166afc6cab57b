"""Overlap of a test set with training data: classes, kinds of hits, and what dirty items add to a score."""

from goldassay.overlap.kinds import CLASSES, COUNTED, KINDS, classify, kinds_of, worst_kinds

__all__ = ["CLASSES", "COUNTED", "KINDS", "classify", "kinds_of", "worst_kinds"]
