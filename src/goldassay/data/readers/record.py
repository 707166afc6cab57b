"""ReCoRD's own JSON: news articles with their entities, and queries from each of which one entity was taken out."""

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

name = "record"

PLACEHOLDER = "@placeholder"
_PASSAGE = re.compile(rb'"passage"\s*:\s*\{')
_STARTS, _ENDS = "candidate_starts", "candidate_ends"
_OTHERS = "others"


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """Objects that hold a passage, an object too, with entities; SuperGLUE's are JSON lines, so be surer than these."""
    is_object = head.lstrip().startswith(b"{")
    return CERTAIN + 1 if is_object and _PASSAGE.search(head) and b'"entities"' in head else NO


def read(path: Path) -> Table:
    """Read one row a query: id, source, context, question, answers with where they start, candidates.

    Candidates are the entities of the passage, the only answers there are; an entity stands there once for each time it
    is mentioned, and so do answers.

    Source: Zhang, Liu, Liu, Gao, Duh and Van Durme 2018.
    """
    data, entry = read_text(path)
    try:
        articles = _articles(data, path)
        rows = list(_queries(articles, path))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"the file lacks ReCoRD's field {error}",
            file=path,
            mend="give data[] with passage.text, passage.entities[] and qas[] with id, query, answers[]",
        ) from error
    if not rows:
        raise InputError("there is not a single query", file=path, mend="give a file with queries")
    others = sum(row.pop(_OTHERS) for row in rows)
    lists = [
        pl.Series(column, [row.pop(column) for row in rows], dtype=pl.List(pl.Int64))
        for column in ("answer_starts", _STARTS, _ENDS)
    ]
    roles = {"question": "question", "context": "context", "id": "id"}
    if any(row["source"] for row in rows):
        roles["group"] = "source"
    said = (f"{others:,} answers are none of their passage's entities, which alone can be given.",) if others else ()
    return Table(frame_of_records(rows).with_columns(lists), name, (entry,), said, roles=roles)


def _articles(data: bytes, path: Path) -> list[dict[str, Any]]:
    """Of one object, or of SuperGLUE's lines, an article each."""
    try:
        content = json.loads(data)
    except json.JSONDecodeError as error:
        lines = [(row, line) for row, line in enumerate(data.split(b"\n"), 1) if line.strip()]
        if len(lines) < 2 or not lines[0][1].rstrip().endswith(b"}"):
            raise InputError(
                f"the file is not valid JSON ({error.msg})", file=path, row=error.lineno, mend="mend that line"
            ) from error
        return [_article(line, row, path) for row, line in lines]
    return [content] if "data" not in content else list(content["data"])


def _article(line: bytes, row: int, path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError as error:
        raise InputError(f"the line is not valid JSON ({error.msg})", file=path, row=row, mend="mend it") from error
    return found


def _queries(articles: list[dict[str, Any]], path: Path) -> Iterator[dict[str, Any]]:
    for article in articles:
        text = str(article["passage"]["text"])
        # Their last character is part of them.
        spans = [(int(each["start"]), int(each["end"]) + 1) for each in article["passage"]["entities"]]
        spans = sorted(dict.fromkeys(spans))
        for begin, end in spans:
            if not 0 <= begin < end <= len(text):
                raise InputError(
                    f"an entity from {begin} to {end - 1} lies outside of its passage of {len(text)} characters",
                    file=path,
                    mend="get the file anew",
                )
        for query in article["qas"]:
            yield _row(article, query, text, spans, path)


def _row(
    article: dict[str, Any], query: dict[str, Any], text: str, spans: list[tuple[int, int]], path: Path
) -> dict[str, Any]:
    question, identity = str(query["query"]), query["id"] if "id" in query else _numbered(article, query)
    if PLACEHOLDER not in question:
        raise InputError(f"the query {identity} has no {PLACEHOLDER}", file=path, mend="correct it or drop the query")
    answers = [(int(each["start"]), str(each["text"])) for each in query["answers"]]
    for start, answer in answers:
        if text[start : start + len(answer)] != answer:
            raise InputError(
                f"the answer {answer!r} to {identity} does not stand at {start} in its passage",
                file=path,
                mend="correct it or drop the query",
            )
    return {
        "id": identity,
        "source": article.get("source"),
        "context": text,
        "question": question,
        "answers": [answer for _, answer in answers],
        "answer_starts": [start for start, _ in answers],
        _STARTS: [begin for begin, _ in spans],
        _ENDS: [end for _, end in spans],
        _OTHERS: sum((start, start + len(answer)) not in spans for start, answer in answers),
    }


def _numbered(article: dict[str, Any], query: dict[str, Any]) -> str:
    """SuperGLUE numbers passages, and queries among all."""
    return f"{article['idx']}-{query['idx']}"
