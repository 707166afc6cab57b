"""DREAM's JSON: a list of dialogues, each with its lines, its questions and an id."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.bounds import check_depth
from goldassay.core.errors import InputError
from goldassay.data.readers import CERTAIN, NO
from goldassay.data.source import read_text
from goldassay.data.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

name = "dream"

_START = re.compile(rb'^\s*\[\s*\[\s*\[\s*"')


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """Lists of lists of texts, and questions with a choice and an answer."""
    return CERTAIN if _START.match(head) and b'"question"' in head and b'"choice"' in head else NO


def read(path: Path) -> Table:
    """Read one row a question: id of the dialogue, the dialogue, question, choices, answer."""
    data, entry = read_text(path)
    check_depth(data, path)
    try:
        rows = list(_rows(json.loads(data)))
    except json.JSONDecodeError as error:
        raise InputError(
            f"the file is not valid JSON ({error.msg})", file=path, row=error.lineno, mend="mend that line"
        ) from error
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            "a dialogue is not a list of lines, a list of questions and an id", file=path,
            mend="give question, choice and answer of each question",
        ) from error  # fmt: skip
    if not rows:
        raise InputError("there is not a single question", file=path, mend="give a file with questions")
    return Table(pl.DataFrame(rows), name, (entry,))


def _rows(dialogues: list[Any]) -> Iterator[dict[str, Any]]:
    for lines, questions, number in dialogues:
        for at, question in enumerate(questions):
            yield {
                "id": f"{number}:{at}",
                "dialogue": "\n".join(map(str, lines)),
                "question": str(question["question"]),
                "choices": [str(choice) for choice in question["choice"]],
                "answer": str(question["answer"]),
            }
