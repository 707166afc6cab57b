"""Shift: not measured by an audit yet, and said so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.outline import QUESTIONS, Section, mapping, why_absent

if TYPE_CHECKING:
    from collections.abc import Mapping


def section(document: Mapping[str, Any]) -> Section:
    """The section "Shift"."""
    title, question = QUESTIONS["shift"]
    return Section(
        key="shift",
        title=title,
        question=question,
        verdict=mapping(document, "verdicts", "shift"),
        reason=str(mapping(document, "shift").get("reason") or why_absent(document.get("shift"))),
        explained=True,
    )
