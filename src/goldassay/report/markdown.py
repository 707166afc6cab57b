"""The report as GitHub-flavored Markdown."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import one_line
from goldassay.core.numbers import count
from goldassay.report.charts.svg import escape
from goldassay.report.content import Cell, badge_line, front_matter, reproduction, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goldassay.core.document import Issue
    from goldassay.core.sections import GroupCard, Section, Table, VerdictCard
    from goldassay.report.content import ReportContent


_MARKS = {"sound": "✅", "caution": "⚠️", "unsound": "❌", "unresolved": "❔"}
_MAX_ROWS = 15
# Whole texts are wide in Markdown.
_MOST_FIRST = 5


def render_markdown(report: ReportContent, tables_at: str = "tables/", card: bool = False) -> str:
    """The report as Markdown: the verdicts first, then each section's tables, long ones cut with a line that says so.

    Args:
        report: What is shown.
        tables_at: The folder of the full tables, as for the page.
        card: With the metadata of a dataset card at its top, and the badge.
    """
    document = report.to_dict()
    title = f"# {plain(document.get('title'))}"
    blocks = [front_matter(report), title, badge_line(report)] if card else [title]
    blocks += [plain(report.overall), _verdicts(report.cards)]
    if report.limits:
        blocks.append(f"**Limits of detection** (a smaller flaw may have been missed): {plain(report.limits)}.")
    blocks.append(plain(report.beneath))
    if report.subject.settings:
        blocks.append(f"With the {plain(report.subject.settings)}.")
    blocks += [plain(note) for note in report.subject.notes]
    blocks += _issues(report.issues)
    if report.first is not None and report.first.rows:
        blocks += _table(replace(report.first, rows=report.first.rows[:_MOST_FIRST]), tables_at)
    blocks += ["## Details"] if report.sections else []
    for section in report.sections:
        notes = [note for card in report.cards if card.key == section.key for note in card.notes]
        blocks += render_section(replace(section, sentences=(*notes, *section.sentences)), tables_at, under=True)
    if report.reproduction is not None:
        blocks += reproduction(document, report.reproduction)
    blocks.append(f"Made by goldassay {plain(document.get('goldassay_version'))}.")
    return "\n\n".join(block for block in blocks if block) + "\n"


def _verdicts(cards: Sequence[VerdictCard]) -> str:
    rows = []
    for card in cards:
        if not card.judged:
            continue
        mark = _MARKS.get(card.verdict, "➖")
        rows.append((card.title, f"{mark} **{plain(card.verdict)}**", plain(" ".join((card.evidence, *card.beneath)))))
    return grid(("question", "verdict", "finding"), rows) if rows else ""


def _issues(issues: Sequence[Issue] | None) -> list[str]:
    """What is wrong as a ranked list; nothing where it was not listed."""
    if not issues:
        return [] if issues is None else ["## Issues", "No issue was found by the questions that were asked."]
    rows = [
        (
            plain(f"{each.kind} ({each.verdict})" if each.verdict else each.kind),
            "—" if each.n_rows is None else f"{count(each.n_rows)} {each.of}",
            plain(each.worst),
            plain(each.mend),
        )
        for each in issues
    ]
    return ["## Issues", grid(("issue", "rows", "worst example", "mend"), rows)]


def render_section(section: Section, tables_at: str, under: bool = False) -> list[str]:
    """One section in blocks, long tables cut with a line that says so.

    Args:
        section: What is shown.
        tables_at: The folder of the full tables.
        under: Whether it stands under "Details", with its tables folded.
    """
    blocks = [f"{'#' * (3 if under else 2)} {section.title}", f"*{plain(section.lead)}*"]
    if section.reason:
        return [*blocks, f"Not defined: {plain(section.reason).rstrip('.')}."]
    blocks.append("\n".join(f"- {plain(sentence)}" for sentence in section.sentences))
    blocks += [plain(note) for note in section.notes]
    blocks += [_card(card) for card in section.cards]
    for table in section.tables:
        shown = _table(table, tables_at)
        if under:
            shown = [f"<details><summary>{escape(one_line(table.caption))}</summary>", *shown[1:], "</details>"]
        blocks += shown
    return blocks


def _card(card: GroupCard) -> str:
    lines = [f"**{plain(card.title)}** ({plain(card.lead)})", ""]
    for name, texts in (("words", card.words), ("patterns", card.patterns)):
        if texts:
            lines.append(f"- {name}: {', '.join(code(text) for text, _ in texts)}")
    if card.facts:
        lines.append("- " + "; ".join(f"{plain(name)} {plain(value)}" for name, value in card.facts))
    lines += [f"- {code(text)} {plain(label)}" for text, label in card.examples]
    return "\n".join(lines)


def render_table(table: Table) -> str:
    """A whole table under its caption, however long it is."""
    return "\n\n".join(block for block in _blocks(table, rows_of(table)) if block) + "\n"


def _blocks(table: Table, rows: Sequence[tuple[Cell, ...]]) -> list[str]:
    """Caption, note, and these rows."""
    shown = grid((plain(column.title) for column in table.columns), (map(_cell, row) for row in rows)) if rows else ""
    return [f"**{plain(table.caption)}**", plain(table.note), shown]


def _table(table: Table, tables_at: str) -> list[str]:
    shown = _cut(table)
    blocks = _blocks(table, shown)
    left = len(table.rows) - len(shown)
    if left > 0:
        where = f"; all of them are in `{tables_at}{table.file}.csv`" if table.file else ""
        blocks.append(f"… and {left} more row{'s' if left > 1 else ''}{where}.")
    return blocks


def _cut(table: Table) -> list[tuple[Cell, ...]]:
    """The first rows of a long table; of a grouped one the first of each group."""
    made = rows_of(table)
    if len(made) <= _MAX_ROWS or table.grouped_by is None:
        return list(made[:_MAX_ROWS])
    groups: dict[str, list[tuple[Cell, ...]]] = {}
    for row, cells in zip(table.rows, made, strict=True):
        groups.setdefault(str(row.get(table.grouped_by)), []).append(cells)
    each = max(2, _MAX_ROWS // len(groups))
    return [cells for group in groups.values() for cells in group[:each]]


def grid(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table, a line a row."""
    head = tuple(columns)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(cell: Cell) -> str:
    shown = code(cell.text) if cell.code else plain(cell.text)
    return f"{shown} {plain(cell.aside)}" if cell.aside else shown


