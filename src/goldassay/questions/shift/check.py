"""The question of shift: does the score hold on another distribution?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goldassay.core.finding import Finding
from goldassay.questions.first_rows import MOST_ROWS
from goldassay.questions.rows import first_to_read
from goldassay.questions.shift.measuring import Read, check_choice, measure, read_answering, read_models
from goldassay.questions.shift.options import GapChoice
from goldassay.questions.shift.rows import say_wrong
from goldassay.questions.shift.verdicts import judge_gaps

if TYPE_CHECKING:
    from collections.abc import Callable

    from goldassay.questions.evidence import Evidence


class _Shift:
    question = "shift"
    title = "Shift"
    asks = "Does the score hold on another distribution?"
    needs = ("elsewhere",)

    def run(self, evidence: Evidence) -> Finding:
        """Judge what the score on the evaluation part loses on every set of another distribution."""
        finding = self._judge(evidence, lambda: read_answering(evidence), GapChoice())
        assert finding.rows is not None
        return replace(finding, first_rows=first_to_read(finding.rows, evidence.texts, say_wrong, MOST_ROWS))

    def measure(self, evidence: Evidence, asked: GapChoice) -> Finding:
        """The same of any runs: what `shift generalization` reports.

        Raises:
            InputError: The runs cannot be read, no model answered on two datasets, or a setting is out of range.
        """
        check_choice(asked)
        return self._judge(evidence, lambda: read_models(evidence, asked), asked)

    def _judge(self, evidence: Evidence, read: Callable[[], Read], asked: GapChoice) -> Finding:
        section, tables, rows = measure(evidence, read, asked)
        verdict = judge_gaps(section["generalization"], evidence.settings.verdicts.shift)
        return Finding(self.question, verdict, section, tables=tables, rows=rows)


CHECK = _Shift()
