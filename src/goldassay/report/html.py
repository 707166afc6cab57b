"""The report as one HTML page: no request, no font, no script but its own.

The page carries a content security policy that allows exactly its own style sheet and script, by their hashes, so
that even a text that escaped the escaping could neither run nor fetch anything.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import visible
from goldassay.core.numbers import count
from goldassay.report.charts import Picture, draw_pictures
from goldassay.report.charts.svg import DARK, LIGHT, data_id, variables
from goldassay.report.content import are_numeric, rows_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import jinja2

    from goldassay.core.document import Issue
    from goldassay.core.sections import Section, Subject, Table, VerdictCard
    from goldassay.report.content import ReportContent

# As many as are read beside a picture.
_MOST_SENTENCES = 3


def render_html(report: ReportContent, table_names: tuple[str, ...] = (), tables_at: str = "tables/") -> str:
    """The whole page.

    Args:
        report: What is shown.
        table_names: The tables that are written next to the page, so that every link leads somewhere.
        tables_at: Their folder, seen from the page, with a slash at its end; "" for its own folder.
    """
    return fill_page(
        document=report.to_dict(),
        cards=report.cards,
        line=subject_line(report.subject),
        overall=report.overall,
        notes=report.subject.notes,
        limits=report.limits,
        beneath=report.beneath,
        sections=report.sections,
        issues=report.issues,
        first=report.first,
        pictures=draw_pictures(report.charts),
        table_names=table_names,
        tables_at=tables_at,
        of_report=True,
    )


def fill_page(
    *,
    document: Mapping[str, Any],
    cards: Sequence[VerdictCard],
    line: Sequence[str],
    sections: Sequence[Section],
    pictures: Mapping[str, Picture],
    stem: str = "report",
    overall: str = "",
    notes: Sequence[str] = (),
    limits: str = "",
    beneath: str = "",
    issues: Sequence[Issue] | None = None,
    first: Table | None = None,
    table_names: tuple[str, ...] = (),
    tables_at: str = "tables/",
    of_report: bool = False,
) -> str:
    """The page around what it shows.

    `stem` names the files of its data and its Markdown. A report has its sections under "Details", with their tables
    folded, and the data of pictures that need a script.
    """
    from markupsafe import Markup

    style, script = _style(), _template_text("script.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        _templates()
        .get_template("page.html.j2")
        .render(
            document=document,
            cards=cards,
            line=line,
            overall=overall,
            notes=notes,
            limits=limits,
            beneath=beneath,
            issues=issues,
            first=first,
            of_report=of_report,
            sections=sections,
            pictures=pictures,
            stem=stem,
            markup=Markup,
            shown=_shown_table,
            arranged=arranged,
            table_names=table_names,
            tables_at=tables_at,
            picture_data=[
                (data_id(each.name), Markup(each.data)) for each in pictures.values() if of_report and each.data
            ],
            policy=policy,
            style=Markup(style),
            script=Markup(script),
        )
    )


def subject_line(subject: Subject) -> list[str]:
    """What the report is about in a few short parts."""
    splits = {"train": "training"}
    sizes = [f"{count(size)} {splits.get(split, split)} examples" for split, size in subject.sizes.items()]
    return [*sizes, *subject.about, *([subject.settings] if subject.settings else [])]


@dataclass(frozen=True)
class Arranged:
    """What opens a section of the page, and what is folded.

    Attributes:
        judged: The verdict cards that belong to it.
        opening: The name of the first of its pictures; "" where it has none.
        further: The names of the others.
        findings: At most three sentences, read with the picture; the notes of its verdict come first.
        notes: All others, folded: on method, and the rule of the verdict.
        reason: Why there is nothing to show, without a full stop; "" where a verdict says it or there is something.
    """

    judged: tuple[VerdictCard, ...]
    opening: str
    further: tuple[str, ...]
    findings: tuple[str, ...]
    notes: tuple[str, ...]
    reason: str


def arranged(section: Section, cards: Sequence[VerdictCard], pictures: Collection[str]) -> Arranged:
    """Put a section in the order of the page: the picture and what it shows first, method folded."""
    judged = tuple(card for card in cards if card.key == section.key and card.judged)
    told = [*(note for card in judged for note in card.notes), *section.sentences]
    reason = section.reason.rstrip(".")
    charts = [part.chart for part in section.parts if part.chart is not None and part.chart in pictures]
    return Arranged(
        judged,
        charts[0] if charts else "",
        tuple(charts[1:]),
        tuple(told[:_MOST_SENTENCES]),
        (*told[_MOST_SENTENCES:], *section.notes, *(card.rule for card in judged if card.rule)),
        "" if any(reason in card.evidence for card in judged) else reason,
    )


def _shown_table(table: Table) -> dict[str, Any]:
    """The cells of a table, and which of its columns have numbers."""
    rows = rows_of(table)
    return {"rows": rows, "numeric": are_numeric(rows, len(table.columns))}


def _style() -> str:
    light, dark = variables(LIGHT), variables(DARK)
    colors = f":root{{color-scheme:light dark;{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return f"{colors}\n{_template_text('figure.css')}{_template_text('style.css')}"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _template_text(name: str) -> str:
    return files("goldassay.report").joinpath("templates", name).read_text("utf-8")


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("goldassay.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        # Every text of ours or of the data; what is markup already passed `escape`.
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
