"""The outline of a report, one module a section."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.outline import QUESTIONS, questions_of
from goldassay.report.sections import (
    artifacts,
    facts,
    instability,
    instability_comparison,
    instability_examples,
    instability_training,
    leakage,
    leakage_clusters,
    leakage_datasets,
    leakage_suggestion,
    provenance,
    shift,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.report.outline import Section

_WRITERS = (
    facts,
    artifacts,
    leakage,
    leakage_clusters,
    leakage_suggestion,
    leakage_datasets,
    instability_comparison,
    instability,
    instability_training,
    instability_examples,
    shift,
    provenance,
)


def outline(document: Mapping[str, Any]) -> list[Section]:
    """The sections of the report, in reading order.

    Left out are the questions that were not asked (`document["questions"]`; without it all are), and what goes
    beyond an audit where it was not measured.
    """
    written: list[Section | None] = [writer.section(document) for writer in _WRITERS]
    asked = questions_of(document)
    unasked = {key for key in QUESTIONS if key not in asked}
    if unasked and not document.get("facts"):
        unasked.add("facts")
    return [section for section in written if section is not None and section.key not in unasked]
