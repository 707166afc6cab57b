"""The audit's second question: how much of the label can be read from a part of the input?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.leakage import single_sentence_report, withhold_shares
from goldassay.leakage.single_sentence import PAIRED
from goldassay.results import to_plain
from goldassay.studies.audit.judges import name_of
from goldassay.studies.audit.verdicts import Verdict, judge_leakage, leakage_doubts, not_measurable
from goldassay.subsets import accuracy_by_subset

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from goldassay.data import Dataset
    from goldassay.data.facts import DatasetFacts
    from goldassay.runs import Runs
    from goldassay.settings import Settings

NOTE = (
    "{judge} is a lower bound: what it reads from a part of the input, a stronger model reads too. Where the "
    "paired probe is weak, the share recovered is inflated; the verdict therefore rests on the improvement over the "
    "majority."
)


@dataclass(frozen=True)
class LeakageFindings:
    """The section of the report, its tables, and the verdict."""

    section: dict[str, Any]
    tables: dict[str, pl.DataFrame]
    verdict: Verdict


def audit_leakage(
    runs: list[Runs],
    train: Dataset,
    test: Dataset,
    classes: NDArray[np.str_],
    facts: DatasetFacts,
    settings: Settings,
    described: str,
) -> LeakageFindings:
    """Compare what probes of a part of the input get right with the whole input and with the majority.

    Args:
        runs: The probes' runs, one entry a condition.
        train: The training part.
        test: The evaluation part.
        classes: The difficulty class of each test example, (N,).
        facts: Tell how many test rows stand in training too.
        settings: Holds the limits.
        described: The probe, in a sentence.
    """
    correct = {each.condition: each.scores for each in runs}
    gold = test.labels()
    report = withhold_shares(
        single_sentence_report(
            correct, gold, label_names=test.label_names, train_gold=train.labels(), seed=settings.seed
        )
    )
    subsets = {
        "full": classes == classes,
        "easy": classes == "easy",
        "hard": classes == "hard",
    }
    difficulty = pl.concat(
        [
            accuracy_by_subset(scores, subsets, seed=settings.seed)
            .to_frame()
            .select(pl.lit(condition).alias("condition"), pl.all())
            for condition, scores in correct.items()
        ]
    )
    section = {
        "probe": described,
        "seeds": [int(seed) for seed in runs[0].seeds],
        "conditions": report.to_frame().to_dicts(),
        "difficulty": difficulty.to_dicts(),
        "caveats": list(report.caveats),
        "note": NOTE.format(judge=name_of(settings)) if len(train.text_columns) > 1 else report.note,
    }
    best = report.maximum
    if best is None:
        verdict = not_measurable(
            "Each example is a single text: it has no premise and hypothesis of which one could be left out.",
            "Nothing to do for this question; look at the artifacts.",
        )
    else:
        parts = [row for row in report.conditions if row.condition != PAIRED]
        verdict = judge_leakage(
            condition=best.condition,
            accuracy=best.accuracy,
            majority=best.majority,
            improvement=best.improvement,
            low=best.improvement_low,
            high=best.improvement_high,
            n_seeds=best.n_runs,
            n_test=len(test),
            n_shared=int(facts.overlap.get("rows", {}).get("n", 0)),
            doubts=leakage_doubts(parts, settings.verdicts.leakage),
            limits=settings.verdicts.leakage,
            subject=name_of(settings),
        )
    tables = {"leakage": report.to_frame(), "leakage_by_difficulty": difficulty}
    return LeakageFindings(to_plain(section), tables, verdict)
