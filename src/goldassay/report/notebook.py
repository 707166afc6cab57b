"""The report as a few cards in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.report.charts.svg import escape
from goldassay.report.html import subject_line
from goldassay.report.palette import LIGHT

if TYPE_CHECKING:
    from goldassay.core.sections import VerdictCard
    from goldassay.report.report import Report

# A notebook strips style sheets in many places, and keeps style attributes.
_CARD = "flex:1 1 13em;padding:.7em .9em;border-radius:8px;border-left:5px solid {line};background:{wash};color:{ink}"


def render_notebook(report: Report) -> str:
    """A title, the dataset in a line, and a card for each question; neither script nor style sheet."""
    shown = "".join(_card(card) for card in report.cards)
    said = (each for each in (report.intervals, *report.unasked) if each)
    beneath = "".join(f'<div style="opacity:.75;margin-top:.5em">{escape(each)}</div>' for each in said)
    line = " · ".join(subject_line(report.subject))
    return (
        '<div style="font-family:system-ui,sans-serif;line-height:1.4">'
        f'<div style="font-size:1.25em;font-weight:600">{escape(report.to_dict().get("title") or "Report")}</div>'
        f'<div style="opacity:.75;margin:.1em 0 .7em">{escape(line)}</div>'
        f'<div style="display:flex;flex-wrap:wrap;gap:.7em">{shown}</div>{beneath}</div>'
    )


def _card(card: VerdictCard) -> str:
    color = card.verdict if card.verdict in LIGHT else "unmeasured"
    style = _CARD.format(line=LIGHT[color], wash=LIGHT[f"{color}-wash"], ink=LIGHT["ink"])
    number = f"{card.value} {card.interval}".strip()
    parts = [f'<b>{escape(card.title)}: <span style="color:{LIGHT[color]}">{escape(card.verdict)}</span></b>']
    if number:
        parts.append(f'<div style="font-size:1.15em">{escape(number)}</div><small>{escape(card.label)}</small>')
    parts.append(f'<div style="margin-top:.3em">{escape(card.evidence)}</div>')
    return f'<div style="{style}">{"".join(parts)}</div>'
