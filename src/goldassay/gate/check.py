"""A policy held against reports: what is kept, what is broken, and what cannot be told.

A measure that no report has breaks its rule: a gate that passes because nothing was measured guards nothing.

A check as JUnit XML, which every CI service shows: one test case a rule.

What a policy demands: its rules and ids of figures, checked against the measures that are declared.

A policy is the table `[policy]` of goldassay.toml. Its keys are names of rules, which a question declares with its
measures, the verdicts on questions and their bounds, or ids of figures. `unresolved` says whether a verdict that shows
neither a flaw nor its absence passes.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, create_model, model_validator

from goldassay.core.errors import InputError, visible
from goldassay.core.figures import Direction, Figure, Measure, Rule, declared, judged_questions, unit_of_bound
from goldassay.core.numbers import bounds_in, count, with_unit
from goldassay.core.results import INCONCLUSIVE, WORDS, Result, severity
from goldassay.core.settings import Settings, StrictSection, validated

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from goldassay.gate.reading import StoredReport


Status = Literal["kept", "broken", "inconclusive", "skipped"]

SCHEMA = "goldassay.check"


@dataclass(frozen=True)
class Outcome(Result):
    """What became of one rule.

    Attributes:
        rule: Its name in `[policy]`.
        status: kept; broken; inconclusive where a verdict shows neither a flaw nor its absence; or skipped where the
            measure is lacking and the rule optional.
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
        policy: Name of the file that holds the policy; "" where no file does.
        unresolved: Whether inconclusive rules "fail" or "pass".
        notes: What *sound* cannot see, and verdicts that rest on limits or settings that are not the default.
    """

    reports: tuple[dict[str, Any], ...]
    outcomes: tuple[Outcome, ...]
    policy: str = ""
    unresolved: Literal["fail", "pass"] = "fail"
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no rule is broken, and none inconclusive unless the policy lets these pass."""
        return not self.broken and not self.failing_unresolved

    @property
    def broken(self) -> tuple[Outcome, ...]:
        """The rules that are broken."""
        return tuple(outcome for outcome in self.outcomes if outcome.status == "broken")

    @property
    def failing_unresolved(self) -> tuple[Outcome, ...]:
        """The rules that are inconclusive, where the policy does not let these pass."""
        return tuple(each for each in self.outcomes if each.status == "inconclusive" and self.unresolved == "fail")

    def to_dict(self) -> dict[str, Any]:
        """As plain data, with the schema's name and the verdict first."""
        return {"schema": SCHEMA, "schema_version": 1, "passed": self.passed, **super().to_dict()}


@dataclass(frozen=True)
class _Held:
    """A figure or a verdict of a report, and the number that is compared with the limit."""

    value: float | str
    by: float = math.nan
    low: float = math.nan
    high: float = math.nan
    of: tuple[str, ...] = ()
    reason: str = ""
    report: str = ""


def check_reports(reports: Sequence[StoredReport], policy: Sequence[Demand], file: str = "") -> Check:
    """Hold a policy against one report, or several taken together: each demand against all figures that they have.

    Args:
        reports: To be judged.
        policy: What is demanded.
        file: Name of the file that holds the policy, if one does.

    Raises:
        InputError: The policy demands nothing.
    """
    return Check(
        reports=tuple(report.describe().to_dict() for report in reports),
        outcomes=tuple(_judge(demand, reports) for demand in require_demands(policy)),
        policy=file,
        unresolved="pass" if any(demand.passes_unresolved for demand in policy) else "fail",
        notes=tuple(
            f"{question}{_place(str(report.path), reports)}: {said}"
            for report in reports
            for question, verdict in report.verdicts.items()
            for said in (verdict.not_seen, verdict.limits)
            if said
        ),
    )


