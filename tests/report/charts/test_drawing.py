"""Each kind of chart drawn from a few values: marks in the right place, intervals, rules, notes and hover texts."""

from __future__ import annotations

import base64
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest

from goldassay.core.charts import (
    Axis,
    Bar,
    BarGroup,
    Bars,
    Block,
    Chart,
    Cloud,
    Column,
    Dot,
    DotGroup,
    DotRow,
    Dots,
    Grid,
    Matrix,
    MatrixCell,
    Named,
    Outline,
    Panel,
    Part,
    PixelGrid,
    PixelMatrix,
    Plot,
    Point,
    PointMap,
    Rule,
    Stack,
    Stacks,
    Trace,
    first_of,
    numbered_series,
)
from goldassay.report.charts import _DRAWERS, NARROW, WIDE, draw_chart, draw_picture
from goldassay.report.paper.drawing import _DRAWERS as PAPER_DRAWERS
from goldassay.report.paper.drawing import draw_figure, draw_figures

if TYPE_CHECKING:
    from collections.abc import Iterator

HOSTILE = "<script>{x}</script>&\"'$_"
TWO = numbered_series(("first", HOSTILE))
DOTS = Dots(
    name="dots",
    title="Dots",
    caption="How to read it.",
    groups=(
        DotGroup("a", (DotRow((Dot(0.2, "a: 20", low=0.1, high=0.3),), span=(0.2, 0.5)),), "20.0", "[10.0, 30.0]"),
        DotGroup(HOSTILE, (DotRow((Dot(0.6, "b: 60", 1, 0.5, 0.7, hollow=True),), band=(0.4, 0.8)),), "60.0"),
    ),
    axis=Axis("accuracy (points)", low=0.0, high=1.0),
    series=TWO,
    rules=(Rule(0.5, "half"),),
)
BARS = Bars(
    name="bars",
    groups=(
        BarGroup(
            "one", (Bar("up", 0.5, "up: 50", "50 %", "[40, 60]", 0, 0.4, 0.6), Bar("down", -0.25, "down", "−25 %"))
        ),
        BarGroup(HOSTILE, (Bar(HOSTILE, 1.0, "all", "100 %", series=1),), reference=0.3),
    ),
    axis=Axis("share", "percent"),
    series=TWO,
)
STACKS = Stacks(
    name="stacks",
    stacks=(
        Stack((Part(0.25, 0, "a quarter", "25 %"), Part(0.75, 1, "the rest", "75 %")), "halves", "both"),
        Stack((Part(1.0, 0, "all of it"),), HOSTILE),
    ),
    series=TWO,
)
PLOT = Plot(
    name="plot",
    panels=(
        Panel(
            "",
            (
                Trace((Point(0.0, 0.1, "start", 0.0, 0.2), Point(1.0, 0.9, "end", name="end")), 0, "curve"),
                Trace((Point(0.0, 0.0), Point(0.0, 0.5), Point(0.5, 0.7), Point(1.0, 0.0)), 1, "area"),
                Trace((Point(0.5, 0.5),), 0, "thin", ((0.0, 0.2, 0.4), (1.0, 0.6, 0.8))),
            ),
            Axis("x", "number", low=0.0, high=1.0),
            Axis("y", "percent", low=0.0, high=1.0),
            (Rule(0.5, "middle"), Rule(0.25, across="y", solid=True), Rule(across="diagonal")),
            columns=(Column(0.0, 0.5, "left half"),),
        ),
    ),
    series=TWO,
)
CLOUD = Cloud(
    name="cloud",
    points=((10.0, 0.5, 0, "a"), (100.0, 0.75, 1, HOSTILE)),
    x=Axis("support", "count", log=True),
    y=Axis("", "percent", low=0.0, high=1.0),
    series=TWO,
    n_named=1,
    series_are="labels",
    strongest=(Named(100.0, 0.75, 1, HOSTILE),),
    bounds=(((10.0, 0.6), (100.0, 0.5)),),
    rules=(Rule(0.7, "selected", "y"),),
    hover="{name} → {series}: {y} of {x}",
)
MAP = PointMap(
    name="map",
    x=(0, 4095, 2000),
    y=(0, 4095, 1000),
    labels=(0, 1, 0),
    groups=(0, 1, 1),
    series=TWO,
    outlines=(Outline(1, ((0.0, 0.0), (4095.0, 0.0), (4095.0, 4095.0)), "group 1", strong=True),),
    group_is="cluster",
    group_values=(0.0, 0.5),
    value_is="divergence",
    texts=("x", HOSTILE, "z"),
)
MATRIX = Matrix(
    name="matrix",
    grids=(
        Grid(
            "grid",
            ("a", HOSTILE),
            ("a", HOSTILE),
            (
                MatrixCell(0, 0, 1.0, "1.00", "a, a: 1"),
                MatrixCell(0, 1, -0.5, "−0.50", "a, b: −0.5", framed=True),
                MatrixCell(1, 1, None, "—", "not defined"),
            ),
        ),
    ),
    measured="rank correlation",
)
VALUES = np.array([[100, -100], [-128, 50]], np.int8)
PIXELS = PixelMatrix(
    name="pixels",
    grids=(PixelGrid("two", 2, base64.b64encode(VALUES.tobytes()).decode(), (Block(HOSTILE, 2, "both"),)),),
    measured="rank correlation",
)
CHARTS: tuple[Chart, ...] = (DOTS, BARS, STACKS, PLOT, CLOUD, MAP, MATRIX, PIXELS)


