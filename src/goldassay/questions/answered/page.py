"""The page on answers: their statuses, the scores by each rule, and the pairs whose order depends on the rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import count, percent, points, signed_points
from goldassay.core.sections import Around, Column, Page, Part, Section, Table, explanation, table_of, with_bounds
from goldassay.questions.answered.degenerate import describe_degenerate, issues_of_degenerate
from goldassay.questions.answered.result import AnsweredResult, AnsweredRow, Degenerate, Reading, TrialSet
from goldassay.questions.rows import issue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goldassay.core.document import Issue
    from goldassay.core.sections import Finding

# Runs and pairs that sentences name.
_MOST = 8
_RULES = {
    "first": "the first candidate", "last": "the last candidate", "anchored": "the anchored answer",
    "after_think": "the answer after the reasoning",
}  # fmt: skip
_STATUSES = ("unparsed", "empty", "truncated", "error", "unscored", "missing")


def sections(found: AnsweredResult, _: Around) -> tuple[Section, ...]:
    """The section "Answers"."""
    tables = [
        (_statuses, found.runs), (_scores, found.runs), (_degenerate, found.degenerate), (_pairs, found.pairs),
        (_unanswered, found.statuses), (_readings, found.readings), (_turned, found.reading_pairs),
        (_trials, found.trials), (_passes, found.passes),
    ]  # fmt: skip
    parts = [Part(table=table(found)) for table, rows in tables if rows]
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
    cut = {(row.model, row.dataset): [0, 0] for row in found.runs if row.scored_truncated}
    for row in found.runs:
        if (own := cut.get((row.model, row.dataset))) is not None:
            own[0], own[1] = own[0] + row.scored_truncated, own[1] + row.n_items
    said += [
        f"{model} on {dataset}: {count(n)} of {count(of)} answers were cut off, and keep their score."
        for (model, dataset), (n, of) in list(cut.items())[:_MOST]
    ]
    if found.n_pairs:
        said.append(
            f"{len(found.pairs):,} of {found.n_pairs:,} pairs of systems change their order, or whether one is "
            "significantly better, with the rule for these."
        )
    if found.statuses:
        most = max(found.statuses, key=lambda pair: abs(pair.a_share - pair.b_share))
        less, more = sorted(((most.a_share, most.a), (most.b_share, most.b)))
        said.append(
            f"{count(len(found.statuses))} pairs of systems differ in how much they leave out (paired test, Holm), "
            f"most of all {more[1]} ({percent(more[0], 1)}) and {less[1]} ({percent(less[0], 1)})."
        )
    said += [
        f"{row.model} on {row.dataset} scores {points(row.harness, 2)} by the log, and "
        f"{_by_rule(row)} of {count(row.n_texts)} texts."
        for row in found.readings
        if any(
            own.unparsed for own in found.runs if (own.model, own.dataset, own.run) == (row.model, row.dataset, row.run)
        )
    ][:_MOST]
    said += [
        f"{pair.a} less {pair.b} on {pair.dataset}: {signed_points(pair.harness)} points by the log, "
        f"{signed_points(pair.other)} by {_RULES[pair.rule]}."
        for pair in found.reading_pairs[:_MOST]
    ]
    return tuple(said)


def _by_rule(row: Reading) -> str:
    """The scores by the other rules, the first candidate left out."""
    known = {rule: getattr(row, rule) for rule in ("anchored", "last", "after_think")}
    return ", ".join(f"{points(value, 2)} by {_RULES[rule]}" for rule, value in known.items() if value is not None)


def _name(row: AnsweredRow | Reading) -> Mapping[str, Any]:
    several = row.run not in ("0", row.model)
    return {"of": f"{row.model} on {row.dataset}" + (f", run {row.run}" if several else "")}


# Rows of long tables; files hold all.
_SHOWN = 60
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
        *([Column("n_not_tried", "not tried", "count")] if any(row.n_not_tried for row in found.runs) else []),
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


def _degenerate(found: AnsweredResult) -> Table:
    columns = (Column("system", "system", "data"), Column("dataset", "dataset", "data"), Column("said", "why"))

    def more(row: Degenerate) -> Mapping[str, Any]:
        return {"said": describe_degenerate(row)}

    return table_of("degenerate", "Scores that are no measure of ability", columns, found.degenerate, more)


def _unanswered(found: AnsweredResult) -> Table:
    columns = (
        Column("a", "A", "data"),
        Column("b", "B", "data"),
        Column("dataset", "dataset", "data"),
        Column("a_share", "A without a score", "percent", 1),
        Column("b_share", "B without a score", "percent", 1),
        Column("p", "p (Holm)", "probability", 4),
    )
    caption = "Systems of which one leaves out more"
    return table_of(
        "answered_statuses", caption, columns, found.statuses[:_SHOWN], lambda _: {}, file="answered_statuses"
    )


def _readings(found: AnsweredResult) -> Table:
    columns = (
        _OF,
        Column("form", "answers are"),
        Column("n_texts", "texts", "count"),
        Column("harness", "by the log", "points", 2),
        *(Column(rule, f"by {said}", "points", 2) for rule, said in _RULES.items()),
        Column("disagree", "items on which these disagree", "percent", 1),
    )
    return table_of("readings", "Texts read anew, scores in points", columns, found.readings, _name)


def _turned(found: AnsweredResult) -> Table:
    columns = (
        Column("a", "A", "data"),
        Column("b", "B", "data"),
        Column("dataset", "dataset", "data"),
        Column("harness", "A - B by the log", "points", 2),
        Column("rule", "rule"),
        Column("other", "by this rule", "points", 2),
        Column("p", "p", "probability", 4),
    )
    caption = "Pairs of systems that another rule of extraction orders otherwise"
    return table_of("reading_pairs", caption, columns, found.reading_pairs, lambda _: {})


def _trials(found: AnsweredResult) -> Table:
    columns = (
        Column("model", "model", "data"),
        Column("dataset", "dataset", "data"),
        Column("n_items", "items", "count"),
        Column("attempts", "attempts at each", sort="n_trials"),
        Column("n_flip", "items that flip", "count"),
        Column("icc", "intraclass correlation", "decimal", 2),
        Column("effective_trials", "effective attempts", "decimal", 1),
        Column("error", "standard error", "points", 2),
        Column("error_trials", "with twice the attempts", "points", 2),
        Column("error_items", "with twice the items", "points", 2),
    )

    def more(row: TrialSet) -> Mapping[str, Any]:
        least = f"{row.n_trials_least} to " if row.n_trials_least < row.n_trials else ""
        return {"attempts": f"{least}{row.n_trials}", "n_trials": row.n_trials}

    return table_of("trials", "Several attempts at each item", columns, found.trials, more)


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


def issues(found: AnsweredResult, finding: Finding) -> Iterator[Issue]:
    """Answers without a score, and systems whose output is no answer."""
    n = sum(each.n_items - each.n_scored for each in found.runs)
    if n:
        worst = max(found.runs, key=lambda each: each.unscored_share)
        said = f"{worst.model}: {percent(worst.unscored_share)} of its answers"
        yield issue(finding, "answers without a score", n, said, of="answers", table="answered")
    yield from issues_of_degenerate(finding, found.degenerate)


PAGE = Page(
    AnsweredResult,
    title="Answers",
    lead="Was every answer scored, and by which rule?",
    sections=sections,
    sentences=sentences,
    issues=issues,
)
