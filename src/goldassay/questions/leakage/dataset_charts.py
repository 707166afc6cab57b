"""Charts over datasets: each measure of leakage against another, a point a part of a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.charts import Axis, Chart, Panel, Plot, Point, Rule, Trace, numbered_series
from goldassay.core.documents import records
from goldassay.core.files import file_slug
from goldassay.core.numbers import bounds, decimal, number, percent, points
from goldassay.questions.leakage.datasets_section import NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

# Two accuracies, which can be read against each other.
_EQUAL = ("paired", "accuracy")


def dataset_charts(found: Mapping[str, Any]) -> dict[str, Chart]:
    """One chart, with a panel for each pair of measures that was correlated."""
    panels, parts = _panels(found)
    if not panels:
        return {}
    chart = Plot(
        name="leakage_datasets",
        title="What goes together over datasets",
        caption="Each mark is a part of a dataset; its shape and color tell which text was shown. The correlation is "
        "printed above each panel, with its 95 % interval. On the dashed line both are equal.",
        panels=tuple(panels.values()),
        series=numbered_series(parts),
        height=190,
    )
    return {chart.name: chart}


def paper_dataset_charts(found: Mapping[str, Any]) -> dict[str, Chart]:
    """A chart for each pair of measures that was correlated."""
    panels, parts = _panels(found, units=True)
    names = {(x, y): f"datasets-{file_slug(x)}-{file_slug(y)}" for x, y in panels}
    return {
        names[pair]: Plot(name=names[pair], panels=(panel,), series=numbered_series(parts), height=200)
        for pair, panel in panels.items()
    }


def _panels(found: Mapping[str, Any], *, units: bool = False) -> tuple[dict[tuple[str, str], Panel], list[str]]:
    """The panels by their measures, and the parts that are their series."""
    rows = records(found.get("datasets"))
    parts = list(dict.fromkeys(str(row.get("part")) for row in rows))
    panels = {}
    for pair in records(found.get("correlations")):
        names = str(pair.get("x")), str(pair.get("y"))
        points_of = [_of_part(rows, names, part) for part in parts]
        if not any(points_of):
            continue
        panels[names] = Panel(
            f"r = {decimal(pair.get('r'))} {bounds(pair.get('low'), pair.get('high'), 2, 1.0)}".rstrip(),
            tuple(Trace(each, series) for series, each in enumerate(points_of) if each),
            _axis(names[0], units),
            _axis(names[1], units),
            (Rule(across="diagonal"),) if names == _EQUAL else (),
        )
    return panels, parts


def _of_part(rows: list[Mapping[str, Any]], names: tuple[str, str], part: str) -> tuple[Point, ...]:
    return tuple(
        Point(
            x,
            y,
            f"{row.get('dataset')}, {part}: {NAMES.get(names[0])} {_printed(names[0], x)}, "
            f"{NAMES.get(names[1])} {_printed(names[1], y)}",
            name=str(row.get("dataset")),
        )
        for row in rows
        if str(row.get("part")) == part
        and (x := number(row.get(names[0]))) is not None
        and (y := number(row.get(names[1]))) is not None
    )


def _axis(name: str, units: bool) -> Axis:
    title = NAMES.get(name, name)
    if name == "peco":
        return Axis(title, "number", 2)
    if name == "recovered":
        return Axis(f"{title} (%)" if units else title, "percent")
    return Axis(f"{title} (points)" if units else title)


def _printed(name: str, value: float) -> str:
    return decimal(value, 2) if name == "peco" else percent(value, 0) if name == "recovered" else points(value, 0)
