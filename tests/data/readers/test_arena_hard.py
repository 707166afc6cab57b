"""Judgments of Arena-Hard: each game is a verdict, of sides in the order in which they were shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import goldassay
from goldassay.data.reading import read_table

if TYPE_CHECKING:
    from pathlib import Path

CHANGED, KEPT, TIED = ("A>B", "A>>B"), ("A>>B", "B>A"), ("A=B", "A=B")


def written(folder: Path, games: list[tuple[str | None, str | None]], **more: Any) -> Path:
    rows = [
        {"question_id": f"q{at}", "model": "m", "judge": "j", **more, "games": [{"score": each} for each in pair]}
        for at, pair in enumerate(games)
    ]
    path = folder / "m.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_baseline_is_shown_first_in_the_first_game(tmp_path: Path) -> None:
    frame = read_table(written(tmp_path, [("A>>B", "B<<A"), ("B>A", None)], baseline="b")).frame
    assert frame.select("question_id", "model_a", "model_b", "winner").rows() == [
        ("q0", "b", "m", "model_a"), ("q0", "m", "b", "model_a"), ("q1", "b", "m", "model_b"), ("q1", "m", "b", None),
    ]  # fmt: skip
    assert set(read_table(written(tmp_path, [KEPT])).frame["model_a"]) == {"baseline", "m"}


def test_verdicts_that_change_with_the_order_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path, [CHANGED] * 30 + [KEPT] * 60 + [TIED] * 10)
    figures = {row["id"]: row["value"] for row in goldassay.audit(path).figures.to_dicts()}
    assert figures["judgments.changed"] == pytest.approx(0.3)
