"""The outline of a report, one module a section."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.sections import artifacts, facts, instability, leakage, provenance, shift

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.report.outline import Section

_WRITERS = (facts, artifacts, leakage, instability, shift, provenance)


def outline(document: Mapping[str, Any]) -> list[Section]:
    """Every section of the report, in reading order."""
    return [writer.section(document) for writer in _WRITERS]
