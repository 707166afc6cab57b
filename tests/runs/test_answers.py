from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from goldassay.core.errors import InputError
from goldassay.questions.comparison.command import compare_models
from goldassay.questions.instability.command import measure_instability
from goldassay.runs.answers import normalize_answer, score_answer
from goldassay.runs.reading import read_runs
from tests.stated import in_order

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


def squad2(path: Path, answers: dict[str, list[str]]) -> Path:
    """A file of SQuAD 2.0, which says of each question whether it is impossible."""
    told = json.loads(squad(path, answers).read_text())
    for question in told["data"][0]["paragraphs"][0]["qas"]:
        question["is_impossible"] = not question["answers"]
    path.write_text(json.dumps({"version": "v2.0", **told}))
    return path


@pytest.mark.parametrize("metric", ["f1", "exact_match"])
@pytest.mark.parametrize(("prediction", "score"), [("", 1.0), (" The. ", 1.0), ("Paris", 0.0)])
def test_the_right_answer_to_an_impossible_question_is_none(prediction: str, score: float, metric: Any) -> None:
    assert score_answer(prediction, [""], metric) == score


@pytest.mark.parametrize("metric", ["f1", "exact_match"])
def test_questions_without_an_answer(tmp_path: Path, metric: Any) -> None:
    gold = squad2(tmp_path / "dev.json", {"q1": ["Paris"], "q2": [], "q3": [], "q4": ["the"], "q5": ["a", "Rome"]})
    said = {"q1": "", "q2": "", "q3": "Rome", "q4": "", "q5": ""}
    (tmp_path / "p.json").write_text(json.dumps(said))
    runs = read_runs(tmp_path / "p.json", gold=gold, answer_metric=metric)
    # References of no words do not count: q4 has none left, and q5 one.
    assert runs.scores.tolist() == [[0, 1, 0, 1, 0]]
    assert runs.groups["answer"].tolist() == [
        "there is one", "there is none", "there is none", "there is none", "there is one",
    ]  # fmt: skip


def test_files_without_impossible_questions_are_read_as_before(tmp_path: Path) -> None:
    gold = squad(tmp_path / "dev.json", {"q1": ["Paris"], "q2": []})
    (tmp_path / "p.json").write_text(json.dumps({"q1": "Paris", "q2": ""}))
    with pytest.raises(InputError, match="no reference answer"):
        read_runs(tmp_path / "p.json", gold=gold)


@pytest.mark.parametrize(
    ("system", "exact", "f1"), [("nlnet", 75.84, 78.79), ("bidaf_self_attention_elmo", 65.72, 67.89)]
)
def test_published_systems_on_the_second_version(data_dir: Path, system: str, exact: float, f1: float) -> None:
    path, gold = data_dir / f"predictions/squad_dev/v2.0_{system}.json.gz", data_dir / "squad/dev-v2.0-rebuilt.json.gz"
    found = read_runs(path, gold=gold)
    assert found.n_examples == 11_873
    assert (found.groups["answer"] == "there is none").sum() == 5945
    assert 100 * found.scores.mean() == pytest.approx(f1, abs=0.05)
    found = read_runs(path, gold=gold, answer_metric="exact_match")
    assert 100 * found.scores.mean() == pytest.approx(exact, abs=0.05)


def test_a_metric_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """Taken for F1, it would give F1 under another name."""
    gold = squad(tmp_path / "dev.json", {"q1": ["Paris"]})
    (tmp_path / "p.json").write_text(json.dumps({"q1": "Paris"}))
    with pytest.raises(InputError, match=in_order("no metric 'exact'", "f1, exact_match")):
        read_runs(tmp_path / "p.json", gold=gold, answer_metric="exact")  # type: ignore[arg-type]


def test_the_score_that_is_named_is_that_of_the_answers(tmp_path: Path) -> None:
    """At every door: reading, one model, and two."""
    gold = squad(tmp_path / "dev.json", {f"q{i}": ["in Rome"] for i in range(40)})
    for system, wrong in (("a", "old Rome"), ("b", "Oslo")):
        (tmp_path / "runs" / system).mkdir(parents=True)
        for seed in range(2):
            said = {f"q{i}": "in Rome" if i % 2 else wrong for i in range(40)}
            (tmp_path / "runs" / system / f"run_{seed}.json").write_text(json.dumps(said))
    for score, mean in ((None, 0.75), ("f1", 0.75), ("exact_match", 0.5)):
        columns = None if score is None else {"score": score}
        assert read_runs(tmp_path / "runs/a", gold=gold, columns=columns).scores.mean() == mean
        report = measure_instability(str(tmp_path / "runs/a"), test=str(gold), columns=columns)
        assert report.document["instability"]["results"][0]["mean"] == mean
        compared = compare_models(*(str(tmp_path / "runs" / each) for each in "ab"), test=str(gold), columns=columns)
        (figure,) = (each for each in compared.to_dict()["figures"] if each["id"] == "comparison.difference")
        assert abs(figure["value"]) == pytest.approx(mean - 0.5)
    with pytest.raises(InputError, match=in_order("no score 'em'", "f1, exact_match")):
        read_runs(tmp_path / "runs/a", gold=gold, columns={"score": "em"})


def test_answering_nothing_shows_no_skill(tmp_path: Path) -> None:
    """Half of the questions have no answer, so that silence scores 50 points, and must not pass for knowledge."""
    gold = squad2(tmp_path / "dev.json", {f"q{i}": ["Paris"] if i % 2 else [] for i in range(400)})
    rng = np.random.default_rng(0)
    (tmp_path / "runs").mkdir()
    for seed in range(6):
        # Now and then it says something, and is wrong.
        said = {f"q{i}": "x" if word else "" for i, word in enumerate((rng.random(400) < 0.02).tolist())}
        (tmp_path / "runs" / f"seed_{seed}.json").write_text(json.dumps(said))
    report = measure_instability(str(tmp_path / "runs"), test=str(gold))
    (row,) = report.document["instability"]["results"]
    assert row["mean"] == pytest.approx(0.49, abs=0.01)
    assert (row["constant"], row["constant_score"]) == ("nothing", 0.5)
    assert row["above_constant_low"] < 0
    assert report.document["verdicts"]["instability"]["verdict"] != "sound"


def test_answers_that_were_taken_out_are_no_answers(tmp_path: Path) -> None:
    gold = squad(tmp_path / "dev.json", {"q1": [""], "q2": [""]})
    (tmp_path / "p.json").write_text(json.dumps({"q1": "", "q2": ""}))
    with pytest.raises(InputError, match="all right answers are empty"):
        read_runs(tmp_path / "p.json", gold=gold)
