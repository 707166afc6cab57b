"""Panels of a picture: what stands above each."""

from __future__ import annotations

import re

from goldassay.report.charts.plots import lay_out
from goldassay.report.charts.svg import Canvas, text_width


def headings(names: list[str | tuple[str, str]], width: int) -> list[str]:
    canvas = Canvas(width, 0, "panels")
    list(lay_out(canvas, names, 100))
    return re.findall(r">([^<>]+)</text>", canvas.inline())


def test_both_parts_of_a_heading_are_left() -> None:
    model, dataset = "a-very-long-model-name-with-more-words-than-fit", "a_rather_long_name_of_a_dataset"
    shown = headings([(model, dataset), (model, "far"), ("bow", dataset), "bow"], 640)
    assert shown[1].endswith(": far")
    assert shown[2] == f"bow: {dataset}"
    assert shown[3] == "bow"
    for first, second in (heading.split(": ") for heading in shown[:3]):
        assert model.startswith(first.rstrip("…")) or first == "bow"
        assert dataset.startswith(second.rstrip("…")) or second == "far"
        assert len(second) > 2
    # Two in a row, in heavier letters than these are measured in, must not run into each other.
    assert all(1.1 * text_width(heading) < 320 for heading in shown)


def test_a_heading_that_fits_is_whole() -> None:
    assert headings([("bert", "hans")], 400) == ["bert: hans"]
