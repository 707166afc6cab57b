"""A study as a page, as Markdown and in a terminal: the paper's conclusions, tables and figures beside ours.

Charts of a study: our figures against the printed ones, differences from a baseline, and what overlaps with what.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import polars as pl

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
from goldassay.core.errors import one_line
from goldassay.core.numbers import bounds, bounds_in, count, decimal, number, with_unit
from goldassay.core.sections import Column, Part, Section, Table, VerdictCard, pivot, with_spread
from goldassay.report.charts import Picture, draw_pictures
from goldassay.report.html import fill_page
from goldassay.report.markdown import render_section
from goldassay.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goldassay.lab.papers.recipe import Comparison, Conclusion, Study
    from goldassay.report.report import Report

_ICONS = {
    **dict.fromkeys(("held", "found as planted"), "check"),
    **dict.fromkeys(("did not hold", "not as planted"), "stop"),
    "not shown": "alert",
}
_MADE_UP = (
    "Made-up data: this page shows that the study finds what is planted. "
    "It says nothing about the real sets whose names it uses."
)
_DOUBTED = "‡"
_SEPARATOR = " · "
_RULE = (
    "A claim said of the average of pairs, parts or shifts goes by the 95 % interval of their mean, pooled by random "
    "effects over families that share runs or examples. One said of some needs one figure beyond the limit by an "
    "interval that holds for all together, one said of all needs every figure; one said of a single cell goes by the "
    "interval in its row. It held where the interval lies on its side, did not hold where it lies on "
    "the other, and is not shown else. What one of so many conclusions would show by chance is not shown either: by "
    "Holm's correction, a page that has nothing to find says something in at most 5 % of cases."
)


def render_page(
    study: Study,
    document: Mapping[str, Any],
    charts: Mapping[str, Chart],
    reports: tuple[str, ...] = (),
    table_names: tuple[str, ...] = (),
) -> str:
    """The page of a study.

    Args:
        study: What was found.
        document: The same, as plain data.
        charts: Its charts by name.
        reports: Names of the reports in its folder reports/.
        table_names: Names of the tables in its folder tables/.
    """
    pictures = draw_pictures(charts)
    return fill_page(
        document=document,
        cards=[_card(each) for each in study.conclusions],
        line=_line(study),
        overall=_MADE_UP if study.made_up else "",
        sections=_sections(study, pictures, reports),
        pictures=pictures,
        stem="study",
        table_names=table_names,
    )


def render_markdown(study: Study) -> str:
    """GitHub-flavored Markdown: the conclusions first, then the tables, long ones cut and said so."""
    blocks = [f"# {one_line(study.title)}", _SEPARATOR.join(_line(study)), f"**{_MADE_UP}**" if study.made_up else ""]
    for section in _sections(study, {}, (), small_type=False):
        blocks += render_section(section, "tables/")
    blocks.append(f"Made by goldassay {__version__}.")
    return "\n\n".join(block for block in blocks if block) + "\n"


def render_summary(study: Study) -> str:
    """A line a conclusion, with the figure that decides."""
    lines = [f"{one_line(study.title)}, {study.scale}", *([f"  {_MADE_UP}"] if study.made_up else [])]
    for each in study.conclusions:
        value, interval = _measured(each)
        measured = f"{value} {interval}".strip() + ". " if value else ""
        lines.append(f"  {each.standing:<16} {each.name}: {measured}{one_line(each.evidence)}")
    lines += [f"  not run without {name}: {one_line(why)}" for name, why in study.absent.items()]
    return "\n".join(lines)


def _measured(each: Conclusion) -> tuple[str, str]:
    """The figure that decides, and its interval; "" where there is none."""
    if number(each.value) is None:
        return "", ""
    return with_unit(each.value, each.unit), bounds_in(each.low, each.high, each.unit)


def _card(each: Conclusion) -> VerdictCard:
    value, interval = _measured(each)
    return VerdictCard(
        key=each.name,
        title=each.name,
        lead=each.statement,
        verdict=each.standing,
        icon=_ICONS.get(each.standing, "none"),
        value=value,
        interval=interval,
        label=each.place,
        evidence=each.evidence,
        anchor="conclusions",
    )


def _line(study: Study) -> list[str]:
    parts = [study.paper, f"at {study.scale} scale", f"{len(study.inputs)} sets"]
    if study.n_trainings:
        parts.append(f"{count(study.n_trainings)} training{'s' if study.n_trainings > 1 else ''}")
    return parts


def _sections(
    study: Study, pictures: Mapping[str, Picture], reports: tuple[str, ...], *, small_type: bool = True
) -> tuple[Section, ...]:
    # The page tells evidence on its cards; Markdown has none.
    found = [_conclusions(study, evidence=not small_type), _tables(study, small_type)]
    names = [name for each in study.shown if (name := f"{each.report}_{each.figure}") in pictures]
    if names:
        found.append(
            Section(
                key="figures",
                title="Figures",
                lead="The paper's pictures, drawn from our runs.",
                parts=tuple(Part(name) for name in names),
            )
        )
    return (*found, _inputs(study, reports))


def _conclusions(study: Study, *, evidence: bool) -> Section:
    rows = []
    for each in study.conclusions:
        value, interval = _measured(each)
        shown = {"measured": value or None, "interval": interval, "evidence": one_line(each.evidence)}
        rows.append({**vars(each), **shown})
    columns = (
        Column("name", "conclusion"),
        Column("quantifier", "said of"),
        Column("place", "where"),
        Column("standing", "here"),
        Column("measured", "measured", sort="value", aside="interval"),
        *((Column("evidence", "evidence"),) if evidence else ()),
    )
    return Section(
        key="conclusions",
        title="Conclusions",
        lead="What is claimed, and what became of it here.",
        notes=(study.scale_note, *study.unprinted, _RULE, *study.notes),
        parts=(Part(table=Table("conclusions", "Conclusions", columns, tuple(rows))),),
    )


def _tables(study: Study, small_type: bool) -> Section:
    """What is printed stands beside ours in small type, or in parentheses where there is no such type."""
    parts = []
    printed = doubted = False
    for comparison in study.comparisons:
        both = comparison.cells.filter(pl.col("printed").is_not_null())
        printed |= both.height > 0
        doubted |= bool(both["doubted"].any())
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


def _picture_name(comparison: Comparison) -> str:
    return f"{comparison.drawn}_{comparison.name}"


@dataclass(frozen=True)
class _Cell:
    """A cell of a comparison: its keys, ours with its spread, what is printed, and why ours is not there."""

    keys: Mapping[str, str]
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    sd: float | None = None
    printed: float | None = None
    printed_sd: float | None = None
    doubted: bool = False
    not_run: str | None = None


_FIGURES = tuple(each.name for each in fields(_Cell))[1:]


def _cells(comparison: Comparison) -> list[_Cell]:
    rows = comparison.cells.fill_nan(None).to_dicts()
    return [_Cell(row, **{name: row[name] for name in _FIGURES if name in row}) for row in rows]


def _table(comparison: Comparison, small_type: bool) -> Table:
    """Rows and columns by their keys; beside ours what is printed."""

    def shown(cell: _Cell | None) -> tuple[str, str, float | None]:
        ours, printed, sort = _shown(cell, comparison.digits)
        return (f"{ours} ({printed})".strip(), "", sort) if printed and not small_type else (ours, printed, sort)

    def keys_of(cell: _Cell) -> dict[str, str]:
        return {name: str(value or "—").replace("_", " ") for name, value in cell.keys.items()}

    columns, rows = pivot(_cells(comparison), comparison.rows, comparison.columns, keys_of, shown)
    note = one_line(comparison.note)
    return Table(
        comparison.name,
        comparison.title,
        columns,
        rows,
        file=comparison.name,
        note=note[:1].upper() + note[1:],
    )


def _shown(cell: _Cell | None, digits: int) -> tuple[str, str, float | None]:
    """Ours with its spread, or its interval where it has no spread; what is printed; what the cell sorts by."""
    if cell is None:
        return "", "", None
    shown = with_spread(vars(cell), digits)
    aside = ""
    if cell.printed is not None:
        spread = "" if cell.printed_sd is None else f" ± {decimal(cell.printed_sd, digits)}"
        aside = f"{decimal(cell.printed, digits)}{spread}"
        aside += f"\N{NO-BREAK SPACE}{_DOUBTED}" if cell.doubted else ""
    if not shown and cell.not_run:
        shown = f"not run: {cell.not_run}"
    return shown, aside, cell.printed if cell.ours is None else cell.ours


def _inputs(study: Study, reports: tuple[str, ...]) -> Section:
    sets = tuple(
        {
            **vars(each),
            "files": ", ".join(each.files) or None,
            "sha256": ", ".join(digest[:12] for digest in each.sha256),
        }
        for each in study.inputs
    )
    of_sets = (
        Column("name", "set"),
        Column("n_examples", "examples", "count"),
        Column("files", "files", "data"),
        Column("sha256", "sha256"),
    )
    networks = tuple(
        {**vars(each), "objectives": ", ".join(name.replace("_", " ") for name in each.objectives)}
        for each in study.networks
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
    left_out = [f"{name}: {why}." for name, why in study.absent.items()]
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


# Of fewer cells no scatter is drawn; of more names the last share a mark.
_FEWEST, _MOST_NAMES = 4, 6
# A ratio this far from one, or its inverse, has the full color.
_FULL = 3.0


def charts(study: Study, reports: Mapping[str, Report]) -> dict[str, Chart]:
    """The charts of the study's comparisons, and those that it shows of its reports."""
    found: dict[str, Chart] = {}
    for comparison in study.comparisons:
        if (build := _BUILDERS.get(comparison.drawn)) and (chart := build(comparison)):
            name = _picture_name(comparison)
            found[name] = replace(chart, name=name)
    for each in study.shown:
        if each.report in reports and (chart := reports[each.report].charts.get(each.figure)):
            name = f"{each.report}_{chart.name}"
            found[name] = replace(chart, name=name, title=each.title)
    return found


