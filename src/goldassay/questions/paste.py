"""A report in twelve lines of Markdown, for an issue, a pull request or the appendix of a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.errors import one_line
from goldassay.core.numbers import bounds_in, with_unit
from goldassay.core.results import NOT_ASKED, severity
from goldassay.questions.provenance import changed_settings, command_of
from goldassay.report.markdown import code, grid, plain

if TYPE_CHECKING:
    from goldassay.core.document import Document, Verdict

_MOST_ROWS = 5


def render_paste(document: Document) -> str:
    """At most twelve lines: each question with its verdict, figure and interval, then command, version and digest.

    Of more than five verdicts the gravest are shown, and the last line says how many more there are.
    """
    stated = document.verdicts or {}
    judged = sorted(
        (pair for pair in stated.items() if pair[1].verdict != NOT_ASKED),
        key=lambda pair: -severity(pair[1].verdict),
    )
    left = len(judged) - _MOST_ROWS
    unasked = [key for key, each in stated.items() if each.verdict == NOT_ASKED]
    table = grid(
        ("question", "verdict", "figure", "value", "95 % interval"),
        [(plain(key), plain(each.verdict), *_figure(each)) for key, each in judged[:_MOST_ROWS]],
    )
    more = [f"{left} more verdict{'s' if left > 1 else ''} in the report"] if left > 0 else []
    more += [f"not asked: {', '.join(map(plain, unasked))}"] if unasked else []
    return "\n".join(
        [
            f"**{plain(document.title)}**",
            "",
            table if judged else "The report has no verdict.",
            "",
            f"Made by {_made_by(document)}",
            f"goldassay {plain(document.goldassay_version)}, digest {code(document.digest)}"
            + "".join(f"; {each}" for each in more),
        ]
    )


def _figure(verdict: Verdict) -> tuple[str, str, str]:
    headline = verdict.headline
    if headline is None:
        # Without a figure the evidence says why.
        return plain(verdict.evidence.partition(". ")[0]), "—", "—"
    interval = bounds_in(headline.low, headline.high, headline.unit)
    return plain(headline.label), plain(with_unit(headline.value, headline.unit)), plain(interval or "—")


def _made_by(document: Document) -> str:
    seed = one_line(document.settings.get("seed", 0))
    command = command_of(document.inputs, seed) if document.command == "audit" else None
    places = (each.files[0] if len(each.files) == 1 else each.name for each in document.inputs)
    names = ", ".join(dict.fromkeys(map(code, places)))
    made = code(command) if command else f"{code(f'goldassay {document.command}')} of {names or 'data in memory'}"
    changed = changed_settings(document.settings)
    return made + (f", with the settings {code('; '.join(changed.splitlines()))}" if changed else "")
