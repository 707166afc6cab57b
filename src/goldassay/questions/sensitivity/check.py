"""The question of sensitivity, as an audit asks it of runs in several configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.finding import Finding
from goldassay.questions.configuration_sets import by_configuration
from goldassay.questions.sensitivity.measuring import measure_sets
from goldassay.questions.sensitivity.report import section_of, tables_of
from goldassay.questions.sensitivity.sections import LEAD, TITLE

if TYPE_CHECKING:
    from goldassay.questions.evidence import Evidence


class _Sensitivity:
    question = "sensitivity"
    title = TITLE
    asks = LEAD
    needs = ("configurations",)

    def run(self, evidence: Evidence) -> Finding:
        """Measure the spread over configurations on the evaluation part; configurations that do not fit are named."""
        found = by_configuration(evidence.run_sets)
        with evidence.steps.step("measuring sensitivity") as progress:
            study = measure_sets(found, evidence.texts_of, evidence.settings, refuse=False, progress=progress)
        return Finding(self.question, study.verdict, section_of(study, None), tables=tables_of(study))


CHECK = _Sensitivity()
