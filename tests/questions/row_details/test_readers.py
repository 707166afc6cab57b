"""What readers name for each row: the most frequent label of their runs."""

from __future__ import annotations

import numpy as np

from goldassay.questions.artifacts.result import MarkedExample
from goldassay.questions.rows import WIDTH, answers_of_readers, table_of_examples
from goldassay.stats.effects import ReaderPredictions


def test_the_label_is_that_of_most_runs() -> None:
    named = np.array([[0, 1, 2, -1], [1, 1, 2, -1], [0, 2, 0, -1]])
    table = answers_of_readers([ReaderPredictions("hypothesis", "probe", named)], ("a", "b", "c"), list("wxyz"))
    assert table.to_dict(as_series=False) == {"example_id": list("wxyz"), "hypothesis: probe": ["a", "b", "c", None]}


def test_of_choices_it_says_whether_the_pick_is_right() -> None:
    correct = np.array([[1.0, 0.0, 0.5, 1.0]])
    applies = np.array([True, True, True, False])
    table = answers_of_readers(
        [ReaderPredictions("choices", "rule", None, correct=correct, applies=applies)], (), list("wxyz")
    )
    assert table["choices: rule"].to_list() == ["right", "wrong", "partly right", None]


def test_a_long_text_is_cut_around_its_marks() -> None:
    text = "x" * 1000 + " nobody is " + "y" * 1000
    sample = MarkedExample("e", "no", text, ((1001, 1007), (1008, 1010), (1900, 1901)))
    row = table_of_examples(["nobody is"], {0: [sample]}).row(0, named=True)
    marks = row["marks"]
    shown = [row["text"][begin:end] for begin, end in zip(marks[::2], marks[1::2], strict=True)]
    assert shown == ["nobody", "is"]
    assert len(row["text"]) <= WIDTH + 4