def _judge(demand: Demand, reports: Sequence[StoredReport]) -> Outcome:
    found = [each for report in reports for each in _held(demand, report)]
    undefined = [each for each in found if math.isnan(each.by)]
    judged = [each for each in found if not math.isnan(each.by)]
    allowed = _rank(demand.limit)
    at_most = demand.direction == "at most"
    beyond = [each for each in judged if (each.by > allowed if at_most else each.by < allowed)]
    # What is worse than allowed is said first, also where something else could not be measured.
    if not beyond and (not judged or (undefined and not demand.optional)):
        return _lacking(demand, undefined, reports)
    worst = (max if at_most else min)(judged, key=lambda each: each.by)
    line = _describe_breach(demand, worst, _place(worst.report, reports))
    return _outcome(demand, "broken" if beyond else "kept", line, worst, judged, beyond)


def _held(demand: Demand, report: StoredReport) -> list[_Held]:
    """What the demand is about in one report."""
    if demand.questions:
        return _verdicts(demand, report)
    return [
        _Held(
            value=figure.value, by=getattr(figure, demand.by), low=figure.low, high=figure.high,
            of=tuple(figure.of.values()), reason=figure.reason, report=str(report.path),
        )
        for figure in report.figures
        if demand.limits(figure) and demand.counts(figure)
    ]  # fmt: skip


def _verdicts(demand: Demand, report: StoredReport) -> list[_Held]:
    held = []
    for question in demand.questions:
        verdict = report.verdicts.get(question)
        if verdict is None:
            continue
        of = (question,) if len(demand.questions) > 1 else ()
        if not demand.of_bound:
            held.append(_Held(verdict.verdict, _rank(verdict.verdict), of=of, report=str(report.path)))
            continue
        bound = math.nan if verdict.at_most is None else verdict.at_most
        held.append(_Held(bound, bound, of=of, reason=f"the verdict is {verdict.verdict}", report=str(report.path)))
    return held


def _rank(value: float | str) -> float:
    """A number as it is; a verdict by its severity, NaN for one that says nothing."""
    if not isinstance(value, str):
        return float(value)
    return float(severity(value)) if value in WORDS and value not in INCONCLUSIVE else math.nan


def _lacking(demand: Demand, undefined: Sequence[_Held], reports: Sequence[StoredReport]) -> Outcome:
    if undefined:
        first = undefined[0]
        what = f"is {first.value}" if isinstance(first.value, str) else "is not defined"
        if isinstance(first.value, float) and not math.isnan(first.value):
            what = f"has no interval, and by = {demand.by!r} asks for one"
        why = first.reason
    else:
        first = _Held(math.nan)
        names = ", ".join(str(each.path) for each in reports)
        what = "is not in the report" if len(reports) == 1 else f"is in none of the {len(reports)} reports ({names})"
        why = next((said for each in reports if (said := _why_lacking(demand, each))), "")
    of = f" ({', '.join(first.of)})" if first.of else ""
    line = f"{demand.name}: {demand.sentence} {what}{of}{_place(first.report, reports)}" + (f": {why}" if why else "")
    status: Status = "skipped" if demand.optional else "inconclusive" if isinstance(first.value, str) else "broken"
    return _outcome(demand, status, line, first, undefined, undefined)


def _why_lacking(demand: Demand, report: StoredReport) -> str:
    """What the report itself says about a figure that it lacks; empty where it says nothing."""
    if demand.rule is not None and any(demand.limits(figure) for figure in report.figures):
        return f"what it has is of {' or '.join(demand.rule.without.values())}, which does not count"
    for question in dict.fromkeys((*demand.questions, *(measure.question for measure in demand.measures))):
        verdict = report.stated.get(question)
        # Without a headline nothing was measured, and the evidence says why.
        if verdict is not None and verdict.headline is None:
            return verdict.evidence.partition(". ")[0].rstrip(".")
    return ""


def _place(report: str, reports: Sequence[StoredReport]) -> str:
    """In which report a figure stands, where there is a choice."""
    return f" in {report}" if report and len(reports) > 1 else ""


