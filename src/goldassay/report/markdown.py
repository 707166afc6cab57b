"""The report as GitHub-flavored Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goldassay.report.card import badge_line, front_matter, reproduction
from goldassay.report.numbers import bounds_in, with_unit
from goldassay.report.outline import mapping, questions_of
from goldassay.report.reproduction import is_audit
from goldassay.report.sections import outline
from goldassay.visible import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.report.outline import Card, Cell, Section, Table

_MARKS = {"sound": "✅", "caution": "⚠️", "unsound": "❌"}
_MAX_ROWS = 15


def render_markdown(document: Mapping[str, Any], tables_at: str = "tables/", card: bool = False) -> str:
    """The report as Markdown: the verdicts first, then each section's tables, long ones cut and said so.

    Args:
        document: The report's document, as plain data.
        tables_at: The folder of the full tables, as for the page.
        card: With the metadata of a dataset card at its top and the badge that lies beside it.
    """
    title = f"# {_plain(document.get('title'))}"
    blocks = [front_matter(document), title, badge_line(document)] if card else [title]
    blocks.append(_verdicts(document))
    for section in outline(document):
        blocks += render_section(section, tables_at)
    if is_audit(document):
        blocks += reproduction(document)
    blocks.append(f"Made by goldassay {_plain(document.get('goldassay_version'))}.")
    return "\n\n".join(block for block in blocks if block) + "\n"


def _verdicts(document: Mapping[str, Any]) -> str:
    rows = []
    for key, (title, _) in questions_of(document).items():
        verdict = mapping(document, "verdicts", key)
        if not verdict:
            continue
        headline = mapping(verdict, "headline")
        unit = str(headline.get("unit"))
        figure = ""
        if headline:
            value = with_unit(headline.get("value"), unit)
            figure = (
                f"{_plain(headline.get('label'))}: {value} {bounds_in(headline.get('low'), headline.get('high'), unit)}"
            )
        word = str(verdict.get("verdict"))
        mark = _MARKS.get(word, "➖")
        rows.append((title, f"{mark} **{_plain(word)}**", figure.strip(), _plain(verdict.get("evidence"))))
    return _grid(("question", "verdict", "measured", "evidence"), rows) if rows else ""


def render_section(section: Section, tables_at: str) -> list[str]:
    """One section in blocks, its tables cut and said so."""
    blocks = [f"## {section.title}", f"*{_plain(section.question)}*"]
    if section.reason:
        return [*blocks, f"Not defined: {_plain(section.reason).rstrip('.')}."]
    blocks.append("\n".join(f"- {_plain(finding)}" for finding in section.findings))
    blocks += [_plain(note) for note in section.notes]
    blocks += [_card(card) for card in section.cards]
    for table in section.tables:
        blocks += _table(table, tables_at)
    return blocks


def _card(card: Card) -> str:
    lines = [f"**{_plain(card.title)}** ({_plain(card.lead)})", ""]
    for name, cells in (("words", card.words), ("patterns", card.patterns)):
        if cells:
            lines.append(f"- {name}: {', '.join(_code(cell.text) for cell in cells)}")
    if card.facts:
        lines.append("- " + "; ".join(f"{_plain(name)} {_plain(value)}" for name, value in card.facts))
    lines += [f"- {_code(each.text)} {_plain(each.aside)}" for each in card.examples]
    return "\n".join(lines)


def _table(table: Table, tables_at: str) -> list[str]:
    shown = [[_cell(cell) for cell in row] for row in _cut(table)]
    blocks = [
        f"**{_plain(table.caption)}**",
        _plain(table.note),
        _grid(tuple(_plain(column) for column in table.columns), shown),
    ]
    left = len(table.rows) - len(shown)
    if left > 0:
        where = f"; all of them are in `{tables_at}{table.file}.csv`" if table.file else ""
        blocks.append(f"… and {left} more row{'s' if left > 1 else ''}{where}.")
    return blocks


def _cut(table: Table) -> list[tuple[Cell, ...]]:
    """The first rows of a long table; of a grouped one the first of each group."""
    if len(table.rows) <= _MAX_ROWS or table.grouped_by is None:
        return list(table.rows[:_MAX_ROWS])
    groups: dict[str, list[tuple[Cell, ...]]] = {}
    for row in table.rows:
        groups.setdefault(row[table.grouped_by].text, []).append(row)
    each = max(2, _MAX_ROWS // len(groups))
    return [row for rows in groups.values() for row in rows[:each]]


def _grid(columns: tuple[str, ...], rows: Any) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(cell: Cell) -> str:
    shown = _code(cell.text) if cell.code else _plain(cell.text)
    return f"{shown} {_plain(cell.aside)}" if cell.aside else shown


def _one_line(value: Any) -> str:
    return one_line("" if value is None else value)


def _plain(value: Any) -> str:
    """Our own words, with everything that Markdown or HTML could take for markup made harmless."""
    line = _one_line(value).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]|#~@])", r"\\\1", line)


def _code(value: str) -> str:
    """A text out of the dataset as a code span: fenced by more backticks than it holds, bars escaped."""
    line = _one_line(value)
    if not line:
        return "(empty)"
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}".replace("|", r"\|")
