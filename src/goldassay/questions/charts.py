"""The charts of a report, from the results of its questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.questions.checks import question_modules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.core.charts import Chart


def charts_of(document: Mapping[str, Any]) -> dict[str, Chart]:
    """Every chart of the page that a report's document has values for, by name."""
    built = (module.charts(document) for module in question_modules("charts").values())
    return {name: chart for charts in built for name, chart in charts.items()}


def paper_charts_of(document: Mapping[str, Any]) -> dict[str, Chart]:
    """Every chart for papers that a report's document has values for, by the name of its file."""
    modules = (*question_modules("charts").values(), *question_modules("paper_charts").values())
    built = (module.paper_charts(document) for module in modules if hasattr(module, "paper_charts"))
    return {name: chart for charts in built for name, chart in charts.items()}
