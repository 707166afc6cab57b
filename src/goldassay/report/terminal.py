"""The report in a few lines of plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.escaping import one_line
from goldassay.core.numbers import count

if TYPE_CHECKING:
    from goldassay.core.sections import VerdictCard
    from goldassay.report.content import ReportContent

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
    about = ", ".join(part for part in (sizes, _one_line(report.subject.settings)) if part)
    lines = [_one_line(report.to_dict().get("title")), f"  {about}" if about else ""]
    lines += [f"  {_one_line(note)}" for note in report.subject.notes[:_MOST_NOTES]]
    if (more := len(report.subject.notes) - _MOST_NOTES) > 0:
        lines[-1] += f" ({more} more in the report)"
    lines.append(f"  {report.overall}" if report.overall else "")
    for card in report.cards:
        if card.judged:
            lines += _verdict_lines(card)
    lines += [_one_line(said) for said in report.unasked]
    if len(report.cards) <= 1:
        sentences = next((section.sentences for section in report.sections if section.sentences), ())
        caveats = [caveat for section in report.sections for caveat in section.caveats]
        told = [*(note for card in report.cards for note in card.notes), *sentences]
        lines += [f"  - {_one_line(sentence)}" for sentence in told[:_MOST_FINDINGS]]
        lines += [f"  note: {_one_line(caveat)}" for caveat in caveats[:_MOST_CAVEATS]]
    return "\n".join(line for line in lines if line)[:4000]


def render_verdicts(report: ReportContent) -> str:
    """For each question that is judged the verdict, its evidence and the next step."""
    return "\n".join(line for card in report.cards if card.judged for line in _verdict_lines(card))


def _verdict_lines(card: VerdictCard) -> list[str]:
    lines = [f"{card.title:<12} {card.verdict.upper()}", f"             {_one_line(card.evidence)}"]
    if card.verdict != "sound" and card.next_step:
        lines.append(f"             → {_one_line(card.next_step)}")
    return lines


def _one_line(value: Any) -> str:
    """A text on one line, without what could drive a terminal."""
    return one_line(value or "")
