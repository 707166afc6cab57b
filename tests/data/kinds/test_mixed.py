"""Files of several kinds are refused in one line; rows that lack something, and files of one kind, are not."""

from __future__ import annotations

import json
from itertools import combinations
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.data.kinds import DATA_KINDS
from goldassay.data.kinds.recognition import recognize
from goldassay.data.table import Table
from tests.stated import in_order, states

if TYPE_CHECKING:
    from pathlib import Path

N = 40
KINDS: dict[str, list[dict[str, Any]]] = {
    "items with choices": [
        {"question": f"What is {at}?", "choices": [f"a{at}", f"b{at}", f"c{at}"], "answer": at % 3} for at in range(N)
    ],
    "preferences": [{"prompt": f"Say {at}", "chosen": f"good {at}", "rejected": f"bad word {at}"} for at in range(N)],
    "judgments": [
        {"item": f"i{at // 2}", "judge": "j", "order": "ab" if at % 2 else "ba", "winner": "A"} for at in range(N)
    ],
}  # fmt: skip


def check_one_kind(frame: pl.DataFrame) -> None:
    recognize(Table(frame, ""), {}, DATA_KINDS).check_one_kind()


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize("kinds", list(combinations(KINDS, 2)), ids=" and ".join)
def test_two_kinds_in_one_file_are_one_line(tmp_path: Path, kinds: tuple[str, str]) -> None:
    path = write(
        tmp_path / "mixed.jsonl", [row for both in zip(*(KINDS[kind] for kind in kinds), strict=True) for row in both]
    )
    for ask in (goldassay.audit, goldassay.measure_leakage, goldassay.suggest_rewrites):
        with pytest.raises(InputError) as caught:
            ask(path)
        line = str(caught.value)
        assert states(line, "rows of two kinds:", f"{kinds[0]} in {N}, {kinds[1]} in {N}", "file")
        assert "mixed.jsonl" in line
        assert "\n" not in line


def test_one_stray_row_is_enough() -> None:
    frame = pl.DataFrame([*KINDS["preferences"], KINDS["items with choices"][0]], infer_schema_length=None)
    with pytest.raises(InputError, match="items with choices in 1, preferences in 40"):
        check_one_kind(frame)


def test_empty_texts_of_a_csv_are_no_rows_of_a_kind() -> None:
    rows = [{**row, "choice_a": "", "choice_b": "", "answer": ""} for row in KINDS["preferences"]]
    rows += [{"prompt": "", "chosen": "", "rejected": "", "choice_a": "x", "choice_b": "y", "answer": "A"}] * 3
    with pytest.raises(InputError, match="items with choices in 3, preferences in 40"):
        check_one_kind(pl.DataFrame(rows))


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_one_kind_are_read(kind: str) -> None:
    rows = [dict(row) for row in KINDS[kind]]
    # A row may lack what makes it one of the kind.
    rows[3] |= dict.fromkeys(("choices", "chosen", "winner") & rows[3].keys())
    check_one_kind(pl.DataFrame(rows, infer_schema_length=None))


def test_texts_that_were_judged_are_one_kind() -> None:
    rows = [{**row, "response_a": "one text here", "response_b": "another text"} for row in KINDS["judgments"]]
    rows[0]["winner"] = None
    check_one_kind(pl.DataFrame(rows))


def test_judgments_have_no_part_to_measure(tmp_path: Path) -> None:
    path = write(tmp_path / "judged.jsonl", KINDS["judgments"])
    for ask in (goldassay.measure_leakage, goldassay.suggest_rewrites):
        with pytest.raises(InputError, match=in_order("judgments of pairs", "label")) as caught:
            ask(path)
        assert "\n" not in str(caught.value)
    assert goldassay.audit(path).verdicts["judgments"]["verdict"] != "sound"
