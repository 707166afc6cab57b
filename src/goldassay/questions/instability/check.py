"""The question of instability: would the score come out the same with another seed?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goldassay.core.finding import Finding
from goldassay.core.verdicts import not_measurable
from goldassay.questions.instability.measuring import measure
from goldassay.questions.instability.options import InstabilityChoice
from goldassay.questions.instability.verdict import judge_results

if TYPE_CHECKING:
    from goldassay.questions.evidence import Evidence


class _Instability:
    question = "instability"
    title = "Instability"
    asks = "Would the score come out the same with another seed?"
    needs = ("runs",)

    def run(self, evidence: Evidence) -> Finding:
        """Measure spread and its causes for each set of runs on the evaluation part, without single examples."""
        return self.measure(evidence, InstabilityChoice(deep=False))

    def measure(self, evidence: Evidence, choice: InstabilityChoice) -> Finding:
        """The same to any depth: what `instability` reports.

        Raises:
            InputError: The runs of a set cannot be read or do not fit together.
            KeyboardInterrupt: It was stopped before anything was finished, or nothing is to be kept.
        """
        with evidence.steps.step("measuring instability") as progress:
            section, tables = measure(evidence, choice, progress)
        results = section["results"]
        if section["interrupted"] and all(row["n_runs"] < 2 for row in results):
            verdict = not_measurable("It was interrupted before any spread was measured.", "Run it again to the end.")
        else:
            verdict = judge_results(results, evidence.settings.verdicts.instability)
        if section["note"]:
            verdict = replace(verdict, evidence=f"{verdict.evidence} {section['note']}")
        return Finding(self.question, verdict, section, tables=tables)


CHECK = _Instability()
