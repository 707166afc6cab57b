"""SQuAD's own JSON (1.1, 2.0, XQuAD, adversarial SQuAD): articles, paragraphs, questions."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.errors import InputError
from goldassay.data.readers import CERTAIN, NO
from goldassay.data.source import read_text
from goldassay.data.table import Table, frame_of_records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

name = "squad"

_CANDIDATES = ("candidate_starts", "candidate_ends")
# Adversarial SQuAD appends the kind of change to the id of the question that was changed.
_CHANGED = re.compile(r"^([0-9a-f]{24})-(.+)$")


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """An object whose data hold paragraphs with questions."""
    is_object = head.lstrip().startswith(b"{")
    return CERTAIN if is_object and b'"paragraphs"' in head and b'"data"' in head else NO


def read(path: Path) -> Table:
    """Read one row a question: id, title, context, question, answers with where they start, whether it has any.

    A paragraph may name `candidates`, pairs of where a stretch begins and ends, of which alone one can be the answer; a
    file names them for all of its paragraphs or for none.
    """
    data, entry = read_text(path)
    try:
        rows = list(_questions(json.loads(data)["data"]))
    except json.JSONDecodeError as error:
        raise InputError(
            f"the file is not valid JSON ({error.msg})", file=path, row=error.lineno, mend="mend that line"
        ) from error
    except (KeyError, TypeError) as error:
        raise InputError(
            f"the file lacks SQuAD's field {error}", file=path, mend="give data[].paragraphs[].qas[] with id, question"
        ) from error
    if not rows:
        raise InputError("there is not a single question", file=path, mend="give a file with questions")
    roles = {"question": "question", "context": "context", "id": "id"}
    if any("change" in row for row in rows):
        for row in rows:
            row.setdefault("change", "none")
        roles["group"] = "change"
    elif any(row["title"] for row in rows):
        roles["group"] = "title"
    # Lists of numbers would become text: what other readers find in such fields is seldom one number an entry.
    names = ["answer_starts", *_CANDIDATES] if _has_candidates(rows, path) else ["answer_starts"]
    lists = [pl.Series(each, [row.pop(each) for row in rows], dtype=pl.List(pl.Int64)) for each in names]
    return Table(frame_of_records(rows).with_columns(lists), name, (entry,), roles=roles)


def _has_candidates(rows: list[dict[str, Any]], path: Path) -> bool:
    named = [_CANDIDATES[0] in row for row in rows]
    if any(named) and not all(named):
        raise InputError(
            f"the paragraph of the question {rows[named.index(False)]['id']} names no candidates, and others do",
            file=path,
            mend="name them for all paragraphs, or for none",
        )
    return any(named)


def _questions(articles: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for article in articles:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                answers = question.get("answers", [])
                row = {
                    "id": question["id"],
                    "title": article.get("title"),
                    "context": paragraph["context"],
                    "question": question["question"],
                    "answers": [answer["text"] for answer in answers],
                    "answer_starts": [answer.get("answer_start", -1) for answer in answers],
                }
                if "candidates" in paragraph:
                    for place, column in enumerate(_CANDIDATES):
                        row[column] = [int(span[place]) for span in paragraph["candidates"]]
                if "is_impossible" in question:
                    row["is_impossible"] = question["is_impossible"]
                if changed := _CHANGED.match(str(question["id"])):
                    row["original_id"], row["change"] = changed.groups()
                yield row
