"""Charts as data: what a picture shows, without how it is drawn.

A question builds charts from its results; `report/charts/` draws each kind as SVG and `report/paper/` with matplotlib.
Values are those of the results (shares in [0, 1], not points); axes say in which unit they are printed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

Unit = Literal["points", "signed points", "percent", "number", "count", "size"]
T = TypeVar("T")


@dataclass(frozen=True)
class Series:
    """One entry of the legend: a name with its color and its marker.

    Attributes:
        name: As shown.
        color: Name of a color of the palette: "s0" to "s5", "easy", "hard", "conflicting" or "uncovered".
        marker: Number of the marker's shape.
    """

    name: str
    color: str = "s0"
    marker: int = 0


@dataclass(frozen=True)
class Axis:
    """A value axis.

    Attributes:
        title: What its values are.
        unit: How values are printed: "points" and "percent" print 100 times a share, "size" as 1k, 1M or 1B.
        digits: Decimals of its values; None for as many as its span needs.
        low: Its lower end; None for that of the data.
        high: Its upper end; None for that of the data.
        log: Whether it is logarithmic.
    """

    title: str = ""
    unit: Unit = "points"
    digits: int | None = None
    low: float | None = None
    high: float | None = None
    log: bool = False


@dataclass(frozen=True)
class Rule:
    """A reference line.

    Attributes:
        at: The value; ignored on the diagonal.
        label: Text at the line.
        across: The axis that `at` is a value of, or "diagonal" for where both values are equal.
        solid: Whether it is solid, as for zero.
    """

    at: float = 0.0
    label: str = ""
    across: Literal["x", "y", "diagonal"] = "x"
    solid: bool = False


@dataclass(frozen=True, kw_only=True)
class Chart:
    """What all charts have.

    Attributes:
        name: Its name in a report, and that of its file.
        title: What it shows, in a few words.
        caption: How to read it.
        omitted: Which part of the data is drawn, where not all of it is.
    """

    name: str
    title: str = ""
    caption: str = ""
    omitted: str = ""

    @property
    def legend_text(self) -> str:
        """The caption with the part of the data that is drawn."""
        return f"{self.caption} {self.omitted}" if self.omitted else self.caption

    @property
    def label(self) -> str:
        """The text for people who cannot see it."""
        return f"{self.title}. {self.legend_text}"


@dataclass(frozen=True)
class Dot:
    """A value on the axis, with its interval if it has one.

    Attributes:
        value: The value.
        hover: Text shown at the pointer; without it the mark does not answer.
        series: Number of its series.
        low: Lower end of the interval.
        high: Upper end.
        hollow: Whether it is drawn as an outline.
        text: Text above the mark, drawn where there is room.
    """

    value: float
    hover: str = ""
    series: int = 0
    low: float | None = None
    high: float | None = None
    hollow: bool = False
    text: str = ""


@dataclass(frozen=True)
class DotRow:
    """Dots on one line.

    Attributes:
        dots: The dots.
        span: Ends of a line through the dots.
        span_series: The series that gives the line its color; None for a quiet line.
        band: Ends of a bar behind the dots.
    """

    dots: tuple[Dot, ...]
    span: tuple[float, float] | None = None
    span_series: int | None = None
    band: tuple[float, float] | None = None


@dataclass(frozen=True)
class DotGroup:
    """Rows under one name, with a value in text."""

    name: str
    rows: tuple[DotRow, ...]
    value: str = ""
    interval: str = ""


@dataclass(frozen=True, kw_only=True)
class Dots(Chart):
    """Dots with intervals on one horizontal axis, row by row.

    Attributes:
        groups: Named groups of rows.
        axis: The axis.
        series: What dots belong to.
        rules: Vertical reference lines.
        headings: Whether names are above the rows or to their left.
        capped: Whether intervals are drawn as whiskers; else as lines in the color of the series.
        faint: Whether dots let those behind them show, where there are many.
    """

    groups: tuple[DotGroup, ...]
    axis: Axis
    series: tuple[Series, ...] = (Series(""),)
    rules: tuple[Rule, ...] = ()
    headings: Literal["left", "above"] = "left"
    capped: bool = True
    faint: bool = False


@dataclass(frozen=True)
class Bar:
    """A bar from zero.

    Attributes:
        name: Its name, to its left.
        value: Its length.
        hover: Text shown at the pointer.
        text: The value as text.
        interval: The interval as text, shown where there is room.
        series: Number of its series.
        low: Lower end of the interval.
        high: Upper end.
    """

    name: str
    value: float
    hover: str
    text: str = ""
    interval: str = ""
    series: int = 0
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class BarGroup:
    """Bars under one heading, with a reference value of their own if they have one."""

    name: str
    bars: tuple[Bar, ...]
    reference: float | None = None


@dataclass(frozen=True, kw_only=True)
class Bars(Chart):
    """Horizontal bars from zero, in groups.

    Attributes:
        groups: The groups.
        axis: The axis.
        series: What bars belong to; only their colors show.
        rules: Vertical reference lines through all groups.
        axis_of: Whether all groups share one drawn axis, each has its own, or none is drawn.
        data_names: Whether the bars' names are texts of the dataset.
        aligned: Whether values are printed in a column at the right; else at the end of each bar.
    """

    groups: tuple[BarGroup, ...]
    axis: Axis
    series: tuple[Series, ...] = (Series(""),)
    rules: tuple[Rule, ...] = ()
    axis_of: Literal["all", "each", "none"] = "all"
    data_names: bool = False
    aligned: bool = False


@dataclass(frozen=True)
class Part:
    """A part of a stack: its share, the series it belongs to, the hover text and a text inside where there is room."""

    share: float
    series: int
    hover: str
    text: str = ""


@dataclass(frozen=True)
class Stack:
    """Parts that fill one bar, with a name and a text above it."""

    parts: tuple[Part, ...]
    name: str = ""
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Stacks(Chart):
    """Stacked horizontal bars from 0 to 1."""

    stacks: tuple[Stack, ...]
    series: tuple[Series, ...]


@dataclass(frozen=True)
class Point:
    """A point of a plot.

    Attributes:
        x: Its value on the horizontal axis.
        y: Its value on the vertical axis.
        hover: Text shown at the pointer; a point of a line without one has no mark.
        low: Lower end of an interval of y.
        high: Upper end.
        name: Text next to the mark, drawn where there is room.
        hollow: Whether its mark is an outline.
    """

    x: float
    y: float
    hover: str = ""
    low: float | None = None
    high: float | None = None
    name: str = ""
    hollow: bool = False


@dataclass(frozen=True)
class Trace:
    """Points of one series, with the line through them.

    Attributes:
        points: In the order of the line.
        series: Number of its series.
        line: "none", "curve", "thin", or "steps" and "area" that keep a point's y up to the next point's x.
        band: (x, low, high) of a band around the line.
        whisker: Whether intervals are drawn in ink; else in the color of the series.
    """

    points: tuple[Point, ...]
    series: int = 0
    line: Literal["none", "curve", "thin", "steps", "area"] = "none"
    band: tuple[tuple[float, float, float], ...] = ()
    whisker: bool = False


@dataclass(frozen=True)
class Column:
    """A range of x that answers to the pointer."""

    low: float
    high: float
    hover: str


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes:
        title: Its heading; of two parts both are shortened.
        traces: What is drawn.
        x: The horizontal axis.
        y: The vertical axis.
        rules: Reference lines.
        ticks: Values of x that are named; without any the axis chooses.
        columns: Ranges of x that answer to the pointer.
    """

    title: str | tuple[str, str]
    traces: tuple[Trace, ...]
    x: Axis
    y: Axis
    rules: tuple[Rule, ...] = ()
    ticks: tuple[tuple[float, str], ...] = ()
    columns: tuple[Column, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Plot(Chart):
    """Panels with two value axes: curves, steps, slopes and scattered points.

    Attributes:
        panels: The panels.
        series: What traces belong to.
        height: Of a panel's axes on the page, in pixels.
        legend: "marks" or "lines"; None for no legend.
    """

    panels: tuple[Panel, ...]
    series: tuple[Series, ...] = (Series(""),)
    height: int = 150
    legend: Literal["marks", "lines"] | None = "marks"


@dataclass(frozen=True)
class Named:
    """A point of a cloud that has a mark of its own, with its name next to it where there is room."""

    x: float
    y: float
    series: int
    name: str


@dataclass(frozen=True, kw_only=True)
class Cloud(Chart):
    """Thousands of points, found by the pointer; some with a mark and a name.

    Attributes:
        points: (x, y, number of the series, name).
        x: The horizontal axis.
        y: The vertical axis.
        series: What points belong to; those without a legend entry come last.
        n_named: How many series the legend names.
        series_are: What series are, in the plural.
        strongest: Points with a mark of their own.
        bounds: Curves, each as (x, y).
        rules: Reference lines of y.
        hover: Text at the pointer, with {name}, {series}, {x} and {y} for those of the point.
    """

    points: tuple[tuple[float, float, int, str], ...]
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    n_named: int
    series_are: str
    strongest: tuple[Named, ...] = ()
    bounds: tuple[tuple[tuple[float, float], ...], ...] = ()
    rules: tuple[Rule, ...] = ()
    hover: str = "{name}"


@dataclass(frozen=True)
class Outline:
    """A closed line around a group of points; `strong` ones are drawn in full."""

    group: int
    corners: tuple[tuple[float, float], ...]
    hover: str
    strong: bool


# Places on a map are whole numbers from 0 to this, in both directions.
MAP_EXTENT = 4095


@dataclass(frozen=True, kw_only=True)
class PointMap(Chart):
    """Points on a plane that is a map: only nearness means something.

    Attributes:
        x: Places from 0 to `MAP_EXTENT`, left to right.
        y: Likewise, bottom to top.
        labels: Number of each point's series.
        groups: Number of each point's group.
        series: The series.
        outlines: Of groups.
        group_is: What a group is, in one word.
        group_values: A value of each group, by its number.
        value_is: What the value is, in one word.
        texts: The text of each point; empty where it has none.
    """

    x: tuple[int, ...]
    y: tuple[int, ...]
    labels: tuple[int, ...]
    groups: tuple[int, ...]
    series: tuple[Series, ...]
    outlines: tuple[Outline, ...]
    group_is: str
    group_values: tuple[float, ...]
    value_is: str
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class MatrixCell:
    """A cell of a matrix.

    Attributes:
        row: Number of its row.
        column: Number of its column.
        strength: From -1 (red) over 0 (pale) to 1 (blue); None where it is not defined.
        text: The value as text, shown where there is room.
        hover: Text shown at the pointer.
        framed: Whether it is framed.
    """

    row: int
    column: int
    strength: float | None
    text: str
    hover: str
    framed: bool = False


@dataclass(frozen=True)
class Grid:
    """One matrix, with the names of its rows and columns."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[MatrixCell, ...]


@dataclass(frozen=True, kw_only=True)
class Matrix(Chart):
    """Matrices of a few cells, colored by sign and size; `measured` is what the color means."""

    grids: tuple[Grid, ...]
    measured: str


@dataclass(frozen=True)
class Block:
    """Neighbouring rows of a pixel matrix under one name."""

    name: str
    size: int
    hover: str


@dataclass(frozen=True)
class PixelGrid:
    """A square matrix of many values.

    Attributes:
        title: Its heading.
        size: Number of rows, N.
        values: N x N values from -1 to 1 in hundredths, as base64 of signed bytes; -128 is "not defined".
        blocks: Groups of rows, in order.
    """

    title: str
    size: int
    values: str
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PixelMatrix(Chart):
    """Square matrices of hundreds of rows, a pixel a value; `measured` is what the color means."""

    grids: tuple[PixelGrid, ...]
    measured: str


def numbered_series(names: Sequence[str]) -> tuple[Series, ...]:
    """A series a name, with the palette's colors and the markers in order; few share both."""
    return tuple(Series(name, f"s{i % 6}", i + i // 6) for i, name in enumerate(names))


def first_of(items: Sequence[T], most: int, what: str) -> tuple[Sequence[T], str]:
    """The first `most` items, and a sentence on that where there are more."""
    return items[:most], f"The first {most} of {len(items)} {what} are drawn." if len(items) > most else ""


def between(*values: float | None) -> tuple[float, ...] | None:
    """The values where all of them are known, else None."""
    known = tuple(value for value in values if value is not None)
    return known if len(known) == len(values) else None


def by_name(*charts: Chart | None) -> dict[str, Chart]:
    """The charts that there are, by name."""
    return {chart.name: chart for chart in charts if chart is not None}
