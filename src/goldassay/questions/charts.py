"""The charts of a report, from the results of its questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.sections import Around
from goldassay.questions.checks import AUDITED, DESCRIBING, FURTHER, question_modules, question_pages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.core.charts import Chart


_NOTHING = Around({})


def charts_of(document: Mapping[str, Any], around: Around = _NOTHING) -> dict[str, Chart]:
    """Every chart of the page that typed results, and a report's document beside them, have values for, by name."""
    made: dict[str, Chart] = {}
    modules = question_modules("charts")
    for question in (DESCRIBING, *AUDITED, *FURTHER):
        if question in around.answers:
            made |= question_pages()[question].charts(around.answers[question], around)
        elif question in modules:
            made |= modules[question].charts(document)
    return made


def paper_charts_of(document: Mapping[str, Any], around: Around = _NOTHING) -> dict[str, Chart]:
    """Every chart for papers that there are values for, by the name of its file."""
    made: dict[str, Chart] = {}
    modules = (*question_modules("charts").values(), *question_modules("paper_charts").values())
    for module in modules:
        if hasattr(module, "paper_charts"):
            made |= module.paper_charts(document)
    for question, page in question_pages().items():
        if question in around.answers:
            made |= page.paper_charts(around.answers[question], around)
    return made
