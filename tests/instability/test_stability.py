from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from goldassay.core.errors import InputError
from goldassay.instability import measure_stability

if TYPE_CHECKING:
    from collections.abc import Callable

    Scores = Callable[[str], np.ndarray]


@pytest.mark.parametrize(("name", "right", "wrong"), [("mnli", 7387, 807), ("break", 7481, 171), ("hans", 16098, 8773)])
def test_published_runs(bert_scores: Scores, name: str, right: int, wrong: int) -> None:
    found = measure_stability(bert_scores(name))
    assert (found.n_always_right, found.n_always_wrong, found.n_constant) == (right, wrong, right + wrong)
    assert found.to_frame()["disagreement"].max() == pytest.approx(2 * 25 / 90)


@given(hnp.arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(1, 5)), elements=st.sampled_from([0, 0.5, 1])))
def test_disagreement_is_the_share_of_pairs_of_runs(scores: np.ndarray) -> None:
    found = measure_stability(scores)
    pairs = list(combinations(scores, 2))
    assert found.disagreement == pytest.approx(np.mean([a != b for a, b in pairs], axis=0), abs=1e-12)


def test_flips_over_checkpoints() -> None:
    scores = np.array([[[0, 1], [1, 1], [0, 1]], [[0, 0], [0, 1], [0, 1]]])
    found = measure_stability(scores, ["a", "b"])
    assert found.flips is not None
    assert found.flips.tolist() == [1.0, 0.5]
    frame = found.to_frame()
    assert frame.columns == ["example_id", "mean", "disagreement", "flips", "status"]
    assert frame["status"].to_list() == ["always wrong", "always right"]


def test_the_table_begins_with_the_least_stable() -> None:
    frame = measure_stability([[1, 0, 0.5], [1, 1, 0.5]]).to_frame()
    assert frame["example_id"].to_list() == [1, 0, 2]
    assert frame["status"].to_list() == ["varies", "always right", "always the same"]


def test_bad_input() -> None:
    with pytest.raises(InputError, match="2 are needed"):
        measure_stability([[1, 0]])
    with pytest.raises(InputError, match="ids"):
        measure_stability([[1, 0], [0, 1]], ["a"])
