"""A study as a page, as Markdown and in a terminal: the paper's conclusions, tables and figures beside ours.

Charts of a study: our figures against the printed ones, differences from a baseline, and what overlaps with what.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.charts import (
    Axis,
    Chart,
    Dot,
    DotGroup,
    DotRow,
    Dots,
    Grid,
    Matrix,
    MatrixCell,
    Panel,
    Plot,
    Point,
    Rule,
    Trace,
    between,
    numbered_series,
)
from goldassay.core.documents import mapping, records
from goldassay.core.escaping import one_line
from goldassay.core.numbers import bounds, bounds_in, count, decimal, number, with_unit
from goldassay.core.sections import Part, Section, VerdictCard
from goldassay.core.tables import Column, Table
from goldassay.report.charts import draw_pictures
from goldassay.report.html import fill_page
from goldassay.report.markdown import render_section

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.report.charts import Picture

_ICONS = {"held": "check", "did not hold": "stop", "not shown": "alert", "not measured": "none"}
_DOUBTED = "‡"
_SEPARATOR = " · "
_RULE = (
    "Unless it says otherwise, a claim about several pairs, parts or shifts goes by the 95 % interval of their mean, "
    "pooled by random effects over families that share runs or examples; one about a single figure by the interval, or "
    "by the test, that stands beside it. It held where the interval lies on its side, did not hold where it lies on "
    "the other, and is not shown else. What one of so many conclusions would show by chance is not shown either: by "
    "Holm's correction, a page that has nothing to find says something in at most 5 % of cases."
)


def render_page(
    document: Mapping[str, Any],
    charts: Mapping[str, Chart],
    reports: tuple[str, ...] = (),
    table_names: tuple[str, ...] = (),
) -> str:
    """The page of a study.

    Args:
        document: The study's document, as plain data.
        charts: Its charts by name.
        reports: Names of the reports in its folder reports/.
        table_names: Names of the tables in its folder tables/.
    """
    pictures = draw_pictures(charts)
    return fill_page(
        document=document,
        cards=_cards(document),
        line=_line(document),
        sections=_sections(document, pictures, reports),
        pictures=pictures,
        stem="study",
        table_names=table_names,
    )


def render_markdown(document: Mapping[str, Any]) -> str:
    """GitHub-flavored Markdown: the conclusions first, then the tables, long ones cut and said so."""
    blocks = [f"# {one_line(document.get('title'))}", _SEPARATOR.join(_line(document))]
    for section in _sections(document, {}, (), small_type=False):
        blocks += render_section(section, "tables/")
    blocks.append(f"Made by goldassay {one_line(document.get('goldassay_version'))}.")
    return "\n\n".join(block for block in blocks if block) + "\n"


def render_summary(document: Mapping[str, Any]) -> str:
    """A line a conclusion, with the figure that decides."""
    lines = [f"{one_line(document.get('title'))}, {document.get('scale')}"]
    lines += [
        f"  {row.get('standing'):<13} {row.get('name')}: {_measured(row)}{one_line(row.get('evidence'))}"
        for row in records(document.get("conclusions"))
    ]
    lines += [f"  not run without {name}: {one_line(why)}" for name, why in mapping(document, "absent").items()]
    return "\n".join(lines)


def _measured(row: Mapping[str, Any]) -> str:
    if number(row.get("value")) is None:
        return ""
    unit = str(row.get("unit"))
    return f"{with_unit(row.get('value'), unit)} {bounds_in(row.get('low'), row.get('high'), unit)}".strip() + ". "


def _picture_name(comparison: Mapping[str, Any]) -> str:
    return f"{comparison.get('drawn')}_{comparison.get('name')}"


def _cards(document: Mapping[str, Any]) -> list[VerdictCard]:
    cards = []
    for row in records(document.get("conclusions")):
        unit, standing = str(row.get("unit")), str(row.get("standing"))
        known = number(row.get("value")) is not None
        cards.append(
            VerdictCard(
                key=str(row.get("name")),
                title=str(row.get("name")),
                lead=str(row.get("statement")),
                verdict=standing,
                icon=_ICONS.get(standing, "none"),
                value=with_unit(row.get("value"), unit) if known else "",
                interval=bounds_in(row.get("low"), row.get("high"), unit) if known else "",
                label=str(row.get("place") or ""),
                evidence=str(row.get("evidence") or ""),
                anchor="conclusions",
            )
        )
    return cards


def _line(document: Mapping[str, Any]) -> list[str]:
    sets = len(records(document.get("inputs")))
    trained = number(document.get("n_trainings"))
    parts = [str(document.get("paper")), f"at {document.get('scale')} scale", f"{sets} sets"]
    if trained:
        parts.append(f"{count(trained)} training{'s' if trained > 1 else ''}")
    return parts


def _sections(
    document: Mapping[str, Any], pictures: Mapping[str, Picture], reports: tuple[str, ...], *, small_type: bool = True
) -> tuple[Section, ...]:
    # The page tells evidence on its cards; Markdown has none.
    found = [_conclusions(document, evidence=not small_type), _tables(document, small_type)]
    names = [
        f"{row.get('report')}_{row.get('figure')}"
        for row in records(document.get("shown"))
        if f"{row.get('report')}_{row.get('figure')}" in pictures
    ]
    if names:
        found.append(
            Section(
                key="figures",
                title="Figures",
                lead="The paper's pictures, drawn from our runs.",
                parts=tuple(Part(name) for name in names),
            )
        )
    return (*found, _inputs(document, reports))


def _conclusions(document: Mapping[str, Any], *, evidence: bool) -> Section:
    rows = tuple(
        {
            **row,
            "measured": None if number(row.get("value")) is None else with_unit(row.get("value"), str(row.get("unit"))),
            "interval": bounds_in(row.get("low"), row.get("high"), str(row.get("unit"))),
            "evidence": one_line(row.get("evidence")),
        }
        for row in records(document.get("conclusions"))
    )
    columns = (
        Column("name", "conclusion"),
        Column("place", "where"),
        Column("standing", "here"),
        Column("measured", "measured", sort="value", aside="interval"),
        *((Column("evidence", "evidence"),) if evidence else ()),
    )
    return Section(
        key="conclusions",
        title="Conclusions",
        lead="What is claimed, and what became of it here.",
        notes=(str(document.get("scale_note")), _RULE, *(str(note) for note in document.get("notes") or ())),
        parts=(Part(table=Table("conclusions", "Conclusions", columns, rows)),),
    )


def _tables(document: Mapping[str, Any], small_type: bool) -> Section:
    """What is printed stands beside ours in small type, or in parentheses where there is no such type."""
    parts = []
    printed = doubted = False
    for comparison in records(document.get("comparisons")):
        cells = records(comparison.get("cells"))
        printed |= any(number(cell.get("printed")) is not None for cell in cells)
        doubted |= any(number(cell.get("printed")) is not None and bool(cell.get("doubted")) for cell in cells)
        parts.append(Part(_picture_name(comparison), _table(comparison, small_type)))
    return Section(
        key="tables",
        title="Tables",
        lead="Ours, with its spread over runs or its interval"
        + (f"; in {'small type' if small_type else 'parentheses'} beside it what is printed." if printed else "."),
        notes=(f"{_DOUBTED} The paper itself contradicts this figure elsewhere.",) if doubted else (),
        parts=tuple(parts),
        reason="" if parts else "the study has no table to lay beside a printed one",
    )


def _table(comparison: Mapping[str, Any], small_type: bool) -> Table:
    """Rows and columns by their keys, in the order in which cells first name them."""
    down_names, across_names = comparison.get("rows") or (), comparison.get("columns") or ()
    cells = records(comparison.get("cells"))
    across = list(dict.fromkeys(_key(cell, across_names) for cell in cells))
    down: dict[tuple[str, ...], dict[tuple[str, ...], Mapping[str, Any]]] = {}
    for cell in cells:
        down.setdefault(_key(cell, down_names), {})[_key(cell, across_names)] = cell
    if set(across) <= down.keys():
        # The same things down and across, which then have one order.
        across = [key for key in down if key in across]
    digits = int(number(comparison.get("digits")) or 0)
    note = one_line(comparison.get("note"))
    columns = (
        *(Column(f"row{i}", str(name).replace("_", " ")) for i, name in enumerate(down_names)),
        *(
            Column(f"cell{j}", _SEPARATOR.join(key), sort=f"sort{j}", aside=f"printed{j}", absent="")
            for j, key in enumerate(across)
        ),
    )
    rows = []
    for key, found in down.items():
        row: dict[str, Any] = {f"row{i}": part for i, part in enumerate(key)}
        for j, column in enumerate(across):
            ours, printed, sort = _shown(found.get(column), digits)
            if printed and not small_type:
                ours, printed = f"{ours} ({printed})".strip(), ""
            row |= {f"cell{j}": ours, f"printed{j}": printed, f"sort{j}": sort}
        rows.append(row)
    return Table(
        str(comparison.get("name")),
        str(comparison.get("title")),
        columns,
        tuple(rows),
        file=str(comparison.get("name")),
        note=note[:1].upper() + note[1:],
    )


def _key(cell: Mapping[str, Any], names: Any) -> tuple[str, ...]:
    return tuple(str(cell.get(name) or "—").replace("_", " ") for name in names)


def _shown(cell: Mapping[str, Any] | None, digits: int) -> tuple[str, str, float | None]:
    """Ours with its spread, or its interval where it has no spread; what is printed; what the cell sorts by."""
    if cell is None:
        return "", "", None
    shown = "" if number(cell.get("ours")) is None else decimal(cell.get("ours"), digits)
    if number(cell.get("sd")) is not None:
        shown += f" ± {decimal(cell.get('sd'), digits)}"
    elif number(cell.get("low")) is not None:
        shown += f" [{decimal(cell.get('low'), digits)}, {decimal(cell.get('high'), digits)}]"
    aside = ""
    if number(cell.get("printed")) is not None:
        spread = f" ± {decimal(cell.get('printed_sd'), digits)}" if number(cell.get("printed_sd")) is not None else ""
        aside = f"{decimal(cell.get('printed'), digits)}{spread}"
        aside += f"\N{NO-BREAK SPACE}{_DOUBTED}" if cell.get("doubted") else ""
    if not shown and cell.get("not_run"):
        shown = f"not run: {cell['not_run']}"
    ours, printed = number(cell.get("ours")), number(cell.get("printed"))
    return shown, aside, printed if ours is None else ours


def _inputs(document: Mapping[str, Any], reports: tuple[str, ...]) -> Section:
    sets = tuple(
        {
            **row,
            "files": ", ".join(str(name) for name in row.get("files") or ()) or None,
            "sha256": ", ".join(str(digest)[:12] for digest in row.get("sha256") or ()),
        }
        for row in records(document.get("inputs"))
    )
    of_sets = (
        Column("name", "set"),
        Column("n_examples", "examples", "count"),
        Column("files", "files", "data"),
        Column("sha256", "sha256"),
    )
    networks = tuple(
        {
            **row,
            "network": str(row.get("network")),
            "objectives": ", ".join(str(name).replace("_", " ") for name in row.get("objectives") or ()),
        }
        for row in records(document.get("networks"))
    )
    of_networks = (
        Column("name", "name"),
        Column("network", "network", "data"),
        Column("configuration", "configuration"),
        Column("precision", "precision"),
        Column("objectives", "objective"),
        Column("seeds", "seeds", "count"),
        Column("n_trainings", "trainings", "count"),
    )
    left_out = [f"{name}: {why}." for name, why in mapping(document, "absent").items()]
    whole = [f"The whole reports lie in reports/: {', '.join(reports)}."] if reports else []
    return Section(
        key="inputs",
        title="What was used",
        lead="The sets, as they were read, and the networks.",
        notes=(*left_out, *whole),
        parts=(
            Part(table=Table("sets", "Sets", of_sets, sets)),
            Part(table=Table("networks", "Networks", of_networks, networks)),
        ),
        appendix=True,
    )


if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goldassay.report.report import Report

    Cell = Mapping[str, Any]

# Of fewer cells no scatter is drawn; of more names the last share a mark.
_FEWEST, _MOST_NAMES = 4, 6
# A ratio this far from one, or its inverse, has the full color.
_FULL = 3.0


def charts(document: Mapping[str, Any], reports: Mapping[str, Report]) -> dict[str, Chart]:
    """The charts of the study's comparisons, and those that it shows of its reports."""
    found: dict[str, Chart] = {}
    for comparison in records(document.get("comparisons")):
        build = _BUILDERS.get(str(comparison.get("drawn")))
        chart = build(comparison) if build is not None else None
        if chart is not None:
            name = f"{comparison.get('drawn')}_{comparison.get('name')}"
            found[name] = replace(chart, name=name)
    for row in records(document.get("shown")):
        report = reports.get(str(row.get("report")))
        chart = report.charts.get(str(row.get("figure"))) if report is not None else None
        if chart is not None:
            name = f"{row.get('report')}_{chart.name}"
            found[name] = replace(chart, name=name, title=str(row.get("title")))
    return found


