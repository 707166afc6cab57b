"""The question of leakage: how much of the label can be read from a part of the input?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.finding import Finding
from goldassay.questions.leakage.measuring import measure
from goldassay.questions.leakage.options import LeakageChoice

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goldassay.questions.artifacts.readings import PatternReadings
    from goldassay.questions.evidence import Evidence

# Columns of the table of examples that every audit has of itself.
_SHARED = ("example_id", "label", "difficulty")


class _Leakage:
    question = "leakage"
    title = "Leakage"
    asks = "How much of the label can be read from a part of the input?"
    needs = ()

    def run(self, evidence: Evidence) -> Finding:
        """Judge what readers of a part of the input get right; sentences are not clustered, which takes minutes."""
        choice, classes = LeakageChoice(cluster=False, map=False), evidence.patterns.classes
        finding = self.measure(evidence, choice, classes, _pattern_readings(evidence))
        tables = dict(finding.tables)
        examples = tables.pop("examples").select(pl.exclude(*_SHARED, *evidence.test.text_columns))
        return replace(finding, tables=tables, examples={each.name: each for each in examples})

    def measure(
        self,
        evidence: Evidence,
        choice: LeakageChoice,
        classes: NDArray[np.str_] | None = None,
        patterns: Sequence[PatternReadings] = (),
    ) -> Finding:
        """The same to any depth: what `leakage measure` reports, with its table of examples among the tables.

        Args:
            evidence: Its readers are measured.
            choice: How deep.
            classes: Difficulty of the test examples, where it is known already.
            patterns: What guessing by pattern names for them, likewise.

        Raises:
            InputError: The evidence cannot be used, or not as deep as that.
        """
        measured = measure(
            evidence.readers, choice, evidence.settings, evidence.steps, classes=classes, patterns=patterns
        )
        return Finding(
            question=self.question,
            verdict=measured.verdict,
            results=measured.section,
            tables=measured.tables,
        )


CHECK = _Leakage()


def _pattern_readings(evidence: Evidence) -> list[PatternReadings]:
    """What guessing by patterns of each text names for the test examples."""
    control, own = evidence.control_patterns, evidence.patterns.readings
    return [*([] if control is None else [control.readings]), *([] if own is None else [own])]
