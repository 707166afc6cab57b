"""`artifacts mine`: a training set's patterns, of all rows and of each value of a column."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.files import written_together
from goldassay.questions.artifacts.inputs import DEFAULT, Bounds, mine_dataset
from goldassay.questions.artifacts.output import write_report
from goldassay.questions.artifacts.search import search_patterns
from goldassay.questions.artifacts.shortlist import STANDING, of_table
from goldassay.report.saving import write_tables

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from goldassay.artifacts import Confirmation, PatternFile, PatternTable
    from goldassay.core.settings import ArtifactSettings
    from goldassay.data import Dataset
    from goldassay.questions.artifacts.search import PatternSearch
    from goldassay.questions.evidence import Evidence

STRONGEST = 10
MAX_VALUES = 100
TESTED = ("test_support", "test_probability")


@dataclass(frozen=True)
class MinedArtifacts:
    """Patterns mined from a dataset.

    Attributes:
        patterns: Of all rows.
        findings: Those significant and telling by `keeping`, folded: each under the part that already tells as much (of
            more than `shortlist.FOLDED_AT_MOST` only the strongest; the others have no `n_folded`); with a test set
            also test_support, test_probability, confirmed.
        confirmation: The findings on the test set, or None.
        condition: The column that the rows were also parted by, or None.
        by_value: Of each of its values, in order; mined from the rows with it alone.
        skipped: Value to why it has no table.
        keeping: Beyond which q and share a pattern is a finding.
        search: What the patterns, findings and their confirmation are of.
    """

    patterns: PatternTable
    findings: pl.DataFrame
    confirmation: Confirmation | None
    condition: str | None
    by_value: dict[str, PatternTable]
    skipped: dict[str, str]
    keeping: ArtifactSettings
    search: PatternSearch

    def strongest(self, k: int = STRONGEST) -> pl.DataFrame:
        """Of each label the k unfolded findings that give most away: support x (probability - share of the label)."""
        return strongest(self.findings, self.patterns, k)

    def to_dict(self) -> dict[str, Any]:
        """The figures, and the strongest findings."""
        return {
            **figures_of(self.patterns, self.findings, self.confirmation),
            "by_lift": self.search.described.section["by_lift"],
            "condition": self.condition,
            "by_value": {
                value: {
                    "n_examples": table.settings["n_sentences"],
                    "n_patterns": len(table),
                    "strongest": strongest(_findings(table, self.keeping), table, STRONGEST).to_dicts(),
                }
                for value, table in self.by_value.items()
            },
            "skipped": self.skipped,
        }

    def tables(self) -> dict[str, pl.DataFrame]:
        """All patterns, the findings, and where rows were parted by a column the patterns of each of its values."""
        tables = {"patterns": self.patterns.to_frame(), "findings": self.findings}
        if self.condition is not None and self.by_value:
            column = self.condition if self.condition not in self.findings.columns else f"{self.condition}_value"
            tables["patterns_by_value"] = pl.concat(
                table.to_frame().select(pl.lit(value).alias(column), pl.all()) for value, table in self.by_value.items()
            )
        return tables

    def save(self, directory: str | os.PathLike[str], document: Mapping[str, Any] | None = None) -> list[Path]:
        """Write patterns.parquet (which `PatternTable.read` reads), the findings, and the tables of each value.

        With a report if its document is given (`reports.document_of_mining` makes it).

        Raises:
            OutputError: The folder cannot be written to.
        """
        tables = self.tables()
        with written_together(directory) as folder:
            write_tables(tables, folder)
            self.patterns.write(folder / "patterns.parquet")
            if document is not None:
                write_report(document, list(tables), folder)
        paths = [Path(directory) / f"{name}.{kind}" for name in tables for kind in ("parquet", "csv")]
        return paths if document is None else [*paths, Path(directory) / "report.html"]


def mine(evidence: Evidence, bounds: Bounds = DEFAULT, condition: str | None = None) -> MinedArtifacts:
    """Mine the training part, and each part of it that a metadata column names; see what holds on the test part.

    Of the settings the largest q and the threshold are used, as the audit uses them.

    Raises:
        InputError: The column is not there or has too many values, the data cannot be mined, or the test part has other
            texts or labels.
    """
    dataset, keeping = evidence.train, evidence.settings.artifacts
    clusters = None if evidence.held_out is None else evidence.clusters.codes_if_any
    parts = {} if condition is None else _parts(dataset, condition)
    with evidence.steps.step("mining patterns") as progress:
        search = search_patterns(
            dataset, evidence.held_out, bounds, keeping, evidence.settings.seed, progress, clusters
        )
        by_value, skipped = _mined_by_value(parts, bounds)
    return MinedArtifacts(
        search.mined,
        search.described.findings,
        search.described.confirmation,
        condition,
        by_value,
        skipped,
        keeping,
        search,
    )


def _mined_by_value(parts: Mapping[str, Dataset], bounds: Bounds) -> tuple[dict[str, PatternTable], dict[str, str]]:
    """The patterns of each value's rows alone, and why some values have none."""
    by_value: dict[str, PatternTable] = {}
    skipped: dict[str, str] = {}
    for value, part in parts.items():
        if part.examples["label"].n_unique() < 2:
            skipped[value] = f"all its {len(part):,} rows have one label"
            continue
        with warnings.catch_warnings():
            # A rare value has no frequent pattern: its empty table says so.
            warnings.simplefilter("ignore", UserWarning)
            by_value[value] = mine_dataset(part, bounds)
    return by_value, skipped


