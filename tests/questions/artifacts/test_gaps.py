"""Gaps of many models from the same files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from goldassay.artifacts import difficulty_gap
from goldassay.core.errors import InputError
from goldassay.questions.artifacts.gaps import measure_gaps
from goldassay.runs.reading import read_runs
from tests.stated import in_order, says

if TYPE_CHECKING:
    from pathlib import Path

IDS = [f"x{i}" for i in range(60)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A wide table of three models, one of them twice, and somebody's summary of it beside."""
    rng = np.random.default_rng(0)
    names = ("correct_big", "correct_small_1", "correct_small_2")
    scores = {name: rng.integers(0, 2, len(IDS)) for name in names}
    runs = tmp_path / "runs"
    runs.mkdir()
    pl.DataFrame({"example_id": IDS, **scores}).write_csv(runs / "right.csv")
    pl.DataFrame({"run": list(names), "accuracy": [0.1, 0.2, 0.3]}).write_csv(runs / "summary.csv")
    classes = pl.DataFrame({"example_id": IDS[:40], "class": ["easy"] * 25 + ["hard"] * 15})
    classes.write_csv(tmp_path / "classes.csv")
    return tmp_path


def test_each_model_as_if_read_alone(folder: Path) -> None:
    table = measure_gaps(folder / "classes.csv", [folder / "runs"])
    classes = dict(pl.read_csv(folder / "classes.csv").iter_rows())
    assert table.table["model"].to_list() == ["big", "small_1", "small_2"]
    for row, result in zip(table.table.to_dicts(), table.results, strict=True):
        alone = difficulty_gap(read_runs(folder / "runs/right.csv", model=row["model"]), classes)
        assert alone.to_dict() == result.to_dict()
        assert row["gap"] == pytest.approx(row["easy"] - row["hard"])


def test_models_that_match_are_runs_of_one(folder: Path) -> None:
    table = measure_gaps(folder / "classes.csv", [folder / "runs"], models=["small_*", "big"])
    assert table.table.select("model", "n_runs").rows() == [("small_*", 2), ("big", 1)]


def test_a_run_in_two_files_counts_once(folder: Path) -> None:
    right = pl.read_csv(folder / "runs/right.csv")
    label = ["yes", "no"] * 30
    other = {"yes": "no", "no": "yes"}
    right.insert_column(1, pl.Series("label", label)).write_csv(folder / "runs/right.csv")
    predicted = [gold if ok else other[gold] for gold, ok in zip(label, right["correct_big"], strict=True)]
    pl.DataFrame({"example_id": IDS, "label": label, "pred_big": predicted}).write_csv(folder / "runs/said.csv")
    found = measure_gaps(folder / "classes.csv", [folder / "runs"])
    assert found.table["model"].to_list() == ["big", "small_1", "small_2"]
    assert found.notes == (says("1 run", "right.csv", "said.csv", "counted once"),)


def test_runs_on_other_sets_are_left_out(folder: Path) -> None:
    """A folder of runs holds what they answered on test and elsewhere."""
    alone = measure_gaps(folder / "classes.csv", [folder / "runs"])
    other = pl.DataFrame({"example_id": [f"y{i}" for i in range(30)], "correct_big": [0, 1] * 15})
    other.write_csv(folder / "runs/other.csv")
    found = measure_gaps(folder / "classes.csv", [folder / "runs"])
    assert found.table.equals(alone.table)
    assert found.notes == (says("Runs on other", "left out", "no example"),)
    with pytest.raises(InputError, match=in_order("40 of 40 examples", "subsets", "runs of big")):
        measure_gaps(folder / "classes.csv", [folder / "runs/other.csv"])
    with pytest.raises(InputError, match=in_order("40 of 40 examples", "subsets", "runs of big")):
        measure_gaps(folder / "classes.csv", [folder / "runs"], dataset="other")


def test_names_say_condition_and_seed(folder: Path) -> None:
    found = measure_gaps(folder / "classes.csv", [folder / "runs"], names=r"(?P<model>[a-z]+)(_(?P<seed>\d))?")
    assert found.table.select("model", "n_runs").rows() == [("big", 1), ("small", 2)]


def test_rows_without_ids_need_the_test_set(folder: Path) -> None:
    with pytest.raises(InputError, match=in_order("no test set", "test=FILE")):
        measure_gaps({"easy": folder / "classes.csv"}, [folder / "runs"])


