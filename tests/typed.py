"""Typed results out of plain documents, as tests write them by hand; the package itself reads no document back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from goldassay.core.document import About, Environment, Framed, Input, Issue, SettingsFile
from goldassay.core.results import Result, Verdict, to_plain
from goldassay.core.sections import Finding
from goldassay.questions.checks import question_pages
from goldassay.questions.report_frame import compose_report

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from goldassay.report.report import Report

T = TypeVar("T")


def result_of(kind: type[T], plain: Mapping[str, Any]) -> T:
    """The result whose plain form is given; a key that is missing or that it does not have is an error."""
    assert is_dataclass(kind)
    # Of a class that has subclasses the one that has all keys.
    own = plain.keys() - {"sentences"}
    kind = next((each for each in (kind, *kind.__subclasses__()) if own <= get_type_hints(each).keys()), kind)
    hints = get_type_hints(kind)
    required = {each.name for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING}
    given = {key: value for key, value in plain.items() if key != "sentences" or key in hints}
    assert required <= given.keys() <= hints.keys(), (kind.__name__, required ^ given.keys())
    return kind(**{key: _value(hints[key], value, result_of) for key, value in given.items()})


def filled(kind: type[T], plain: Mapping[str, Any]) -> T:
    """A result with the fields that are given, records in their plain form or not; all others are empty."""
    assert is_dataclass(kind)
    hints = get_type_hints(kind)
    assert plain.keys() <= hints.keys(), (kind.__name__, plain.keys() - hints.keys())
    values = {
        each.name: _value(hints[each.name], plain[each.name], filled)
        if each.name in plain
        else _empty(hints[each.name])
        for each in fields(kind)
        if each.name in plain or each.default is MISSING
        for hint in (hints[each.name],)
    }
    return kind(**values)


def _value(hint: Any, value: Any, make: Callable[[Any, Any], Any]) -> Any:
    parts = get_args(hint)
    if isinstance(value, Result):
        return value
    if isinstance(hint, UnionType):
        if value is None:
            return None
        kinds = [part for part in parts if part is not NoneType]
        fitting = [part for part in kinds if is_dataclass(part) and value.keys() <= get_type_hints(part).keys()]
        return _value((fitting or kinds)[0], value, make)
    if value is None and hint is float:
        return math.nan
    if is_dataclass(hint) and isinstance(hint, type):
        kinds = [each for each in (hint, *hint.__subclasses__()) if value.keys() <= get_type_hints(each).keys()]
        return make(kinds[0] if kinds else hint, value)
    if get_origin(hint) is tuple:
        kinds = list(parts[:1]) * len(value) if parts[1:] == (...,) else list(parts)
        return tuple(_value(each, item, make) for each, item in zip(kinds, value, strict=True))
    if get_origin(hint) is Mapping:
        return {key: _value(parts[1], item, make) for key, item in value.items()}
    return value


def _empty(hint: Any) -> Any:
    """What a field of a type holds where nothing is said of it."""
    parts, origin = get_args(hint), get_origin(hint)
    if isinstance(hint, UnionType) and NoneType in parts:
        return None
    if origin is Literal:
        return parts[0]
    if is_dataclass(hint) and isinstance(hint, type):
        return filled(hint, {})
    return {float: math.nan, int: 0, bool: False, str: "", tuple: (), Mapping: {}}[origin or hint]


def findings_of(document: Mapping[str, Any]) -> list[Finding]:
    """What a document that was written by hand has of the questions with a typed result."""
    return [
        Finding(question, None, result=_value(page.result, document[question], result_of))
        for question, page in question_pages().items()
        if document.get(question)
    ]


def framed_of(document: Mapping[str, Any]) -> Framed:
    """A document that was written by hand, with its parts around the answers as far as it has them."""
    plain = to_plain(document)

    def part(kind: type[T], value: Any) -> T | None:
        return None if value is None else filled(kind, value)

    inputs = plain.get("inputs") or ()
    return Framed(
        document=plain,
        about=part(About, plain.get("dataset")),
        inputs=tuple(filled(Input, each) for each in inputs),
        settings=plain.get("settings") or {},
        settings_file=part(SettingsFile, plain.get("settings_file")),
        notes=tuple(plain.get("data_notes") or ()),
        environment=part(Environment, plain.get("environment")),
        verdicts=None
        if "verdicts" not in plain
        else {question: filled(Verdict, each) for question, each in plain["verdicts"].items()},
        issues=None if "issues" not in plain else tuple(filled(Issue, each) for each in plain["issues"]),
    )


def compose(document: Mapping[str, Any], tables: Mapping[str, pl.DataFrame] | None = None, **more: Any) -> Report:
    """The report of a document that was written by hand."""
    return compose_report(framed_of(document), tables or {}, findings=findings_of(document), **more)