def _printed(comparison: Comparison) -> Chart | None:
    """A mark a cell that is printed and that we have."""
    pairs = [(cell, known) for cell in _cells(comparison) if (known := between(cell.printed, cell.ours)) is not None]
    if len(pairs) < _FEWEST:
        return None
    down, digits = comparison.rows[0], comparison.digits
    names = list(dict.fromkeys(str(cell.keys[down]) for cell, _ in pairs))[:_MOST_NAMES]
    traces: dict[int, list[Point]] = {}
    for cell, (printed, ours) in pairs:
        name = str(cell.keys[down])
        label = _SEPARATOR.join(str(cell.keys[key]) for key in (*comparison.rows, *comparison.columns))
        hover = f"{label}: printed {decimal(printed, digits)}, ours {decimal(ours, digits)}"
        low, high = _ends(cell, ours)
        point = Point(printed, ours, hover, low, high, hollow=cell.doubted)
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
        title=f"{comparison.title}: ours against printed",
        caption="One mark a cell that is printed and that we have: the paper's figure across, ours up, with our "
        "interval, or one standard deviation over runs to either side. On the diagonal both are the same; hollow marks "
        "are cells that the paper itself contradicts.",
        panels=(panel,),
        series=numbered_series([*names, "others"][: max(traces) + 1]),
        height=320,
        legend="marks" if len(names) > 1 else None,
    )