def _first_keys(comparison: Cell) -> tuple[str, str]:
    down, across = (str((comparison.get(key) or ("",))[0]) for key in ("rows", "columns"))
    return down, across


def _printed(comparison: Cell) -> Chart | None:
    """A mark a cell that is printed and that we have."""
    pairs = [
        (cell, known)
        for cell in records(comparison.get("cells"))
        if (known := between(number(cell.get("printed")), number(cell.get("ours")))) is not None
    ]
    if len(pairs) < _FEWEST:
        return None
    down = _first_keys(comparison)[0]
    names = list(dict.fromkeys(str(cell.get(down)) for cell, _ in pairs))[:_MOST_NAMES]
    labels = (*(comparison.get("rows") or ()), *(comparison.get("columns") or ()))
    digits = int(number(comparison.get("digits")) or 0)
    traces: dict[int, list[Point]] = {}
    for cell, (printed, ours) in pairs:
        name = str(cell.get(down))
        label = " · ".join(str(cell[key]) for key in labels)
        hover = f"{label}: printed {decimal(printed, digits)}, ours {decimal(ours, digits)}"
        low, high = _ends(cell, ours)
        point = Point(printed, ours, hover, low, high, hollow=bool(cell.get("doubted")))
        traces.setdefault(names.index(name) if name in names else len(names), []).append(point)
    values = [
        value for points in traces.values() for p in points for value in (p.x, p.y, p.low, p.high) if value is not None
    ]
    pad = 0.05 * (max(values) - min(values)) or 0.5
    low, high = min(values) - pad, max(values) + pad
    ticks = 0 if high - low > 5 else 2
    panel = Panel(
        "",
        tuple(Trace(tuple(points), series, whisker=True) for series, points in traces.items()),
        Axis("printed", "number", ticks, low, high),
        Axis("ours", "number", ticks, low, high),
        (Rule(across="diagonal"),),
    )
    return Plot(
        name="",
        title=f"{comparison.get('title')}: ours against printed",
        caption="One mark a cell that is printed and that we have: the paper's figure across, ours up, with our "
        "interval, or one standard deviation over runs to either side. On the diagonal both are the same; hollow marks "
        "are cells that the paper itself contradicts.",
        panels=(panel,),
        series=numbered_series([*names, "others"][: max(traces) + 1]),
        height=320,
        legend="marks" if len(names) > 1 else None,
    )


