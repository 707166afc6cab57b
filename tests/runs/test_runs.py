from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from goldassay.core.errors import InputError
from goldassay.runs.runs import Runs

NLI = ["entailment", "neutral", "contradiction"]


def test_scores_are_correctness_where_gold_and_predictions_are_there() -> None:
    runs = Runs.from_arrays([[0, 1, 2], [0, 0, 0]], gold=[0, 1, 1], label_names=NLI)
    assert runs.scores.tolist() == [[1, 1, 0], [1, 0, 0]]
    assert runs.scores.dtype == np.float64
    assert runs.seeds.tolist() == [0, 1]
    assert runs.example_ids.tolist() == ["0", "1", "2"]
    assert (runs.n_runs, runs.n_checkpoints, runs.n_examples) == (2, 1, 3)


def test_labels_may_be_names_and_their_order_is_that_of_the_field() -> None:
    runs = Runs.from_arrays([["neutral", "entailment"]], gold=["neutral", "contradiction"])
    assert runs.label_names == tuple(NLI)
    assert runs.predictions is not None
    assert runs.predictions.tolist() == [[1, 0]]
    assert runs.scores.tolist() == [[1, 0]]


def test_logits_make_predictions() -> None:
    runs = Runs.from_arrays(logits=[[[0.1, 0.9], [2.0, 1.0]]], gold=[1, 1], label_names=["no", "yes"])
    assert runs.predictions is not None
    assert runs.predictions.tolist() == [[1, 0]]
    assert runs.scores.tolist() == [[1, 0]]


def test_one_run_may_come_without_its_axis() -> None:
    assert Runs.from_arrays(scores=[0.5, 1.0]).scores.shape == (1, 2)
    assert Runs.from_arrays([0, 1], gold=[0, 1]).scores.shape == (1, 2)


def test_checkpoints_have_an_axis_and_the_last_can_be_taken() -> None:
    scores = np.arange(24).reshape(2, 3, 4) / 24
    runs = Runs.from_arrays(scores=scores, checkpoints=[500, 1000, 1500], seeds=[7, 8])
    assert (runs.n_checkpoints, runs.n_examples) == (3, 4)
    final = runs.final()
    assert final.scores.tolist() == scores[:, -1].tolist()
    assert final.checkpoints is not None
    assert final.checkpoints.tolist() == [1500]


def test_take_keeps_all_arrays_together() -> None:
    runs = Runs.from_arrays(
        [[0, 1, 1]], gold=[0, 1, 0], logits=np.eye(2)[[[0, 1, 1]]], groups={"genre": ["a", "b", "c"]}
    )
    part = runs.take(np.array([False, True, True]))
    assert part.example_ids.tolist() == ["1", "2"]
    assert part.groups["genre"].tolist() == ["b", "c"]
    assert part.scores.tolist() == [[1, 0]]
    assert part.logits is not None
    assert part.logits.shape == (1, 2, 2)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"scores": [[0.5, np.nan]]}, "not a number"),
        ({"scores": [[0.5, 1.2]]}, "outside"),
        ({"scores": [[50.0, 84.0]]}, "divide points by 100"),
        ({"scores": np.zeros((2, 0))}, "no examples"),
        ({"predictions": [[0, 1]]}, "no gold"),
        ({}, "neither"),
        ({"predictions": [[0, 1]], "gold": [0, 1, 1]}, "gold has 3 labels"),
        ({"predictions": [[0, 3]], "gold": [0, 1], "label_names": ["a", "b"]}, "label code 3"),
        ({"predictions": [[0, -1]], "gold": [0, 1]}, "label code -1"),
        ({"predictions": [["a", "z"]], "gold": ["a", "b"], "label_names": ["a", "b"]}, "'z'"),
        ({"logits": np.zeros((2, 3, 4)), "gold": [0, 1, 2], "label_names": NLI}, "4 classes"),
        ({"logits": np.full((1, 2, 2), np.nan), "gold": [0, 1]}, "logits are not a number"),
        ({"logits": np.zeros((1, 2, 2)), "gold": ["a", "b"]}, "order of the logits"),
        ({"scores": [[0.5], [0.1]], "seeds": [1, 1]}, "different seeds"),
        ({"scores": [[0.5], [0.1]], "seeds": [1]}, "seeds has shape"),
        ({"scores": [[0.5, 0.1]], "example_ids": ["x", "x"]}, "more than once"),
        ({"scores": [[0.5, 0.1]], "groups": {"g": ["x"]}}, "group 'g'"),
        ({"scores": [[["a"]]]}, "array of numbers"),
        ({"scores": np.zeros((1, 2, 3)), "checkpoints": [1, 1]}, "twice"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Runs.from_arrays(**arrays)
    assert "\n" not in str(caught.value)


def test_it_shows_itself_with_names_escaped() -> None:
    page = Runs.from_arrays(scores=[[0.5], [1.0]], model="<script>alert(1)</script>")._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "50.00" in page
    assert "2 runs x 1 examples" in repr(Runs.from_arrays(scores=[[0.5], [1.0]]))
