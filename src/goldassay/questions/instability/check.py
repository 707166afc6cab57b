"""The question of instability: would the score come out the same with another seed?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.finding import Finding
from goldassay.core.verdicts import not_measurable
from goldassay.questions.first_rows import MOST_ROWS
from goldassay.questions.instability.answers import answers_of_runs
from goldassay.questions.instability.measuring import measure
from goldassay.questions.instability.options import InstabilityChoice
from goldassay.questions.instability.rows import say_unsteady
from goldassay.questions.instability.verdict import WHOLE, judge_results
from goldassay.questions.row_details.checkpoints import curves_of_runs
from goldassay.questions.rows import beside_data, first_to_read

if TYPE_CHECKING:
    from goldassay.questions.evidence import Evidence


class _Instability:
    question = "instability"
    title = "Instability"
    asks = "Would the score come out the same with another seed?"
    needs = ("runs",)

    def run(self, evidence: Evidence) -> Finding:
        """Measure spread and its causes for each set of runs on the evaluation part, without single examples."""
        finding = self.measure(evidence, InstabilityChoice(deep=False))
        curves = curves_of_runs(evidence)
        tables = dict(finding.tables) if curves is None else {**finding.tables, "checkpoints": curves.to_frame()}
        answers = answers_of_runs(evidence, curves)
        if answers.runs is not None:
            tables["answering_runs"] = answers.runs
        finding = replace(finding, examples=answers.columns, tables=tables)
        if finding.rows is None:
            # Of one run nothing is known of its spread; what it answers is shown all the same.
            return finding
        test = {evidence.test.name: evidence.test}
        whole = finding.rows.filter(pl.col("condition").is_in(WHOLE))
        return replace(finding, first_rows=first_to_read(whole, test, say_unsteady, MOST_ROWS))

    def measure(self, evidence: Evidence, choice: InstabilityChoice) -> Finding:
        """The same to any depth: what `instability` reports.

        Raises:
            InputError: The runs of a set cannot be read or do not fit together.
            KeyboardInterrupt: It was stopped before anything was finished, or nothing is to be kept.
        """
        with evidence.steps.step("measuring instability") as progress:
            section, tables, unsteady = measure(evidence, choice, progress)
        results = section["results"]
        if section["interrupted"] and all(row["n_runs"] < 2 for row in results):
            verdict = not_measurable("It was interrupted before any spread was measured.", "Run it again to the end.")
        else:
            verdict = judge_results(results, evidence.settings.verdicts.instability)
        if evidence.choice.pool_configurations:
            said = "Runs of different configurations are pooled as asked for: the spread is over these, too."
            verdict = replace(verdict, evidence=f"{verdict.evidence} {said}")
        if section["note"]:
            verdict = replace(verdict, evidence=f"{verdict.evidence} {section['note']}")
        return Finding(self.question, verdict, section, tables=tables, rows=_beside(unsteady, evidence))


def _beside(unsteady: pl.DataFrame | None, evidence: Evidence) -> pl.DataFrame | None:
    if unsteady is None:
        return None
    found = {runs.dataset: evidence.texts_of(runs) for runs in evidence.run_sets}
    return beside_data(unsteady, {name: dataset for name, dataset in found.items() if dataset is not None})


CHECK = _Instability()
