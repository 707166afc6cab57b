"""What a policy demands: its rules and ids of figures, checked against the measures that are declared.

A policy is the table `[policy]` of goldassay.toml. Its keys are names of rules, which a question declares with its
measures, the verdicts on questions and their bounds, or ids of figures. `unresolved` says whether a verdict that shows
neither a flaw nor its absence passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, create_model, model_validator

from goldassay.core.errors import InputError
from goldassay.core.figures import Direction, Figure, Measure, Rule, declared, judged_questions, unit_of_bound
from goldassay.core.settings import Settings, StrictSection, validated

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence


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
    "runs": Annotated[int, Field(ge=1)],
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