def _ends(cell: Cell, ours: float) -> tuple[float | None, float | None]:
    low, high, sd = (number(cell.get(key)) for key in ("low", "high", "sd"))
    if low is None or high is None:
        return (None, None) if sd is None else (ours - sd, ours + sd)
    return low, high


def _differences(comparison: Cell) -> Chart | None:
    """A group a measure, in it a dot with an interval for each way of training."""
    down, across = _first_keys(comparison)
    cells = [
        (cell, known)
        for cell in records(comparison.get("cells"))
        if (known := between(*(number(cell.get(key)) for key in ("ours", "low", "high")))) is not None
    ]
    if not cells:
        return None
    names = list(dict.fromkeys(str(cell.get(across)) for cell, _ in cells))
    groups: dict[str, list[DotRow]] = {}
    for cell, (ours, low, high) in cells:
        measure = str(cell.get(down))
        hover = f"{measure}: {decimal(ours, 1)} {bounds(low, high, 1, 1.0)}"
        dot = Dot(ours, hover, names.index(str(cell.get(across))), low, high)
        groups.setdefault(measure, []).append(DotRow((dot,)))
    return Dots(
        name="",
        title=str(comparison.get("title")),
        caption="The difference from plain training in points, with its 95 % interval: a block a measure, a mark a way "
        "of training. An interval that holds 0, the dashed line, shows no change.",
        groups=tuple(DotGroup(name, tuple(rows)) for name, rows in groups.items()),
        axis=Axis("difference (points)", "number"),
        series=numbered_series(names),
        rules=(Rule(0.0),),
    )


