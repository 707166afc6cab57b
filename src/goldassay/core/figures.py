"""Figures: every number that a report answers with, declared once at the field that holds it.

The figures of a report are rows of one form, which pages show, policies limit and comparisons pair, without knowing
what any of them means. A question has one frozen `Result`, made of records. Each figure is declared at its field:

    @result
    class System(Result):
        system: str = role("model")
        score: float = figure(Measure("board.score", "mean score", "points", "higher"), "low", "high", n="n_items")
        low: float
        high: float

    @result
    class BoardResult(Result):
        systems: tuple[System, ...]
        n_items: int

`figures_of(board)` gives a figure `board.score` of {"model": system} for each system, with the interval and the number
of examples that other fields hold. Names of fields are looked up in the record, then in those around it.

Lists of things that a report names one by one, such as patterns, which two reports can be compared by.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, dataclass_transform, runtime_checkable

from goldassay.core.results import ASIDE, LEFT_OUT, Result, holds_nothing

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl


R = TypeVar("R", bound=Result)
Better = Literal["lower", "higher", "neither"]
Direction = Literal["at most", "at least"]
# "points" and "share" are fractions from 0 to 1 (differences from -1 to 1); "bits" and "number" have no bounds.
Unit = Literal["points", "share", "examples", "runs", "bits", "number"]


@dataclass(frozen=True)
class Figure(Result):
    """One number of a report, with its 95 % interval where there is one.

    Attributes:
        id: The question and the measure, such as "leakage.improvement".
        question: The first part of the id.
        of: What the number belongs to: names by role, such as {"model": "bert", "dataset": "anli"}.
        label: What it is, in words.
        unit: Of value and interval; see `Unit`.
        better: Which way a benchmark or a model improves.
        value: The number; NaN where `reason` says why it is undefined.
        low: Lower end of the interval; NaN where there is none.
        high: Upper end.
        n: Examples that it was computed from; None where that is not known.
        reason: Why the value is undefined, or "".
    """

    id: str
    question: str
    of: Mapping[str, str]
    label: str
    unit: Unit
    better: Better
    value: float
    low: float = math.nan
    high: float = math.nan
    n: int | None = None
    reason: str = ""

    @property
    def is_defined(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    @property
    def has_interval(self) -> bool:
        """Whether both ends of an interval are known."""
        return not math.isnan(self.low + self.high)

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Figure:
        """The figure that `to_dict` wrote."""
        numbers = {key: math.nan if row[key] is None else float(row[key]) for key in ("value", "low", "high")}
        return cls(**{**row, **numbers})


@runtime_checkable
class HasMoreFigures(Protocol):
    """A record with figures that no field holds, such as counts over several records."""

    def more_figures(self) -> Iterable[Figure]:
        """These figures; the names of the records around them are added."""


@dataclass(frozen=True)
class Rule:
    """A name in the table `[policy]` that limits one measure or several.

    Attributes:
        name: The key in `[policy]`.
        sentence: What is limited, in words.
        direction: Which side of the limit is allowed.
        without: Figures that do not count, by what they belong to; what follows a name in parentheses is no part of it.
    """

    name: str
    sentence: str
    direction: Direction
    without: Mapping[str, str] = field(default_factory=dict)

    def counts(self, figure: Figure) -> bool:
        """Whether a figure is limited by the rule."""
        return not any(figure.of.get(role, "").partition(" (")[0] == name for role, name in self.without.items())


@dataclass(frozen=True)
class Pairing:
    """How the table of examples beside a report holds a measure, so that two reports can be compared by example.

    Attributes:
        column: The column; "{condition}" stands for that name of the figure.
        values: Texts that count as 1, all others as 0; empty where the column has numbers.
        mean: Id of the figure that the column's mean is; "" for the measure itself.
        sd: Id of the figure that holds the standard deviation over runs; "" where no runs are averaged over.
        runs: Id of the figure that holds the number of runs.
    """

    column: str
    values: tuple[str, ...] = ()
    mean: str = ""
    sd: str = ""
    runs: str = ""

    def column_of(self, figure: Figure) -> str:
        """The column of one figure; the template itself where the figure lacks a name that it asks for."""
        return self.column.format_map(_Names(figure.of))


class _Names(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return f"{{{key}}}"


@dataclass(frozen=True)
class Measure:
    """What a figure measures: declared once by the question that computes it.

    Attributes:
        id: The question's key, a dot, and the measure's name.
        label: What it is, in words.
        unit: Of value and interval.
        better: Which way a benchmark or a model improves.
        least: The smallest possible value; ends of intervals are cut there. By default that of the unit.
        most: The largest possible value.
        rule: The rule of a policy that limits it, or None.
        only: Which of its figures policies and comparisons take: name patterns by role, * and ? as in file names.
        bounded: Whether it may have an interval, an end of which a policy may ask for.
        compared: Whether two reports are compared by it.
        describes_data: It says what the data are and answers no question.
        pairing: How the table of examples holds it, or None.
    """

    id: str
    label: str
    unit: Unit
    better: Better = "neither"
    least: float | None = None
    most: float | None = None
    rule: Rule | None = None
    only: Mapping[str, str] = field(default_factory=dict)
    bounded: bool = True
    compared: bool = True
    describes_data: bool = False
    pairing: Pairing | None = None

    @property
    def question(self) -> str:
        """The key of the question that it belongs to."""
        return self.id.partition(".")[0]

    def takes(self, figure: Figure) -> bool:
        """Whether a figure is one of those that policies and comparisons take."""
        return figure.id == self.id and all(
            fnmatchcase(figure.of.get(role, ""), pattern) for role, pattern in self.only.items()
        )

    def figure(
        self,
        value: float | None,
        low: float | None = None,
        high: float | None = None,
        *,
        n: int | None = None,
        reason: str | None = None,
        label: str | None = None,
        **of: Any,
    ) -> Figure:
        """A figure of this measure, its interval cut to what is possible.

        Args:
            value: The number; None or NaN where it is undefined.
            low: Lower end of its 95 % interval, or None.
            high: Upper end, or None.
            n: Examples that it was computed from.
            reason: Why it is undefined; left out where it is not.
            label: Words for this figure where those of the measure do not fit it.
            of: What it belongs to, by role; a role without a name (None) is left out.
        """
        unit_least, unit_most = (0.0, 1.0) if self.unit == "share" else (-math.inf, math.inf)
        least = unit_least if self.least is None else self.least
        most = unit_most if self.most is None else self.most
        ends = [_number(each) for each in (low, high)]
        return Figure(
            id=self.id,
            question=self.question,
            of={role: str(name) for role, name in of.items() if name is not None},
            label=label or self.label,
            unit=self.unit,
            better=self.better,
            value=_number(value),
            # min and max would drop NaN or keep it by the order of their arguments.
            low=ends[0] if math.isnan(ends[0]) else max(ends[0], least),
            high=ends[1] if math.isnan(ends[1]) else min(ends[1], most),
            n=n,
            reason="" if reason is None or not math.isnan(_number(value)) else reason,
        )


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return math.nan
    return float(value)


_DECLARED: dict[str, Measure] = {}
# Questions with a verdict, and the unit of what they bound.
_JUDGED: dict[str, Unit] = {}


def declare(measure: Measure) -> Measure:
    """Make a measure known to policies and comparisons, and return it.

    Raises:
        ValueError: Another measure has its id, or another rule the name of its rule.
    """
    known = _DECLARED.get(measure.id)
    if known is not None and known != measure:
        raise ValueError(f"the measure {measure.id!r} is declared twice")
    rules = [each.rule for each in (*_DECLARED.values(), measure) if each.rule is not None]
    if measure.rule is not None and any(rule != measure.rule for rule in rules if rule.name == measure.rule.name):
        raise ValueError(f"the rule {measure.rule.name!r} is declared twice")
    _DECLARED[measure.id] = measure
    return measure


def declare_verdict(question: str, unit: Unit = "share") -> None:
    """Make the verdict on a question known to policies, as "worst_QUESTION_verdict", and its bound as "max_QUESTION".

    Args:
        question: Its key.
        unit: Of its bound, `at_most`.
    """
    _JUDGED.setdefault(question, unit)


def order_declared(questions: Sequence[str]) -> None:
    """Put measures and verdicts into the order of their questions, whichever module was imported first."""

    def place(question: str) -> int:
        return questions.index(question) if question in questions else len(questions)

    for question in sorted(_JUDGED, key=place):
        _JUDGED[question] = _JUDGED.pop(question)
    for id_ in sorted(_DECLARED, key=lambda id_: place(_DECLARED[id_].question)):
        _DECLARED[id_] = _DECLARED.pop(id_)


def declared() -> tuple[Measure, ...]:
    """Every measure, in the order of declaration."""
    return tuple(_DECLARED.values())


def judged_questions() -> tuple[str, ...]:
    """The questions whose verdict a policy may limit, in the order of declaration."""
    return tuple(_JUDGED)


def unit_of_bound(question: str) -> Unit:
    """The unit of what the verdict on a question bounds."""
    return _JUDGED[question]


def measure_of(id_: str) -> Measure | None:
    """The measure that was declared under an id, or None."""
    return _DECLARED.get(id_)


@dataclass(frozen=True)
class _Shown:
    """The figure of a field; see `figure`."""

    measure: Measure
    low: str
    high: str
    n: str
    reason: str
    why: str
    label: str
    at: str

    @property
    def named(self) -> tuple[str, ...]:
        """The fields of its own record that it names."""
        return tuple(filter(None, (self.at, self.low, self.high, self.label)))


_FIGURE, _ROLE, _FORM, _FIGURES_BY = "figure", "role", "form", "figures_by"


def figure(
    measure: Measure,
    low: str = "",
    high: str = "",
    *,
    n: str = "",
    reason: str = "",
    why: str = "",
    label: str = "",
    at: str = "",
    default: Any = MISSING,
) -> Any:
    """A field whose value is a figure.

    Args:
        measure: What it measures; it is declared.
        low: The field with the lower end of its interval.
        high: The field with the upper end.
        n: The field with the number of examples, of the record or of one around it.
        reason: The field that says why the value is undefined, of the record or of one around it; where it says
            anything, the figure has no value.
        why: The same in words, where no field says it.
        label: The field with words for it where those of the measure do not fit; None leaves the measure's.
        at: Of a field that holds a record: the field of that record with the value; `low`, `high`, `label` and, where
            it has one, `reason` are of that record, too.
        default: None: a value of None is left out of the figures and of the plain form.
    """
    shown = _Shown(declare(measure), low, high, n, reason, why, label, at)
    return field(default=default, metadata={_FIGURE: shown, LEFT_OUT: default is None})


def role(name: str, form: str = "{}") -> Any:
    """A field whose value says what all figures of its record, and of the records in it, belong to.

    Of a field that holds records by name, the names do.

    Args:
        name: The role, such as "model".
        form: How it is said, such as "{}_only".
    """
    return field(metadata={_ROLE: name, _FORM: form})


def left_out(*, default: tuple[()] | None, kw_only: bool = False) -> Any:
    """A field that is left out of the plain form where it is None, or an empty tuple as is its default."""
    return field(default=default, kw_only=kw_only, metadata={LEFT_OUT: True})


def aside() -> Any:
    """A field that is not in the plain form, since another part of a report holds it."""
    return field(metadata={ASIDE: True})


def figures_by(make: Callable[[Any], Iterable[Figure]], *, default: Any = MISSING) -> Any:
    """A field with records that several questions have, whose figures are declared apart and made by a function."""
    return field(default=default, metadata={_FIGURES_BY: make, LEFT_OUT: default is None})


@dataclass_transform(frozen_default=True, field_specifiers=(field, figure, role, left_out, aside, figures_by))
def result(cls: type[R]) -> type[R]:
    """Make a class a frozen dataclass whose fields may be declared with `figure`, `role` and `left_out`.

    Raises:
        TypeError: A figure names a field that the record does not have.
    """
    made = dataclass(frozen=True)(cls)
    names = {each.name for each in fields(made)}
    for each in fields(made):
        shown = each.metadata.get(_FIGURE)
        for name in () if shown is None or shown.at else shown.named:
            if name not in names and not isinstance(getattr(made, name, None), property):
                raise TypeError(f"the figure {cls.__name__}.{each.name} names {name!r}, which is no field")
    return made


def figures_of(record: Result, **of: Any) -> tuple[Figure, ...]:
    """Every figure of a result, in the order of its fields.

    Args:
        record: The result, or a part of it.
        of: What all of them belong to, by role.
    """
    return tuple(_figures(record, of, ()))


def _figures(record: Result, of: Mapping[str, Any], around: tuple[Result, ...]) -> Iterator[Figure]:
    whole, own = (record, *around), fields(record)
    of = {**of, **{each.metadata[_ROLE]: _named(each.metadata, getattr(record, each.name)) for each in own
                   if _ROLE in each.metadata and not isinstance(getattr(record, each.name), Mapping)}}  # fmt: skip
    for each in own:
        value, shown = getattr(record, each.name), each.metadata.get(_FIGURE)
        if holds_nothing(each, value) or each.metadata.get(ASIDE):
            continue
        if shown is not None:
            yield _figure(shown, value, of, whole)
        elif (make := each.metadata.get(_FIGURES_BY)) is not None:
            yield from (replace(made, of={**_texts(of), **made.of}) for made in make(value))
        elif isinstance(value, Mapping) and _ROLE in each.metadata:
            for name, part in value.items():
                yield from _inside(part, {**of, each.metadata[_ROLE]: _named(each.metadata, name)}, whole)
        else:
            yield from _inside(value, of, whole)
    if isinstance(record, HasMoreFigures):
        yield from (replace(made, of={**_texts(of), **made.of}) for made in record.more_figures())


def _inside(value: Any, of: Mapping[str, Any], around: tuple[Result, ...]) -> Iterator[Figure]:
    """The figures of the records that a field's value is or holds."""
    if isinstance(value, Result):
        yield from _figures(value, of, around)
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _inside(part, of, around)
    elif isinstance(value, (tuple, list)) and value and isinstance(value[0], (Result, Mapping, tuple, list)):
        for part in value:
            yield from _inside(part, of, around)


