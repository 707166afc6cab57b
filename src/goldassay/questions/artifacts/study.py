"""Artifacts as a study of its own: from a training set, and what its patterns are tried on, to a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldassay.questions.artifacts.check import CHECK
from goldassay.questions.artifacts.mining import mine
from goldassay.questions.artifacts.reports import document_of_mining
from goldassay.questions.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.core.finding import Finding
    from goldassay.core.progress import Steps
    from goldassay.core.settings import Settings
    from goldassay.questions.artifacts.inputs import Bounds
    from goldassay.questions.artifacts.mining import MinedArtifacts

__all__ = ["ArtifactStudy", "study_artifacts"]


@dataclass(frozen=True)
class ArtifactStudy:
    """What was mined, and the report on it.

    Attributes:
        evidence: What it was mined from and tried on.
        mined: Patterns and findings.
        finding: The verdict on them.
        document: What report.json has.
    """

    evidence: Evidence
    mined: MinedArtifacts
    finding: Finding
    document: dict[str, Any]


def study_artifacts(
    train: Any,
    test: Any,
    bounds: Bounds,
    *,
    condition: str | None,
    columns: str | Mapping[str, str] | None,
    file_format: str,
    settings: Settings,
    steps: Steps,
) -> ArtifactStudy:
    """Mine, try and judge, as `measure_artifacts` does.

    Args:
        train: As for `measure_artifacts`.
        test: Likewise.
        bounds: How patterns are mined.
        condition: A column that the rows are also parted by, or None.
        columns: Which column plays which role.
        file_format: The format of the files, where their content does not say it.
        settings: Everything else.
        steps: Progress, and the seconds that each step took.

    Raises:
        InputError: As `measure_artifacts`.
    """
    evidence = Evidence(
        train, test, columns=columns, file_format=file_format, settings=settings, steps=steps, split=False
    )
    mined = mine(evidence, bounds, condition)
    with steps.step("writing the report"):
        finding = CHECK.measure(evidence, mined.search.described)
        document = document_of_mining(evidence, mined.search, condition, mined.by_value, finding)
    return ArtifactStudy(evidence, mined, finding, document)
