"""The question of artifacts: which surface patterns give the label away? In an audit, and mined by itself."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.document import About
from goldassay.core.errors import InputError
from goldassay.core.files import written_together
from goldassay.core.numbers import count, percent
from goldassay.questions.artifacts.inputs import DEFAULT, Bounds, mine_dataset
from goldassay.questions.artifacts.page import PAGE
from goldassay.questions.artifacts.reports import (
    MAX_VALUES,
    STRONGEST,
    figures_of,
    of_table,
    report_of_finding,
    rows_of_value,
    strongest,
    without_whole_texts,
    write_report,
)
from goldassay.questions.artifacts.result import PatternsResult, ValueRow
from goldassay.questions.artifacts.search import Described, SearchedTexts, answer
from goldassay.questions.evidence import Evidence
from goldassay.questions.provenance import data_notes, left_out_doubts
from goldassay.questions.rows import MOST_ROWS, beside_data, rows_to_read, words_of_texts
from goldassay.report.report import write_tables
from goldassay.report.without_texts import bare_tables, without_texts

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from goldassay.core.progress import Steps
    from goldassay.core.sections import Finding, RowToRead
    from goldassay.core.settings import ArtifactSettings, Settings
    from goldassay.data.dataset import Dataset
    from goldassay.questions.artifacts.measures.clusters import Confirmation
    from goldassay.questions.artifacts.measures.difficulty import DifficultyAssignment
    from goldassay.questions.artifacts.measures.pattern_table import PatternTable
    from goldassay.report.report import Report
    from goldassay.report.without_texts import HiddenTexts


class _Artifacts:
    question = "artifacts"
    title = PAGE.title
    asks = str(PAGE.lead)
    needs = ()

    def run(self, evidence: Evidence) -> Finding:
        """Judge the patterns of all texts; shown are those of the text that decides, else of the last one."""
        finding = self.measure(evidence, evidence.patterns)
        described = evidence.patterns.texts[0]
        assignment = described.assignment
        assert assignment is not None
        difficulty = assignment.to_frame().with_columns(evidence.test.examples["example_id"])
        words = _words(evidence)
        assert isinstance(finding.result, PatternsResult)
        return replace(
            finding,
            result=replace(finding.result, tokenizer_reason=_tokenizer_reason(evidence)),
            tables={
                **finding.tables,
                "difficulty": difficulty.select("example_id", pl.exclude("row", "example_id")),
                **({} if described.pattern_examples is None else {"pattern_examples": described.pattern_examples}),
                "words": words,
            },
            examples={"difficulty": pl.Series(assignment.classes.tolist(), dtype=pl.String)},
            first_rows=_first_rows(evidence, assignment, described),
        )

    def measure(self, evidence: Evidence, searched: SearchedTexts) -> Finding:
        """Judge any search for patterns of some texts."""
        described = searched.texts[0]
        doubts = left_out_doubts(evidence.train, evidence.test)
        limits = evidence.settings.verdicts.artifacts
        finding = answer(searched, evidence.train.text_columns, evidence.clusters, limits, doubts)
        if described.assignment is None:
            return finding
        return replace(finding, rows=_rows(evidence.test, described.assignment, described.findings))


CHECK = _Artifacts()


def _rows(test: Dataset, assignment: DifficultyAssignment, findings: pl.DataFrame) -> pl.DataFrame:
    """Test rows of which every pattern names the label, with their patterns, those of the surest pattern first."""
    low, names = findings["wilson_low"].to_list(), findings["pattern"].to_list()
    ids = test.examples["example_id"].cast(pl.String).to_list()
    found = []
    for position, kind, patterns in zip(
        assignment.rows.tolist(), assignment.classes.tolist(), assignment.pattern_ids, strict=True
    ):
        # Of folds a pattern may decide that all rows together do not show.
        if kind == "easy" and patterns.size:
            ordered = sorted(patterns.tolist(), key=lambda at: (-low[at], at))
            found.append((test.name, ids[position], [names[at] for at in ordered], low[ordered[0]]))
    schema = pl.Schema(
        {"dataset": pl.String(), "example_id": pl.String(), "patterns": pl.List(pl.String), "share_low": pl.Float64()}
    )
    rows = pl.DataFrame(found, schema=schema, orient="row")
    return beside_data(rows.sort("share_low", descending=True, maintain_order=True), {test.name: test})


def _first_rows(evidence: Evidence, assignment: DifficultyAssignment, described: Described) -> tuple[RowToRead, ...]:
    """Test rows of which every pattern names the label; one row a pattern, the surest pattern first."""
    findings, role = described.findings, described.section.applies_to
    low = findings["wilson_low"].to_list()
    found: dict[int, int] = {}
    for position, (kind, ids) in enumerate(zip(assignment.classes.tolist(), assignment.pattern_ids, strict=True)):
        if kind == "easy" and ids.size:
            found.setdefault(max(ids.tolist(), key=lambda at: (low[at], -at)), position)
    surest = sorted(found, key=lambda at: (-low[at], at))[:MOST_ROWS]
    rows = {at: findings.row(at, named=True) for at in surest}
    return rows_to_read(
        evidence.test,
        (
            (
                found[at],
                role,
                f"Its {role} has the pattern “{row['pattern']}”: of the {count(row['support'])} training examples with "
                f"it {percent(row['probability'], 0)} are {row['label']}.",
            )
            for at, row in rows.items()
        ),
    )


def _words(evidence: Evidence) -> pl.DataFrame:
    """Words of each text of the training part that lean to a label by themselves."""
    train, settings = evidence.train, evidence.settings
    texts = {role: train.examples[role] for role in train.text_columns}
    with evidence.steps.step("counting telling words"):
        return words_of_texts(texts, train.labels(), train.label_names, q=settings.artifacts.q, seed=settings.seed)


def _tokenizer_reason(evidence: Evidence) -> str | None:
    if evidence.settings.artifacts.tokenizer != "auto" or evidence.facts.length_unit != "characters":
        return None
    return "The texts have no spaces between words, so they are cut into characters."


@dataclass(frozen=True)
class ArtifactStudy:
    """What was mined, and the report on it.

    Attributes:
        evidence: What it was mined from and tried on.
        mined: Patterns and findings.
        report: On them.
    """

    evidence: Evidence
    mined: MinedArtifacts
    report: Report


def study_artifacts(
    train: Any,
    test: Any,
    bounds: Bounds,
    *,
    condition: str | None,
    columns: str | Mapping[str, str] | None,
    file_format: str,
    settings: Settings,
    steps: Steps,
) -> ArtifactStudy:
    """Mine, try and judge, as `measure_artifacts` does.

    Args:
        train: As for `measure_artifacts`.
        test: Likewise.
        bounds: How patterns are mined.
        condition: A column that the rows are also parted by, or None.
        columns: Which column plays which role.
        file_format: The format of the files, where their content does not say it.
        settings: Everything else.
        steps: Progress, and the seconds that each step took.

    Raises:
        InputError: As `measure_artifacts`.
    """
    evidence = Evidence(
        train, test, columns=columns, file_format=file_format, settings=settings, steps=steps, same_texts=False
    )
    mined = mine(evidence, bounds, condition)
    with steps.step("writing the report"):
        report = report_of_mining(evidence, mined.searched, mined.condition, mined.by_value, mined.tables())
    return ArtifactStudy(evidence, mined, report)


def report_of_mining(
    evidence: Evidence,
    searched: SearchedTexts,
    condition: str | None = None,
    by_value: Mapping[str, PatternTable] = MappingProxyType({}),
    tables: Mapping[str, pl.DataFrame] = MappingProxyType({}),
) -> Report:
    """The report on patterns mined in memory: as in the audit, with a verdict where they were tried on other rows.

    Args:
        evidence: What they were mined from and tried on.
        searched: What was measured of each text.
        condition: The column that the rows were also parted by, or None.
        by_value: Patterns of each of its values.
        tables: That the report holds.
    """
    keeping, train, test = evidence.settings.artifacts, evidence.train, evidence.test
    rows: list[ValueRow] = []
    for value, table in by_value.items():
        rows += rows_of_value(value, table, of_table(table, keeping.q, keeping.threshold).findings())
    return report_of_finding(
        CHECK.measure(evidence, searched),
        About(name=train.name, label_names=tuple(searched.texts[0].section.prior), text_columns=train.text_columns),
        evidence.inputs,
        None if test is train else test.name,
        evidence.steps,
        evidence.settings,
        condition,
        rows,
        data_notes(train, test, None, evidence.decisions),
        tables,
    )


@dataclass(frozen=True)
class MinedArtifacts:
    """Patterns mined from a dataset.

    Attributes:
        patterns: Of all rows.
        findings: Those significant and telling by `keeping`, folded: each under the part that already tells as much (of
            more than `reports.FOLDED_AT_MOST` only the strongest; the others have no `n_folded`); with a test set
            also test_support, test_probability, confirmed.
        confirmation: The findings on the test set, or None.
        condition: The column that the rows were also parted by, or None.
        by_value: Of each of its values, in order; mined from the rows with it alone.
        skipped: Value to why it has no table.
        keeping: Beyond which q and share a pattern is a finding.
        searched: Everything measured of each text.
    """

    patterns: PatternTable
    findings: pl.DataFrame
    confirmation: Confirmation | None
    condition: str | None
    by_value: dict[str, PatternTable]
    skipped: dict[str, str]
    keeping: ArtifactSettings
    searched: SearchedTexts

    def strongest(self, k: int = STRONGEST) -> pl.DataFrame:
        """Of each label the k unfolded findings that give most away: support x (probability - share of the label)."""
        return strongest(self.findings, self.patterns, k)

    def to_dict(self) -> dict[str, Any]:
        """The figures, and the strongest findings."""
        return {
            **figures_of(self.patterns, self.findings, self.confirmation),
            "by_lift": [each.to_dict() for each in self.searched.texts[0].section.by_lift],
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

    def save(
        self,
        directory: str | os.PathLike[str],
        report: Report | None = None,
        also: Mapping[str, bytes] = MappingProxyType({}),
        hidden: HiddenTexts | None = None,
    ) -> list[Path]:
        """Write patterns.parquet (which `PatternTable.read` reads), the findings, and the tables of each value.

        Args:
            directory: Where to.
            report: Written, too, if there is one (`report_of_mining` makes it).
            also: Further files by their path in it, such as `goldassay.report.paper` makes.
            hidden: Texts that are not written: a pattern that is one of them is left out.

        Raises:
            OutputError: The folder cannot be written to.
        """
        patterns, tables = self.patterns, self.tables()
        if hidden is not None:
            patterns, tables = without_whole_texts(patterns, hidden), bare_tables(tables, hidden)
            report = None if report is None else without_texts(report, hidden)
        with written_together(directory) as folder:
            write_tables(tables, folder)
            patterns.write(folder / "patterns.parquet")
            if report is not None:
                write_report(report, list(tables), folder)
            for name, content in also.items():
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_bytes(content)
        paths = [Path(directory) / f"{name}.{kind}" for name in tables for kind in ("parquet", "csv")]
        paths += [Path(directory) / name for name in also]
        return paths if report is None else [*paths, Path(directory) / "report.html"]


def mine(evidence: Evidence, bounds: Bounds = DEFAULT, condition: str | None = None) -> MinedArtifacts:
    """Mine the training part, and each part of it that a metadata column names; see what holds on rows that are read.

    All texts are searched where the bounds name none; the patterns are those of the text that is shown. Of the settings
    the largest q and the threshold are used, as the audit uses them.

    Raises:
        InputError: The column is not there or has too many values, the data cannot be mined, or the test part has other
            texts or labels.
    """
    dataset, keeping = evidence.whole, evidence.settings.artifacts
    parts = {} if condition is None else _parts(dataset, condition)
    roles = dataset.text_columns if bounds.text is None else (bounds.text,)
    with evidence.steps.step("mining patterns") as progress:
        found = [evidence.search(replace(bounds, text=role), progress) for role in roles]
    searched = evidence.measured([each.described for each in found])
    shown = next(each for each in found if each.described is searched.texts[0])
    with evidence.steps.step("mining patterns"):
        by_value, skipped = _mined_by_value(parts, replace(bounds, text=shown.described.section.applies_to))
    return MinedArtifacts(
        shown.mined,
        shown.described.findings,
        shown.described.confirmation,
        condition,
        by_value,
        skipped,
        keeping,
        searched,
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


def _findings(patterns: PatternTable, keeping: ArtifactSettings) -> pl.DataFrame:
    return of_table(patterns, keeping.q, keeping.threshold).findings()


def _parts(dataset: Dataset, column: str) -> dict[str, Dataset]:
    examples = dataset.with_keys([column]).examples
    if column not in examples.columns:
        raise InputError(
            f"there is no column {column!r}", file=dataset.source, mend=f"choose from {', '.join(examples.columns)}"
        )
    values = examples[column].cast(pl.String, strict=False).fill_null("")
    names = sorted(values.unique().to_list())
    if len(names) > MAX_VALUES:
        raise InputError(
            f"it has {len(names):,} values, more than the {MAX_VALUES} that are mined separately",
            file=dataset.source,
            column=column,
            mend="choose a column of few values, such as the genre",
        )
    return {name: dataset.take((values == name).to_numpy()) for name in names}
