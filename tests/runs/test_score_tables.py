"""Tables with a row a run: what is taken for one, and what is read from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.runs.curves import is_score_table, read_curves, read_score_tables
from goldassay.runs.reading import NoRunsError, find_slices
from goldassay.runs.run_parts import Request
from tests.stated import in_order

if TYPE_CHECKING:
    from pathlib import Path

LONG = (
    "dataset\tseed\tn\taccuracy\nMNLI\t1\t9815\t0.84\nMNLI\t2\t9815\t0.86\nHANS\t1\t30000\t0.5\nHANS\t3\t30000\t0.7\n"
)
PLAIN = "Run,MNLI,HANS\nRun 0,0.84,0.5\nRun 1,0.86,0.7\nMean,0.85,0.6\n,,\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_rows_of_no_run_are_left_out_and_counted(tmp_path: Path) -> None:
    (found,) = read_score_tables(write(tmp_path / "a.csv", "\N{ZERO WIDTH NO-BREAK SPACE}" + PLAIN))
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
        ("a.tsv", LONG, True),
        ("a.csv", "n,x\n7,0.5\n", False),
        ("a.csv", "seed,x\nn,100\n7,0.5\n", True),
        ("a.csv", "seed,x\nn,100\n", False),
        ("a.csv", "dataset,seed,score\nMNLI,1,0\nMNLI,1,1\n", False),
        ("a.csv", "dataset,seed,score,kind\nMNLI,1,0,x\nMNLI,2,1,x\n", False),
        ("a.csv", "dataset,seed,label\nMNLI,1,0\nMNLI,2,1\n", False),
        ("a.csv", "dataset,seed,score\nMNLI,1,84.2\nMNLI,2,85\n", False),
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
        (PLAIN + "n,0,9\n", "the number of examples is no whole number"),
        (PLAIN + "n,9,9\nsize,9,9\n", "two rows of numbers of examples"),
        (LONG.replace("HANS\t3", "HANS\t1"), "run 1 is there twice on HANS"),
        (LONG.replace("0.86", "86"), "run 2 has no score within .* on MNLI"),
        (LONG.replace("9815\t0.86", "9816\t0.86"), "examples of MNLI is not the same in all rows"),
        (LONG.replace("9815\t0.86", "\t0.86"), "examples of MNLI is not the same in all rows"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_score_tables(write(tmp_path / "a.csv", text))


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


def test_a_row_a_run_and_dataset_gives_curves_with_sizes(tmp_path: Path) -> None:
    mnli, hans = read_curves(write(tmp_path / "bert.tsv", LONG))
    assert (mnli.model, mnli.dataset, mnli.metric, mnli.size) == ("bert", "MNLI", "accuracy", 9815)
    assert (hans.seeds, hans.final.tolist(), hans.size) == ((1, 3), [0.5, 0.7], 30000)
    models = "model,benchmark,run,acc\na,x,1,0.5\na,x,2,0.6\nb,x,1,0.1\nb,x,2,0.4\n"
    found = read_curves(write(tmp_path / "models.csv", models))
    assert [(each.model, each.final.tolist(), each.size) for each in found] == [
        ("a", [0.5, 0.6], None),
        ("b", [0.1, 0.4], None),
    ]


def test_a_row_of_a_wide_table_gives_sizes(tmp_path: Path) -> None:
    mnli, hans = read_curves(write(tmp_path / "bert.csv", PLAIN + "N,9815,30000\n"))
    assert (mnli.size, hans.size, mnli.seeds) == (9815, 30000, (0, 1))
    assert mnli.skipped == {"rows of no run": 2}