def _describe_breach(demand: Demand, worst: _Held, place: str) -> str:
    if isinstance(worst.value, str):
        shown = worst.value
    else:
        shown = f"{_shown(worst.value, demand.unit)} {_bounds(worst, demand.unit)}".rstrip()
    of = f" ({', '.join(worst.of)})" if worst.of else ""
    by = {"value": "", "low": ", by the lower end of the interval", "high": ", by the upper end of the interval"}
    allowed = demand.limit if isinstance(demand.limit, str) else _shown(demand.limit, demand.unit)
    asked = "allows at most" if demand.direction == "at most" else "demands at least"
    return f"{demand.name}: {demand.sentence} is {shown}{of}{place}; the policy {asked} {allowed}{by[demand.by]}"


def _shown(value: float, unit: str) -> str:
    return count(value) if unit == "runs" else with_unit(value, unit)


def _bounds(held: _Held, unit: str) -> str:
    return "" if unit == "runs" else bounds_in(held.low, held.high, unit)


def _outcome(
    demand: Demand, status: Status, line: str, worst: _Held, judged: Sequence[_Held], beyond: Sequence[_Held]
) -> Outcome:
    more = f" (and {len(beyond) - 1} more)" if len(beyond) > 1 else ""
    return Outcome(
        rule=demand.name, status=status, line=line + more, measure=demand.sentence, direction=demand.direction,
        limit=demand.limit, by=demand.by, value=worst.value, low=worst.low, high=worst.high,
        of=worst.of, report=worst.report, n_figures=len(judged), n_broken=len(beyond),
    )  # fmt: skip


_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(check: Check) -> str:
    """The check as the usual JUnit XML: what fails is a failure, what passes without being kept is skipped.

    The time stamp is that of the last report, left out where no report has one; no durations are given: the same
    reports always make the same file.
    """
    failures = (*check.broken, *check.failing_unresolved)
    counts = {
        "tests": str(len(check.outcomes)),
        "failures": str(len(failures)),
        "errors": "0",
        "skipped": str(sum(each.status != "kept" for each in check.outcomes) - len(failures)),
        "time": "0",
    }
    root = ET.Element("testsuites", {"name": "goldassay check", **counts})
    finished = max(str(report["finished"]) for report in check.reports)
    suite = ET.SubElement(
        root,
        "testsuite",
        {
            "name": "goldassay policy",
            **counts,
            **({"timestamp": finished[:19]} if finished else {}),
            "hostname": "localhost",
        },
    )
    properties = ET.SubElement(suite, "properties")
    for i, report in enumerate(check.reports):
        for key, value in report.items():
            ET.SubElement(properties, "property", {"name": f"report.{i}.{key}", "value": _clean(value)})
    for outcome in check.outcomes:
        case = ET.SubElement(suite, "testcase", {"classname": "goldassay.policy", "name": outcome.rule, "time": "0"})
        if outcome.report:
            case.set("file", _clean(outcome.report))
        line = _clean(outcome.line)
        if outcome in failures:
            ET.SubElement(case, "failure", {"message": line, "type": "PolicyViolation"}).text = line
        elif outcome.status != "kept":
            ET.SubElement(case, "skipped", {"message": line})
        else:
            ET.SubElement(case, "system-out").text = line
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _clean(value: object) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", visible(value))


End = Literal["value", "low", "high"]


@dataclass(frozen=True)
class Demand:
    """One limit of a policy.

    Attributes:
        name: The key in `[policy]`.
        sentence: What is limited, in words.
        direction: Which side of the limit is allowed.
        unit: Of figure and limit; "verdict" for a word.
        limit: A number or, of a verdict, a word.
        by: What is compared with the limit: the figure, or an end of its interval.
        optional: A report without the figure passes.
        measures: What is limited; none where verdicts are.
        questions: Whose verdicts are limited.
        rule: Says which figures do not count; None where an id of a figure is limited.
        of_bound: The bounds of verdicts, `at_most`, are limited, not their words.
        passes_unresolved: A verdict that shows neither a flaw nor its absence passes.
    """

    name: str
    sentence: str
    direction: Direction
    unit: str
    limit: float | str
    by: End
    optional: bool
    measures: tuple[Measure, ...] = ()
    questions: tuple[str, ...] = ()
    rule: Rule | None = None
    of_bound: bool = False
    passes_unresolved: bool = False

    def limits(self, figure: Figure) -> bool:
        """Whether a figure is one of those that are limited."""
        return any(measure.takes(figure) for measure in self.measures)

    def counts(self, figure: Figure) -> bool:
        """Whether a limited figure counts."""
        return self.rule is None or self.rule.counts(figure)