def test_predictions_are_scored_by_the_labels_of_the_test_set(folder: Path) -> None:
    """Which the table of classes need not hold; runs that bring their own scores keep these."""
    rng = np.random.default_rng(1)
    gold, said = (rng.choice(["no", "yes"], len(IDS)) for _ in range(2))
    pl.DataFrame({"example_id": IDS, "label": gold}).write_csv(folder / "gold.csv")
    pl.DataFrame({"example_id": IDS, "prediction": said}).write_csv(folder / "said.csv")
    with pytest.raises(InputError, match="no gold labels to score them by"):
        measure_gaps(folder / "classes.csv", [folder / "said.csv"])
    test = {"test": folder / "gold.csv", "clusters": "none"}
    found = measure_gaps(folder / "classes.csv", [folder / "said.csv"], **test)  # type: ignore[arg-type]
    right = gold == said
    (row,) = found.table.to_dicts()
    assert (row["easy"], row["hard"]) == pytest.approx((right[:25].mean(), right[25:40].mean()))
    scored, alone = (measure_gaps(folder / "classes.csv", [folder / "runs"], **more) for more in (test, {}))  # type: ignore[arg-type]
    assert scored.table.equals(alone.table)


def test_answers_are_scored_by_those_of_squad(folder: Path) -> None:
    """As by `read_runs`; a table of classes by id may come with the test set."""
    questions = [
        {"id": name, "question": f"who is {name}?", "answers": [{"text": f"the {at}", "answer_start": 0}]}
        for at, name in enumerate(IDS)
    ]
    paragraphs = [{"context": "the text", "qas": questions}]
    (folder / "squad.json").write_text(json.dumps({"data": [{"title": "t", "paragraphs": paragraphs}]}))
    (folder / "said").mkdir()
    for model, step in (("one", 2), ("two", 3)):
        answers = {name: str(at) if at % step else "nobody" for at, name in enumerate(IDS)}
        (folder / "said" / f"{model}.json").write_text(json.dumps(answers))
    found = measure_gaps(folder / "classes.csv", [folder / "said"], test=folder / "squad.json", clusters="none")
    classes = dict(pl.read_csv(folder / "classes.csv").iter_rows())
    assert found.table["model"].to_list() == ["one", "two"]
    for model, result in zip(("one", "two"), found.results, strict=True):
        runs = read_runs(folder / "said" / f"{model}.json", gold=folder / "squad.json")
        assert result.to_dict() == difficulty_gap(runs, classes).to_dict()
    assert found.table["easy"].to_list() == pytest.approx([12 / 25, 16 / 25])
    with pytest.raises(InputError, match=in_order("no predicted answers", "scores")):
        measure_gaps(folder / "classes.csv", [folder / "runs"], test=folder / "squad.json")


def test_grades_are_shares_of_their_scale(folder: Path) -> None:
    grades = np.random.default_rng(2).integers(1, 6, len(IDS))
    pl.DataFrame({"example_id": IDS, "score": grades}).write_csv(folder / "graded.csv")
    (row,) = measure_gaps(folder / "classes.csv", [folder / "graded.csv"], grades="1:5").table.to_dicts()
    assert row["easy"] == pytest.approx((grades[:25].mean() - 1) / 4)
    with pytest.raises(InputError, match=r"grades='1:5'"):
        measure_gaps(folder / "classes.csv", [folder / "graded.csv"])


def test_examples_with_one_premise_are_drawn_together(folder: Path) -> None:
    classes = pl.read_csv(folder / "classes.csv").with_columns(
        premise=pl.Series([f"premise {at // 5} of {at // 5}" for at in range(40)]),
        hypothesis=pl.Series([f"hypothesis of example {at}: {at * at}" for at in range(40)]),
    )
    classes.write_csv(folder / "classes.csv")
    found = measure_gaps(folder / "classes.csv", [folder / "runs"])
    of_class = dict(classes.select("example_id", "class").iter_rows())
    clusters = {name: at // 5 for at, name in enumerate(IDS[:40])}
    runs = read_runs(folder / "runs/right.csv", model="big")
    assert found.results[0].delta_low == difficulty_gap(runs, of_class, clusters=clusters).delta_low
    alone = measure_gaps(folder / "classes.csv", [folder / "runs"], clusters="none")
    assert alone.results[0].delta_low == difficulty_gap(runs, of_class).delta_low != found.results[0].delta_low
