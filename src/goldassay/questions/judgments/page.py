"""The page of judges: what a seat adds, what else verdicts follow, how far people agree, and what they would score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goldassay.core.charts import Axis, Chart, Dot, DotGroup, DotRow, Dots, Series, by_name, first_of
from goldassay.core.numbers import bounds, percent, points
from goldassay.core.sections import Around, Column, Page, Part, Section, Table, explanation, table_of, with_bounds
from goldassay.questions.answered.degenerate import issues_of_degenerate
from goldassay.questions.judgments.people import EPSILONS, SHARES
from goldassay.questions.judgments.result import JudgmentsResult
from goldassay.questions.judgments.scores import MEAN_SCORE, WIN_RATE, amount, describe_corrected
from goldassay.questions.rows import is_flaw, issue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goldassay.core.document import Issue
    from goldassay.core.sections import Finding, Kind
    from goldassay.questions.judgments.measures import PositionEffect
    from goldassay.questions.judgments.people import Corrected

_JUDGE = Column("judge", "judge", "data")
_MOST = 20


def sections(found: JudgmentsResult, _: Around) -> tuple[Section, ...]:
    """The section "Judgments"."""
    further = (table for table in (_models(found), _agreement(found), _replaces(found)) if table.rows)
    seats = (Part("judgments_position", _seats(found)),) if found.results else ()
    corrected = (Part("judgments_people", _corrected(found)),) if found.corrected else ()
    return (
        Section(
            key="judgments",
            title=PAGE.title,
            lead=PAGE.heading(found)[1],
            notes=found.remarks,
            parts=(*seats, *corrected, *(Part(table=table) for table in further)),
            how=explanation(
                "goldassay.questions.judgments", *(["how"] if seats else []), *(["how_people"] if corrected else [])
            ),
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


def _corrected(found: JudgmentsResult) -> Table:
    is_share = found.scale == SHARES
    score: Kind = "percent" if is_share else "decimal"
    columns = (
        _JUDGE,
        Column("of", "of", "data", absent=""),
        Column("judge_mean", "judge", score),
        Column("value", "people, estimated", score, low="low", high="high"),
        with_bounds(
            "bias", "judge too high by" + (", points" if is_share else ""), "points" if is_share else "decimal"
        ),
        Column("people_mean", "people, labelled rows", score),
        with_bounds("correlation", "correlation with people", "decimal"),
        Column("rogan_gladen", "Rogan and Gladen", score),
        with_bounds("sensitivity", "sensitivity", "percent"),
        with_bounds("specificity", "specificity", "percent"),
        Column("n_rows", "rows", "count"),
        Column("n_labelled", "labelled", "count"),
        Column("n_more", "labels that halve the interval", "count"),
        Column("reason", "no interval is valid", "prose", absent=""),
    )
    return table_of(
        "corrected_scores", "Scores that people would give, from a judge of all rows and people on some", columns,
        found.corrected, file="corrected_scores",
        note="" if found.drawn else "The intervals are valid only if the labelled rows were drawn at random.",
    )  # fmt: skip


def _replaces(found: JudgmentsResult) -> Table:
    columns = (
        _JUDGE,
        Column("n_annotators", "annotators", "count"),
        Column("n_items", "items", "count"),
        Column("advantage", "as near as an annotator", "percent"),
        *(Column(f"wins_{at}", f"annotators beaten at {epsilon:g}", "percent") for at, epsilon in enumerate(EPSILONS)),
        Column("epsilon", "replaces from epsilon", "decimal"),
    )
    tests = [each for each in found.replaces if not each.lacking]
    return table_of(
        "annotator_test", "Whether the judge can replace an annotator (alternative annotator test)", columns, tests,
        lambda each: {f"wins_{at}": win for at, win in enumerate(each.wins)},
        note="Calderon, Reichart and Dror advise epsilon .2 for experts, .15 for trained annotators, .1 for crowds; at "
        "least half of the annotators must be beaten.",
    )  # fmt: skip


def charts(found: JudgmentsResult, around: Around) -> dict[str, Chart]:
    """What seats add, and what people would score."""
    return {**_of_seats(found, around), **_of_people(found)}


def _of_people(found: JudgmentsResult) -> dict[str, Chart]:
    """The judge's mean and people's estimated one, with its interval; the largest bias first."""
    known = sorted((each for each in found.corrected if not each.reason), key=lambda each: -abs(each.bias))
    what = WIN_RATE if found.results else MEAN_SCORE
    shown, omitted = first_of([_pair(each, found.scale, what) for each in known], _MOST, "scores")
    if not shown:
        return {}
    is_share = found.scale == SHARES
    return by_name(
        Dots(
            name="judgments_people",
            title="How far off the judge is",
            caption="For each judge its mean score on all rows, and the mean that people would give there, with its "
            "95 % interval.",
            omitted=omitted,
            groups=tuple(shown),
            axis=Axis("mean score" if is_share else "mean grade", unit="percent" if is_share else "number"),
            series=(Series("people, estimated"), Series("judge", "s1", 1)),
            headings="above",
        )
    )


def _pair(each: Corrected, scale: tuple[float, float], what: str) -> DotGroup:
    name = f"{each.judge}, {each.of}" if each.of else each.judge
    said = describe_corrected(each, scale, what)
    dots = (
        Dot(each.value, said, low=each.low, high=each.high),
        Dot(each.judge_mean, said, series=1, hollow=True),
    )
    interval = f"({amount(each.low, scale)} to {amount(each.high, scale)})"
    return DotGroup(name, (DotRow(dots),), amount(each.value, scale), interval)


def _of_seats(found: JudgmentsResult, _: Around) -> dict[str, Chart]:
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
    follows = any(each.measurable and each.low >= each.caution for each in found.effects.effects)
    if n and follows and is_flaw(finding):
        worst = max((each for each in found.results if each.n_both), key=lambda each: each.changed)
        said = f"{worst.judge}: {percent(worst.changed)} of its items"
        yield issue(finding, "verdict changes with the order", n, said, of="verdicts", table="judged_items")
    yield from issues_of_degenerate(finding, found.degenerate)


PAGE = Page(
    JudgmentsResult,
    title="Judgments",
    lead=lambda found: "Does the judge prefer a seat?" if found.results else "How far is the judge from people?",
    sections=sections,
    charts=charts,
    issues=issues,
)
