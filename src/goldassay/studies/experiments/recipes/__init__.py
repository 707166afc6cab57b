"""One file a study; each is found by itself, under its own name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.data import Dataset
    from goldassay.studies.experiments.recipe import Findings, Scale, ScaleName
    from goldassay.studies.experiments.workplace import Workplace


class Recipe(Protocol):
    """What a module here has; its name is the study's."""

    TITLE: str
    PAPER: str
    SCALES: Mapping[ScaleName, Scale]

    @staticmethod
    def prepare(work: Workplace) -> dict[str, Dataset]:
        """Sets made of others: joined, cut down; by the names that trainings and tables give them."""

    @staticmethod
    def measure(work: Workplace) -> Findings:
        """From the runs to what was found."""
