"""LogiQA's text files: blocks of a letter, a passage, a question and four choices, a line each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.data.readers import CERTAIN, NO
from goldassay.data.source import read_text
from goldassay.data.table import Table

if TYPE_CHECKING:
    from pathlib import Path

name = "logiqa"

LINES = 7
_LETTER = re.compile(r"^[a-d]$", re.IGNORECASE)
_CHOICE = re.compile(r"^([A-D])(?:\s*[.．、:：)?]\s*|\s+)")


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """A first block that begins with a letter and ends with choices A to D."""
    lines = [line.strip() for line in head.decode("utf-8", "replace").splitlines() if line.strip()][:LINES]
    is_block = len(lines) == LINES and _LETTER.match(lines[0]) and _without_letters(lines[3:]) != lines[3:]
    return CERTAIN if is_block else NO


def read(path: Path) -> Table:
    """Read one row a block: passage, question, choices, answer."""
    data, entry = read_text(path)
    filled = [(at, line.strip()) for at, line in enumerate(data.decode("utf-8").splitlines(), start=1) if line.strip()]
    rows = []
    for begin in range(0, len(filled), LINES):
        block = [line for _, line in filled[begin : begin + LINES]]
        if len(block) < LINES or not _LETTER.match(block[0]):
            raise InputError(
                "the block is not a letter, a passage, a question and four choices", file=path, row=filled[begin][0],
                mend="mend that block, or remove it",
            )  # fmt: skip
        choices = _without_letters(block[3:])
        rows.append({"passage": block[1], "question": block[2], "choices": choices, "answer": block[0].upper()})
    lines = np.array([at for at, _ in filled[::LINES]], np.int64)
    return Table(pl.DataFrame(rows), name, (entry,), ("Each block of seven lines is an item.",), lines=lines)


def _without_letters(choices: list[str]) -> list[str]:
    """Choices without their letters, where each has its own."""
    matches = [_CHOICE.match(choice) for choice in choices]
    if [match[1] if match else "" for match in matches] != ["A", "B", "C", "D"]:
        return choices
    return [choice[match.end() :] for choice, match in zip(choices, matches, strict=True) if match]