class _Limit(StrictSection):
    """What every demand may say apart from its limit."""

    optional: bool = Field(default=False, description="A report that lacks the measure passes.")
    by: End = Field(default="value", description="What is compared: the figure, or an end of its interval.")


class _RuleLimit(_Limit):
    """A plain limit in the file, or a table with it."""

    limit: Any

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, given: Any) -> Any:
        return given if isinstance(given, dict) else {"limit": given}


class _FigureLimit(_Limit):
    """A table with the most or the least that is allowed, or with both."""

    max: Any = None
    min: Any = None

    @model_validator(mode="before")
    @classmethod
    def _a_table(cls, given: Any) -> Any:
        if isinstance(given, dict) and (given.get("max") is not None or given.get("min") is not None):
            return given
        raise ValueError("a figure's limit is a table with max or min, such as { max = 0.05 }")


class _Unbounded(_Limit):
    """A demand on what has no interval."""

    @model_validator(mode="after")
    def _by_itself(self) -> _Unbounded:
        if self.by != "value":
            raise ValueError(f"by = {self.by!r} asks for an end of an interval, and this measure has none")
        return self


def _fraction(value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError(f"{value:g} is no fraction from 0 to 1: 0.05 is 5 points or 5 %")
    return value


def _difference(value: float) -> float:
    if not -1 <= value <= 1:
        raise ValueError(f"{value:g} is no fraction from -1 to 1: 0.05 is 5 points")
    return value


_NUMBER = Annotated[float, Field(allow_inf_nan=False)]
# What a rule's limit may be, by the unit of its measures; points and shares are fractions.
_RULE_LIMITS: dict[str, Any] = {
    "points": Annotated[float, AfterValidator(_fraction)],
    "share": Annotated[float, AfterValidator(_fraction)],
    "examples": Annotated[float, Field(ge=0, allow_inf_nan=False)],
    "runs": Annotated[int, Field(ge=1, le=10**9)],
    "bits": _NUMBER,
    "number": _NUMBER,
    "verdict": Literal["sound", "caution", "unsound"],
}
# A figure may be a difference, which has a sign.
_FIGURE_LIMITS = _RULE_LIMITS | {"points": Annotated[float, AfterValidator(_difference)]}


def read_policy(table: Any, file: str | os.PathLike[str] | None = None) -> tuple[Demand, ...]:
    """The demands of a table `[policy]`, in its order; none where it is empty.

    Args:
        table: Plain content, as TOML has it; the id of a figure may be written with or without quotes.
        file: Where it comes from, for messages.

    Raises:
        InputError: A key is not known (the nearest known one is named), or a limit is out of range.
    """
    content = _with_whole_ids(table)
    known = tuple((each.id, each.unit, each.bounded, each.rule and each.rule.name) for each in declared())
    kind: Any = _settings_model(known, judged_questions())
    checked = validated(kind, {"policy": content}, file=file).policy
    passes = checked.unresolved == "pass"
    return tuple(
        demand for name in content if name != "unresolved" for demand in _demands(name, getattr(checked, name), passes)
    )


def require_demands(demands: Sequence[Demand], file: str | os.PathLike[str] | None = None) -> tuple[Demand, ...]:
    """The demands, of which there is one at least.

    Raises:
        InputError: There are none.
    """
    if not demands:
        raise InputError(
            "the policy demands nothing",
            file=file,
            mend="set rules in its table [policy], such as max_single_sentence_improvement = 0.05",
        )
    return tuple(demands)


def _with_whole_ids(table: Any) -> Any:
    """The table with "question.measure" as a key where TOML made two levels of it."""
    if not isinstance(table, dict):
        return table
    content: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict) and value and all(isinstance(each, dict) for each in value.values()):
            content |= {f"{key}.{name}": each for name, each in value.items()}
        else:
            content[key] = value
    return content


