"""The question of artifacts: which surface patterns give the label away?"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.artifacts.mining import count_findings
from goldassay.questions.artifacts.choices import choose_tokenizer, least_count
from goldassay.questions.artifacts.search import answer

if TYPE_CHECKING:
    from goldassay.core.finding import Finding
    from goldassay.questions.artifacts.search import PatternSearch
    from goldassay.questions.evidence import Evidence


class _Artifacts:
    question = "artifacts"
    title = "Artifacts"
    asks = "Which surface patterns give the label away?"

    def run(self, evidence: Evidence) -> Finding:
        """Judge the patterns of the hypothesis of a pair, of the only text, otherwise of the last text column."""
        search = evidence.patterns
        finding = self.measure(evidence, search)
        assignment = search.described.assignment
        assert assignment is not None
        difficulty = assignment.to_frame().with_columns(evidence.test.examples["example_id"])
        return replace(
            finding,
            results={
                **finding.results,
                "tokenizer_reason": _tokenizer_reason(evidence),
                "control": _control(evidence),
            },
            tables={**finding.tables, "difficulty": difficulty.select("example_id", pl.exclude("row", "example_id"))},
            examples={"difficulty": pl.Series(assignment.classes.tolist(), dtype=pl.String)},
        )

    def measure(self, evidence: Evidence, search: PatternSearch) -> Finding:
        """Judge any search for patterns; without a test part what they give away is not measurable."""
        limits = evidence.settings.verdicts.artifacts
        return answer(search.described, search.short, evidence.train.text_columns, evidence.held_out, limits)


CHECK = _Artifacts()


def _tokenizer_reason(evidence: Evidence) -> str | None:
    if evidence.settings.artifacts.tokenizer != "auto" or evidence.facts.length_unit != "characters":
        return None
    return "The texts have no spaces between words, so they are cut into characters."


def _control(evidence: Evidence) -> dict[str, Any] | None:
    """Patterns of the other text of a pair: in a sound construction it tells nothing."""
    train, chosen = evidence.train, evidence.settings.artifacts
    if len(train.text_columns) < 2:
        return None
    role = train.text_columns[0]
    with evidence.steps.step("mining patterns"), warnings.catch_warnings():
        # That no pattern was frequent enough is a finding here: the counts in the report say it.
        warnings.simplefilter("ignore", UserWarning)
        counted = count_findings(
            train.examples[role],
            train.labels(),
            chosen.q,
            chosen.threshold,
            chosen.max_tokens,
            chosen.max_gap,
            chosen.min_count or least_count(len(train)),
            choose_tokenizer(evidence.facts.length_unit, chosen.tokenizer),
            label_names=train.label_names,
        )
    return {"applies_to": role, **dict(zip(("n_mined", "n_significant", "n_selected"), counted, strict=True))}