def _matrix(comparison: Cell) -> Chart | None:
    """A matrix of ratios, a row and a column a class."""
    down, across = _first_keys(comparison)
    known = {
        (str(cell.get(down)), str(cell.get(across))): (cell, ratio)
        for cell in records(comparison.get("cells"))
        if (ratio := number(cell.get("ours"))) is not None
    }
    rows, columns = (list(dict.fromkeys(key[i] for key in known)) for i in (0, 1))
    columns = [name for name in rows if name in columns] + [name for name in columns if name not in rows]
    if len(rows) < 2:
        return None
    cells = []
    for (row, column), (cell, ratio) in known.items():
        low, high = number(cell.get("low")), number(cell.get("high"))
        strength = math.copysign(1.0 if ratio <= 0 else min(1.0, abs(math.log(ratio)) / math.log(_FULL)), ratio - 1)
        hover = f"{row}, {column}: {decimal(ratio)} {bounds(low, high, 2, 1.0)}".rstrip()
        framed = low is not None and high is not None and not low <= 1 <= high
        cells.append(MatrixCell(rows.index(row), columns.index(column), strength, decimal(ratio, 1), hover, framed))
    return Matrix(
        name="",
        title=str(comparison.get("title")),
        caption="Blue: more often on the same example than chance would have it; red: less often; the deeper the "
        "further from once. Framed cells are those whose 95 % interval leaves once out. Empty ones were not compared.",
        grids=(Grid("", tuple(rows), tuple(columns), tuple(cells)),),
        measured="ratio to chance",
    )


_BUILDERS: dict[str, Callable[[Cell], Chart | None]] = {
    "printed": _printed,
    "differences": _differences,
    "matrix": _matrix,
}
