"""The audit's first question: which surface patterns give the label away?"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.artifacts import mine_patterns
from goldassay.studies.artifacts.choices import choose_tokenizer, least_count
from goldassay.studies.artifacts.searched import Searched
from goldassay.studies.artifacts.section import describe_patterns
from goldassay.studies.artifacts.shortlist import of_table
from goldassay.studies.audit.inputs import majority_share
from goldassay.studies.audit.verdicts import Verdict, judge_artifacts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from goldassay.artifacts import PatternTable
    from goldassay.data import Dataset
    from goldassay.progress import Progress
    from goldassay.settings import ArtifactSettings, Settings

__all__ = ["ArtifactFindings", "audit_artifacts", "choose_tokenizer", "least_count"]


@dataclass(frozen=True)
class ArtifactFindings:
    """The section of the report, its tables, the class of each test example, and the verdict."""

    section: dict[str, Any]
    tables: dict[str, pl.DataFrame]
    classes: NDArray[np.str_]
    verdict: Verdict


def audit_artifacts(
    train: Dataset, test: Dataset, length_unit: str, settings: Settings, progress: Progress
) -> ArtifactFindings:
    """Mine the training part, keep what is significant, and see what it gives away on the evaluation part.

    The text that is searched is the hypothesis of a pair, the only text of a single one, otherwise the last text
    column; the first text of a pair is mined as a control.
    """
    role = train.text_columns[-1]
    chosen = settings.artifacts
    mining: dict[str, Any] = {
        "max_tokens": chosen.max_tokens,
        "max_gap": chosen.max_gap,
        "min_count": chosen.min_count or least_count(len(train)),
        "tokenizer": choose_tokenizer(length_unit, chosen.tokenizer),
    }
    mined = _mine(train, role, mining, progress)
    found = describe_patterns(
        of_table(mined, chosen.q, chosen.threshold),
        Searched(train, train.texts(role), mined),
        Searched(test, test.texts(role), mined),
        settings.seed,
    )
    assert found.assignment is not None
    assert found.given is not None
    section = {
        **found.section,
        "tokenizer_reason": _tokenizer_reason(length_unit, chosen.tokenizer),
        "control": _control(train, mining, chosen, progress),
    }
    verdict = judge_artifacts(
        value=found.given.giveaway.value,
        low=found.given.giveaway.low,
        high=found.given.giveaway.high,
        coverage=found.given.coverage,
        precision=found.given.precision.value,
        n_mined=len(mined),
        min_count=mining["min_count"],
        n_selected=section["n_selected"],
        threshold=chosen.threshold,
        majority=majority_share(test),
        n_test=len(test),
        is_part=len(train.text_columns) > 1,
        limits=settings.verdicts.artifacts,
    )
    tables = {
        "patterns": found.findings,
        "difficulty": found.assignment.to_frame()
        .with_columns(test.examples["example_id"])
        .select(pl.last(), pl.exclude("row", "example_id")),
    }
    return ArtifactFindings(section, tables, found.assignment.classes, verdict)


def _tokenizer_reason(length_unit: str, wanted: str) -> str | None:
    """Why texts are cut in another way than most, for the reader who did not ask for it."""
    if wanted != "auto" or length_unit != "characters":
        return None
    return "The texts have no spaces between words, so they are cut into characters."


def _mine(train: Dataset, role: str, mining: dict[str, Any], progress: Progress) -> PatternTable:
    with warnings.catch_warnings():
        # That nothing was frequent enough is a finding here: the counts in the report say it.
        warnings.simplefilter("ignore", UserWarning)
        return mine_patterns(
            train.texts(role), train.labels(), label_names=train.label_names, progress=progress, **mining
        )


def _control(
    train: Dataset, mining: dict[str, Any], chosen: ArtifactSettings, progress: Progress
) -> dict[str, Any] | None:
    """The other text of a pair: in a sound construction it tells nothing, whoever wrote the hypotheses."""
    if len(train.text_columns) < 2:
        return None
    role = train.text_columns[0]
    mined = _mine(train, role, mining, progress)
    significant = mined.significant(chosen.q)
    return {
        "applies_to": role,
        "n_mined": len(mined),
        "n_significant": len(significant),
        "n_selected": len(significant.select(chosen.threshold)),
    }