def titles(chart: Chart, width: int = WIDE) -> list[str]:
    return [each.text or "" for each in ET.fromstring(draw_chart(chart, width).inline()).iter("title")]


def texts(chart: Chart, width: int = WIDE) -> list[str]:
    return [each.text or "" for each in ET.fromstring(draw_chart(chart, width).inline()).iter("text")]


def marks(chart: Chart, css: str) -> Iterator[ET.Element]:
    for each in ET.fromstring(draw_chart(chart, WIDE).inline()).iter():
        if css in each.get("class", "").split():
            yield each


@pytest.mark.parametrize("width", [WIDE, 400])
@pytest.mark.parametrize("headings", ["left", "above"])
def test_each_group_has_its_name_once(headings: Literal["left", "above"], width: int) -> None:
    assert texts(replace(DOTS, headings=headings), width).count("a") == 1
    assert texts(BARS, width).count("one") == 1


def test_every_kind_is_here() -> None:
    assert {type(chart) for chart in CHARTS} == set(_DRAWERS) == set(Chart.__subclasses__())
    assert set(PAPER_DRAWERS) == set(_DRAWERS) - {Stacks, Cloud}


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_each_kind_is_a_picture_within_its_width(chart: Chart, width: int) -> None:
    canvas = draw_chart(replace(chart, title="T", caption="C.", omitted="The first 2 of 9 are drawn."), width)
    root = ET.fromstring(canvas.inline())
    assert root.get("aria-label") == "T. C. The first 2 of 9 are drawn."
    assert float(root.get("width", "")) == width
    assert HOSTILE not in canvas.standalone()
    for element in root.iter():
        if element.tag in ("text", "rect"):
            assert -1 <= float(element.get("x", 0)) <= width + 1
            assert -1 <= float(element.get("y", 0)) <= float(root.get("height", "")) + 1


@pytest.mark.parametrize("chart", [chart for chart in CHARTS if type(chart) in PAPER_DRAWERS], ids=lambda c: c.name)
def test_each_kind_for_papers_is_a_figure(chart: Chart) -> None:
    drawn = draw_figures({chart.name: chart}, "svg")
    assert drawn == draw_figures({chart.name: chart}, "svg")
    ET.fromstring(drawn[chart.name])


def test_dots_lie_at_their_values() -> None:
    root = ET.fromstring(draw_chart(DOTS, WIDE).inline())
    grid = [
        float(re.match(r"M([\d.]+)", each.get("d", ""))[1]) for each in root.iter("path") if each.get("class") == "grid"
    ]
    low, high = min(grid), max(grid)
    (solid,) = [each for each in root.iter("path") if each.findtext("title") == "a: 20"]
    # A circle's path begins at its left.
    left, radius = re.match(r"M([\d.]+) [\d.]+a([\d.]+)", solid.get("d", "")).groups()
    assert float(left) + float(radius) == pytest.approx(low + 0.2 * (high - low), abs=0.2)
    assert "sheet" in next(e for e in root.iter("path") if e.findtext("title") == "b: 60").get("class", "")
    assert {"20.0", "[10.0, 30.0]", "60.0", "half"} <= set(texts(DOTS))


