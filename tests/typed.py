"""Typed results out of plain documents, as tests write them by hand; the package itself reads no document back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

from goldassay.core.finding import Finding
from goldassay.questions.checks import question_pages
from goldassay.questions.report_frame import compose_report

if TYPE_CHECKING:
    import polars as pl

    from goldassay.report.report import Report

T = TypeVar("T")


def result_of(kind: type[T], plain: Mapping[str, Any]) -> T:
    """The result whose plain form is given; a key that is missing or that it does not have is an error."""
    assert is_dataclass(kind)
    hints = get_type_hints(kind)
    required = {each.name for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING}
    given = {key: value for key, value in plain.items() if key != "sentences" or key in hints}
    assert required <= given.keys() <= hints.keys(), (kind.__name__, required ^ given.keys())
    return kind(**{key: _value(hints[key], value) for key, value in given.items()})


def _value(hint: Any, value: Any) -> Any:
    parts = get_args(hint)
    if isinstance(hint, UnionType) and NoneType in parts:
        return None if value is None else _value(next(part for part in parts if part is not NoneType), value)
    if value is None and hint is float:
        return math.nan
    if is_dataclass(hint) and isinstance(hint, type):
        return result_of(hint, value)
    if get_origin(hint) is tuple:
        kinds = parts[:1] * len(value) if parts[1:] == (...,) else parts
        return tuple(_value(each, item) for each, item in zip(kinds, value, strict=True))
    if get_origin(hint) is Mapping:
        return {key: _value(parts[1], item) for key, item in value.items()}
    return value


def findings_of(document: Mapping[str, Any]) -> list[Finding]:
    """What a document that was written by hand has of the questions with a typed result."""
    return [
        Finding(question, None, result=result_of(page.result, document[question]))
        for question, page in question_pages().items()
        if document.get(question)
    ]


def compose(document: Mapping[str, Any], tables: Mapping[str, pl.DataFrame] | None = None, **more: Any) -> Report:
    """The report of a document that was written by hand."""
    return compose_report(document, tables or {}, findings=findings_of(document), **more)
