"""The documentation's blocks of commands, and how each is to be tested.

A ```console block holds commands (`$ `) with what they print beneath; `…` stands for lines left out. The comment before
it, which no reader sees, may say:

    <!-- yours: WHY -->          needs what only the reader has: not run, but its options must be there
    <!-- slow -->                run with the slow tests
    <!-- refused -->             each command is refused with status 2, and prints the lines beneath it as its error
    <!-- given: NAME=FIXTURE --> run beside a copy of one of the fixtures of tests/runs, or of what `GIVEN` makes

Blocks of a page are run in order, in one folder.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_BLOCK = re.compile(
    r"(?:^<!-- test: (?P<marks>[^\n]*) -->\n)?^```console\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Command:
    """A command as it is typed, and the lines shown beneath it."""

    line: str
    shown: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """A block of commands: its place, whether it is slow or refused, what it is given, why it is the reader's own."""

    place: str
    commands: tuple[Command, ...]
    slow: bool
    refused: bool
    given: tuple[str, ...]
    yours: str


# Folders of pages that are made whenever the site is built.
MADE = {"commands", "gallery"}


def pages() -> list[Path]:
    """Every page of the documentation, and the README."""
    written = (page for page in DOCS.rglob("*.md") if page.name != "README.md" and not MADE & {*page.parts})
    return [ROOT / "README.md", *sorted(written)]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    return [
        _block(f"{name_of(page)}:{text.count(chr(10), 0, found.start('body'))}", found["marks"] or "", found["body"])
        for found in _BLOCK.finditer(text)
    ]


def _block(place: str, marks: str, body: str) -> Block:
    # The reason why a block is the reader's own goes to the end, and may hold commas.
    others, _, yours = marks.partition("yours")
    told = [mark.strip().partition(" ")[::2] for mark in others.split(",") if mark.strip()]
    assert {word for word, _ in told} <= {"slow", "refused", "given"}, f"{place}: unknown mark in {marks!r}"
    return Block(
        place,
        _commands(body),
        slow=any(word == "slow" for word, _ in told),
        refused=any(word == "refused" for word, _ in told),
        given=tuple(what for word, what in told if word == "given"),
        yours=yours.strip(": "),
    )


def _commands(body: str) -> tuple[Command, ...]:
    commands: list[Command] = []
    # A backslash at a line's end goes on in the next.
    for line in body.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            commands.append(Command(line[2:], ()))
        elif line.strip() not in ("", "…"):
            commands[-1] = Command(commands[-1].line, (*commands[-1].shown, line))
    return tuple(commands)