def _one_line(value: Any) -> str:
    return one_line("" if value is None else value)


def plain(value: Any) -> str:
    """Our own words, with everything that Markdown or HTML could take for markup made harmless."""
    line = _one_line(value).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]|#~@])", r"\\\1", line)


def code(value: str) -> str:
    """A text out of the dataset as a code span: fenced by more backticks than it holds, bars escaped."""
    line = _one_line(value)
    if not line:
        return "(empty)"
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}".replace("|", r"\|")


MAX_LINES = 19
_MOST_NOTES = 4
_MOST_FINDINGS = 6
# Sets of 2, 3, 4 and 5 runs each have one of their own.
_MOST_CAVEATS = 4


def render_summary(report: ReportContent) -> str:
    """At most 19 lines: the dataset, notes on it, and for each question the verdict, its evidence and the next step.

    A report on one question adds its first sentences and caveats.
    """
    sizes = ", ".join(f"{count(size)} {split}" for split, size in report.subject.sizes.items())
    about = ", ".join(part for part in (sizes, _terminal_line(report.subject.settings)) if part)
    lines = [_terminal_line(report.to_dict().get("title")), f"  {about}" if about else ""]
    lines += [f"  {_terminal_line(note)}" for note in report.subject.notes[:_MOST_NOTES]]
    if (more := len(report.subject.notes) - _MOST_NOTES) > 0:
        lines[-1] += f" ({more} more in the report)"
    # Without a verdict the first finding says it.
    lines.append(f"  {report.overall}" if report.overall and report.cards else "")
    for card in report.cards:
        if card.judged:
            lines += _verdict_lines(card)
    lines += [_terminal_line(said) for said in report.unasked]
    if len(report.cards) <= 1:
        sentences = next((section.sentences for section in report.sections if section.sentences), ())
        caveats = [caveat for section in report.sections for caveat in section.caveats]
        told = [*(note for card in report.cards for note in card.notes), *sentences]
        lines += [f"  - {_terminal_line(sentence)}" for sentence in told[:_MOST_FINDINGS]]
        lines += [f"  note: {_terminal_line(caveat)}" for caveat in caveats[:_MOST_CAVEATS]]
    return "\n".join(line for line in lines if line)[:4000]


def render_verdicts(report: ReportContent) -> str:
    """For each question that is judged the verdict, its evidence and the next step."""
    return "\n".join(line for card in report.cards if card.judged for line in _verdict_lines(card))


def _verdict_lines(card: VerdictCard) -> list[str]:
    lines = [f"{card.title:<12} {card.verdict.upper()}"]
    lines += [f"             {_terminal_line(line)}" for line in (card.evidence, *card.beneath)]
    if card.verdict != "sound" and card.next_step:
        lines.append(f"             → {_terminal_line(card.next_step)}")
    return lines


def _terminal_line(value: Any) -> str:
    """A text on one line, without what could drive a terminal."""
    return one_line(value or "")
