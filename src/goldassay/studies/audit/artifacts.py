"""The audit's first question: which surface patterns give the label away?"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.artifacts import assign_difficulty, confirm_patterns, fold_redundant, giveaway, mine_patterns
from goldassay.results import to_plain
from goldassay.studies.audit.inputs import majority_share
from goldassay.studies.audit.verdicts import Verdict, judge_artifacts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.artifacts import PatternTable
    from goldassay.data import Dataset
    from goldassay.progress import Progress
    from goldassay.settings import ArtifactSettings, Settings

# What is shown; the tables hold everything.
STRONGEST_PER_LABEL = 12
SENTENCES_PER_PATTERN = 3
POINTS_IN_SCATTER = 3000
CURVE = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))

# From this many training rows on, the published cut of 50 examples is used as it stands.
LARGE = 200_000


@dataclass(frozen=True)
class ArtifactFindings:
    """The section of the report, its tables, the class of each test example, and the verdict."""

    section: dict[str, Any]
    tables: dict[str, pl.DataFrame]
    classes: NDArray[np.str_]
    verdict: Verdict


def least_count(n_rows: int) -> int:
    """The fewest examples a pattern must occur in: 50 from 200,000 rows on, else one in a thousand, at least 8."""
    return 50 if n_rows >= LARGE else max(8, n_rows // 1000)


def choose_tokenizer(length_unit: str, wanted: str) -> str:
    """The tokenizer that was set, or by script: characters where words are not set apart by spaces."""
    if wanted != "auto":
        return wanted
    return "characters" if length_unit == "characters" else "treebank"


def audit_artifacts(
    train: Dataset, test: Dataset, length_unit: str, settings: Settings, progress: Progress
) -> ArtifactFindings:
    """Mine the training part, keep what is significant, and see what it gives away on the evaluation part.

    The text that is searched is the hypothesis of a pair, the only text of a single one, otherwise the last text
    column; the first text of a pair is mined as a control.
    """
    role = train.text_columns[-1]
    chosen = settings.artifacts
    texts = train.texts(role)
    mining: dict[str, Any] = {
        "max_tokens": chosen.max_tokens,
        "max_gap": chosen.max_gap,
        "min_count": chosen.min_count or least_count(len(train)),
        "tokenizer": choose_tokenizer(length_unit, chosen.tokenizer),
    }
    mined = _mine(train, role, mining, progress)
    significant = mined.significant(chosen.q)
    selected = significant.select(chosen.threshold)

    held_out, labels = test.texts(role), test.examples["label"].to_list()
    assignment = assign_difficulty(held_out, labels, selected)
    on_train = assign_difficulty(texts, train.examples["label"].to_list(), selected)
    given = giveaway(assignment, labels, on_train, train.examples["label"].to_list())
    confirmation = confirm_patterns(selected, held_out, labels)
    patterns = fold_redundant(selected).with_columns(
        confirmation.to_frame().select("test_support", "test_probability", "confirmed")
    )
    section = {
        "applies_to": role,
        "settings": {**mining, "q": chosen.q, "threshold": chosen.threshold},
        "prior": _shares(train),
        "n_mined": len(mined),
        "n_significant": len(significant),
        "n_selected": len(selected),
        "n_confirmed": confirmation.n_confirmed,
        "strongest": _strongest(patterns, train, texts, selected),
        "difficulty": {name: {"n": n, "share": n / len(test)} for name, n in assignment.summary.items()},
        "coverage": given.coverage,
        "precision": given.precision,
        "giveaway": given.giveaway,
        "control": _control(train, mining, chosen, progress),
        "scatter": _scatter(significant),
        "coverage_curve": _curve(significant, held_out, labels),
    }
    verdict = judge_artifacts(
        value=given.giveaway.value,
        low=given.giveaway.low,
        high=given.giveaway.high,
        coverage=given.coverage,
        precision=given.precision.value,
        n_mined=len(mined),
        min_count=mining["min_count"],
        n_selected=len(selected),
        threshold=chosen.threshold,
        majority=majority_share(test),
        n_test=len(test),
        is_part=len(train.text_columns) > 1,
        limits=settings.verdicts.artifacts,
    )
    tables = {
        "patterns": patterns,
        "difficulty": assignment.to_frame()
        .with_columns(test.examples["example_id"])
        .select(pl.last(), pl.exclude("row", "example_id")),
    }
    return ArtifactFindings(to_plain(section), tables, assignment.classes, verdict)


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


def _shares(dataset: Dataset) -> dict[str, float]:
    counts = np.bincount(dataset.labels(), minlength=len(dataset.label_names))
    return dict(zip(dataset.label_names, (counts / counts.sum()).tolist(), strict=True))


def _strongest(
    patterns: pl.DataFrame, train: Dataset, texts: Sequence[str], selected: PatternTable
) -> dict[str, list[dict[str, Any]]]:
    """The patterns that stand for themselves, by how much more often than by chance they are right.

    Ranked by the examples they give away beyond the label's share, support x (probability - share): a pattern in ten
    examples with p = 1 matters less than one in a thousand with p = .9.
    """
    prior = _shares(train)
    ranked = (
        patterns.with_row_index("at")
        .filter(pl.col("folded_under").is_null())
        .with_columns(
            (
                pl.col("support")
                * (pl.col("probability") - pl.col("label").replace_strict(prior, return_dtype=pl.Float64))
            ).alias("gain")
        )
        .sort("gain", descending=True, maintain_order=True)
    )
    shown = {label: ranked.filter(pl.col("label") == label).head(STRONGEST_PER_LABEL) for label in train.label_names}
    wanted = sorted(row for frame in shown.values() for row in frame["at"].to_list())
    sentences = _sentences(wanted, texts, selected)
    keys = (
        "pattern", "support", "probability", "wilson_low", "wilson_high", "lift", "q_value",
        "test_support", "test_probability", "n_folded",
    )  # fmt: skip
    return {
        label: [{**{key: row[key] for key in keys}, "examples": sentences[row["at"]]} for row in frame.to_dicts()]
        for label, frame in shown.items()
    }


def _sentences(rows: list[int], texts: Sequence[str], selected: PatternTable) -> dict[int, list[str]]:
    """A few different sentences that hold each pattern, the first of the file."""
    found: dict[int, list[str]] = {row: [] for row in rows}
    if not rows:
        return found
    at, pattern = selected.matches(texts)
    order = np.argsort(pattern, kind="stable")
    starts = np.searchsorted(pattern[order], rows)
    ends = np.searchsorted(pattern[order], rows, side="right")
    for row, start, end in zip(rows, starts, ends, strict=True):
        distinct = dict.fromkeys(texts[sentence] for sentence in at[order[start:end]].tolist())
        found[row] = list(distinct)[:SENTENCES_PER_PATTERN]
    return found


def _scatter(significant: PatternTable) -> list[dict[str, Any]]:
    """Points for the picture: the most frequent patterns and, of the rest, those most telling."""
    frame = significant.to_frame().select("pattern", "support", "probability", "label")
    half = POINTS_IN_SCATTER // 2
    frequent = frame.head(half)
    telling = frame.slice(half).sort("probability", "support", descending=True, maintain_order=True).head(half)
    return pl.concat([frequent, telling]).to_dicts()


def _curve(significant: PatternTable, held_out: Sequence[str], labels: Sequence[str]) -> list[dict[str, Any]]:
    """Coverage and precision on the test set at a row of thresholds."""
    points = []
    for threshold in CURVE:
        assignment = assign_difficulty(held_out, labels, significant.select(threshold))
        n_decided = int((assignment.label_sets.sum(axis=1) == 1).sum())
        precision = assignment.summary["easy"] / n_decided if n_decided else None
        points.append({"threshold": threshold, "coverage": assignment.coverage, "precision": precision})
    return points
