"""What the commands of `goldassay artifacts` do, from files to files."""

from __future__ import annotations

from goldassay.studies.artifacts.classifiers import ClassifierTable, classify
from goldassay.studies.artifacts.gaps import GapTable, measure_gaps
from goldassay.studies.artifacts.mining import MinedArtifacts, mine
from goldassay.studies.artifacts.reduction import Reduction, reduce_training_set
from goldassay.studies.artifacts.subsets import Subsets, assign

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
