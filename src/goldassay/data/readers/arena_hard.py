"""Judgments of Arena-Hard: a line for each item and model, with the judge's verdicts in both orders.

The baseline is shown first in the first game, the model in the second (Li et al. 2024, "From crowdsourced data to
high-quality benchmarks: Arena-Hard and BenchBuilder pipeline").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.data.readers import CERTAIN, NO, jsonl
from goldassay.data.source import read_text
from goldassay.data.table import Table, frame_of_records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

name = "arena_hard"

_WINNER = {"A>B": "model_a", "A>>B": "model_a", "B<A": "model_a", "B<<A": "model_a"}
_WINNER |= {verdict.translate(str.maketrans("AB", "BA")): "model_b" for verdict in _WINNER}
_WINNER |= {"A=B": "tie", "B=A": "tie"}


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """A first line with a model and its games, each of which has a score such as A>B."""
    # A line may be longer than the head, since a game holds the whole prompt.
    start = head.lstrip().split(b"\n", 1)[0]
    known = all(field in start for field in (b'"games"', b'"score"', b'"model"'))
    return CERTAIN if known and any(f'"{verdict}"'.encode() in start for verdict in _WINNER) else NO


def read(path: Path) -> Table:
    """Read one row from each game."""
    data, entry = read_text(path)
    lines = jsonl.records_of(data, path)
    rows = [row for line in lines for row in _games(line)]
    decision = "Each game is a row; the baseline is shown first in the first game of an item, the model in the second."
    return Table(frame_of_records(rows, path), name, (entry,), (decision,))


def _games(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    shown = [line.get("baseline") or "baseline", line.get("model")]
    for game, sides in zip(line.get("games") or [], (shown, shown[::-1]), strict=False):
        verdict = (game or {}).get("score")
        yield {
            "question_id": line.get("uid") or line.get("question_id"),
            "category": line.get("category"),
            "judge": line.get("judge") or "judge",
            "model_a": sides[0],
            "model_b": sides[1],
            "winner": _WINNER.get(str(verdict)),
        }
