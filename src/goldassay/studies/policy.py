"""A policy held against reports: what is kept, what is broken, and what cannot be told.

A measure that no report has breaks its rule: a gate that passes because nothing was measured guards nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from goldassay.errors import InputError
from goldassay.places import Figure, under, why_lacking
from goldassay.policy_rules import WORDS
from goldassay.report.numbers import bounds_in, count, with_unit
from goldassay.results import Result
from goldassay.studies.bounded_figures import bounded_figures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.policy_rules import Rule, Unit
    from goldassay.report.reading import StoredReport
    from goldassay.settings import Limit, PolicySection

Status = Literal["kept", "broken", "skipped"]

SCHEMA = "goldassay.check"


@dataclass(frozen=True)
class Outcome(Result):
    """What became of one rule.

    Attributes:
        rule: Its name in `[policy]`.
        status: kept, broken, or skipped where the measure is lacking and the rule optional.
        line: The same as a sentence.
        measure: What is measured, in words.
        direction: "at most" or "at least".
        limit: What was demanded.
        by: What was held against it: the figure, or an end of its interval.
        value: The figure nearest to breaking the rule or furthest beyond it; NaN where there is none.
        low: Lower end of its interval.
        high: Upper end.
        of: Which of the report's figures it is.
        report: The path of the report that it stands in.
        n_figures: How many figures were judged.
        n_broken: How many of them break the rule.
    """

    rule: str
    status: Status
    line: str
    measure: str
    direction: str
    limit: float | str
    by: str
    value: float | str
    low: float
    high: float
    of: tuple[str, ...]
    report: str
    n_figures: int
    n_broken: int


@dataclass(frozen=True)
class Check(Result):
    """What became of every rule of a policy.

    Attributes:
        reports: Which reports were judged.
        outcomes: One a rule, in the order of the rules.
    """

    reports: tuple[dict[str, Any], ...]
    outcomes: tuple[Outcome, ...]

    @property
    def passed(self) -> bool:
        """Whether no rule is broken."""
        return not self.broken

    @property
    def broken(self) -> tuple[Outcome, ...]:
        """The rules that are broken."""
        return tuple(outcome for outcome in self.outcomes if outcome.status == "broken")

    def to_dict(self) -> dict[str, Any]:
        """As plain data, with the schema's name and the verdict first."""
        return {"schema": SCHEMA, "schema_version": 1, "passed": self.passed, **super().to_dict()}


@dataclass(frozen=True)
class _Held:
    """A figure with what it is held by, and where it stands."""

    figure: Figure
    by: float
    report: str


def check_reports(reports: Sequence[StoredReport], policy: PolicySection) -> Check:
    """Hold a policy against one report, or several taken together: each rule against all figures that they have.

    Raises:
        InputError: The policy demands nothing.
    """
    if not policy.demands():
        raise InputError("the policy demands nothing", mend="set rules, such as max_single_sentence_improvement = 0.05")
    return Check(
        reports=tuple(report.describe() for report in reports),
        outcomes=tuple(_judge(rule, limit, reports) for rule, limit in policy.demands()),
    )


def _judge(rule: Rule, limit: Limit, reports: Sequence[StoredReport]) -> Outcome:
    found = _figures(rule, limit.by, reports)
    undefined = [each for each in found if math.isnan(each.by)]
    judged = [each for each in found if not math.isnan(each.by)]
    allowed = _rank(limit.limit)
    beyond = [each for each in judged if (each.by > allowed if rule.direction == "at most" else each.by < allowed)]
    # What is worse than allowed is said first, also where something else could not be measured.
    if not beyond and (not judged or (undefined and not limit.optional)):
        return _lacking(rule, limit, undefined, reports)
    worst = (max if rule.direction == "at most" else min)(judged, key=lambda each: each.by)
    line = _said(rule, limit, worst, _place(worst.report, reports))
    return _outcome(rule, limit, "broken" if beyond else "kept", line, worst, judged, beyond)


