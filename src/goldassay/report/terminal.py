"""The report in a few lines of plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import bounds_in, count, number, with_unit
from goldassay.report.outline import mapping, questions_of
from goldassay.visible import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_LINES = 15
_MOST_FINDINGS = 6
# Sets of 2, 3, 4 and 5 runs each have one of their own.
_MOST_CAVEATS = 4


def render_summary(document: Mapping[str, Any]) -> str:
    """At most 15 lines: the dataset, for each question the verdict, its evidence and what to do next, then caveats."""
    facts = mapping(document, "facts") or mapping(document, "dataset")
    sizes = ", ".join(
        f"{count(facts[key])} {name}"
        for key, name in (("n_train", "train"), ("n_test", "test"))
        if number(facts.get(key)) is not None
    )
    lines = [_one_line(document.get("title")), f"  {sizes}" if sizes else ""]
    asked = questions_of(document)
    for key, (title, _) in asked.items():
        verdict = mapping(document, "verdicts", key)
        if verdict:
            lines += _verdict_lines(title, verdict)
    if len(asked) == 1:
        found = mapping(document, *asked)
        lines += [f"  - {_one_line(sentence)}" for sentence in (found.get("sentences") or ())[:_MOST_FINDINGS]]
        lines += [f"  note: {_one_line(caveat)}" for caveat in (found.get("caveats") or ())[:_MOST_CAVEATS]]
    return "\n".join(line for line in lines if line)[:4000]


def _verdict_lines(title: str, verdict: Mapping[str, Any]) -> list[str]:
    headline = mapping(verdict, "headline")
    figure = ""
    if headline:
        unit = str(headline.get("unit"))
        value = with_unit(headline.get("value"), unit)
        interval = bounds_in(headline.get("low"), headline.get("high"), unit)
        figure = f"   {_one_line(headline.get('label'))} {value} {interval}".rstrip()
    lines = [f"{title:<12} {str(verdict.get('verdict')).upper():<15}{figure}".rstrip()]
    lines.append(f"             {_one_line(verdict.get('evidence'))}")
    if verdict.get("verdict") in ("caution", "unsound") and verdict.get("next_step"):
        lines.append(f"             → {_one_line(verdict['next_step'])}")
    return lines


def _one_line(value: Any) -> str:
    """A text on one line, without what could drive a terminal."""
    return one_line(value or "")
