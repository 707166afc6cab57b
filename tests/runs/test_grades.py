"""Grades on a scale of their own are measured as shares of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.errors import InputError
from goldassay.questions.comparison.command import compare_models
from goldassay.questions.every_eval_ever import write_every_eval_ever
from goldassay.questions.instability.command import measure_instability
from goldassay.runs.grades import parse_grades, write_grades
from goldassay.runs.reading import read_runs
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_long, write_runs
from tests.stated import in_order, stated_by

if TYPE_CHECKING:
    from pathlib import Path

RNG = np.random.default_rng(5)
GRADES = RNG.integers(1, 6, (5, 60))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [
        {"id": f"e{i}", "model": "judge", "seed": run, "score": int(grade)}
        for run, of_run in enumerate(GRADES)
        for i, grade in enumerate(of_run)
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "grades.csv")
    return tmp_path / "grades.csv"


def test_scores_are_shares_of_the_scale(table: Path) -> None:
    runs = read_runs(table, grades="1:5")
    assert runs.grades == (1, 5)
    assert (runs.scores == (GRADES - 1) / 4).all()
    wider = read_runs(table, grades="0:10")
    assert wider.scores == pytest.approx(GRADES / 10)


def test_without_the_scale_it_is_asked_for(table: Path) -> None:
    with pytest.raises(InputError, match="outside") as refused:
        read_runs(table)
    assert "grades='1:5'" in str(refused.value.mend)
    with pytest.raises(InputError) as refused:
        Runs.from_arrays(scores=np.linspace(0, 100, 50))
    assert "divide points by 100" in str(refused.value.mend)


@pytest.mark.parametrize("scale", ["5:1", "1:1", "1", "1:2:3", "a:b", "", "nan:5", "1:inf"])
def test_what_is_no_scale(table: Path, scale: str) -> None:
    with pytest.raises(InputError, match="is no scale of grades"):
        read_runs(table, grades=scale)


def test_grades_beyond_the_scale_are_refused_with_their_number(table: Path) -> None:
    beyond = int((GRADES[0] == 5).sum())
    with pytest.raises(InputError, match=f"{beyond} of 60 grades lie outside 1 to 4, the first is 5"):
        read_runs(table, grades="1:4")


def test_predictions_have_no_grades(tmp_path: Path) -> None:
    pl.DataFrame({"id": ["a", "b"], "label": ["x", "y"], "prediction": ["x", "x"]}).write_csv(tmp_path / "runs.csv")
    with pytest.raises(InputError, match="predictions and no grades"):
        read_runs(tmp_path / "runs.csv", grades="1:5")


def test_stored_grades_keep_their_scale(table: Path, tmp_path: Path) -> None:
    runs = read_runs(table, grades="1:5")
    write_runs(runs, tmp_path / "store")
    for scale in (None, "1:5"):
        again = read_runs(tmp_path / "store", grades=scale)
        assert again.grades == (1, 5)
        assert (again.scores == runs.scores).all()
    with pytest.raises(InputError, match="of grades from 1 to 5 already"):
        read_runs(tmp_path / "store", grades="0:5")


def test_the_report_gives_means_on_the_scale(table: Path, tmp_path: Path) -> None:
    report = measure_instability(str(table), grades="1:5")
    (row,) = report.document["instability"]["results"]
    assert row["mean"] == pytest.approx((GRADES.mean() - 1) / 4)
    assert row["sd"] == pytest.approx(GRADES.mean(axis=1).std(ddof=1) / 4)
    evidence = stated_by(report.document["verdicts"]["instability"])
    assert f"The mean grade is {GRADES.mean():.2f} on 1 to 5" in evidence
    assert "accuracy" not in evidence
    sentences = " ".join(report.document["instability"]["sentences"])
    assert "full score" in sentences
    assert "right in all" not in sentences
    report.save(tmp_path / "report")
    page = (tmp_path / "report/report.md").read_text()
    assert "Mean grades, on their own scale" in page
    assert f"{GRADES.mean():.2f}" in page
    assert json.loads((tmp_path / "report/report.json").read_text())["settings"]["reading"]["grades"] == "1:5"


def test_one_run_of_grades(table: Path, tmp_path: Path) -> None:
    pl.read_csv(table).filter(pl.col("seed") == 0).write_csv(tmp_path / "one.csv")
    report = measure_instability(str(tmp_path / "one.csv"), grades="1:5")
    assert f"The mean grade is {GRADES[0].mean():.2f} on 1 to 5" in stated_by(
        report.document["verdicts"]["instability"]
    )


def test_shares_beside_points_are_no_grades(tmp_path: Path) -> None:
    """Divided by 100 once more, right answers of one model would lie far below the points of the other."""
    for name, most in (("alpha", 1), ("beta", 100)):
        score = [most * (at % 3 > 0) for at in range(30)]
        pl.DataFrame({"example_id": range(30), "model": name, "dataset": "exam", "score": score}).write_csv(
            tmp_path / f"{name}.csv"
        )
    with pytest.raises(InputError, match=r"beta\.csv: 20 scores lie outside \[0, 1\]"):
        compare_models(tmp_path)
    with pytest.raises(InputError, match=in_order("alpha.csv:", "all 30 scores", "from 0 to 1", "from 0 to 100")):
        compare_models(tmp_path, grades="0:100")
    found = read_runs(tmp_path / "beta.csv", grades="0:100")
    assert found.scores.max() == 1


@pytest.mark.parametrize("scale", ["1:5", "-0.5:10", "0:100"])
def test_every_export_keeps_the_scale(table: Path, tmp_path: Path, scale: str) -> None:
    """Asked for once more it takes no share of a share, and another is refused."""
    runs = read_runs(table, grades=scale)
    other = Runs.from_arrays(scores=np.array([[0.0, 1.0]]), model="fractions")
    write_runs(runs, tmp_path / "stored")
    write_long([runs, other], tmp_path / "long")
    write_every_eval_ever(runs, tmp_path / "eee")
    for place in ("stored", "long", "eee"):
        found = read_runs(tmp_path / place, model="judge")
        assert found.grades == runs.grades, place
        assert (found.scores == runs.scores).all()
        assert (read_runs(tmp_path / place, model="judge", grades=scale).scores == runs.scores).all()
        with pytest.raises(InputError, match=r"are shares of a scale of grades from .* already"):
            read_runs(tmp_path / place, model="judge", grades="0:7")
    assert read_runs(tmp_path / "long", model="fractions").grades is None


def test_a_scale_in_a_file_that_is_none(tmp_path: Path) -> None:
    pl.DataFrame({"id": ["a"], "score": [0.5], "shares_of_grades": ["5"]}).write_csv(tmp_path / "t.csv")
    with pytest.raises(InputError, match=r"t\.csv, column 'shares_of_grades': '5' is no scale"):
        read_runs(tmp_path / "t.csv")


@given(st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 2).filter(lambda ends: ends[0] < ends[1]))
def test_a_scale_is_read_as_it_was_written(scale: tuple[float, float]) -> None:
    assert parse_grades(write_grades(scale)) == scale
