"""Shift for papers: what stands above the pictures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from goldassay.core.sections import Around
from goldassay.questions.shift.charts import paper_charts
from goldassay.questions.shift.result import DetectionResult, GeneralizationResult
from goldassay.report.paper.drawing import draw_figure, literal, rendered
from tests.typed import filled

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure


def draw_as_written(draw: Callable[[], Figure]) -> Figure:
    """The figure after it was written, with the fonts that a paper gets."""
    kept: list[Figure] = []

    def keep() -> Figure:
        kept.append(draw())
        return kept[0]

    rendered(keep, "png")
    return kept[0]


@pytest.mark.parametrize("name", ["lstm", "a-model-of-some-length", "a" * 70])
def test_models_are_named_within_the_column(name: str) -> None:
    shown = [f"{name}{i}" for i in range(5)]
    rows = [
        {"model": f"{model}@tea_train", "train": "tea_train", "test": test, "metric": "accuracy", "value": 0.8,
         "own": test == "tea"}
        for model in shown
        for test in ("tea", "coffee")
    ]  # fmt: skip
    alarms = [
        {"model": model, "dataset": "coffee", "score": "energy", "false_alarm_rate": 0.5,
         "false_alarm_rate_chance": 0.95}
        for model in shown
    ]  # fmt: skip
    drawn = {
        **paper_charts(filled(GeneralizationResult, {"generalization": rows}), Around({})),
        **paper_charts(filled(DetectionResult, {"detection": alarms}), Around({})),
    }
    assert list(drawn) == ["gap-tea-coffee", "false-alarms"]
    for chart in drawn.values():
        figure = draw_as_written(partial(draw_figure, chart))
        (legend,) = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == [literal(model) for model in shown]
        box, page = legend.get_window_extent(), figure.bbox
        assert page.x0 <= box.x0
        assert box.x1 <= page.x1
