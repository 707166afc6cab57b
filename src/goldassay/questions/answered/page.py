"""The page on answers: their statuses, the scores by each rule, and the pairs whose order depends on the rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.sections import Around, Page, Part, Section, explanation
from goldassay.core.tables import Column, Table, table_of, with_bounds
from goldassay.questions.answered.result import AnsweredResult, AnsweredRow

if TYPE_CHECKING:
    from collections.abc import Mapping

_STATUSES = ("unparsed", "empty", "truncated", "error", "unscored", "missing")


def sections(found: AnsweredResult, _: Around) -> tuple[Section, ...]:
    """The section "Answers"."""
    parts = [Part(table=_statuses(found)), Part(table=_scores(found))]
    if found.pairs:
        parts.append(Part(table=_pairs(found)))
    if found.passes:
        parts += [Part(table=_trials(found)), Part(table=_passes(found))]
    section = Section(
        key="answered",
        title=PAGE.title,
        lead=PAGE.heading(found)[1],
        sentences=sentences(found),
        notes=found.notes,
        parts=tuple(parts),
        how=explanation("goldassay.questions.answered", "how"),
    )
    return (section,)


def sentences(found: AnsweredResult) -> tuple[str, ...]:
    """What was found, beside the verdict."""
    lacking = sum(row.n_scored < row.n_items for row in found.runs)
    said = [f"{lacking:,} of {len(found.runs):,} runs have answers without a score."]
    if found.n_pairs:
        said.append(
            f"{len(found.pairs):,} of {found.n_pairs:,} pairs of systems change their order, or whether one is "
            "significantly better, with the rule for these."
        )
    return tuple(said)


def _name(row: AnsweredRow) -> Mapping[str, Any]:
    several = row.run not in ("0", row.model)
    return {"of": f"{row.model} on {row.dataset}" + (f", run {row.run}" if several else "")}


_OF = Column("of", "run of", "data")


def _statuses(found: AnsweredResult) -> Table:
    seen = [name for name in _STATUSES if any(getattr(row, name) for row in found.runs)]
    columns = (
        _OF,
        Column("word", "verdict"),
        Column("n_items", "items", "count"),
        Column("n_scored", "scored", "count"),
        Column("scored_truncated", "of these cut off", "count"),
        *(Column(name, name, "count") for name in seen),
        Column("unscored_share", "without a score", "percent", 1),
        with_bounds("harder", "harder for others by", "points", 1),
    )
    return table_of("answered", "What became of the answers", columns, found.runs, _name, file="answered")


def _scores(found: AnsweredResult) -> Table:
    columns = (
        _OF,
        with_bounds("wrong", "not scored as wrong", "points", 2),
        with_bounds("scored_only", "scored only", "points", 2),
        Column("of_items", "of"),
        with_bounds("all_right", "not scored as right", "points", 2),
        Column("reported", "the log's own", "points", 2),
        Column("reported_rule", "which is"),
    )

    def more(row: AnsweredRow) -> Mapping[str, Any]:
        return {**_name(row), "of_items": f"{row.n_scored:,} of {row.n_items:,}"}

    return table_of("answered_scores", "Scores by each rule, in points", columns, found.runs, more, file="answered")


def _pairs(found: AnsweredResult) -> Table:
    columns = (
        Column("a", "A", "data"),
        Column("b", "B", "data"),
        Column("dataset", "dataset", "data"),
        Column("wrong", "A - B, not scored as wrong", "points", 2),
        Column("wrong_p", "p", "probability", 4),
        Column("scored_only", "scored only", "points", 2),
        Column("scored_only_p", "p", "probability", 4),
        Column("both", "answered by both", "points", 2),
        Column("n_both", "items", "count"),
    )
    caption = "Pairs of systems whose order, or whether one is significantly better, depends on the rule"
    return table_of("answered_pairs", caption, columns, found.pairs, lambda _: {}, file="answered_pairs")


def _trials(found: AnsweredResult) -> Table:
    columns = (
        Column("model", "model", "data"),
        Column("dataset", "dataset", "data"),
        Column("n_items", "items", "count"),
        Column("n_trials", "attempts at each", "count"),
        Column("n_flip", "items that flip", "count"),
        Column("icc", "intraclass correlation", "decimal", 2),
        Column("effective_trials", "effective attempts", "decimal", 1),
    )
    return table_of("trials", "Several attempts at each item", columns, found.trials, lambda _: {})


def _passes(found: AnsweredResult) -> Table:
    columns = (
        Column("model", "model", "data"),
        Column("dataset", "dataset", "data"),
        Column("k", "k", "count"),
        Column("n_items", "items with k", "count"),
        with_bounds("pass_at", "pass@k (one of k)", "points", 1),
        with_bounds("pass_all", "pass^k (all of k)", "points", 1),
    )
    return table_of("passes", "What k attempts give", columns, found.passes, lambda _: {}, file="trials")


PAGE = Page(
    AnsweredResult,
    title="Answers",
    lead="Was every answer scored, and by which rule?",
    sections=sections,
    sentences=sentences,
    meanings={
        "sound": "Nearly every answer has a score.",
        "caution": "Answers without a score leave room for another score.",
        "unsound": "The rule for answers without a score decides the score, or who is better.",
    },
)
