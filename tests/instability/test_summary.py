from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from goldassay.core.errors import InputError
from goldassay.instability import summarize_scores

if TYPE_CHECKING:
    from collections.abc import Callable

    Scores = Callable[[str], np.ndarray]

MNLI = [84.8497, 84.8395, 84.8090, 84.2180, 84.5644, 84.4626, 84.7275, 84.7988, 85.0229, 84.9109]
HANS = [60.5500, 62.8667, 63.9533, 60.5233, 63.8867, 60.5767, 60.9100, 63.5633, 63.8267, 62.4167]


@pytest.mark.parametrize(("name", "expected"), [("mnli", MNLI), ("hans", HANS)])
def test_accuracies_of_the_published_runs(bert_scores: Scores, name: str, expected: list[float]) -> None:
    found = summarize_scores(bert_scores(name))
    assert 100 * np.array(found.run_means) == pytest.approx(expected, abs=5e-5)
    assert found.mean * 100 == pytest.approx(np.mean(expected), abs=1e-4)
    assert found.sd * 100 == pytest.approx(np.std(expected, ddof=1), abs=1e-4)
    assert (found.min * 100, found.max * 100) == pytest.approx((min(expected), max(expected)), abs=5e-5)
    # The interval's factors for ten runs, as printed in the method's description.
    assert found.sd_interval.low / found.sd == pytest.approx(0.68784, abs=5e-6)
    assert found.sd_interval.high / found.sd == pytest.approx(1.82561, abs=5e-6)


@given(hnp.arrays(np.float64, st.tuples(st.integers(2, 8), st.integers(1, 9)), elements=st.floats(0, 1, width=32)))
def test_agrees_with_numpy(scores: np.ndarray) -> None:
    means = scores.mean(axis=1)
    for ddof in (0, 1):
        found = summarize_scores(scores, ddof=ddof)
        assert found.mean == pytest.approx(means.mean(), abs=1e-12)
        assert found.sd == pytest.approx(means.std(ddof=ddof), abs=1e-12)
        assert found.min <= found.mean + 1e-12
        assert found.mean <= found.max + 1e-12
    assert found.to_frame()["score"].to_list() == pytest.approx(means.tolist())


def test_one_run_has_no_spread() -> None:
    with pytest.raises(InputError, match="2 are needed"):
        summarize_scores([[1, 0, 1]])


def test_equal_scores_have_no_spread_but_rounding() -> None:
    """Ten times the same mean of thirds: its mean is another number."""
    scores = np.tile(np.array([0.1, 0.2, 0.7, 1 / 3]), (10, 1))
    assert summarize_scores(scores).sd == 0
    assert summarize_scores(scores).sd_interval.high == 0


def test_the_interval_of_two_far_runs_is_possible_in_every_measure() -> None:
    """Chi-square alone gives two scores 50 points apart an SD of up to 1,128 points."""
    from goldassay.questions.instability.measures.checkpoints import summarize_checkpoints
    from goldassay.questions.instability.measures.intervals import spread_intervals

    scores = np.array([[0.0, 0.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0]])
    most = np.sqrt(2) / 2
    assert summarize_scores(scores).sd_interval.high == most
    assert spread_intervals(scores, 0.95)["sd"].high == most
    assert summarize_checkpoints([(1, scores)]).sd_high[0] == most
    # Scores in points are no shares, and nothing is known of their scale.
    assert summarize_scores(100 * scores).sd_interval.high > 100
