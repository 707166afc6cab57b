from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.instability import decompose_variance, summarize_scores, trajectories
from goldassay.questions.instability.measures.checkpoints import summarize_checkpoints

if TYPE_CHECKING:
    from collections.abc import Iterator

PARTS = ("total", "independent", "covariance", "design_effect", "effective_size")


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(2, 5), st.integers(1, 4), st.integers(1, 6)),
        elements=st.sampled_from([0.0, 0.25, 1.0]),
    )
)
@pytest.mark.filterwarnings("ignore::goldassay.core.errors.UndefinedMeasureWarning")
def test_figures_are_those_of_each_checkpoint_by_itself(scores: np.ndarray) -> None:
    found = summarize_checkpoints((10 * t, scores[:, t]) for t in range(scores.shape[1]))
    assert found.checkpoints == tuple(10 * t for t in range(scores.shape[1]))
    for t in range(scores.shape[1]):
        summary, parts = summarize_scores(scores[:, t]), decompose_variance(scores[:, t])
        assert found.run_means[:, t].tolist() == list(summary.run_means)
        assert found.mean[t] == pytest.approx(summary.mean)
        assert found.sd[t] == pytest.approx(summary.sd, abs=1e-12)
        assert (found.sd_low[t], found.sd_high[t]) == pytest.approx(
            (summary.sd_interval.low, summary.sd_interval.high), abs=1e-12
        )
        for name in PARTS:
            assert getattr(found, name)[t] == pytest.approx(getattr(parts, name), nan_ok=True)
    moves = trajectories(scores, found.checkpoints)
    assert found.trajectories().mean == pytest.approx(moves.mean)
    assert found.trajectories().sd == pytest.approx(moves.sd)


def test_one_checkpoint_is_held_at_a_time() -> None:
    made: list[weakref.ref[np.ndarray]] = []

    def coming() -> Iterator[tuple[int, np.ndarray]]:
        for step in range(5):
            scores = np.eye(3, 4)
            made.append(weakref.ref(scores))
            # This one, and the one before it, which is let go when this one is taken.
            assert sum(each() is not None for each in made) <= 2
            yield step, scores

    assert summarize_checkpoints(coming()).n_checkpoints == 5


def test_one_run_has_means_alone() -> None:
    with pytest.warns(UndefinedMeasureWarning, match="one run"):
        found = summarize_checkpoints([("a", [[1.0, 0.0]]), ("b", [[1.0, 1.0]])])
    assert found.mean.tolist() == [0.5, 1.0]
    assert np.isnan(found.sd).all()
    assert found.to_frame()["sd"].to_list() == [None, None]
    assert found.skipped == {"one run has no spread": 2}


def test_checkpoints_where_nothing_varies_are_counted() -> None:
    with pytest.warns(UndefinedMeasureWarning, match="at 1 checkpoints"):
        found = summarize_checkpoints([(1, [[1, 0], [1, 0]]), (2, [[1, 0], [1, 1]])])
    assert np.isnan(found.design_effect).tolist() == [True, False]
    assert list(found.skipped.values()) == [1]


def test_bad_input() -> None:
    with pytest.raises(InputError, match="no checkpoint"):
        summarize_checkpoints([])
    with pytest.raises(InputError, match=r"\(2, 2\) at checkpoint 1, and \(2, 3\) at 2"):
        summarize_checkpoints([(1, np.eye(2)), (2, np.eye(2, 3))])
    with pytest.raises(InputError, match="not finite"):
        summarize_checkpoints([(1, [[np.nan], [1]])])