def _ends(cell: _Cell, ours: float) -> tuple[float | None, float | None]:
    if cell.low is None or cell.high is None:
        return (None, None) if cell.sd is None else (ours - cell.sd, ours + cell.sd)
    return cell.low, cell.high


def _differences(comparison: Comparison) -> Chart | None:
    """A group a measure, in it a dot with an interval for each way of training."""
    down, across = comparison.rows[0], comparison.columns[0]
    cells = [
        (cell, known) for cell in _cells(comparison) if (known := between(cell.ours, cell.low, cell.high)) is not None
    ]
    if not cells:
        return None
    names = list(dict.fromkeys(str(cell.keys[across]) for cell, _ in cells))
    groups: dict[str, list[DotRow]] = {}
    for cell, (ours, low, high) in cells:
        measure = str(cell.keys[down])
        hover = f"{measure}: {decimal(ours, 1)} {bounds(low, high, 1, 1.0)}"
        dot = Dot(ours, hover, names.index(str(cell.keys[across])), low, high)
        groups.setdefault(measure, []).append(DotRow((dot,)))
    return Dots(
        name="",
        title=comparison.title,
        caption="The difference from plain training in points, with its 95 % interval: a block a measure, a mark a way "
        "of training. An interval that holds 0, the dashed line, shows no change.",
        groups=tuple(DotGroup(name, tuple(rows)) for name, rows in groups.items()),
        axis=Axis("difference (points)", "number"),
        series=numbered_series(names),
        rules=(Rule(0.0),),
    )


def _matrix(comparison: Comparison) -> Chart | None:
    """A matrix of ratios, a row and a column a class."""
    down, across = comparison.rows[0], comparison.columns[0]
    known = {
        (str(cell.keys[down]), str(cell.keys[across])): (cell, ratio)
        for cell in _cells(comparison)
        if (ratio := cell.ours) is not None
    }
    rows, columns = (list(dict.fromkeys(key[i] for key in known)) for i in (0, 1))
    columns = [name for name in rows if name in columns] + [name for name in columns if name not in rows]
    if len(rows) < 2:
        return None
    cells = []
    for (row, column), (cell, ratio) in known.items():
        low, high = cell.low, cell.high
        strength = math.copysign(1.0 if ratio <= 0 else min(1.0, abs(math.log(ratio)) / math.log(_FULL)), ratio - 1)
        hover = f"{row}, {column}: {decimal(ratio)} {bounds(low, high, 2, 1.0)}".rstrip()
        framed = low is not None and high is not None and not low <= 1 <= high
        cells.append(MatrixCell(rows.index(row), columns.index(column), strength, decimal(ratio, 1), hover, framed))
    return Matrix(
        name="",
        title=comparison.title,
        caption="Blue: more often on the same example than chance would have it; red: less often; the deeper the "
        "further from once. Framed cells are those whose 95 % interval leaves once out. Empty ones were not compared.",
        grids=(Grid("", tuple(rows), tuple(columns), tuple(cells)),),
        measured="ratio to chance",
    )


_BUILDERS: dict[str, Callable[[Comparison], Chart | None]] = {
    "printed": _printed,
    "differences": _differences,
    "matrix": _matrix,
}
