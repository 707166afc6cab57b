"""Runs that lack predictions: what every command that reads runs by example ids advises, it also takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

import goldassay
from goldassay.cli.main import run
from goldassay.core.errors import InputError
from goldassay.data.decisions import Decision, append_decision
from goldassay.data.reading import read_dataset
from goldassay.data.row_keys import content_columns, keys_of
from tests.stated import states

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ("no", "yes")
N = 60
# Rows that the second run of "b" has no prediction for.
SILENT = {7, 8, 30}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = [f"the {('cat', 'dog', 'cow')[i % 3]} number {i} is {('here', 'there')[i // 2 % 2]}" for i in range(N)]
    rows = pl.DataFrame({"id": [f"e{i}" for i in range(N)], "text": texts, "label": [LABELS[i % 2] for i in range(N)]})
    rows.write_csv(tmp_path / "test.csv")
    rows.with_columns(id="t" + pl.col("id"), text="some " + pl.col("text")).write_csv(tmp_path / "train.csv")
    runs = pl.DataFrame(
        [
            {"example_id": f"e{i}", "label": LABELS[i % 2], "model": model, "seed": seed, "dataset": "test",
             "prediction": None if model == "b" and seed == 2 and i in SILENT else LABELS[(i + (i % 5 == seed)) % 2]}
            for model, seed in (("a", 1), ("b", 1), ("b", 2)) for i in range(N)
        ]
    )  # fmt: skip
    runs.write_csv(tmp_path / "runs.csv")
    return tmp_path


def right(seed: int, i: int) -> float:
    return float(i % 5 != seed)


def test_an_audit_keeps_what_all_runs_of_a_model_answer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["audit", str(folder / "train.csv"), "--test", str(folder / "test.csv"), "--runs",
             str(folder / "runs.csv"), "-o", str(folder / "report"), "--quiet"]  # fmt: skip
    assert run([*given, "--missing", "refuse"]) == 2
    assert states(capsys.readouterr().err, "no prediction", "e7, e8, e30")
    assert run(given) == 0
    wrong = json.loads((folder / "report" / "report.json").read_text())["instability"]["results"]
    silent = sum(right(2, i) for i in SILENT)
    assert [row["mean"] for row in wrong if row["model"] == "b"] == [pytest.approx((96 - silent) / 120)]
    assert run([*given, "--align", "intersect"]) == 0
    assert "--align intersect" in (folder / "report" / "report.md").read_text()
    page = (folder / "report" / "report.html").read_text()
    assert states(page, "runs of b on test", "57 of the 60 examples", "test")
    document = json.loads((folder / "report" / "report.json").read_text())
    means = {row["model"]: row["mean"] for row in document["instability"]["results"]}
    kept = [i for i in range(N) if i not in SILENT]
    assert means["b"] == pytest.approx(sum(right(s, i) for s in (1, 2) for i in kept) / 2 / len(kept))
    examples = pl.read_parquet(folder / "report" / "tables" / "examples.parquet")
    assert examples["runs_scores"].to_list() == [[right(1, i)] for i in range(N)]
    assert examples["partial_scores"].to_list() == [
        [None, None] if i in SILENT else [right(1, i), right(2, i)] for i in range(N)
    ]
    assert run([*given, "--align", "position"]) == 2
    assert "example ids tell here which rows are answered" in capsys.readouterr().err


def test_the_function_takes_what_it_advises(folder: Path) -> None:
    paths = folder / "train.csv", folder / "test.csv", folder / "runs.csv"
    with pytest.raises(InputError, match=r"missing='leave-out' keeps 57 of 60 examples"):
        goldassay.audit(*paths, missing="refuse")
    assert "runs of b" in str(goldassay.audit(*paths, align="intersect").document["instability"])


def test_mend_keeps_what_all_runs_answer_and_says_how_many(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = read_dataset(folder / "test.csv")
    keys = keys_of(dataset.examples, content_columns(dataset))
    append_decision(folder / "test.decisions.jsonl", Decision(keys[0], "e0", "drop"))
    given = ["mend", str(folder / "test.csv"), "--runs", str(folder / "runs.csv"), "-o", str(folder / "mended")]
    assert run(given) == 0
    assert "b on test: 59 of 60 answers hold" in capsys.readouterr().out
    unread = goldassay.read_runs(folder / "mended" / "runs", model="b")
    assert (unread.n_examples, (unread.status == "unparsed").sum()) == (59, 3)
    assert run([*given, "--align", "intersect"]) == 0
    said = capsys.readouterr().out
    assert "a on test: 59 of 60 answers hold\n" in said
    assert states(said, "b on test:", "56 of 57 answers", "3 rows", "left out")
    found = goldassay.read_runs(folder / "mended" / "runs", model="b")
    assert found.n_examples == 56


def test_overlap_keeps_what_all_runs_of_a_model_answer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "corpus.txt").write_text("the cat number 0 is here and more words of a corpus that is long enough\n" * 9)
    given = ["overlap", str(folder / "test.csv"), "--corpus", str(folder / "corpus.txt"), "--runs",
             str(folder / "runs.csv"), "--n", "5", "--near-copies", "--json", str(folder / "o.json")]  # fmt: skip
    assert run([*given, "--missing", "refuse"]) == 2
    assert "--missing leave-out" in capsys.readouterr().err
    assert run(given) == 0
    assert run([*given, "--align", "intersect"]) == 0
    assert run([*given, "--align", "position"]) == 2


def test_an_audit_takes_the_scale_of_grades_that_it_advises(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And measures their shares, as `read_runs` does."""
    grades = [
        {"example_id": f"e{i}", "model": "judge", "seed": seed, "dataset": "test", "score": 1 + (i * seed + i) % 5}
        for seed in (1, 2) for i in range(N)
    ]  # fmt: skip
    pl.DataFrame(grades).write_csv(folder / "graded.csv")
    given = ["audit", str(folder / "train.csv"), "--test", str(folder / "test.csv"), "--runs",
             str(folder / "graded.csv"), "-o", str(folder / "report"), "--quiet"]  # fmt: skip
    assert run(given) == 2
    assert "--grades 1:5" in capsys.readouterr().err
    assert run([*given, "--grades", "1:5"]) == 0
    assert "--grades 1:5" in (folder / "report" / "report.md").read_text()
    (row,) = pl.read_parquet(folder / "report" / "tables" / "instability.parquet").to_dicts()
    expected = sum((each["score"] - 1) / 4 for each in grades) / len(grades)
    assert row["mean"] == pytest.approx(expected)
