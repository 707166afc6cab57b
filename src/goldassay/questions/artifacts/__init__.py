"""What the commands of `goldassay artifacts` do, from files to files."""

from __future__ import annotations

from goldassay.questions.artifacts.classifiers import ClassifierTable, classify
from goldassay.questions.artifacts.gaps import GapTable, measure_gaps
from goldassay.questions.artifacts.mining import MinedArtifacts, mine
from goldassay.questions.artifacts.reduction import Reduction, reduce_training_set
from goldassay.questions.artifacts.subsets import Subsets, assign

__all__ = [
    "ClassifierTable",
    "GapTable",
    "MinedArtifacts",
    "Reduction",
    "Subsets",
    "assign",
    "classify",
    "measure_gaps",
    "mine",
    "reduce_training_set",
]
