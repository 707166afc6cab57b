"""What changed between two reports, as a page, as Markdown and in a terminal, from the same plain document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.diff_lines import change_cell, changes_shown, left_open, sides_named, value_cell
from goldassay.report.figures import Picture, diff_changes, draw_with
from goldassay.report.html import ICONS, fill_page
from goldassay.report.markdown import render_section
from goldassay.report.numbers import bounds_in, count, percent_cell, whole_cell, with_unit
from goldassay.report.outline import (
    FURTHER_QUESTIONS,
    QUESTIONS,
    Cell,
    Part,
    Section,
    Table,
    data,
    mapping,
    records,
    text,
)
from goldassay.visible import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMES = QUESTIONS | FURTHER_QUESTIONS
_MOVES = {
    "same": "As before.",
    "better": "Better than before.",
    "worse": "Worse than before.",
    "now measured": "Before it was not measurable.",
    "no longer measurable": "Before it was measured.",
    "changed": "Another verdict than before.",
}
# Both figures with their unit are wider than a card.
_UNITS = (" points", " examples")
_MOST_PATTERNS = 20
_MOST_LINES = 12


def render_page(document: Mapping[str, Any], table_names: tuple[str, ...] = ()) -> str:
    """The page, beside which diff.json, diff.md, tables/ and figures/ lie."""
    return fill_page(
        document=document,
        cards=_cards(document),
        dataset_line=[f"{side}: {name}" for side, name in zip(("before", "after"), sides_named(document), strict=True)],
        sections=_sections(document),
        pictures=draw_changes(document),
        stem="diff",
        table_names=table_names,
    )


def render_markdown(document: Mapping[str, Any]) -> str:
    """GitHub-flavored Markdown: the verdicts first, then what changed, long tables cut and said so."""
    blocks = ["# What changed between two reports"]
    for section in (_verdict_section(document), *_sections(document)):
        blocks += render_section(section, "tables/")
    blocks.append(f"Made by goldassay {one_line(document.get('goldassay_version'))}.")
    return "\n\n".join(block for block in blocks if block) + "\n"


def render_summary(document: Mapping[str, Any]) -> str:
    """The verdicts, the changes that are shown, and what limits them."""
    before, after = sides_named(document)
    lines = [f"before  {before}", f"after   {after}"]
    for row in records(document.get("verdicts")):
        first, second = (str(mapping(row, key).get("verdict")) for key in ("before", "after"))
        moved = first if first == second else f"{first} → {second}"
        lines.append(f"{_NAMES[str(row.get('question'))][0]:<13} {moved}")
    shown = changes_shown(document)
    lines += [f"  {word:<8} {sentence}" for word, sentence in shown[:_MOST_LINES]]
    if len(shown) > _MOST_LINES:
        lines.append(f"  and {len(shown) - _MOST_LINES} more")
    if not shown:
        lines.append("  no measure is shown to have changed")
    patterns = mapping(document, "patterns")
    if patterns:
        lines.append(f"patterns: {_pattern_counts(patterns)}")
    lines += [f"warning: {one_line(warning)}" for warning in document.get("warnings") or ()]
    return "\n".join(lines)


def draw_changes(document: Mapping[str, Any]) -> dict[str, Picture]:
    """The picture of all changes, where any has an interval."""
    return draw_with((diff_changes,), document)


def _cards(document: Mapping[str, Any]) -> list[dict[str, str]]:
    cards = []
    for row in records(document.get("verdicts")):
        before, after = mapping(row, "before"), mapping(row, "after")
        words = [str(verdict.get("verdict")) for verdict in (before, after)]
        title, question = _NAMES[str(row.get("question"))]
        headline = mapping(after, "headline")
        value, unit, label = _headlines(mapping(before, "headline"), headline)
        interval = bounds_in(headline.get("low"), headline.get("high"), str(headline.get("unit"))) if value else ""
        now = "now " if interval and " → " in value else ""
        cards.append(
            {
                "key": "changes",
                "title": title,
                "question": question,
                "verdict": words[0] if words[0] == words[1] else " → ".join(words),
                "icon": ICONS.get(words[1], "none"),
                "value": value,
                "interval": f"{now}{interval} {unit}".strip(),
                "label": label,
                "evidence": f"{_MOVES[str(row.get('moved'))]} {after.get('evidence')}",
                "next_step": "",
                "rule": str(after.get("rule") or ""),
            }
        )
    return cards


def _headlines(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, str, str]:
    """The deciding figure then and now, where both reports have one; its unit where it stands apart; what it is."""
    if not after:
        return "", "", ""
    unit, label = str(after.get("unit")), str(after.get("label"))
    now = with_unit(after.get("value"), unit)
    if not before or before.get("unit") != after.get("unit"):
        return now, "", label
    then = with_unit(before.get("value"), unit)
    if before.get("label") != after.get("label"):
        label = f"{label}; before {before.get('label')}"
    apart = next((word for word in _UNITS if now.endswith(word)), "")
    return f"{then.removesuffix(apart)} → {now.removesuffix(apart)}", apart.strip(), label


def _sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    found = [_changes(document)]
    if mapping(document, "patterns"):
        found.append(_patterns(mapping(document, "patterns")))
    return (*found, _inputs(document))


def _verdict_section(document: Mapping[str, Any]) -> Section:
    rows = []
    for row in records(document.get("verdicts")):
        before, after = mapping(row, "before"), mapping(row, "after")
        value, unit, label = _headlines(mapping(before, "headline"), mapping(after, "headline"))
        rows.append(
            (
                Cell(_NAMES[str(row.get("question"))][0]),
                text(before.get("verdict")),
                text(after.get("verdict")),
                text(f"{label}: {value} {unit}".rstrip() if value else None),
            )
        )
    table = Table("Verdicts", ("question", "before", "after", "measured"), tuple(rows))
    return Section(
        key="verdicts", title="Verdicts", question=" → ".join(sides_named(document)), parts=(Part(None, table),),
        reason="" if rows else "the reports have no verdict in common",
    )  # fmt: skip


def _changes(document: Mapping[str, Any]) -> Section:
    measures = records(document.get("measures"))
    shown = changes_shown(document)
    findings = [f"{word.capitalize()}: {sentence}." for word, sentence in shown[:_MOST_LINES]]
    if len(shown) > _MOST_LINES:
        findings.append(f"{len(shown) - _MOST_LINES} more have changed; the table has them all.")
    findings += left_open(document)
    tables = [Part("diff_changes" if i == 0 else None, table) for i, table in enumerate(_tables(measures))]
    alone = Table(
        "Measured in one of the reports alone",
        ("question", "measure", "before", "after"),
        tuple(
            (
                text(_question(row)), _named(row),
                *((value_cell(row), text(None)) if key == "only_before" else (text(None), value_cell(row))),
            )
            for key in ("only_before", "only_after")
            for row in records(document.get(key))
        ),
    )  # fmt: skip
    return Section(
        key="changes",
        title="Changes",
        question="Which measures moved, and by how much?",
        findings=tuple(findings),
        notes=tuple(str(note) for key in ("warnings", "notes") for note in document.get(key) or ()),
        parts=(*tables, Part(None, alone)),
        reason="" if measures or alone.rows else "the reports have no measure in common",
    )


def _tables(measures: list[Mapping[str, Any]]) -> list[Table]:
    rows = tuple(
        (
            text(_question(row)),
            _named(row),
            value_cell(row, "before"),
            value_cell(row, "after"),
            change_cell(row),
            text(row.get("change")),
            text(row.get("method")),
        )
        for row in measures
    )
    columns = ("question", "measure", "before", "after", "change", "reading", "interval")
    return [Table("All measures", columns, rows, file="measures")]


def _named(row: Mapping[str, Any]) -> Cell:
    return Cell(str(row.get("measure")), aside=str(row.get("of") or ""))


def _question(row: Mapping[str, Any]) -> str:
    return str(row.get("question")).capitalize()


def _patterns(found: Mapping[str, Any]) -> Section:
    tables = [
        _pattern_table("Gone", "patterns_gone", records(found.get("gone")), ""),
        _pattern_table("New", "patterns_new", records(found.get("new")), ""),
        _pattern_table("With another label", "patterns_turned", records(found.get("turned")), "before"),
        _pattern_table("Stayed", "patterns_stayed", records(found.get("stayed")), "before"),
    ]
    return Section(
        key="patterns",
        title="Patterns",
        question="Which patterns that give a label away are gone, and which are new?",
        findings=(f"{_pattern_counts(found)[0].upper()}{_pattern_counts(found)[1:]}.",),
        notes=(str(found.get("source")),),
        parts=tuple(Part(None, table, folded=True) for table in tables),
    )


def _pattern_counts(found: Mapping[str, Any]) -> str:
    sizes = {key: len(records(found.get(key))) for key in ("gone", "new", "turned", "stayed")}
    turned = f", {count(sizes['turned'])} give another label away" if sizes["turned"] else ""
    return (
        f"{count(found.get('n_before'))} before and {count(found.get('n_after'))} after: {count(sizes['gone'])} gone, "
        f"{count(sizes['new'])} new, {count(sizes['stayed'])} stayed{turned}"
    )


def _pattern_table(caption: str, file: str, rows: list[Mapping[str, Any]], compared: str) -> Table:
    shown = _first_of_each_label(rows)
    more = f": {len(shown)} of {count(len(rows))}, the first of each label" if len(rows) > len(shown) else ""
    extra = ("share before",) if compared else ()
    return Table(
        f"{caption}{more}",
        ("pattern", "label", "training examples", "share with the label", *extra),
        tuple(
            (
                data(row.get("pattern")), data(row.get("label")), whole_cell(row.get("support")),
                percent_cell(row.get("probability")),
                *((percent_cell(row.get("probability_before")),) if compared else ()),
            )
            for row in shown
        ),
        file=file,
        grouped_by=1,
    )  # fmt: skip


def _first_of_each_label(rows: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """As many rows of each label as there is room for, label by label: the most telling are often all of one."""
    labels: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        labels.setdefault(str(row.get("label")), []).append(row)
    each = max(1, _MOST_PATTERNS // max(1, len(labels)))
    return [row for found in labels.values() for row in found[:each]][:_MOST_PATTERNS]


def _inputs(document: Mapping[str, Any]) -> Section:
    rows = tuple(
        (
            text(key), text(side.get("title")), data(side.get("path")), text(side.get("goldassay_version")),
            text(side.get("finished")), text(str(side.get("digest"))[:19]),
        )
        for key in ("before", "after")
        for side in (mapping(document, key),)
    )  # fmt: skip
    table = Table("The two reports", ("report", "title", "file", "goldassay", "finished", "digest"), rows)
    return Section(
        key="inputs",
        title="What was compared",
        question="Two reports as they lie on disk.",
        parts=(Part(None, table),),
    )
