"""SQuAD prediction files: one JSON object, question id -> answer. Scored by a SQuAD dataset given as gold.

Probabilities that a question has no answer are taken from a file beside: null_odds.json, na_prob.json.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from goldassay.runs.answers import probabilities_beside
from goldassay.runs.run_parts import UNNAMED_MODEL, Collection, Columns, Request, Slice
from goldassay.runs.tables import head_of, start_of, unpacked

if TYPE_CHECKING:
    from pathlib import Path

NAME = "squad"
PRIORITY = 40

# An object whose first value is a string: neither JSON lines of records with numbers, nor a dataset.
_PREDICTION = re.compile(rb'\{\s*"[^"]+"\s*:\s*"')
_LINES = re.compile(r"\.(jsonl|ndjson)\b")
_CALLED = re.compile(r"pred|answer", re.IGNORECASE)


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize a file that is one object of nothing but strings."""
    if not path.is_file() or ".json" not in path.name or start_of(path, 1) not in (b"{", b"\x1f", b"\x28"):
        return None
    head = head_of(path).lstrip()
    if _PREDICTION.match(head) is None or _is_lines(head):
        return None
    try:
        answers = json.loads(unpacked(path))
    except ValueError:
        return None
    if not isinstance(answers, dict) or not answers or not all(isinstance(value, str) for value in answers.values()):
        return None
    is_certain = request.outright or _CALLED.search(path.name) or probabilities_beside(path, list(answers)) is not None
    if not is_certain and (_LINES.search(path.name) or not _are_answers(answers)):
        return None
    return [
        Slice(
            collection=Collection(UNNAMED_MODEL, "squad", "", "paired", ""),
            seed=path.name.removesuffix(".gz").removesuffix(".json"),
            checkpoint=None,
            n_examples=len(answers),
            file=str(path),
            format=NAME,
            load=partial(_load, answers, path),
        )
    ]


def _are_answers(answers: dict[str, str]) -> bool:
    """Whether keys may be ids: no words such as "license", and no codes of labels from 0 on, each with its own name."""
    numbers = [re.sub(r"\D", "", key) for key in answers]
    is_map = numbers == [str(code) for code in range(len(answers))] and len(set(answers.values())) == len(answers)
    return not is_map and 2 * sum(map(bool, numbers)) > len(answers)


def _is_lines(head: bytes) -> bool:
    """Whether the first line is an object for itself, and others follow: then the file need not be read as a whole."""
    first, _, rest = head.partition(b"\n")
    try:
        return bool(rest.strip()) and isinstance(json.loads(first), dict)
    except ValueError:
        return False


def _load(answers: dict[str, str], path: Path) -> Columns:
    no_answer = probabilities_beside(path, list(answers))
    return Columns(
        example_ids=pl.Series(list(answers), dtype=pl.String),
        prediction=pl.Series(list(answers.values()), dtype=pl.String),
        no_answer=None if no_answer is None else pl.Series(list(no_answer.values()), dtype=pl.Float64),
    )
