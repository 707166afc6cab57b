"""The figures of every question, in the order of a report; importing this declares all measures and lists."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from goldassay.core.facts import DatasetFacts
from goldassay.core.figures import figures_of as figures_of_result
from goldassay.core.figures import order_declared
from goldassay.questions.checks import AUDITED, DESCRIBING, FURTHER, added_checks, question_modules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.core.figures import Figure
    from goldassay.core.results import Result

_QUESTIONS = (DESCRIBING, *AUDITED, *FURTHER)
# Importing them declares all measures; those of facts stand in core.
_DECLARING = [DatasetFacts, *(question_modules(name, (each,)) for each in _QUESTIONS for name in ("figures", "result"))]
_DECLARING += [added_checks()]
_MODULES = question_modules("figures")
order_declared(_QUESTIONS)


def figures_of(document: Mapping[str, Any], answers: Mapping[str, Result] = MappingProxyType({})) -> list[Figure]:
    """Every figure of a report.

    Args:
        document: Plain data, as `goldassay.core.results.to_plain` makes it.
        answers: Typed results by question.
    """
    made: list[Figure] = []
    for question in _QUESTIONS:
        if question in answers:
            made += figures_of_result(answers[question])
        elif question in _MODULES:
            made += _MODULES[question].figures(document)
    return made
