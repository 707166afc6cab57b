"""The verdicts as a small picture for a README: drawn here, so that showing it needs no service.

An audit as a section of a dataset card: metadata that the Hugging Face hub reads, a badge, and how to reproduce it.

The metadata hold what the audit knows and nothing else: neither language nor licence, which are their owner's to say.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from goldassay.core.escaping import one_line
from goldassay.core.report_seal import mapping, records
from goldassay.core.settings import FILE_NAME
from goldassay.report.charts.svg import escape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.core.sections import Reproduction
    from goldassay.core.verdicts import Verdict
    from goldassay.report.content import ReportContent

# White on each of these is read by everyone: contrast 4.5 or more. The mark tells the verdict without the color.
_SHOWN = {
    "sound": ("#146c4b", "✓"),
    "caution": ("#855b00", "!"),
    "unsound": ("#a8231b", "✕"),
    "unresolved": ("#4a5a78", "?"),
    "not measurable": ("#59626b", "–"),
}
_NAME = ("goldassay", "#1c2126")
_HEIGHT, _PAD = 20, 6
_NARROW = frozenset("filjrt !")


def render_badge(report: ReportContent) -> str:
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


def badge_text(report: ReportContent) -> str:
    """The same in words, for those who do not see it."""
    return "goldassay: " + ", ".join(f"{question} {word}" for question, word in _verdicts(report).items())


def _verdicts(report: ReportContent) -> dict[str, str]:
    return {card.key: card.verdict if card.verdict in _SHOWN else "not measurable" for card in report.cards}


BADGE = "badge.svg"
# The hub's own classes of sizes: each up to, but not with, its number of rows.
_SIZES = (
    (1e3, "n<1K"),
    (1e4, "1K<n<10K"),
    (1e5, "10K<n<100K"),
    (1e6, "100K<n<1M"),
    (1e7, "1M<n<10M"),
    (1e8, "10M<n<100M"),
    (1e9, "100M<n<1B"),
    (1e10, "1B<n<10B"),
    (1e11, "10B<n<100B"),
    (1e12, "100B<n<1T"),
)


def front_matter(report: ReportContent) -> str:
    """The YAML block at the top of a dataset card.

    Under the hub's own keys: a readable name, the class of size, the task, tags. Under `goldassay`: version, verdicts,
    and the figure that decided each with its bounds, as fractions.
    """
    document = report.to_dict()
    dataset = mapping(document, "dataset")
    rows = sum(report.subject.sizes.values())
    metadata: dict[str, Any] = {
        "pretty_name": one_line(dataset.get("name") or "unnamed"),
        "size_categories": [next((name for above, name in _SIZES if rows < above), "n>1T")],
        "task_categories": ["text-classification"],
    }
    if {"premise", "hypothesis"} <= {str(name) for name in dataset.get("text_columns") or ()}:
        metadata["task_ids"] = ["natural-language-inference"]
    metadata["tags"] = ["goldassay", "benchmark-audit"]
    metadata["goldassay"] = {
        "version": one_line(document.get("goldassay_version")),
        **{card.key: _judged(report.judged.get(card.key)) for card in report.cards},
    }
    return "---\n" + "\n".join(_yaml(metadata)) + "\n---"


def badge_line(report: ReportContent) -> str:
    """The Markdown that shows the badge."""
    return f"![{badge_text(report)}]({BADGE})"


def reproduction(document: Mapping[str, Any], how: Reproduction) -> list[str]:
    """How to get the same figures: the command, settings, versions, seeds, and hashes of the files read."""
    version = one_line(document.get("goldassay_version"))
    blocks = ["## How to reproduce"]
    if how.command is None:
        blocks.append("The data were handed over in memory, so that no command names them; in Python:")
        blocks.append(_fenced("python", how.python))
    else:
        blocks.append("From files with these SHA-256:")
        blocks.append(_hashes(document))
        blocks.append(_fenced("console", f"$ pip install goldassay=={version}\n$ {how.command}"))
    if how.settings:
        blocks += [f"with this `{FILE_NAME}`:", _fenced("toml", how.settings)]
    else:
        blocks.append("with every setting at its default.")
    blocks.append("- " + "\n- ".join([*how.seeds, _versions(document)]))
    return blocks


def _judged(verdict: Verdict | None) -> dict[str, Any]:
    headline = None if verdict is None else verdict.headline
    ends = {} if headline is None else {"value": headline.value, "low": headline.low, "high": headline.high}
    return {
        "verdict": "not measurable" if verdict is None else verdict.verdict,
        **({} if headline is None else {"measure": one_line(headline.label)}),
        **{key: round(value, 4) for key, value in ends.items() if math.isfinite(value)},
    }


def _yaml(value: Mapping[str, Any], indent: str = "") -> list[str]:
    lines = []
    for key, each in value.items():
        if isinstance(each, dict):
            lines += [f"{indent}{key}:", *_yaml(each, indent + "  ")]
        elif isinstance(each, list):
            # Words of the hub's own lists, which YAML takes as they are.
            lines += [f"{indent}{key}:", *(f"{indent}- {item}" for item in each)]
        else:
            lines.append(f"{indent}{key}: {_scalar(each)}")
    return lines


def _scalar(value: Any) -> str:
    """A JSON text is a YAML text; angle brackets and ampersands are escaped for whoever shows the block as it is."""
    text = json.dumps(value, ensure_ascii=False)
    for character in "<>&`":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _hashes(document: Mapping[str, Any]) -> str:
    lines = []
    for source in records(document.get("inputs")):
        files, hashes = source.get("files") or [], source.get("sha256") or []
        lines += [f"{digest}  {one_line(name)}" for name, digest in zip(files, hashes, strict=False)]
    return _fenced("text", "\n".join(dict.fromkeys(lines)))


def _versions(document: Mapping[str, Any]) -> str:
    environment = mapping(document, "environment")
    packages = mapping(environment, "packages")
    parts = [f"{name} {one_line(version)}" for name, version in packages.items()]
    return ", ".join([*parts, f"Python {one_line(environment.get('python'))}"])


def _fenced(language: str, text: str) -> str:
    """A block of code, fenced by more backticks than it holds in a row."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