def test_bars_begin_at_zero() -> None:
    root = ET.fromstring(draw_chart(BARS, WIDE).inline())
    up, down, every = (
        next(e for e in root.iter("rect") if e.findtext("title") == t) for t in ("up: 50", "down", "all")
    )
    x, wide = (np.array([float(e.get(key, "")) for e in (up, down, every)]) for key in ("x", "width"))
    assert x[1] + wide[1] == pytest.approx(x[0], abs=0.2)
    assert x[0] == x[2]
    assert wide / wide[2] == pytest.approx([0.5, 0.25, 1.0], abs=0.01)


def test_stacks_fill_the_width() -> None:
    rects = [e for e in ET.fromstring(draw_chart(STACKS, WIDE).inline()).iter("rect") if e.find("title") is not None]
    assert [float(e.get("width", "")) for e in rects] == pytest.approx([0.25 * WIDE, 0.75 * WIDE, WIDE], abs=0.2)


def test_a_plot_draws_lines_bands_rules_and_columns() -> None:
    assert len(list(marks(PLOT, "rule"))) == 2
    assert len(list(marks(PLOT, "axis"))) == 1
    assert len(list(marks(PLOT, "wash"))) == 2
    assert sorted(titles(PLOT)) == ["end", "left half", "start"]
    assert {"first", "middle", "end", "0\N{NO-BREAK SPACE}%", "x → y ↑"} <= set(texts(PLOT))


def test_a_cloud_carries_its_points_and_no_name_is_taken_for_a_key() -> None:
    assert titles(CLOUD) == [f"{HOSTILE} → {HOSTILE}: 75.0\N{NO-BREAK SPACE}% of 100"]
    data = draw_picture(CLOUD).data
    assert "<" not in data
    assert "&" not in data
    stored = json.loads(data)
    assert stored["points"] == [[10.0, 0.5, 0, "a"], [100.0, 0.75, 1, HOSTILE]]
    assert stored["hover"] == CLOUD.hover
    assert "and 1 labels more, by the same marks in turn" in texts(CLOUD)


def test_a_map_carries_its_points() -> None:
    stored = json.loads(draw_picture(MAP).data)
    assert np.frombuffer(base64.b64decode(stored["x"]), "<u2").tolist() == [0, 4095, 2000]
    assert np.frombuffer(base64.b64decode(stored["labels"]), "u1").tolist() == [0, 1, 0]
    assert stored["values"] == [0.0, 0.5]
    assert titles(MAP) == ["group 1"]


def test_a_matrix_tells_sign_size_and_what_is_not_defined() -> None:
    cells = {e.findtext("title"): e for e in marks(MATRIX, "mark")}
    assert cells["a, a: 1"].get("class", "").startswith("f0")
    assert cells["a, b: −0.5"].get("class", "").startswith("f2")
    assert float(cells["a, a: 1"].get("fill-opacity", "")) > float(cells["a, b: −0.5"].get("fill-opacity", ""))
    assert cells["not defined"].get("class", "").startswith("band")
    assert len(list(marks(MATRIX, "whisker"))) == 1


def test_pixels_name_their_blocks() -> None:
    assert titles(PIXELS) == ["both"]
    (image,) = ET.fromstring(draw_chart(PIXELS, WIDE).inline()).iter("image")
    assert image.get("href", "").startswith("data:image/png;base64,")


def test_paper_figures_print_points() -> None:
    (axes,) = draw_figure(DOTS).axes
    assert axes.get_xlabel() == "accuracy (points)"
    drawn = [line.get_xdata()[0] for line in axes.lines if line.get_marker() not in ("None", "", None)]
    assert drawn == pytest.approx([20.0, 60.0])


def test_what_is_left_out_is_named() -> None:
    assert first_of([1, 2, 3], 2, "rows") == ([1, 2], "The first 2 of 3 rows are drawn.")
    assert first_of([1, 2], 2, "rows") == ([1, 2], "")


@pytest.mark.parametrize("span", [0.004, 0.05, 0.1, 0.3, 1.0])
def test_ticks_are_told_apart_and_exact(span: float) -> None:
    from goldassay.report.charts.maps import Scale, printed_ticks

    for n in (3, 4, 5, 6):
        ticks = printed_ticks(Axis(), Scale(0.5, 0.5 + span, 0, 100), n)
        assert [float(text) / 100 for _, text in ticks] == pytest.approx([value for value, _ in ticks], abs=1e-9)
