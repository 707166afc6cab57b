"""A mend that a refusal prints works: typed as printed, the command is not refused again for the same reason."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from goldassay.cli.main import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

N = 40
WORDS = (
    "river",
    "stone",
    "blue",
    "table",
    "cloud",
    "wood",
    "green",
    "apple",
    "metal",
    "paper",
    "bridge",
    "house",
    "red",
)


def sentence(at: int, n: int = 6) -> str:
    return " ".join(WORDS[(at * 7 + step * step + step * at) % len(WORDS)] for step in range(n)) + f" {at}"


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def pair(at: int, one: str = "one", two: str = "two") -> dict[str, Any]:
    return {one: sentence(at), two: sentence(at + 1, 9)}


SHAPES: dict[str, tuple[str, Callable[[int], Any]]] = {
    "winners coded 0, 1, 2": (
        "pairs.jsonl",
        lambda at: {"prompt": sentence(at), **pair(at, "response 1", "response 2"), "label": at % 3},
    ),
    "no header": ("bare.tsv", lambda at: f"{sentence(at)}\t{'ab'[at % 2]}\tid{at}\n"),
    "two texts by content": ("pairs.csv", lambda at: {**pair(at), "said": "yn"[at % 2]}),
    "labels that are objects": ("o.jsonl", lambda at: {"text": sentence(at), "label": {"kind": "ab"[at % 2]}}),
    "texts within objects": ("n.jsonl", lambda at: {"example": pair(at), "answer_kind": "xy"[at % 2]}),
    "a label of another name": ("l.jsonl", lambda at: {"text": sentence(at), "mood": "ab"[at % 2]}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_printed_options_are_taken(
    shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    name, row = SHAPES[shape]
    rows = [row(at) for at in range(N)]
    if name.endswith(".csv"):
        text = ",".join(rows[0]) + "\n" + "".join(",".join(each.values()) + "\n" for each in rows)
    else:
        text = "".join(rows) if isinstance(rows[0], str) else lines(rows)
    (tmp_path / name).write_text(text)
    assert run(["audit", name, "-q", "-o", "out"]) == 2
    refused = capsys.readouterr().err
    options = re.findall(r"--(?:columns|map) (?:'[^']+'|[^\s;]+)", refused)
    assert options, refused
    assert "NAME" not in refused.split("; labelled texts lack")[0]
    status = run(["audit", name, *shlex.split(options[0]), "-q", "-o", "out"])
    assert status == 0, capsys.readouterr().err
