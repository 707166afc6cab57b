"""`artifacts assign`: easy and hard examples of a test set, by patterns and, if asked, by classifier too."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.artifacts import (
    ClassifierDifficulty,
    DifficultyAssignment,
    DifficultyOverlap,
    PatternTable,
    assign_by_classifier,
    assign_difficulty,
    compare_difficulty,
)
from goldassay.core.files import written_together
from goldassay.core.progress import Progress, silent
from goldassay.questions.artifacts.inputs import texts_for
from goldassay.questions.artifacts.output import write_report
from goldassay.questions.artifacts.unseen import predict_unseen
from goldassay.report.saving import write_tables

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from goldassay.data import Dataset


@dataclass(frozen=True)
class Subsets:
    """The classes of a test set's examples.

    Attributes:
        patterns: What decided, cut.
        assignment: The classes by patterns.
        by_classifier: The classes by classifier, or None.
        overlap: How far the two agree, or None.
        judged: How the classifier came to judge what it had not seen, in a clause; or "".
        table: A row an example: example_id, class, label, the texts, pattern_labels (the labels that its patterns point
            to), patterns; and class_by_classifier, share_right.
    """

    patterns: PatternTable
    assignment: DifficultyAssignment
    by_classifier: ClassifierDifficulty | None
    overlap: DifficultyOverlap | None
    judged: str
    table: pl.DataFrame

    def sizes(self) -> pl.DataFrame:
        """A row a class: class, n, and how many of each label."""
        counts = self.table.group_by("class", "label").len()
        rows = [
            {
                "class": name,
                "n": n,
                **{
                    label: int(counts.filter((pl.col("class") == name) & (pl.col("label") == label))["len"].sum())
                    for label in self.assignment.label_names
                },
            }
            for name, n in self.assignment.summary.items()
        ]
        return pl.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """The figures, without the examples."""
        return {
            "patterns": {"n_patterns": len(self.patterns), "settings": self.patterns.settings},
            **self.assignment.to_dict(),
            "sizes": self.sizes().to_dicts(),
            "by_classifier": None if self.by_classifier is None else self.by_classifier.to_dict(),
            "judged": self.judged,
            "overlap": None if self.overlap is None else self.overlap.to_dict(),
        }

    def save(self, directory: str | os.PathLike[str], document: Mapping[str, Any] | None = None) -> list[Path]:
        """Write subsets and the patterns that decided, as Parquet and CSV, and a report if its document is given.

        Raises:
            OutputError: The folder cannot be written to.
        """
        tables = {"subsets": self.table, "patterns": self.patterns.to_frame()}
        if self.overlap is not None:
            tables["overlap"] = self.overlap.to_frame()
        with written_together(directory) as folder:
            write_tables(tables, folder)
            self.patterns.write(folder / "patterns.parquet")
            if document is not None:
                write_report(document, list(tables), folder)
        paths = [Path(directory) / f"{name}.{kind}" for name in tables for kind in ("parquet", "csv")]
        return paths if document is None else [*paths, Path(directory) / "report.html"]


def assign(
    test: Dataset,
    patterns: PatternTable,
    *,
    train: Dataset | None = None,
    by_classifier: bool = False,
    seeds: Sequence[int] = range(5),
    progress: Progress = silent,
) -> Subsets:
    """Class each test example by the patterns it holds, and by a classifier that sees only the same text.

    Args:
        test: Labelled examples.
        patterns: Mined on training data and cut.
        train: What the classifier is trained on; without it, it is cross-fitted on the test set itself.
        by_classifier: Whether to apply that rule too.
        seeds: Of the classifiers.
        progress: Told how many classifiers are trained.

    Raises:
        InputError: The data do not fit the patterns or each other.
    """
    labels = test.examples["label"].to_list()
    assignment = assign_difficulty(texts_for(test, patterns), labels, patterns)
    shown = patterns.to_frame()["pattern"]
    table = (
        assignment.to_frame()
        .select("class", pattern_labels="labels", ids="pattern_ids")
        .with_columns(test.examples.select("example_id", "label", *test.text_columns))
    )
    held = table.select(ids=pl.col("ids")).with_row_index("at").explode("ids", empty_as_null=False)
    names = held.with_columns(pattern=shown.gather(held["ids"])).group_by("at", maintain_order=True).agg("pattern")
    table = (
        table.drop("ids")
        .with_row_index("at")
        .join(names, on="at", how="left", maintain_order="left")
        .with_columns(patterns=pl.col("pattern").fill_null(pl.lit([], dtype=pl.List(pl.String))))
        .select("example_id", "class", "label", *test.text_columns, "pattern_labels", "patterns")
    )
    judged, classified, overlap = "", None, None
    if by_classifier:
        unseen = predict_unseen(test, train, patterns.settings.get("text"), seeds, progress)
        classified = assign_by_classifier(unseen.predictions, unseen.gold)
        overlap = compare_difficulty(assignment.classes, classified.classes)
        judged = unseen.how
        table = table.with_columns(
            class_by_classifier=pl.Series(classified.classes.tolist(), dtype=pl.String),
            share_right=pl.Series(classified.share_right),
        )
    return Subsets(patterns, assignment, classified, overlap, judged, table)
