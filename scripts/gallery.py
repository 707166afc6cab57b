"""Pages of the gallery, made of docs/gallery/audits.jsonl: what audits say of published sets.

    GOLDASSAY_DATA=DIR python -m benchmarks.verdicts.real --to docs/gallery/audits.jsonl

makes the figures again. The file has no row of any set. docs/conf.py makes the pages whenever the site is built.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).parents[1] / "docs" / "gallery" / "audits.jsonl"
QUESTIONS = ("artifacts", "leakage")
ROWS = {
    "pairs of texts": "pairs of texts",
    "texts": "texts",
    "choices": "items with choices",
    "preferences": "pairs of responses",
}
# A limit of this share says that no planted share would have been found.
NONE_FOUND = 1
HEAD = """# Gallery

What `goldassay audit` says of {n} published sets, each as it was published: of its test part, or of all rows by folds.
*At most* is the largest flaw that the audit does not rule out. A click on the head of a column sorts by it.

{counts}

| set | kind | rows | artifacts | at most, % | leakage | at most, % |
|---|---|---:|---|---:|---|---:|
"""


def audits() -> list[dict[str, Any]]:
    """The audits, by kind and name."""
    found = [json.loads(line) for line in FIGURES.read_text(encoding="utf-8").splitlines()]
    return sorted(found, key=lambda each: (list(ROWS).index(each["kind"]), each["set"].lower()))


def name_of(audit: dict[str, Any]) -> str:
    """The name of a set's page."""
    return re.sub(r"[^a-z0-9]+", "-", audit["set"].lower()).strip("-")


def percent(share: float | None) -> str:
    """A share in percent; a dash where nothing is bounded."""
    return "–" if share is None or share >= NONE_FOUND else f"{100 * share:.1f}"


def counts(of: list[dict[str, Any]]) -> str:
    """How many sets have each word, a line for each question."""
    lines = []
    for question in QUESTIONS:
        words = [each[question]["verdict"] for each in of if each[question]["verdict"] != "not asked"]
        named = ", ".join(f"{words.count(word)} *{word}*" for word in sorted(set(words), key=words.count, reverse=True))
        lines.append(f"- **{question.capitalize()}**, {len(words)} sets: {named}.")
    return "\n".join(lines)


def index(of: list[dict[str, Any]]) -> str:
    """The table over all sets."""
    rows = []
    for each in of:
        cells = [f"[{each['set']}](sets/{name_of(each)}.md)", each["kind"], f"{each['n']:,}"]
        for question in QUESTIONS:
            said = each[question]
            cells += [said["verdict"], percent(said["at_most"]) if said["verdict"] != "not asked" else ""]
        rows.append(f"| {' | '.join(cells)} |")
    pages = "\n".join(f"sets/{name_of(each)}" for each in of)
    toc = f"\n\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"
    return HEAD.format(n=len(of), counts=counts(of)) + "\n".join(rows) + toc


def page(audit: dict[str, Any]) -> str:
    """What was found in one set, how sure that is, and what its makers could do."""
    lines = [f"# {audit['set']}", "", f"{audit['n']:,} {ROWS[audit['kind']]}. [All sets](../index.md)"]
    for question in QUESTIONS:
        said = audit[question]
        if said["verdict"] == "not asked":
            continue
        lines += ["", f"## {question.capitalize()}: {said['verdict']}", "", said["evidence"]]
        lines += ["", said["not_seen"]] if "not_seen" in said else []
        if said["verdict"] in ("sound", "unresolved"):
            lines += ["", f"A flaw of at most {percent(said['at_most'])} % is not ruled out."
                      if percent(said["at_most"]) != "–" else "No flaw is ruled out."]  # fmt: skip
        if said["next_step"]:
            lines += ["", f"**What to do:** {said['next_step']}"]
        if said["limits"]:
            lines += ["", "| kind of cue | found from this share of the rows on, % |", "|---|---:|"]
            lines += [f"| {limit['kind']} | {percent(limit['limit'])} |" for limit in said["limits"]]
    return "\n".join(lines) + "\n"


def gallery_pages() -> dict[str, str]:
    """{path: page} of the gallery, in Markdown."""
    every = audits()
    return {"index": index(every)} | {f"sets/{name_of(each)}": page(each) for each in every}
