"""The question of leakage: how much of the label can be read from a part of the input?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.finding import Finding
from goldassay.questions.leakage.measuring import measure
from goldassay.questions.leakage.options import LeakageChoice

if TYPE_CHECKING:
    from goldassay.questions.evidence import Evidence

# Columns of the table of examples that every audit has of itself.
_SHARED = ("example_id", "label", "difficulty")


class _Leakage:
    question = "leakage"
    title = "Leakage"
    asks = "How much of the label can be read from a part of the input?"

    def run(self, evidence: Evidence) -> Finding:
        """Judge what readers of a part of the input get right; sentences are not clustered, which takes minutes."""
        readers = evidence.readers
        measured = measure(
            readers,
            LeakageChoice(cluster=False, map=False),
            evidence.settings,
            evidence.steps,
            classes=evidence.patterns.classes,
        )
        tables = dict(measured.tables)
        examples = tables.pop("examples").select(pl.exclude(*_SHARED, *evidence.test.text_columns))
        return Finding(
            question=self.question,
            verdict=measured.verdict,
            results=measured.section,
            tables=tables,
            examples={each.name: each for each in examples},
        )


CHECK = _Leakage()