def _figure(shown: _Shown, value: Any, of: Mapping[str, Any], whole: tuple[Result, ...]) -> Figure:
    record: Any = whole[0]
    if shown.at:
        record, value = value, getattr(value, shown.at)
    low, high, label = (getattr(record, name) if name else None for name in (shown.low, shown.high, shown.label))
    n = _from_around(shown.n, whole) if shown.n else None
    said = _from_around(shown.reason, (record, *whole)) if shown.reason else None
    if said:
        value = low = high = None
    return shown.measure.figure(value, low, high, n=n, reason=said or shown.why, label=label, **of)


def _from_around(name: str, whole: tuple[Any, ...]) -> Any:
    for each in whole:
        if hasattr(each, name):
            return getattr(each, name)
    raise AttributeError(f"a figure names {name!r}, which no record around it has")


def _named(metadata: Mapping[str, Any], name: Any) -> str | None:
    return None if name is None else metadata[_FORM].format(name)


def _texts(of: Mapping[str, Any]) -> dict[str, str]:
    return {role: str(name) for role, name in of.items() if name is not None}


def frame_of(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Figures as `Figure.to_dict` gives them, as a table: a row a figure, `of` a struct of all roles that occur."""
    import polars as pl

    roles = list(dict.fromkeys(role for row in rows for role in row["of"]))
    columns: dict[str, Any] = {
        "id": pl.String, "question": pl.String, "of": pl.Struct(dict.fromkeys(roles, pl.String)),
        "label": pl.String, "unit": pl.String, "better": pl.String, "value": pl.Float64, "low": pl.Float64,
        "high": pl.Float64, "n": pl.Int64, "reason": pl.String,
    }  # fmt: skip
    return pl.DataFrame([{**row, "of": {role: row["of"].get(role) for role in roles}} for row in rows], schema=columns)


WORTH = "worth"


@dataclass(frozen=True)
class Listed:
    """What one report lists: a row a thing, with the listing's columns and `worth`, by which rows are ranked.

    Attributes:
        complete: All that there are; None where neither the report nor its tables hold them.
        strongest: Those that the report itself names.
    """

    complete: pl.DataFrame | None
    strongest: pl.DataFrame


@dataclass(frozen=True)
class Listing:
    """A list that reports have.

    Attributes:
        name: What is listed, in the plural: a key of a comparison's document.
        one: The column that tells one thing from another, and the word for one.
        label: The column whose change is worth a list of its own.
        numbers: Further columns, of which a comparison keeps the earlier value, too.
        read: Reads it from a report's document and folder; None where the report has none.
    """

    name: str
    one: str
    label: str
    numbers: tuple[str, ...]
    read: Callable[[Mapping[str, Any], Path], Listed | None]


_LISTINGS: dict[str, Listing] = {}


def declare_listing(listing: Listing) -> Listing:
    """Make a list known to comparisons, and return it.

    Raises:
        ValueError: Another list has its name.
    """
    if _LISTINGS.setdefault(listing.name, listing) != listing:
        raise ValueError(f"the list {listing.name!r} is declared twice")
    return listing


def listings() -> tuple[Listing, ...]:
    """Every list, in the order of declaration."""
    return tuple(_LISTINGS.values())


# Quick probes measure a benchmark. Their spread says nothing about the model that a policy is about, even where the
# runs that an audit left are measured like those of a model.
NO_QUICK_PROBES = {"model": "quick_probe"}
MIN_RUNS = Rule("min_runs", "number of runs of a model", "at least", NO_QUICK_PROBES)
