"""The question of shift in an audit of one dataset: it cannot be answered there, and the report says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.finding import Finding
from goldassay.core.verdicts import not_measurable

if TYPE_CHECKING:
    from goldassay.questions.evidence import Evidence

_REASON = "One dataset alone cannot tell whether a score holds on another distribution."


class _Shift:
    question = "shift"
    title = "Shift"
    asks = "Does the score hold on another distribution?"

    def run(self, evidence: Evidence) -> Finding:  # noqa: ARG002
        """Say that one dataset cannot tell."""
        verdict = not_measurable(
            _REASON, "Evaluate the same runs on data from elsewhere before claiming that the score generalizes."
        )
        return Finding(self.question, verdict, {"reason": _REASON})


CHECK = _Shift()
