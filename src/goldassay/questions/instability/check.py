"""The question of instability: would the score come out the same with another seed?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.finding import Finding
from goldassay.core.results import to_plain
from goldassay.core.verdicts import not_measurable
from goldassay.questions.instability.spread import (
    MOST_GROUPS,
    caveats_of,
    measure_groups,
    measure_spread,
)
from goldassay.questions.instability.verdict import judge_results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.questions.evidence import Evidence


class _Instability:
    question = "instability"
    title = "Instability"
    asks = "Would the score come out the same with another seed?"

    def run(self, evidence: Evidence) -> Finding:
        """Measure spread and its causes for each set of runs.

        Without runs of a real model the quick readers' are shown: they tell how steady these readers are, not how
        steady a real model would be, so that no verdict follows.
        """
        given, remarks = evidence.given_runs
        runs = given or list(evidence.readers.conditions.values())
        with evidence.steps.step("measuring instability"):
            results = [measure_spread(each) for each in runs]
            groups = [group for each in runs for group in measure_groups(each)]
        if given:
            note = " ".join(["Measured on the runs that were handed in.", *remarks])
            verdict = judge_results(results, evidence.settings.verdicts.instability)
        else:
            note = (
                f"No runs of a real model were given. {evidence.reader_name} made the table, stored as runs and read "
                "back: it shows how such a table reads, and how steady the probe is, not how steady your model is."
            )
            verdict = not_measurable(
                "No runs of a trained model were given: only they can tell how far its score moves with the seed.",
                "Give the predictions of at least 5 seeds with --runs PATH.",
            )
        if remarks:
            verdict = replace(verdict, evidence=" ".join([verdict.evidence, *remarks]))
        tables = {"instability": pl.DataFrame(results, infer_schema_length=None)}
        if groups:
            tables["instability_groups"] = _group_table(groups)
        shown = [{**group, "rows": group["rows"][:MOST_GROUPS], "n_groups": len(group["rows"])} for group in groups]
        section = {
            "source": "runs" if given else "probe",
            "note": note,
            "caveats": caveats_of(results) if given else [],
            "results": results,
            "groups": shown,
        }
        return Finding(self.question, verdict, to_plain(section), tables=tables)


CHECK = _Instability()


def _group_table(groups: Sequence[dict[str, Any]]) -> pl.DataFrame:
    names = ("model", "dataset", "condition", "column")
    return pl.concat(
        [
            pl.DataFrame(group["rows"]).select(*(pl.lit(group[key]).alias(key) for key in names), pl.all())
            for group in groups
        ],
        how="vertical_relaxed",
    )
