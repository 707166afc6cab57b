"""The report on rows to rewrite: ranked, each with what gives it away, and what leakage falls to without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.numbers import signed_points
from goldassay.core.progress import Steps
from goldassay.core.results import to_plain
from goldassay.data.reading import open_source
from goldassay.questions.artifacts.inputs import load
from goldassay.questions.artifacts.measures.presence import pattern_features
from goldassay.questions.inputs import describe_input
from goldassay.questions.leakage.example_artifacts import find_artifacts
from goldassay.questions.leakage.posed_items import ItemReading, load_items
from goldassay.questions.leakage.suggested_items import suggest_item_rewrites
from goldassay.questions.leakage.suggesting import Suggestion, suggest_rows
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.readers.conditions import roles_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.core.settings import Settings
    from goldassay.data import Dataset
    from goldassay.questions.artifacts.measures.pattern_table import PatternTable
    from goldassay.report.report import Report

# Rows on the page; the table beside it has all.
MOST_ROWS = 60
_MOST_PATTERNS = 3


def study_rewrites(
    train: Any,
    test: Any,
    condition: str | None,
    dropped: Sequence[float],
    columns: str | Mapping[str, str] | None,
    settings: Settings,
    quiet: bool,
) -> Report:
    """Rank rows and measure what leakage falls to without shares of them, as `suggest_rewrites` does.

    Raises:
        InputError: As `suggest_rewrites`.
    """
    steps = Steps(quiet)
    with steps.step("reading the data"):
        source = open_source(train, "train")
        posed = load_items(source, test, ItemReading(columns, clusters=settings.data.clusters))
    if posed is not None:
        return suggest_item_rewrites(posed, condition, dropped, settings, steps)
    with steps.step("reading the data"):
        training = load(source, columns=columns)
        evaluation = None if test is None else load(test, columns=columns, part="test")
    with steps.step("refitting without rows") as progress:
        found = suggest_rows(training, evaluation, condition, shares=dropped, seed=settings.seed, progress=progress)
    role = roles_of(found.condition, training.text_columns)[0]
    with steps.step("mining patterns"):
        patterns = find_artifacts(training, training, role, settings).patterns
        table = found.table.with_columns(_reasons(found.table, role, patterns))
    section = to_plain(
        {
            "source": "suggestion",
            "condition": found.condition,
            "n_rows": len(training),
            "before": found.before,
            "falls": found.falls,
            "test_majority": found.test_majority,
            "n_folds": found.n_folds,
            "n_seeds": found.n_seeds,
            "rows": table.head(MOST_ROWS).select(pl.exclude("row")),
            "labels": _labels(table),
        }
    )
    findings = {
        "questions": ["leakage"],
        "dataset": _dataset(training, evaluation),
        "inputs": [describe_input("train", training)]
        + ([] if evaluation is None else [describe_input("test", evaluation)]),
        "leakage": {"sentences": _say(found, len(training)), "suggestion": section},
        "settings": {"seed": settings.seed, "condition": found.condition, "shares": list(dropped)},
    }
    title = f"Rows of {training.name} to rewrite first"
    return compose_report(frame_findings(title, findings, steps, settings), {"rows": table, "falls": found.falls})


def _dataset(train: Dataset, test: Dataset | None) -> dict[str, Any]:
    return {
        "name": train.name,
        "label_names": list(train.label_names),
        "text_columns": list(train.text_columns),
        "n_train": len(train),
        **({} if test is None else {"n_test": len(test)}),
    }


def _reasons(table: pl.DataFrame, role: str, patterns: PatternTable) -> pl.Series:
    """The patterns of each row's own label that its text holds, the most telling first, joined by a bar."""
    frame = patterns.to_frame()
    held = pattern_features(table[role].to_list(), patterns).tocsr()
    labels = frame["label"].cast(pl.String).to_list()
    order = np.argsort(-frame["probability"].to_numpy(), kind="stable")
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    names = frame["pattern"].to_list()
    reasons = []
    for row, label in enumerate(table["label"].cast(pl.String).to_list()):
        own = [v for v in held.indices[held.indptr[row] : held.indptr[row + 1]] if labels[v] == label]
        reasons.append(" | ".join(names[v] for v in sorted(own, key=lambda v: place[v])[:_MOST_PATTERNS]))
    return pl.Series("patterns", reasons, dtype=pl.String)


def _labels(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Of each label its share of all rows, and of the tenth that is to be rewritten first."""
    first = table.head(max(1, table.height // 10))
    return [
        {
            "label": label,
            "share": float((table["label"] == label).mean() or 0.0),
            "share_of_first": float((first["label"] == label).mean() or 0.0),
        }
        for label in table["label"].unique(maintain_order=True).sort().to_list()
    ]


def _say(found: Suggestion, n: int) -> list[str]:
    part = found.condition.removesuffix("_only")
    before = found.before
    said = [
        f"Before, a quick probe of the {part} alone is {signed_points(before['improvement'], 1)} points better than "
        f"always naming the most frequent label of these rows, among rows it was not trained on."
    ]
    for share in found.falls["share"].unique(maintain_order=True).to_list():
        rows = {row["rows"]: row for row in found.falls.filter(pl.col("share") == share).iter_rows(named=True)}
        one, other = rows["suggested"], rows["random"]
        tested = ""
        if "test_improvement" in one:
            tested = (
                f"; on the test set as it stands {signed_points(one['test_improvement'], 1)} "
                f"({signed_points(other['test_improvement'], 1)})"
            )
        said.append(
            f"Without the first {one['n_dropped']:,} of {n:,} rows it is {signed_points(one['improvement'], 1)} points "
            f"(without as many at random {signed_points(other['improvement'], 1)}){tested}."
        )
    return said