# It takes a tenth of a second, and who reads many policies has the same measures each time.
@lru_cache(maxsize=4)
def _settings_model(_measures: tuple[tuple[Any, ...], ...], _questions: tuple[str, ...]) -> type[BaseModel]:
    """Settings with a policy; of the measures, what the model depends on."""
    return create_model("SettingsWithPolicy", __base__=Settings, policy=(_policy_model(), ...))


def _policy_model() -> type[BaseModel]:
    """A model with an optional field for each rule, verdict and id of a figure."""
    fields: dict[str, Any] = {}
    for rule, measures in _rules().items():
        fields[rule] = _field(_RuleLimit, {"limit": _RULE_LIMITS[measures[0].unit]}, measures[0].bounded)
    for name in _verdict_rules():
        fields[name] = _field(_RuleLimit, {"limit": _RULE_LIMITS["verdict"]}, bounded=False)
    for name in _bound_rules():
        fields[name] = _field(_RuleLimit, {"limit": _RULE_LIMITS["share"]}, bounded=False)
    fields["unresolved"] = (Literal["fail", "pass"], "fail")
    for measure in declared():
        limit = _FIGURE_LIMITS[measure.unit] | None
        fields[measure.id] = _field(_FigureLimit, {"max": limit, "min": limit}, measure.bounded, default=None)
    return create_model("Policy", __base__=StrictSection, **fields)


def _field(base: type[_Limit], limits: Mapping[str, Any], bounded: bool, default: Any = ...) -> Any:
    bases = base if bounded else (base, _Unbounded)
    fields: dict[str, Any] = {name: (kind, default) for name, kind in limits.items()}
    model: Any = create_model(base.__name__, __base__=bases, **fields)
    return model | None, None


def _rules() -> dict[str, tuple[Measure, ...]]:
    """Each rule's measures, by its name."""
    found: dict[str, tuple[Measure, ...]] = {}
    for measure in declared():
        if measure.rule is not None:
            found[measure.rule.name] = (*found.get(measure.rule.name, ()), measure)
    return found


def _verdict_rules() -> dict[str, tuple[str, ...]]:
    """The questions whose verdicts each rule limits, by its name."""
    return {f"worst_{question}_verdict": (question,) for question in judged_questions()} | {
        "worst_verdict": judged_questions()
    }


def _bound_rules() -> dict[str, str]:
    """The question whose bound each rule limits, by its name."""
    return {f"max_{question}": question for question in judged_questions()}


def _demands(name: str, limit: Any, passes_unresolved: bool) -> list[Demand]:
    shared = {"name": name, "by": limit.by, "optional": limit.optional}
    if name in (rules := _rules()):
        measures = rules[name]
        rule = measures[0].rule
        assert rule is not None
        return [
            Demand(
                sentence=rule.sentence, direction=rule.direction, unit=measures[0].unit, limit=limit.limit,
                measures=measures, rule=rule, **shared,
            )
        ]  # fmt: skip
    if name in (verdicts := _verdict_rules()):
        sentence = "verdict" if name == "worst_verdict" else f"verdict on {verdicts[name][0]}"
        return [
            Demand(
                sentence=sentence, direction="at most", unit="verdict", limit=limit.limit, questions=verdicts[name],
                passes_unresolved=passes_unresolved, **shared,
            )
        ]  # fmt: skip
    if (question := _bound_rules().get(name)) is not None:
        return [
            Demand(
                sentence=f"flaw that {question} leaves possible", direction="at most", limit=limit.limit,
                unit=unit_of_bound(question), questions=(question,), of_bound=True, **shared,
            )
        ]  # fmt: skip
    measure = next(each for each in declared() if each.id == name)
    sides: tuple[tuple[Direction, float | None], ...] = (("at most", limit.max), ("at least", limit.min))
    return [
        Demand(sentence=measure.label, direction=direction, unit=measure.unit, limit=end, measures=(measure,), **shared)
        for direction, end in sides
        if end is not None
    ]
