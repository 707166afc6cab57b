"""The best no-answer threshold, beside all thresholds there can be, and as the commands show it."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import goldassay
from goldassay.core.errors import InputError
from goldassay.runs.answers import best_threshold
from goldassay.runs.reading import read_runs
from goldassay.runs.store import write_runs
from tests.stated import Fact, in_order

if TYPE_CHECKING:
    from pathlib import Path

QUESTION = st.tuples(
    st.booleans(), st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from([-2.0, 0.0, 0.25, 0.5, 3.5])
)


def scored(rows: list[tuple[bool, bool, float, float]]) -> list[tuple[float, bool, bool, float]]:
    """Scores that go with what was said: an empty answer is right where there is none, and wrong elsewhere."""
    return [
        (score if said and known else float(not said and not known), said, known, p) for said, known, score, p in rows
    ]


@given(st.lists(QUESTION, min_size=1, max_size=12))
@settings(max_examples=60)
def test_beside_every_threshold_there_can_be(rows: list[tuple[bool, bool, float, float]]) -> None:
    cases = scored(rows)
    found = best_threshold(*(list(each) for each in zip(*cases, strict=True)))
    by_threshold = {
        t: np.mean([score if p <= t else float(not known) for score, _, known, p in cases])
        for t in (-math.inf, *(p for *_, p in cases))
    }
    assert found.score == pytest.approx(max(by_threshold.values()), abs=1e-12)
    assert by_threshold[found.threshold] == pytest.approx(found.score, abs=1e-12)
    assert all(by_threshold[t] < found.score + 1e-12 for t in by_threshold if t < found.threshold)


def official(cases: list[tuple[float, bool, bool, float]]) -> tuple[float, float | None]:
    """The official script's sweep: from everything unanswered, question by question in order of probability.

    Where nothing is answered it says 0, here None.
    """
    reached = best = float(sum(not known for _, _, known, _ in cases))
    threshold = None
    for score, said, known, p in sorted(cases, key=lambda case: case[3]):
        reached += score if known else -1.0 if said else 0.0
        if reached > best:
            best, threshold = reached, p
    return best / len(cases), threshold


@given(st.lists(QUESTION, min_size=1, max_size=12), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_official_sweep_where_no_two_probabilities_are_equal(
    rows: list[tuple[bool, bool, float, float]], draw: Any
) -> None:
    places = draw.sample(range(-50, 50), len(rows))
    cases = [(*case[:3], float(p)) for case, p in zip(scored(rows), places, strict=True)]
    found = best_threshold(*(list(each) for each in zip(*cases, strict=True)))
    best, threshold = official(cases)
    assert found.score == pytest.approx(best, abs=1e-12)
    assert found.threshold == (-math.inf if threshold is None else threshold)


def test_refused() -> None:
    for probabilities in ([], [math.nan]):
        n = len(probabilities)
        with pytest.raises(InputError, match="not a finite number for each question"):
            best_threshold([1.0] * n, [True] * n, [True] * n, probabilities)


QUESTIONS = {"a": "in Paris", "b": "Rome", "c": None, "d": None}
ANSWERS = {"a": "Paris", "b": "Rome", "c": "Oslo", "d": ""}
ODDS = {"a": -1.5, "b": -3.0, "c": 0.5, "d": 2.0}


def write(folder: Path, odds: Any = None, name: str = "null_odds.json", predictions: str = "predictions.json") -> Path:
    folder.mkdir(exist_ok=True)
    asked = [
        {
            "id": question,
            "question": "where?",
            "is_impossible": answer is None,
            "answers": [{"text": answer, "answer_start": 0}] if answer else [],
        }
        for question, answer in QUESTIONS.items()
    ]
    gold = folder.parent / "squad.json"
    gold.write_text(json.dumps({"version": "v2.0", "data": [{"paragraphs": [{"context": "Rome", "qas": asked}]}]}))
    (folder / predictions).write_text(json.dumps(ANSWERS))
    if odds is not None:
        (folder / name).write_text(odds if isinstance(odds, str) else json.dumps(odds))
    return gold


@pytest.mark.parametrize(
    ("name", "predictions"),
    [
        ("null_odds.json", "predictions.json"),
        ("eval_null_odds.json", "eval_predictions.json"),
        ("na_prob.json", "predictions.json"),
        ("bert_na_probs.json", "bert.json"),
    ],
)
def test_probabilities_beside_predictions(tmp_path: Path, name: str, predictions: str) -> None:
    gold = write(tmp_path / "runs", ODDS, name, predictions)
    runs = read_runs(tmp_path / "runs", gold=gold)
    # Answered are b and a, at -1.5; c, which has no answer, is left alone. F1 of "Paris" for "in Paris" is 2/3.
    (found,) = runs.thresholds
    assert (found.f1.score, found.f1.threshold) == (pytest.approx((2 / 3 + 3) / 4), -1.5)
    assert (found.exact.score, found.exact.threshold) == (0.75, -3.0)
    report = goldassay.measure_instability(tmp_path / "runs", test=gold)
    figures = {row["id"]: row["value"] for row in report.figures.to_dicts()}
    assert figures["instability.best_f1"] == pytest.approx(found.f1.score)
    assert figures["instability.best_exact"] == 0.75
    assert figures["instability.best_f1_threshold"] == -1.5
    assert any(
        "(above -1.5)" in said and "upper bounds" in said for said in report.document["instability"]["sentences"]
    )
    # The store keeps them.
    write_runs(runs, tmp_path / "store")
    assert read_runs(tmp_path / "store").thresholds == runs.thresholds
    assert read_runs(tmp_path / "store").take([0, 1]).thresholds == ()


def test_probabilities_of_more_questions_than_a_table_may_have_columns(tmp_path: Path) -> None:
    """Such as the 11,873 of SQuAD 2.0: the file is one object, and no row of a table."""
    gold = write(tmp_path / "runs", {**ODDS, **{f"other{i}": i / 2 for i in range(10_001)}})
    assert len(read_runs(tmp_path / "runs", gold=gold).thresholds) == 1
    row = {**ODDS, **{f"other{i}": "text" for i in range(10_001)}}
    (tmp_path / "row.jsonl").write_text(json.dumps(row))
    with pytest.raises(InputError, match="columns, more than 10,000"):
        read_runs(tmp_path / "row.jsonl")


def test_without_them_and_where_each_question_has_an_answer(tmp_path: Path) -> None:
    gold = write(tmp_path / "runs")
    assert read_runs(tmp_path / "runs", gold=gold).thresholds == ()
    write(tmp_path / "runs", ODDS)
    gold.write_text(gold.read_text().replace('"is_impossible": true, "answers": []', '"answers": [{"text": "Oslo"}]'))
    gold.write_text(gold.read_text().replace('"is_impossible": false, ', ""))
    assert read_runs(tmp_path / "runs", gold=gold).thresholds == ()


@pytest.mark.parametrize(
    ("odds", "said"),
    [
        ({"a": 0.1, "b": 0.2}, ("2 of 4 questions", "no-answer probability", "c, d")),
        ({**ODDS, "a": "high"}, "not an object of finite numbers"),
        ({**ODDS, "a": True}, "not an object of finite numbers"),
        ([0.1], "not an object of finite numbers"),
        ('{"a": NaN, "b": 0, "c": 0, "d": 0}', "not an object of finite numbers"),
        ('{"a": 0.1', "not whole JSON"),
    ],
)
def test_damage_is_one_line(tmp_path: Path, odds: Any, said: Fact) -> None:
    gold = write(tmp_path / "runs", odds)
    with pytest.raises(InputError, match=in_order(said)) as caught:
        read_runs(tmp_path / "runs", gold=gold)
    assert "null_odds.json" in str(caught.value)
