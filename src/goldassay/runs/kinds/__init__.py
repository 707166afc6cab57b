"""Kinds of what was answered: runs, and boards of systems; with those of data all kinds that there are."""

from goldassay.data.kinds import DATA_KINDS
from goldassay.data.kinds.kind import Kind
from goldassay.runs.kinds.boards import Boards, Grades
from goldassay.runs.kinds.predictions import Predictions

ALL_KINDS: tuple[Kind, ...] = (*DATA_KINDS, Predictions(), Boards(), Grades())

__all__ = ["ALL_KINDS", "Boards", "Grades", "Predictions"]
