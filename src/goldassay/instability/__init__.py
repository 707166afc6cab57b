"""Instability: would the score come out the same with another seed, another checkpoint, another sample?

Arrays of scores in, frozen results out; see the modules for formulas and sources.
"""

from goldassay.instability.by_group import GroupDecomposition, decompose_by_group
from goldassay.instability.decomposition import VarianceDecomposition, decompose_variance
from goldassay.instability.summary import ScoreSummary, summarize_scores

__all__ = [
    "GroupDecomposition",
    "ScoreSummary",
    "VarianceDecomposition",
    "decompose_by_group",
    "decompose_variance",
    "summarize_scores",
]
