from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from goldassay.core.errors import InputError
from goldassay.runs import read_runs
from goldassay.runs.answers import normalize_answer, score_answer

if TYPE_CHECKING:
    from pathlib import Path


def test_normalization() -> None:
    assert normalize_answer("  The  U.S. and  an Apple-pie ") == "us and applepie"


@pytest.mark.parametrize(
    ("prediction", "references", "f1", "exact"),
    [
        ("the Denver Broncos", ["Denver Broncos", "Broncos"], 1.0, 1.0),
        ("Denver", ["Denver Broncos"], 2 / 3, 0.0),
        ("a b c d", ["b c"], 2 * 2 / 5, 0.0),
        ("x", ["y", "z"], 0.0, 0.0),
        ("no no", ["no"], 2 / 3, 0.0),
    ],
)
def test_scores(prediction: str, references: list[str], f1: float, exact: float) -> None:
    assert score_answer(prediction, references) == pytest.approx(f1)
    assert score_answer(prediction, references, "exact_match") == exact


def squad(path: Path, answers: dict[str, list[str]]) -> Path:
    questions = [
        {"id": i, "question": "?", "answers": [{"text": t, "answer_start": 0} for t in a]} for i, a in answers.items()
    ]
    path.write_text(json.dumps({"data": [{"title": "t", "paragraphs": [{"context": "c", "qas": questions}]}]}))
    return path


def test_predictions_are_scored_by_question(tmp_path: Path) -> None:
    gold = squad(tmp_path / "dev.json", {"a1": ["Paris"], "a2": ["in Rome", "Rome"]})
    for name, answers in (
        ("run_1", {"a1": "Paris", "a2": "Rome", "more": "x"}),
        ("run_2", {"a1": "", "a2": "in old Rome"}),
    ):
        (tmp_path / "runs").mkdir(exist_ok=True)
        (tmp_path / "runs" / f"{name}.json").write_text(json.dumps(answers))
    runs = read_runs(tmp_path / "runs", gold=gold)
    assert runs.seeds.tolist() == ["run_1", "run_2"]
    assert runs.example_ids.tolist() == ["a1", "a2"]
    assert runs.scores.tolist() == [[1, 1], [0, 0.8]]
    assert read_runs(tmp_path / "runs", gold=gold, answer_metric="exact_match").scores.tolist() == [[1, 1], [0, 0]]
    (tmp_path / "runs" / "run_2.json").write_text(json.dumps({"a1": "Paris"}))
    with pytest.raises(InputError, match="1 of 2 questions have no prediction, first a2"):
        read_runs(tmp_path / "runs", gold=gold)
    assert read_runs(tmp_path / "runs", gold=gold, align="intersect").example_ids.tolist() == ["a1"]


def test_of_the_variants_of_a_question_the_lowest_counts(tmp_path: Path) -> None:
    gold = squad(tmp_path / "g.json", {"a1": ["x"], "a1-high-conf-turk0": ["x"], "b2": ["y"]})
    (tmp_path / "p.json").write_text(json.dumps({"a1": "x", "a1-high-conf-turk0": "z", "b2": "y"}))
    runs = read_runs(tmp_path / "p.json", gold=gold)
    assert runs.example_ids.tolist() == ["a1", "b2"]
    assert runs.scores.tolist() == [[0, 1]]


def test_published_systems(data_dir: Path) -> None:
    gold = data_dir / "squad/dev-v1.1-rebuilt.json.gz"
    bert = read_runs(data_dir / "predictions/squad_dev/v1.1_bert_ensemble.json.gz", gold=gold)
    assert bert.n_examples == 10_570
    assert bert.scores.mean() > 0.9
    regression = data_dir / "predictions/squad_dev/v1.1_logistic_regression_baseline.json.gz"
    with pytest.raises(InputError, match="13 of 10570 questions have no prediction"):
        read_runs(regression, gold=gold)
    assert read_runs(regression, gold=gold, align="intersect").n_examples == 10_557
