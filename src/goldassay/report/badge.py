"""The verdicts as a small picture for a README: drawn here, so that showing it needs no service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.report.charts.svg import escape

if TYPE_CHECKING:
    from goldassay.report.report import Report

# White on each of these is read by everyone: contrast 4.5 or more. The mark tells the verdict without the color.
_SHOWN = {
    "sound": ("#146c4b", "✓"),
    "caution": ("#855b00", "!"),
    "unsound": ("#a8231b", "✕"),
    "not measurable": ("#59626b", "–"),
}
_NAME = ("goldassay", "#1c2126")
_HEIGHT, _PAD = 20, 6
_NARROW = frozenset("filjrt !")


def render_badge(report: Report) -> str:
    """An SVG of one line: the tool's name, and each question in the color of its verdict with its mark.

    The widths of texts are set, not measured, so that it looks the same with every font.
    """
    parts = [_NAME] + [
        (f"{question} {_SHOWN[word][1]}", _SHOWN[word][0]) for question, word in _verdicts(report).items()
    ]
    shapes, at = [], 0.0
    for text, color in parts:
        width = round(sum(4.3 if letter in _NARROW else 7.2 for letter in text)) + 2 * _PAD
        shapes.append(
            f'<rect x="{at:g}" width="{width}" height="{_HEIGHT}" fill="{color}"/>'
            f'<text x="{at + _PAD:g}" y="14" textLength="{width - 2 * _PAD}">{escape(text)}</text>'
        )
        at += width + 1
    at -= 1
    label = escape(badge_text(report))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{at:g}" height="{_HEIGHT}" viewBox="0 0 {at:g} {_HEIGHT}" '
        f'role="img" aria-label="{label}"><title>{label}</title>'
        f'<clipPath id="r"><rect width="{at:g}" height="{_HEIGHT}" rx="4"/></clipPath>'
        '<g clip-path="url(#r)" fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f"{''.join(shapes)}</g></svg>\n"
    )


def badge_text(report: Report) -> str:
    """The same in words, for those who do not see it."""
    return "goldassay: " + ", ".join(f"{question} {word}" for question, word in _verdicts(report).items())


def _verdicts(report: Report) -> dict[str, str]:
    return {card.key: card.verdict if card.verdict in _SHOWN else "not measurable" for card in report.cards}