def _figures(rule: Rule, by: str, reports: Sequence[StoredReport]) -> list[_Held]:
    held = []
    for report in reports:
        for place in rule.places:
            for figure in bounded_figures(report.document, place):
                if rule.spares_unmeasured and under(report.document, f"{place.at}.headline") is None:
                    continue
                of = (*figure.of, place.at.rpartition(".")[2]) if rule.spares_unmeasured else figure.of
                figure = Figure(figure.value, figure.low, figure.high, of, figure.reason)
                chosen = figure.value if by == "value" or rule.unit == "verdict" else getattr(figure, by)
                held.append(_Held(figure, _rank(chosen), str(report.path)))
    return held


def _rank(value: float | str) -> float:
    """A number as it is; a verdict by its severity, NaN for one that says nothing."""
    if not isinstance(value, str):
        return float(value)
    return float(WORDS.index(value)) if value in WORDS else math.nan


def _lacking(rule: Rule, limit: Limit, undefined: Sequence[_Held], reports: Sequence[StoredReport]) -> Outcome:
    if undefined:
        report, first = undefined[0].report, undefined[0].figure
        what = "is not measurable" if rule.unit == "verdict" else "is not defined"
        if first.is_defined and rule.unit != "verdict":
            what = f"has no interval, and by = {limit.by!r} asks for one"
        why = first.reason
    else:
        report, first = "", Figure(math.nan)
        names = ", ".join(str(each.path) for each in reports)
        what = "is not in the report" if len(reports) == 1 else f"is in none of the {len(reports)} reports ({names})"
        said = (why_lacking(each.document, place) for each in reports for place in rule.places)
        why = next((each for each in said if each), "")
    of = f" ({', '.join(first.of)})" if first.of else ""
    line = f"{rule.name}: {rule.sentence} {what}{of}{_place(report, reports)}" + (f": {why}" if why else "")
    status: Status = "skipped" if limit.optional else "broken"
    return _outcome(rule, limit, status, line, _Held(first, math.nan, report), undefined, undefined)


def _place(report: str, reports: Sequence[StoredReport]) -> str:
    """In which report a figure stands, where there is a choice."""
    return f" in {report}" if report and len(reports) > 1 else ""


def _said(rule: Rule, limit: Limit, worst: _Held, place: str) -> str:
    figure = worst.figure
    if isinstance(figure.value, str):
        shown = figure.value
    else:
        shown = f"{_shown(figure.value, rule.unit)} {_bounds(figure, rule.unit)}".rstrip()
    of = f" ({', '.join(figure.of)})" if figure.of else ""
    by = "" if limit.by == "value" or rule.unit == "verdict" else f", by the {limit.by}er end of the interval"
    by = by.replace("higher", "upper")
    allowed = limit.limit if isinstance(limit.limit, str) else _shown(limit.limit, rule.unit)
    asked = "allows at most" if rule.direction == "at most" else "demands at least"
    return f"{rule.name}: {rule.sentence} is {shown}{of}{place}; the policy {asked} {allowed}{by}"


def _shown(value: float, unit: Unit) -> str:
    return count(value) if unit == "runs" else with_unit(value, unit)


def _bounds(figure: Figure, unit: Unit) -> str:
    return "" if unit == "runs" else bounds_in(figure.low, figure.high, unit)


def _outcome(
    rule: Rule, limit: Limit, status: Status, line: str, worst: _Held, judged: Sequence[_Held], beyond: Sequence[_Held]
) -> Outcome:
    more = f" (and {len(beyond) - 1} more)" if len(beyond) > 1 else ""
    return Outcome(
        rule=rule.name, status=status, line=line + more, measure=rule.sentence, direction=rule.direction,
        limit=limit.limit, by=limit.by, value=worst.figure.value, low=worst.figure.low, high=worst.figure.high,
        of=worst.figure.of, report=worst.report, n_figures=len(judged), n_broken=len(beyond),
    )  # fmt: skip
