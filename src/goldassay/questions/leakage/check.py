"""The question of leakage: how much of the label can be read from a part of the input?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.finding import Finding
from goldassay.questions.first_rows import MOST_ROWS, rows_to_read
from goldassay.questions.leakage.condition_evidence import GIVEN, is_part
from goldassay.questions.leakage.measuring import measure
from goldassay.questions.leakage.options import LeakageChoice
from goldassay.questions.leakage.readings import readings_of
from goldassay.questions.rows import beside_data

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.core.finding import RowToRead
    from goldassay.questions.artifacts.readings import PatternReadings
    from goldassay.questions.evidence import Evidence
    from goldassay.questions.leakage.condition_evidence import ConditionEvidence
    from goldassay.runs import Runs
    from goldassay.stats.effects import Reading

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
        finding = self.measure(evidence, choice, classes, _pattern_readings(evidence), _given_readings(evidence))
        tables = dict(finding.tables)
        examples = tables.pop("examples").select(pl.exclude(*_SHARED, *evidence.test.text_columns))
        return replace(
            finding,
            tables=tables,
            examples={each.name: each for each in examples},
            first_rows=_first_rows(evidence, examples),
        )

    def measure(
        self,
        evidence: Evidence,
        choice: LeakageChoice,
        classes: NDArray[np.str_] | None = None,
        patterns: Sequence[PatternReadings] = (),
        further: Sequence[Reading] = (),
    ) -> Finding:
        """The same to any depth: what `leakage measure` reports, with its table of examples among the tables.

        Args:
            evidence: Its readers are measured.
            choice: How deep.
            classes: Difficulty of the test examples, where it is known already.
            patterns: What guessing by pattern names for them, likewise.
            further: What other readers of a part of the input name for them.

        Raises:
            InputError: The evidence cannot be used, or not as deep as that.
        """
        measured = measure(
            evidence.readers,
            choice,
            evidence.settings,
            evidence.steps,
            classes=classes,
            patterns=patterns,
            further=further,
        )
        return Finding(
            question=self.question,
            verdict=measured.verdict,
            results=measured.section,
            tables=measured.tables,
            rows=_rows(evidence.readers, measured.tables["examples"]) if "examples" in measured.tables else None,
        )


CHECK = _Leakage()


def told(examples: pl.DataFrame) -> list[tuple[int, float, str]]:
    """(position, bits, part) of the rows that every reader of a part gets right, most bits first, each row once."""
    found = [
        (bits, position, part.replace("_only", ""))
        for part in (name.removeprefix("pvi_") for name in examples.columns if name.startswith("pvi_"))
        # Of the right label's probability alone nobody knows what was named.
        if part.endswith("_only") and f"right_{part}" in examples.columns
        for position, (bits, right) in enumerate(examples.select(f"pvi_{part}", f"right_{part}").iter_rows())
        if bits is not None and bits > 0 and right == 1
    ]
    best: dict[int, tuple[float, str]] = {}
    for bits, position, part in sorted(found, key=lambda each: (-each[0], each[1])):
        best.setdefault(position, (bits, part))
    return [(position, bits, part) for position, (bits, part) in best.items()]


def _rows(readers: ConditionEvidence, examples: pl.DataFrame) -> pl.DataFrame:
    """Test rows of which a part tells the label, with that part and how many bits it tells."""
    ids = examples["example_id"].cast(pl.String).to_list()
    name = readers.name if readers.test is None else readers.test.name
    found = [(name, ids[position], part, bits) for position, bits, part in told(examples)]
    schema = {"dataset": pl.String, "example_id": pl.String, "part": pl.String, "bits": pl.Float64}
    rows = pl.DataFrame(found, schema=schema, orient="row")
    return beside_data(rows, {} if readers.test is None else {readers.test.name: readers.test})


def _first_rows(evidence: Evidence, examples: pl.DataFrame) -> tuple[RowToRead, ...]:
    """Test rows that every reader of a part gets right, those first of which the part tells the most bits."""
    return rows_to_read(
        evidence.test,
        (
            (position, f"From its {part} alone every run of the reader names the label, which tells {bits:.1f} bits.")
            for position, bits, part in told(examples)[:MOST_ROWS]
        ),
    )


def _pattern_readings(evidence: Evidence) -> list[PatternReadings]:
    """What guessing by patterns of each text names for the test examples."""
    control, own = evidence.control_patterns, evidence.patterns.readings
    return [*([] if control is None else [control.readings]), *([] if own is None else [own])]


def _given_readings(evidence: Evidence) -> list[Reading]:
    """What runs of models of a part of the input name for the test examples, where they answer all of these."""
    readers = evidence.readers
    wanted = readers.example_ids.tolist()
    found: list[Reading] = []
    for each in evidence.run_sets:
        if not is_part(each.condition):
            continue
        runs = each.load().final()
        place = {str(example): row for row, example in enumerate(runs.example_ids.tolist())}
        rows = [place[str(example)] for example in wanted if str(example) in place]
        if len(rows) == len(wanted):
            told = _told_in(runs.take(rows), readers.label_names)
            given = replace(readers, source=GIVEN, conditions={each.condition: told})
            found += readings_of(given, readers.clusters)
    return found


def _told_in(runs: Runs, label_names: tuple[str, ...]) -> Runs:
    """The runs with the codes of these labels; where they name others, with their scores alone."""
    if set(runs.label_names) != set(label_names) or runs.predictions is None:
        return replace(runs, predictions=None, logits=None)
    order = [runs.label_names.index(name) for name in label_names]
    return replace(
        runs,
        predictions=np.argsort(order)[runs.predictions],
        gold=None if runs.gold is None else np.argsort(order)[runs.gold],
        logits=None if runs.logits is None else runs.logits[..., order],
        label_names=label_names,
    )
