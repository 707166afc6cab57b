"""A study as a page, as Markdown and in a terminal: the paper's conclusions, tables and figures beside ours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.report.figures import NARROW, WIDE, Picture, draw_figures, study_differences, study_matrix, study_printed
from goldassay.report.html import fill_page
from goldassay.report.markdown import render_section
from goldassay.report.numbers import bounds_in, count, decimal, number, with_unit
from goldassay.report.outline import Cell, Part, Section, Table, data, mapping, records, text
from goldassay.visible import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

_ICONS = {"held": "check", "did not hold": "stop", "not shown": "alert", "not measured": "none"}
_DRAWERS: dict[str, Any] = {"printed": study_printed, "matrix": study_matrix, "differences": study_differences}
_DOUBTED = "‡"
_SEPARATOR = " · "
_RULE = (
    "Unless it says otherwise, a claim about several pairs, parts or shifts held where more than half of their 95 % "
    "intervals lie on its side, and did not hold where more than half lie on the other; one about a single figure goes "
    "by the interval, or by the test, that stands beside it."
)


def render_page(
    document: Mapping[str, Any], reports: Mapping[str, Mapping[str, Any]], table_names: tuple[str, ...] = ()
) -> str:
    """The page, beside which study.json, study.md, tables/, figures/ and reports/ lie."""
    pictures = draw_pictures(document, reports)
    return fill_page(
        document=document,
        cards=_cards(document),
        dataset_line=_line(document),
        sections=_sections(document, pictures, tuple(reports)),
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
    lines += [f"  left out: {name} ({one_line(why)})" for name, why in mapping(document, "absent").items()]
    return "\n".join(lines)


def _measured(row: Mapping[str, Any]) -> str:
    if number(row.get("value")) is None:
        return ""
    unit = str(row.get("unit"))
    return f"{with_unit(row.get('value'), unit)} {bounds_in(row.get('low'), row.get('high'), unit)}".strip() + ". "


def draw_pictures(document: Mapping[str, Any], reports: Mapping[str, Mapping[str, Any]]) -> dict[str, Picture]:
    """Ours against printed for each table, and what the study shows of its reports."""
    pictures = {}
    for comparison in records(document.get("comparisons")):
        drawer = _DRAWERS.get(str(comparison.get("drawn")))
        if drawer is None:
            continue
        wide, narrow = (drawer.draw_comparison(comparison, width) for width in (WIDE, NARROW))
        if wide is not None and narrow is not None:
            name = _picture_name(comparison)
            title = f"{comparison.get('title')}{drawer.SUFFIX}"
            pictures[name] = Picture(name, title, drawer.CAPTION, wide.inline(), narrow.inline(), wide.standalone())
    drawn = {name: draw_figures(report) for name, report in reports.items()}
    for row in records(document.get("shown")):
        picture = drawn.get(str(row.get("report")), {}).get(str(row.get("figure")))
        if picture is not None:
            name = f"{row.get('report')}_{picture.name}"
            pictures[name] = replace(picture, name=name, title=str(row.get("title")))
    return pictures


def _picture_name(comparison: Mapping[str, Any]) -> str:
    return f"{comparison.get('drawn')}_{comparison.get('name')}"


def _cards(document: Mapping[str, Any]) -> list[dict[str, str]]:
    cards = []
    for row in records(document.get("conclusions")):
        unit, standing = str(row.get("unit")), str(row.get("standing"))
        known = number(row.get("value")) is not None
        cards.append(
            {
                "key": "conclusions",
                "title": str(row.get("name")),
                "question": str(row.get("statement")),
                "verdict": standing,
                "icon": _ICONS.get(standing, "none"),
                "value": with_unit(row.get("value"), unit) if known else "",
                "interval": bounds_in(row.get("low"), row.get("high"), unit) if known else "",
                "label": str(row.get("place") or ""),
                "evidence": str(row.get("evidence") or ""),
                "next_step": "",
                "rule": "",
            }
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
                question="The paper's pictures, drawn from our runs.",
                parts=tuple(Part(name, _EMPTY) for name in names),
            )
        )
    return (*found, _inputs(document, reports))


_EMPTY = Table("", (), ())


def _conclusions(document: Mapping[str, Any], *, evidence: bool) -> Section:
    rows = tuple(
        (
            text(row.get("name")),
            text(row.get("place")),
            text(row.get("standing")),
            Cell(
                with_unit(row.get("value"), str(row.get("unit"))) if number(row.get("value")) is not None else "—",
                sort=number(row.get("value")),
                aside=bounds_in(row.get("low"), row.get("high"), str(row.get("unit"))),
            ),
            *((Cell(one_line(row.get("evidence")), prose=True),) if evidence else ()),
        )
        for row in records(document.get("conclusions"))
    )
    columns = ("conclusion", "where", "here", "measured", *(("evidence",) if evidence else ()))
    return Section(
        key="conclusions",
        title="Conclusions",
        question="What is claimed, and what became of it here.",
        notes=(str(document.get("scale_note")), _RULE, *(str(note) for note in document.get("notes") or ())),
        parts=(Part(None, Table("Conclusions", columns, rows)),),
    )


def _tables(document: Mapping[str, Any], small_type: bool) -> Section:
    """What is printed stands beside ours in small type, or in parentheses where there is no such type."""
    parts = []
    printed = doubted = False
    for comparison in records(document.get("comparisons")):
        table = _table(comparison)
        printed |= any(number(cell.get("printed")) is not None for cell in records(comparison.get("cells")))
        doubted |= any(cell.aside.endswith(_DOUBTED) for row in table.rows for cell in row)
        parts.append(Part(_picture_name(comparison), table if small_type else _in_parentheses(table)))
    return Section(
        key="tables",
        title="Tables",
        question="Ours, with its spread over runs or its interval"
        + (f"; in {'small type' if small_type else 'parentheses'} beside it what is printed." if printed else "."),
        notes=(f"{_DOUBTED} The paper itself contradicts this figure elsewhere.",) if doubted else (),
        parts=tuple(parts),
        reason="" if parts else "the study has no table to lay beside a printed one",
    )


def _table(comparison: Mapping[str, Any]) -> Table:
    """Rows and columns by their keys, in the order in which cells first name them."""
    rows, columns = comparison.get("rows") or (), comparison.get("columns") or ()
    cells = records(comparison.get("cells"))
    across = list(dict.fromkeys(_key(cell, columns) for cell in cells))
    down: dict[tuple[str, ...], dict[tuple[str, ...], Mapping[str, Any]]] = {}
    for cell in cells:
        down.setdefault(_key(cell, rows), {})[_key(cell, columns)] = cell
    if set(across) <= down.keys():
        # The same things down and across, which then have one order.
        across = [key for key in down if key in across]
    digits = int(number(comparison.get("digits")) or 0)
    note = one_line(comparison.get("note"))
    return Table(
        str(comparison.get("title")),
        (*(str(name).replace("_", " ") for name in rows), *(_SEPARATOR.join(key) for key in across)),
        tuple(
            (*(text(part) for part in key), *(_cell(found.get(column), digits) for column in across))
            for key, found in down.items()
        ),
        file=str(comparison.get("name")),
        note=note[:1].upper() + note[1:],
    )


def _in_parentheses(table: Table) -> Table:
    rows = tuple(
        tuple(
            replace(cell, text=f"{cell.text} ({cell.aside})".strip(), aside="") if cell.aside else cell for cell in row
        )
        for row in table.rows
    )
    return replace(table, rows=rows)


def _key(cell: Mapping[str, Any], names: Any) -> tuple[str, ...]:
    return tuple(str(cell.get(name) or "—").replace("_", " ") for name in names)


def _cell(cell: Mapping[str, Any] | None, digits: int) -> Cell:
    """Ours with its spread, or its interval where it has no spread, and beside it what is printed."""
    if cell is None:
        return Cell("")
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
    ours, printed = number(cell.get("ours")), number(cell.get("printed"))
    return Cell(shown, sort=printed if ours is None else ours, aside=aside)


def _inputs(document: Mapping[str, Any], reports: tuple[str, ...]) -> Section:
    rows = tuple(
        (
            text(row.get("name")),
            Cell(count(row.get("n_examples")), sort=number(row.get("n_examples"))),
            data(", ".join(str(name) for name in row.get("files") or ()) or None),
            text(", ".join(str(digest)[:12] for digest in row.get("sha256") or ()) or None),
        )
        for row in records(document.get("inputs"))
    )
    networks = tuple(
        (
            text(row.get("name")),
            data(str(row.get("network"))),
            text(row.get("configuration")),
            text(row.get("precision")),
            text(", ".join(str(name).replace("_", " ") for name in row.get("objectives") or ())),
            Cell(count(row.get("seeds")), sort=number(row.get("seeds"))),
            Cell(count(row.get("n_trainings")), sort=number(row.get("n_trainings"))),
            Cell(_minutes(row.get("cpu_seconds")), sort=number(row.get("cpu_seconds"))),
        )
        for row in records(document.get("networks"))
    )
    columns = ("name", "network", "configuration", "precision", "objective", "seeds", "trainings", "processor minutes")
    left_out = [f"Left out: {name}, looked for as {why}." for name, why in mapping(document, "absent").items()]
    whole = [f"The whole reports lie in reports/: {', '.join(reports)}."] if reports else []
    return Section(
        key="inputs",
        title="What was used",
        question="The sets, as they were read, and the networks.",
        notes=(*left_out, *whole),
        parts=(
            Part(None, Table("Sets", ("set", "examples", "files", "sha256"), rows)),
            *((Part(None, Table("Networks", columns, networks)),) if networks else ()),
        ),
    )


def _minutes(seconds: Any) -> str:
    known = number(seconds)
    return "" if known is None else decimal(known / 60, 1)
