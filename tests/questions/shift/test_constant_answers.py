"""The floor of exact match and F1 against every candidate scored by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.questions.shift.answers import constant_scores, constants_of_gold
from goldassay.runs.answers import score_answer

if TYPE_CHECKING:
    from pathlib import Path

WORDS = st.lists(st.sampled_from(["the", "nile", "old", "Rome!", "two", "two", "of"]), max_size=4).map(" ".join)
VARIANTS = st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=1, max_size=2)
METRICS: list[Literal["exact_match", "f1"]] = ["exact_match", "f1"]


@pytest.mark.parametrize("metric", METRICS)
@given(questions=st.lists(VARIANTS, min_size=1, max_size=12))
def test_the_best_constant_answer_is_that_of_brute_force(
    metric: Literal["exact_match", "f1"], questions: list[list[list[str]]]
) -> None:
    found = constant_scores(questions, metric)
    candidates = {answer for variants in questions for variant in variants for answer in variant} | {""}
    by_hand = {
        answer: [min(score_answer(answer, variant, metric) for variant in variants) for variants in questions]
        for answer in candidates
    }
    assert found.mean(axis=1).max() == pytest.approx(max(np.mean(scores) for scores in by_hand.values()))
    assert all(any(np.allclose(row, scores) for scores in by_hand.values()) for row in found)


def test_answers_of_a_squad_file(tmp_path: Path) -> None:
    def question(name: str, *answers: str) -> dict[str, object]:
        return {"id": name, "question": "?", "answers": [{"text": each, "answer_start": 0} for each in answers]}

    asked = [question("a", "The Nile", "Nile river"), question("b", "nile"), question("c", "Oslo"), question("d", "x")]
    path = tmp_path / "gold.json"
    path.write_text(json.dumps({"data": [{"title": "", "paragraphs": [{"context": "", "qas": asked}]}]}))
    found = constants_of_gold(str(path), ["c", "a", "b"], "exact_match")
    assert found is not None
    assert found[0].tolist() == [0, 1, 1]
    assert constants_of_gold(str(path), ["c", "elsewhere"], "f1") is None
    assert constants_of_gold(None, ["c"], "f1") is None
