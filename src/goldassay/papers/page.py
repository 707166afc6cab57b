"""A study as a page, as Markdown and in a terminal: the paper's conclusions, tables and figures beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records
from goldassay.core.numbers import bounds_in, count, decimal, number, with_unit
from goldassay.core.sections import Part, Section, VerdictCard
from goldassay.core.tables import Column, Table
from goldassay.core.visible import one_line
from goldassay.report.charts import draw_pictures
from goldassay.report.html import fill_page
from goldassay.report.markdown import render_section

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.core.charts import Chart
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
