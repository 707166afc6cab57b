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
    modules, pages = question_modules("charts"), question_pages()
    for question in (DESCRIBING, *AUDITED, *FURTHER):
        if question in around.answers:
            made |= pages[question].charts(around.answers[question], around)
        elif question in modules and question not in pages:
            made |= modules[question].charts(document)
    return made


def paper_charts_of(document: Mapping[str, Any], around: Around = _NOTHING) -> dict[str, Chart]:
    """Every chart for papers that there are values for, by the name of its file."""
    made: dict[str, Chart] = {}
    pages = question_pages()
    modules = (*question_modules("charts").items(), *question_modules("paper_charts").items())
    for question, module in modules:
        if question not in pages and hasattr(module, "paper_charts"):
            made |= module.paper_charts(document)
    for question, page in pages.items():
        if question in around.answers:
            made |= page.paper_charts(around.answers[question], around)
    return made
