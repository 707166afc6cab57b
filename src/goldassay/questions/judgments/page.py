"""The page of judges: what a seat adds, what else verdicts follow, and how far people agree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goldassay.core.charts import Axis, Chart, Dot, DotGroup, DotRow, Dots, by_name, first_of
from goldassay.core.numbers import bounds, percent, points
from goldassay.core.sections import Around, Column, Page, Part, Section, Table, explanation, table_of, with_bounds
from goldassay.questions.answered.degenerate import issues_of_degenerate
from goldassay.questions.judgments.result import JudgmentsResult
from goldassay.questions.rows import is_flaw, issue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goldassay.core.document import Issue
    from goldassay.core.sections import Finding
    from goldassay.questions.judgments.measures import PositionEffect

_JUDGE = Column("judge", "judge", "data")
_MOST = 20


def sections(found: JudgmentsResult, _: Around) -> tuple[Section, ...]:
    """The section "Judgments"."""
    further = (table for table in (_models(found), _agreement(found)) if table.rows)
    return (
        Section(
            key="judgments",
            title=PAGE.title,
            lead=PAGE.heading(found)[1],
            notes=found.remarks,
            parts=(Part("judgments_position", _seats(found)), *(Part(table=table) for table in further)),
            how=explanation("goldassay.questions.judgments", "how"),
        ),
    )


def _seats(found: JudgmentsResult) -> Table:
    columns = (
        _JUDGE,
        Column("n_items", "items", "count"),
        Column("n_both", "in both orders", "count"),
        with_bounds("changed", "verdict changes", "percent"),
        Column("first_share", "verdicts for the first seat", "percent"),
        Column("effect", "the first seat adds, points", "points", low="low", high="high"),
        Column("n_ties", "ties", "count"),
    )
    return table_of(
        "judges", "What the order does to the verdicts of each judge", columns, found.results, file="judges"
    )


def _models(found: JudgmentsResult) -> Table:
    columns = (
        _JUDGE,
        Column("n", "verdicts", "count"),
        Column("n_models", "models", "count"),
        with_bounds("position", "first seat", "decimal"),
        with_bounds("length", "length e times as large", "decimal"),
        with_bounds("own", "the judge's own model", "decimal"),
    )
    caption = "What verdicts follow together, in log odds of winning"
    return table_of("verdict_models", caption, columns, found.models, file="verdict_models")


def _agreement(found: JudgmentsResult) -> Table:
    columns = (
        _JUDGE,
        Column("n_items", "items", "count"),
        Column("accuracy", "as people", "percent", low="low", high="high"),
        Column("right_in_both", "in both orders", "percent"),
        Column("kappa", "kappa", "decimal"),
        Column("n_agreed", "items where people agree", "count"),
        Column("accuracy_agreed", "as people there", "percent"),
    )
    return table_of("agreement", "How far verdicts agree with people", columns, found.agreement, file="agreement")


def charts(found: JudgmentsResult, _: Around) -> dict[str, Chart]:
    """A dot a judge, with its interval; those that follow a seat most first."""
    judges = sorted((each for each in found.results if not math.isnan(each.effect)), key=lambda each: -abs(each.effect))
    shown, omitted = first_of([_group(each) for each in judges], _MOST, "judges")
    if not shown:
        return {}
    return by_name(
        Dots(
            name="judgments_position",
            title="What the first seat adds",
            caption="Each dot is what being shown first adds to a side's win rate by one judge, the line its interval, "
            "of which the end nearer to 0 is simultaneous over judges. At 0 the order does not matter.",
            omitted=omitted,
            groups=tuple(shown),
            axis=Axis("added to the win rate (points)"),
            headings="above",
        )
    )


def _group(each: PositionEffect) -> DotGroup:
    interval = bounds(each.low, each.high)
    ends = (each.low, each.high) if interval else (each.effect, each.effect)
    of_items = "" if math.isnan(each.changed) else f"; {percent(each.changed)} of its verdicts change with the order"
    dot = Dot(each.effect, f"{each.judge}: {points(each.effect)} points {interval}{of_items}")
    return DotGroup(each.judge, (DotRow((dot,), ends),), points(each.effect), interval)


def issues(found: JudgmentsResult, finding: Finding) -> Iterator[Issue]:
    """Verdicts that change with the order, and systems whose output is no answer."""
    n = sum(each.n_changed for each in found.results)
    if n and is_flaw(finding):
        worst = max((each for each in found.results if each.n_both), key=lambda each: each.changed)
        said = f"{worst.judge}: {percent(worst.changed)} of its items"
        yield issue(finding, "verdict changes with the order", n, said, of="verdicts", table="judged_items")
    yield from issues_of_degenerate(finding, found.degenerate)


PAGE = Page(
    JudgmentsResult,
    title="Judgments",
    lead="Does the judge prefer a seat?",
    sections=sections,
    charts=charts,
    issues=issues,
)