def figures_of(
    patterns: PatternTable | PatternFile, findings: pl.DataFrame, confirmation: Confirmation | None
) -> dict[str, Any]:
    """What the result of mining says of patterns, wherever they are, and of the findings among them."""
    return {
        "settings": patterns.settings,
        "label_names": list(patterns.label_names),
        "n_patterns": len(patterns),
        "n_findings": findings.height,
        "n_unfolded": int(findings.select(STANDING.sum()).item()),
        "n_not_folded": findings["n_folded"].null_count(),
        "strongest": strongest(findings, patterns, STRONGEST).to_dicts(),
        "confirmation": None if confirmation is None else confirmation.to_dict(),
    }


def strongest(findings: pl.DataFrame, patterns: PatternTable | PatternFile, k: int) -> pl.DataFrame:
    """Rows for reading, by label, then by gain; with test_support and test_probability where there is a test set."""
    counts = patterns.settings["label_counts"]
    prior = {name: n / max(sum(counts), 1) for name, n in zip(patterns.label_names, counts, strict=True)}
    share = pl.col("label").replace_strict(prior, return_dtype=pl.Float64)
    ranked = findings.filter(STANDING).sort(
        pl.col("support") * (pl.col("probability") - share), descending=True, maintain_order=True
    )
    columns = ("label", "pattern", "support", "probability", "wilson_low", "q_value", "n_folded", *TESTED)
    return pl.concat(ranked.filter(pl.col("label") == label).head(k) for label in patterns.label_names).select(
        column for column in columns if column in ranked.columns
    )


def _findings(patterns: PatternTable, keeping: ArtifactSettings) -> pl.DataFrame:
    return of_table(patterns, keeping.q, keeping.threshold).findings()


def _parts(dataset: Dataset, column: str) -> dict[str, Dataset]:
    examples = dataset.examples
    if column not in examples.columns:
        raise InputError(
            f"there is no column {column!r}", file=dataset.source, mend=f"choose from {', '.join(examples.columns)}"
        )
    values = examples[column].cast(pl.String, strict=False).fill_null("")
    names = sorted(values.unique().to_list())
    if len(names) > MAX_VALUES:
        raise InputError(
            f"it has {len(names):,} values, more than the {MAX_VALUES} that are mined apart",
            file=dataset.source,
            column=column,
            mend="choose a column of few values, such as the genre",
        )
    return {name: dataset.take((values == name).to_numpy()) for name in names}
