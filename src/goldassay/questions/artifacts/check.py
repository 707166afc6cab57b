"""The question of artifacts: which surface patterns give the label away?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.numbers import count, percent
from goldassay.questions.artifacts.search import answer
from goldassay.questions.first_rows import MOST_ROWS, rows_to_read
from goldassay.questions.left_out import left_out_doubts
from goldassay.questions.row_details.words import words_of_texts
from goldassay.questions.rows import beside_data

if TYPE_CHECKING:
    from goldassay.artifacts import DifficultyAssignment
    from goldassay.core.finding import Finding, RowToRead
    from goldassay.data import Dataset
    from goldassay.questions.artifacts.section import Described
    from goldassay.questions.evidence import Evidence


class _Artifacts:
    question = "artifacts"
    title = "Artifacts"
    asks = "Which surface patterns give the label away?"
    needs = ()

    def run(self, evidence: Evidence) -> Finding:
        """Judge the patterns of the hypothesis of a pair, of the only text, otherwise of the last text column."""
        described = evidence.patterns
        finding = self.measure(evidence, described)
        assignment = described.assignment
        assert assignment is not None
        difficulty = assignment.to_frame().with_columns(evidence.test.examples["example_id"])
        words = _words(evidence)
        return replace(
            finding,
            results={
                **finding.results,
                "tokenizer_reason": _tokenizer_reason(evidence),
                "control": _control(evidence),
            },
            tables={
                **finding.tables,
                "difficulty": difficulty.select("example_id", pl.exclude("row", "example_id")),
                **({} if described.pattern_examples is None else {"pattern_examples": described.pattern_examples}),
                "words": words,
            },
            examples={"difficulty": pl.Series(assignment.classes.tolist(), dtype=pl.String)},
            first_rows=_first_rows(evidence, assignment, described.findings),
        )

    def measure(self, evidence: Evidence, described: Described) -> Finding:
        """Judge any search for patterns; without a test part what they give away is not measurable."""
        limits, seed = evidence.settings.verdicts.artifacts, evidence.settings.seed
        clusters = None if evidence.held_out is None else evidence.clusters
        doubts = left_out_doubts(evidence.train, evidence.held_out)
        finding = answer(described, evidence.train.text_columns, clusters, limits, seed, doubts)
        if described.assignment is None or evidence.held_out is None:
            return finding
        return replace(finding, rows=_rows(evidence.held_out, described.assignment, described.findings))


CHECK = _Artifacts()


def _rows(test: Dataset, assignment: DifficultyAssignment, findings: pl.DataFrame) -> pl.DataFrame:
    """Test rows of which every pattern names the label, with their patterns, those of the surest pattern first."""
    low, names = findings["wilson_low"].to_list(), findings["pattern"].to_list()
    ids = test.examples["example_id"].cast(pl.String).to_list()
    found = []
    for position, kind, patterns in zip(
        assignment.rows.tolist(), assignment.classes.tolist(), assignment.pattern_ids, strict=True
    ):
        if kind == "easy":
            ordered = sorted(patterns.tolist(), key=lambda at: (-low[at], at))
            found.append((test.name, ids[position], [names[at] for at in ordered], low[ordered[0]]))
    schema = pl.Schema(
        {"dataset": pl.String(), "example_id": pl.String(), "patterns": pl.List(pl.String), "share_low": pl.Float64()}
    )
    rows = pl.DataFrame(found, schema=schema, orient="row")
    return beside_data(rows.sort("share_low", descending=True, maintain_order=True), {test.name: test})


def _first_rows(evidence: Evidence, assignment: DifficultyAssignment, findings: pl.DataFrame) -> tuple[RowToRead, ...]:
    """Test rows of which every pattern names the label; one row a pattern, the surest pattern first."""
    low = findings["wilson_low"].to_list()
    found: dict[int, int] = {}
    for position, (kind, ids) in enumerate(zip(assignment.classes.tolist(), assignment.pattern_ids, strict=True)):
        if kind == "easy":
            found.setdefault(max(ids.tolist(), key=lambda at: (low[at], -at)), position)
    surest = sorted(found, key=lambda at: (-low[at], at))[:MOST_ROWS]
    rows = {at: findings.row(at, named=True) for at in surest}
    role = evidence.train.text_columns[-1]
    return rows_to_read(
        evidence.test,
        (
            (
                found[at],
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


def _control(evidence: Evidence) -> dict[str, Any] | None:
    """Patterns of the other text of a pair: in a sound construction it tells nothing."""
    control = evidence.control_patterns
    if control is None:
        return None
    return {
        "applies_to": evidence.train.text_columns[0],
        "n_mined": control.n_mined,
        "n_significant": control.n_significant,
        "n_selected": control.n_selected,
    }
