"""Words that the house does not use where users read them: in messages, help, and the documentation.

    python scripts/check_words.py

Reads the strings of src but for docstrings, the help of every command, and the pages of docs. Prints place, word and
what to write, and ends with exit status 1 where there is one.
"""

from __future__ import annotations

import ast
import re
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PLAIN = {
    "surely": "significantly",
    "nobody": "no one, or the passive",
    "by heart": "memorized",
    "worth": "an effective size",
    "tells": "shows, or gives away",
    "told": "given",
    "stands": "is, or occurs",
    "apart": "separate, or significant",
    "sought": "searched for",
    "lest": "so that ... not",
    "thereof": "of it",
}
WORDS = re.compile(rf"\b({'|'.join(PLAIN)})\b", re.IGNORECASE)
# Made texts of the specimen are data.
MADE = "src/goldassay/data/specimen/"


def shown_strings(path: Path) -> Iterator[tuple[int, str]]:
    """Lines and values of the strings of a module that are no docstrings, names or keys."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, kinds) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docs
            and " " in node.value
        ):
            yield node.lineno, node.value


def lines_of(page: str) -> Iterator[tuple[int, str]]:
    """Lines of a page that are no code."""
    is_code = False
    for number, line in enumerate(page.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            # Code and quoted words.
            yield number, re.sub(r"`[^`]*`|\*[^*]*\*", "", line)


def shown() -> Iterator[tuple[str, int, str]]:
    """Place, line and text of all that is read."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        if not path.is_relative_to(ROOT / MADE):
            yield from ((str(path.relative_to(ROOT)), *each) for each in shown_strings(path))
    for name, page in runpy.run_path(str(ROOT / "scripts" / "list_options.py"))["command_pages"]().items():
        yield from ((f"goldassay {name.replace('-', ' ')} --help", *each) for each in lines_of(page))
    for path in [
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "docs/howto").glob("*.md")),
    ]:
        yield from ((str(path.relative_to(ROOT)), *each) for each in lines_of(path.read_text(encoding="utf-8")))


def found() -> Iterator[str]:
    """What is to be mended."""
    for place, line, text in shown():
        for word in WORDS.findall(text):
            yield f"{place}:{line}: {word!r}: write {PLAIN[word.lower()]}"


if __name__ == "__main__":
    every = list(found())
    print(*every, sep="\n", end="\n" if every else "")
    sys.exit(bool(every))
