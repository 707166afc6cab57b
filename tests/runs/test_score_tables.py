"""Tables with a row a run: what is taken for one, and what is read from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.runs.curves import is_score_table, read_curves, read_score_table
from goldassay.runs.reading import NoRunsError, find_slices
from goldassay.runs.run_parts import Request
from tests.stated import in_order

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = "Run,MNLI,HANS\nRun 0,0.84,0.5\nRun 1,0.86,0.7\nMean,0.85,0.6\n,,\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_rows_of_no_run_are_left_out_and_counted(tmp_path: Path) -> None:
    found = read_score_table(write(tmp_path / "a.csv", "\N{ZERO WIDTH NO-BREAK SPACE}" + PLAIN))
    assert found.seeds == (0, 1)
    assert {name: values.tolist() for name, values in found.scores.items()} == {
        "MNLI": [0.84, 0.86],
        "HANS": [0.5, 0.7],
    }
    assert found.skipped == {"rows of no run": 2}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.csv", PLAIN, True),
        ("a.tsv", "seed\tx\n7\t0.5\n", True),
        ("a.json", PLAIN, False),
        ("a.csv", "seed,x\n7,entailment\n", False),
        ("a.csv", "seed,x\n7,61.2\n", False),
        ("a.csv", "seed,x\nbert,0.5\n", False),
        ("a.csv", "model,x\n7,0.5\n", False),
        ("a.csv", "seed\n7\n", False),
        ("a.csv", "seed,example_id,score\n7,0,0.5\n8,0,1\n", False),
        ("a.csv", "seed,item,score\n7,0,0.5\n8,0,1\n7,1,1\n", False),
        ("a.csv", "seed,x\n", False),
        ("a.csv", "", False),
    ],
)
def test_what_is_a_table_of_scores(tmp_path: Path, name: str, text: str, expected: bool) -> None:
    assert is_score_table(write(tmp_path / name, text)) is expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PLAIN.replace("Run 1", "Run 0"), "run 0 is there twice"),
        (PLAIN.replace("0.7\n", "70\n"), r"column 'HANS': run 1 has no score within \[0, 1\]"),
        (PLAIN.replace("0.86,", ","), r"column 'MNLI': run 1 has no score within \[0, 1\]"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_score_table(write(tmp_path / "a.csv", text))


def test_columns_are_curves_without_steps(tmp_path: Path) -> None:
    write(tmp_path / "bert.csv", PLAIN)
    mnli, hans = read_curves(tmp_path)
    assert (mnli.model, mnli.dataset, mnli.checkpoints, mnli.seeds) == ("bert", "MNLI", (), (0, 1))
    assert hans.final.tolist() == [0.5, 0.7]
    assert [each.dataset for each in read_curves(tmp_path, dataset="HANS", model="b*")] == ["HANS"]
    assert read_curves(tmp_path, model="other") == []
    with pytest.raises(NoRunsError, match=in_order("table of each run's scores", "no predictions")):
        find_slices(tmp_path, "auto", Request())


def test_the_published_hundred_runs(data_dir: Path) -> None:
    curves = {each.dataset: each for each in read_curves(data_dir / "predictions/berts_of_a_feather")}
    hans = curves["Overall accuracy"].final
    assert hans.size == 100
    assert 100 * hans.mean() == pytest.approx(56.685, abs=5e-4)
    assert 100 * hans.std(ddof=1) == pytest.approx(2.355, abs=5e-4)
    ranks = [pl.Series(curves[name].final).rank().to_numpy() for name in ("MNLI dev acc.", "Overall accuracy")]
    assert np.corrcoef(*ranks)[0, 1] == pytest.approx(0.36263, abs=5e-6)
    assert curves["Overall accuracy"].skipped == {"rows of no run": 11}
