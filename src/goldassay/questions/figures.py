"""The figures of every question, in the order of a report; importing this declares all measures and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.questions.checks import question_modules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.core.figures import Figure

_QUESTIONS = tuple(question_modules("figures").values())


def figures_of(document: Mapping[str, Any]) -> list[Figure]:
    """Every figure of a report.

    Args:
        document: Plain data, as `goldassay.core.results.to_plain` makes it.
    """
    return [figure for question in _QUESTIONS for figure in question.figures(document)]
